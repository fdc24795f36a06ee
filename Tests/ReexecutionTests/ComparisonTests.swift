// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import EventLog
import Foundation
import Geometry
import JobKinds
import Jobs
import MapState
import Recording
import Replay
import Site
import TestKit
import Testing

/// A site on the disk, with a map of two layers whose definition changes, and what it answered.
private final class ComparedSite {
    let site: Site
    let engine: SiteEngine
    private(set) var records: [RecordedRequest] = []
    static let world = MapName(rawValue: "World") ?? { preconditionFailure() }()

    init() throws {
        site = try Site(
            openingOrCreating: "/tmp/cairn-cmp-" + UUID().uuidString.prefix(8).lowercased())
        let file = site.path + "/points.geojson"
        let features = (0..<100).map { number in
            #"{"type":"Feature","properties":{"NAME":"p\#(number)","POP":\#(number).5},"#
                + #""geometry":{"type":"Point","coordinates":[\#(number % 10),\#(number / 10)]}}"#
        }
        let text =
            #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let imported = try #require(
            try DatasetBuilder.importFile(path: file, into: site.datasetsDirectory).first)
        let dataset = try Dataset(path: site.datasetPath(imported.dataset))
        try Self.write(
            [
                MapCreated(name: Self.world),
                LayerAdded(
                    layer: 0, name: "points",
                    kind: .layer(source: LayerSource(dataset: imported.dataset)), parent: nil,
                    index: 0),
                LayerLoadStarted(layer: 0), LayerLoaded(layer: 0, properties: dataset.properties),
                LayerDefinitionChanged(layer: 0, expression: "POP < 50"),
                LayerVisibilityChanged(layer: 0, isVisible: true),
            ], to: site)
        engine = try SiteEngine(site: site.path)
        for number in 0..<60 { try record(number) }
    }

    deinit { try? FileManager.default.removeItem(atPath: site.path) }

    private static func write(_ events: [any EventPayload], to site: Site) throws {
        let store = try SQLiteEventStore(path: site.logFile) { Timestamp(microseconds: 1) }
        for event in events {
            let new = try event.newEvent(id: UUID(), metadata: EventMetadata())
            try store.append([
                StreamAppend(stream: .map(world), expected: .any, events: [new])
            ])
        }
    }

    /// A job whose first chunk made a line of text, or nothing, as the log has it.
    func completedPlan(
        by build: String?, of kind: JobKind = JobKind(rawValue: "Test"),
        input: BlobReference? = nil, made text: String? = "old\n"
    ) throws -> RecordedChunk? {
        let submission = JobSubmission(
            id: JobID(rawValue: UUID()), kind: kind, parameters: [:], input: input)
        var outcome = ChunkOutcome(
            blob: try text.map { try site.blobs.put(Data($0.utf8), mediaType: "text/plain") })
        outcome.build = build
        let lease = UUID()
        var finder = ChunkFinder()
        var state: JobState?
        var found: RecordedChunk?
        let attempt = ChunkAttempt(chunk: 0, number: 1, lease: lease)
        let grant = LeaseGrant(chunk: 0, lease: lease, worker: UUID(), processID: 1)
        for step in 0..<3 {
            let action: JobAction =
                step == 1 ? .lease([grant]) : .report(attempt, .completed(outcome))
            let changes =
                try state?.decide(action, at: Timestamp(microseconds: 1))
                ?? JobTable().decide(submit: submission)
            let position = state?.streamPosition ?? -1
            let append = try JobChange.append(
                changes, to: submission.id, at: position, metadata: EventMetadata())
            for (offset, event) in append.events.enumerated() {
                let place = position + 1 + Int64(offset)
                let record = RecordedEvent(
                    globalPosition: place + 1, stream: append.stream, streamPosition: place,
                    recordedAt: Timestamp(microseconds: place), event: event)
                if state == nil {
                    state = try JobState(first: record)
                } else {
                    try state?.apply(record)
                }
                found = try finder.next(record) ?? found
            }
        }
        return found
    }

    /// Asks as a worker does, at a sequence number between the load and the end.
    private func record(_ number: Int) throws {
        let sequence = Int64(4 + number / 20)
        let request = IdentifyRequest(
            map: Self.world,
            geometry: .point(Coordinate(x: Double(number % 10), y: Double(number / 10))),
            tolerance: 3, mapExtent: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10),
            imageDisplay: ImageDisplay(width: 400, height: 400))
        let draft = try RecordedRequest(
            .identify, request,
            IdentifyAnswer(
                layers: [], spatialReference: SpatialReference(wkid: 4326), sequence: sequence,
                isStale: false), at: Timestamp(microseconds: Int64(number)), process: "test",
            build: "then", skipped: 0, sequence: sequence)
        guard case .answer(let any) = try engine.answer(draft) else { return }
        let answer = try #require(any as? IdentifyAnswer)
        records.append(
            try RecordedRequest(
                .identify, request, answer, at: draft.at, process: "test", build: "then",
                skipped: 0, sequence: sequence))
    }
}

