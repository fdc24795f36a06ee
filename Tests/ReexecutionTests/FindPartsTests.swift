// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import EventLog
import Foundation
import Platform
import Recording
import Replay
import Site
import TestKit
import Testing

/// Finds whose answers have several parts, recorded by this build and by those before it.
@Suite(.timeLimit(.minutes(5))) struct FindPartsTests {
    private static let world = MapName(rawValue: "World") ?? { preconditionFailure() }()
    private static let partBytes = 6 << 20

    /// A site with one layer of large values, and a find in it.
    private final class LargeSite {
        let site: Site
        let engine: SiteEngine
        /// The request and answer of each part, as sent by a client.
        let parts: [(request: FindRequest, answer: QueryAnswer)]
        var body: [UInt8] { parts.flatMap(\.answer.body) }

        init() throws {
            site = try Site(
                openingOrCreating: "/tmp/cairn-fpt-" + UUID().uuidString.prefix(8).lowercased())
            let file = site.path + "/texts.geojson"
            let text = String(repeating: "é-", count: 20_000)
            let features = (0..<130).map { number in
                #"{"type":"Feature","properties":{"name":"\#(text)\#(number)"},"#
                    + #""geometry":{"type":"Point","coordinates":[1,\#(number % 90)]}}"#
            }
            try
                (#"{"type":"FeatureCollection","features":["# + features.joined(separator: ",")
                + "]}").write(toFile: file, atomically: true, encoding: .utf8)
            let imported = try #require(
                try DatasetBuilder.importFile(path: file, into: site.datasetsDirectory).first)
            let dataset = try Dataset(path: site.datasetPath(imported.dataset))
            let events: [any EventPayload] = [
                MapCreated(name: world),
                LayerAdded(
                    layer: 0, name: "texts",
                    kind: .layer(source: LayerSource(dataset: imported.dataset)), parent: nil,
                    index: 0),
                LayerLoadStarted(layer: 0), LayerLoaded(layer: 0, properties: dataset.properties),
            ]
            let store = try SQLiteEventStore(path: site.logFile) { Timestamp(microseconds: 1) }
            for event in events {
                let new = try event.newEvent(id: UUID(), metadata: EventMetadata())
                try store.append([
                    StreamAppend(stream: .map(world), expected: .any, events: [new])
                ])
            }
            engine = try SiteEngine(site: site.path)
            var request = FindRequest(map: world, text: "É-")
            var parts: [(request: FindRequest, answer: QueryAnswer)] = []
            repeat {
                let asked = try record(
                    request, QueryAnswer(body: [], sequence: 4, isStale: false, next: nil))
                guard case .answer(let any) = try engine.answer(asked),
                    let answer = any as? QueryAnswer
                else { break }
                parts.append((request, answer))
                request.part = answer.next
            } while request.part != nil
            self.parts = parts
        }

        deinit { try? FileManager.default.removeItem(atPath: site.path) }
    }

    /// A line of a recording, written and read again.
    private static func record(
        _ request: FindRequest, _ answer: QueryAnswer
    ) throws -> RecordedRequest {
        let record = try RecordedRequest(
            .find, request, answer, at: Timestamp(microseconds: 1), process: "test", build: "then",
            skipped: 0, sequence: 4)
        return try CairnJSON.decode(RecordedRequest.self, from: try CairnJSON.encode(record))
    }

    private func outcomes(
        _ records: [RecordedRequest], _ engine: any AnswerEngine
    ) throws -> [RequestComparison.Outcome] {
        let comparison = RequestComparison(engine: engine, tolerance: 0) { _ in "now" }
        return try records.map { try comparison.compare($0) }
    }

    @Test(.slow) func `parts of a find are answered again, whoever recorded them`() throws {
        let large = try LargeSite()
        #expect(large.parts.count == 3 && large.parts[2].answer.next == nil)
        let today = try large.parts.map { try Self.record($0.request, $0.answer) }
        // The digest did not cover the feature at which the next part starts.
        let nameless = try large.parts.map { request, answer in
            var answer = answer
            answer.next?.place = nil
            return try Self.record(request, answer)
        }
        // Parts started after a number of bytes, at any position.
        let body = large.body
        let earlier = try stride(from: 0, to: body.count, by: Self.partBytes).map { start in
            var request = large.parts[0].request
            let end = min(start + Self.partBytes, body.count)
            func part(_ offset: Int) -> QueryPart {
                QueryPart(row: 0, byteCount: 0, totalByteCount: offset)
            }
            request.part = start == 0 ? nil : part(start)
            return try Self.record(
                request,
                QueryAnswer(
                    body: Array(body[start..<end]), sequence: 4, isStale: false,
                    next: end == body.count ? nil : part(end)))
        }
        #expect(Set((today + nameless + earlier).map(\.answerDigest)).count == 7)

        for records in [today, nameless, earlier] {
            #expect(records.count == 3)
            #expect(try outcomes(records, large.engine) == [.same, .same, .same])
        }
    }

    /// A build that answers a part otherwise.
    private struct OtherEngine: AnswerEngine {
        let engine: SiteEngine
        let change: @Sendable (inout QueryAnswer) -> Void

        func answer(_ record: RecordedRequest) throws(Failure) -> Reanswer {
            guard case .answer(let any) = try engine.answer(record),
                var answer = any as? QueryAnswer
            else {
                throw Failure(.internal, "no answer")
            }
            change(&answer)
            return .answer(answer)
        }
    }

    @Test(.slow)
    func `another byte, another feature to go on at, and a place that is none are found`()
        throws
    {
        let large = try LargeSite()
        let today = try large.parts.map { try Self.record($0.request, $0.answer) }
        let changes: [@Sendable (inout QueryAnswer) -> Void] = [
            { $0.body[$0.body.count / 2] ^= 1 }, { $0.next?.place?.objectID += 1 },
            { $0.next?.place?.layer = 1 }, { $0.next?.byteCount += 1 }, { $0.next = nil },
        ]
        for change in changes {
            let engine = OtherEngine(engine: large.engine, change: change)
            for outcome in try outcomes([today[0], today[1]], engine) {
                guard case .differs(let difference) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(difference.cause == .otherBuild)
            }
        }
        for offset in [1, Self.partBytes - 1, 2 * Self.partBytes + 1, 5 * Self.partBytes] {
            var request = large.parts[0].request
            request.part = QueryPart(row: 0, byteCount: 0, totalByteCount: offset)
            let record = try Self.record(request, large.parts[1].answer)
            guard case .differs(let difference) = try outcomes([record], large.engine)[0] else {
                Issue.record("\(offset)")
                continue
            }
            #expect(difference.cause == .failed && difference.message.contains("\(offset) bytes"))
        }
    }
}

@Suite struct RecordedOperationsTests {
    @Test func `every recorded operation is asked again`() {
        #expect(Set(SiteEngine.operations) == Set(RecordedOperation.all.map(\.name)))
    }
}