/// The engine of a build with a defect: from one sequence number on it answers a little
/// differently.
private struct DefectiveEngine: AnswerEngine {
    let engine: SiteEngine
    let from: Int64
    let error: Double

    func answer(_ record: RecordedRequest) throws(Failure) -> Reanswer {
        guard case .answer(let any) = try engine.answer(record),
            var answer = any as? IdentifyAnswer, record.sequence >= from, !answer.layers.isEmpty,
            !answer.layers[0].results.isEmpty
        else { return try engine.answer(record) }
        answer.layers[0].results[0].distance += error
        return .answer(answer)
    }
}

@Suite(.timeLimit(.minutes(3))) struct ComparisonTests {
    private func compare(
        _ records: [RecordedRequest], _ engine: any AnswerEngine, build: String? = "now",
        tolerance: Double = 1e-9, in lineage: LogLineage = LogLineage()
    ) throws -> (ComparisonSummary, [Difference]) {
        let comparison = RequestComparison(
            engine: engine, tolerance: tolerance, isOfThisLog: { lineage.holds($0, of: $1) }
        ) { _ in build }
        var summary = ComparisonSummary()
        var differences: [Difference] = []
        for record in records {
            switch try comparison.compare(record) {
            case .same: summary.note(nil)
            case .differs(let difference):
                summary.note(difference)
                differences.append(difference)
            case .incomparable: summary.incomparableCount += 1
            case .ofAnotherLog(let incarnation): summary.note(ofAnotherLog: incarnation)
            }
        }
        return (summary, differences)
    }

    @Test func `the same build answers as it did`() throws {
        let compared = try ComparedSite()
        #expect(compared.records.allSatisfy { $0.answer != nil })
        #expect(Set(compared.records.map(\.sequence)).count == 3)

        let (summary, differences) = try compare(compared.records, compared.engine)

        #expect(summary.comparedCount == 60 && summary.differingCount == 0)
        #expect(differences.isEmpty && summary.firstSequence == nil)
        #expect(summary.incomparableCount == 0)
    }

    @Test(.slow, arguments: [4, 5, 6] as [Int64])
    func `a defect is found, its first sequence number and its field named`(from: Int64) throws {
        let compared = try ComparedSite()
        let defect = DefectiveEngine(engine: compared.engine, from: from, error: 1e-3)

        let (summary, differences) = try compare(compared.records, defect)

        let affected = compared.records.filter { record in
            guard let answer = record.answer as? IdentifyAnswer else { return false }
            return record.sequence >= from && !answer.layers.isEmpty
        }
        #expect(summary.differingCount == affected.count && affected.count > 0)
        #expect(summary.firstSequence == affected.map(\.sequence).min())
        for difference in differences {
            #expect(difference.cause == .otherBuild)
            #expect(difference.recordedBuild == "then" && difference.build == "now")
            #expect(difference.changes.map(\.pointer) == ["layers/0/results/0/distance"])
        }
        let same = try compare(compared.records, defect, build: "then").1
        #expect(same.allSatisfy { $0.cause == .sameBuild })
    }

    @Test func `a request answered from another history of the log is passed over and named`()
        throws
    {
        let compared = try ComparedSite()
        let file = compared.site.logFile
        let before = try #require(try ArchivedLogReader(path: file).incarnation())
        let lost = UUID()
        var records = compared.records
        // The defect is in every answer: what is compared differs.
        let defect = DefectiveEngine(engine: compared.engine, from: 0, error: 1e-3)
        let affected = try compare(records, defect).0.differingCount
        for index in records.indices { records[index].incarnation = before }
        let lineage = try SQLiteEventReader(path: file).lineage()
        #expect(try compare(records, defect, in: lineage).0.differingCount == affected)

        for index in records.indices { records[index].incarnation = lost }
        let (summary, differences) = try compare(records, defect, in: lineage)
        #expect(summary.comparedCount == 0 && differences.isEmpty)
        #expect(summary.otherIncarnations == [lost.uuidString.lowercased(): 60])
    }

    @Test func `an answer that differs by less than the tolerance is the same`() throws {
        let compared = try ComparedSite()
        let defect = DefectiveEngine(engine: compared.engine, from: 0, error: 1e-12)

        #expect(try compare(compared.records, defect).0.differingCount == 0)
        #expect(try compare(compared.records, defect, tolerance: 0).0.differingCount > 0)
    }

    @Test func `a dataset that is gone is named as the cause`() throws {
        let compared = try ComparedSite()
        try FileManager.default.removeItem(atPath: compared.site.datasetsDirectory)

        let engine = try SiteEngine(site: compared.site.path)
        let (summary, differences) = try compare(compared.records, engine)

        #expect(summary.differingCount == 60)
        #expect(differences.allSatisfy { $0.cause == .dataMissing && !$0.message.isEmpty })
    }

    @Test func `an answer too long to keep is compared by its digest`() throws {
        let compared = try ComparedSite()
        let records = compared.records.map { record in
            var short = record
            short.answer = nil
            return short
        }
        #expect(try compare(records, compared.engine).0.differingCount == 0)
        let defect = DefectiveEngine(engine: compared.engine, from: 6, error: 1e-3)
        let (summary, differences) = try compare(records, defect)
        #expect(summary.firstSequence == 6)
        #expect(differences.allSatisfy { $0.changes.isEmpty && $0.message.contains("digest") })
    }

    @Test(
        arguments: [
            ("0.1.0+aaaa", "0.1.0+bbbb", Difference.Cause.otherBuild),
            ("0.1.0+aaaa", "0.1.0+aaaa", .sameBuild), (nil, "0.1.0+aaaa", .unknownBuild),
            ("0.1.0+aaaa", nil, .unknownBuild),
        ] as [(String?, String?, Difference.Cause)])
    func `a chunk that makes something else says which build made it then`(
        recorded: String?, own: String?, cause: Difference.Cause
    ) throws {
        let compared = try ComparedSite()
        let chunk = try #require(try compared.completedPlan(by: recorded))
        #expect(chunk.build == recorded)
        let comparison = try ChunkComparison(
            site: compared.site, engine: compared.engine, scratch: compared.site.path + "/scratch",
            tolerance: 0
        ) {
            $0 == "cairn-worker" ? own : nil
        } altered: { _ in
            [
                "Test.plan": {
                    ChunkOutcome(blob: try $0.blobs.put(Data("new\n".utf8), mediaType: "x"))
                }
            ]
        }

        let difference = try #require(comparison.compare(chunk))

        #expect(difference.cause == cause)
        #expect(difference.recordedBuild == recorded && difference.build == own)
        #expect(difference.changes.map(\.pointer) == ["0/0"])
    }

    @Test func `a batch's chunk is done again, and damaged input named as the cause`() throws {
        let compared = try ComparedSite()
        let input = try compared.site.blobs.put(
            Data("{\"kind\":\"BatchGeocode\"}\n".utf8), mediaType: "application/jsonl")
        let chunk = try #require(
            try compared.completedPlan(by: "a", of: .batch, input: input, made: nil))
        let comparison = try ChunkComparison(
            site: compared.site, engine: compared.engine, scratch: compared.site.path + "/scratch",
            tolerance: 0
        ) { _ in "a" }

        #expect(comparison.compare(chunk) == nil)

        let path = compared.site.blobs.path(input.id)
        try Data("{\"kind\":\"BatchIdentify\"}".utf8).write(to: URL(filePath: path))
        #expect(comparison.compare(chunk)?.cause == .dataMissing)
    }

    @Test func `a kept answer and a digest that do not belong together are reported`() throws {
        let compared = try ComparedSite()
        let found = compared.records.filter { record in
            guard let answer = record.answer as? IdentifyAnswer else { return false }
            return !answer.layers.isEmpty
        }
        var (digest, kept) = (found[0], found[0])
        digest.answerDigest = try #require(
            ContentID(rawValue: String(repeating: "0", count: 64)))
        var answer = try #require(kept.answer as? IdentifyAnswer)
        answer.layers[0].results[0].distance += 1
        kept.answer = answer

        let (summary, differences) = try compare([digest, kept], compared.engine)

        #expect(summary.differingCount == 2)
        #expect(differences.allSatisfy { $0.cause == .recordingChanged })
        #expect(differences.map(\.changes.count) == [0, 1])
        #expect(differences[0].message.hasSuffix("the kept answer is this build's"))
        #expect(differences[1].message.hasSuffix("the digest is that of this build's answer"))
    }

    @Test func `the lines of a recording read back, a torn last one is left out`() throws {
        let compared = try ComparedSite()
        let path = compared.site.path + "/1-test-1.jsonl"
        var bytes = Data()
        for record in compared.records {
            bytes += try CairnJSON.encode(record) + Data("\n".utf8)
        }
        try (bytes + bytes.prefix(100)).write(to: URL(filePath: path))
        var read: [RecordedRequest] = []
        var lines = try RecordingLines(path: path)
        while let record = try lines.next() { read.append(record) }
        #expect(read == compared.records)

        try (bytes + Data("{}\n".utf8) + bytes).write(to: URL(filePath: path))
        var damaged = try RecordingLines(path: path)
        var count = 0
        do throws(Failure) {
            while try damaged.next() != nil { count += 1 }
            Issue.record("a damaged line was passed over")
        } catch {
            #expect(error.code == .corrupt && error.message.contains("line 61"))
            #expect(count == 60)
        }
    }
}
