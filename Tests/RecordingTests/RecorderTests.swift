// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import Recording
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecorderTests {
    private final class Scratch {
        let path = "/tmp/cairn-rec-" + UUID().uuidString.prefix(8).lowercased()
        var recordings: String { path + "/recordings" }
        init() throws {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func records() throws -> [RecordedRequest] {
            try RecordingDirectory(path: recordings).files.flatMap { file in
                try Data(contentsOf: URL(filePath: file)).split(separator: UInt8(ascii: "\n"))
                    .map { try CairnJSON.decode(RecordedRequest.self, from: Data($0)) }
            }
        }
    }

    private static let world = MapName(rawValue: "World") ?? { preconditionFailure() }()

    private typealias Exchange = (request: IdentifyRequest, answer: IdentifyAnswer)

    private static func exchange(_ number: Int, hits: Int = 1) -> Exchange {
        let request = IdentifyRequest(
            map: world, geometry: .point(Coordinate(x: Double(number), y: 0.1)), tolerance: 3,
            mapExtent: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1),
            imageDisplay: ImageDisplay(width: 100, height: 100))
        let results = (0..<hits).map { hit in
            IdentifyResult(
                layerID: 0, layerName: "towns", objectID: Int64(hit), displayFieldName: "NAME",
                value: .string("town \(number)"),
                attributes: Attributes([.init(name: "NAME", value: .string("town \(number)"))]),
                geometryType: .point, geometry: nil, distance: 0.1)
        }
        let layer = IdentifyLayerResult(
            layerID: 0, layerName: "towns", results: results, sublayerResults: [],
            transferLimitExceeded: false)
        return (
            request,
            IdentifyAnswer(
                layers: [layer], spatialReference: SpatialReference(wkid: 4326),
                sequence: Int64(number), isStale: false)
        )
    }

    private func recorder(
        _ scratch: Scratch, _ rate: String, limits: RecordingLimits = RecordingLimits()
    ) throws -> Recorder {
        try Recorder(
            directory: scratch.recordings, process: "test", rate: try RecordingRate.parse(rate),
            build: { "1.2.3+test" }, limits: limits)
    }

    @Test func `each request asks for the log's name as deep in the stack as the first`() throws {
        let scratch = try Scratch()
        let recorder = try recorder(scratch, "all")
        let places = Mutex<[Int]>([])
        recorder.nameLog {
            var here = 0
            let place = unsafe withUnsafePointer(to: &here) { Int(bitPattern: $0) }
            places.withLock { $0.append(place) }
            return nil
        }

        for number in 0..<1_000 {
            recorder.note(Self.exchange(number), Recorder.Context(sequence: Int64(number)))
        }
        recorder.close()

        let asked = places.withLock { $0 }
        #expect(recorder.counts.written == 1_000 && asked.count == 1_000)
        #expect(Set(asked).count == 1, "from \(asked.max() ?? 0) down to \(asked.min() ?? 0)")
    }

    @Test func `recorded requests read back as they were, in order`() throws {
        let scratch = try Scratch()
        let recorder = try recorder(scratch, "all")
        for number in 0..<200 {
            recorder.note(Self.exchange(number), Recorder.Context(sequence: Int64(number)))
        }
        recorder.close()

        let records = try scratch.records()
        #expect(recorder.counts.written == 200 && records.count == 200)
        #expect(recorder.counts.dropped == 0 && recorder.counts.failed == 0)
        for (number, record) in records.enumerated() {
            let (request, answer) = Self.exchange(number)
            #expect(record.request as? IdentifyRequest == request)
            #expect(record.answer as? IdentifyAnswer == answer)
            #expect(record.sequence == Int64(number) && record.skipped == 0)
            #expect(record.process == "test" && record.build == "1.2.3+test")
            #expect(try record.answer?.digest() == record.answerDigest)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.recordings)
        #expect((attributes[.posixPermissions] as? Int) == 0o700)
    }

    @Test func `a file that is removed, alone or with its directory, is followed by a new one`()
        async throws
    {
        let scratch = try Scratch()
        let recorder = try recorder(scratch, "all")
        func keep(_ number: Int) async throws {
            recorder.note(Self.exchange(number), Recorder.Context(sequence: Int64(number)))
            try await waitUntil("record \(number) is written") {
                recorder.counts.written > number
            }
        }
        try await keep(0)
        try await keep(1)
        #expect(RecordingDirectory(path: scratch.recordings).files.count == 1)
        for file in RecordingDirectory(path: scratch.recordings).files {
            try FileManager.default.removeItem(atPath: file)
        }
        try await keep(2)
        #expect(try scratch.records().map(\.sequence) == [2])
        try FileManager.default.removeItem(atPath: scratch.recordings)
        try await keep(3)
        recorder.close()
        #expect(try scratch.records().map(\.sequence) == [3])
        #expect(recorder.counts.failed == 0)
    }

    @Test func `a recorder beyond its rate keeps nothing and says how many requests it left out`()
        throws
    {
        let scratch = try Scratch()
        let recorder = try recorder(scratch, "5")
        let start = ContinuousClock.now
        var asked = 0
        for number in 0..<1_000 {
            recorder.note(Self.exchange(number), Recorder.Context(sequence: 1))
            asked += 1
        }
        let seconds = Int((ContinuousClock.now - start).components.seconds) + 2
        recorder.close()

        let counts = recorder.counts
        let records = try scratch.records()
        #expect(counts.written == records.count && records.count <= 5 * seconds)
        #expect(records.count >= 5)
        #expect(counts.written + counts.beyondRate + counts.dropped == asked)
        #expect(records.reduce(0) { $0 + $1.skipped } <= counts.beyondRate + counts.dropped)
    }

    @Test func `large requests are kept as far as a fiftieth of a processor goes, unless all are`()
        throws
    {
        let large = Self.exchange(1, hits: 5_000)
        /// Notes one after the other is written, until one is not kept.
        func kept(_ rate: String, atMost count: Int) throws -> Recorder.Counts {
            let scratch = try Scratch()
            let recorder = try recorder(scratch, rate)
            for number in 1...count where recorder.counts.beyondRate == 0 {
                recorder.note(large, Recorder.Context(sequence: 1))
                while recorder.counts.written + recorder.counts.beyondRate < number {
                    sched_yield()
                }
            }
            recorder.close()
            #expect(try scratch.records().count == recorder.counts.written)
            return recorder.counts
        }

        let shared = try kept("1000000", atMost: 2_000)
        #expect(shared.beyondRate == 1 && shared.written > 0)
        #expect(try kept("all", atMost: shared.written + 1).written == shared.written + 1)
    }

    @Test func `a recorder that is switched off makes nothing`() throws {
        let scratch = try Scratch()
        let recorder = try recorder(scratch, "off")
        recorder.note(Self.exchange(1), Recorder.Context(sequence: 1))
        recorder.close()

        #expect(recorder.counts.written == 0 && recorder.counts.beyondRate == 0)
        #expect(!FileManager.default.fileExists(atPath: scratch.recordings))
        #expect(RecordingRate(parsing: "0") == nil && RecordingRate(parsing: "-1") == nil)
        #expect(RecordingRate(parsing: "some") == nil)
        for text in ["off", "all", "17"] {
            #expect(RecordingRate(parsing: text)?.description == text)
        }
    }

    @Test func `files are ended at their size, and the oldest go beyond the whole`() throws {
        let scratch = try Scratch()
        var limits = RecordingLimits()
        limits.segmentByteCount = 20_000
        limits.totalByteCount = 60_000
        for block in 0..<40 {
            let recorder = try recorder(scratch, "all", limits: limits)
            for number in 0..<20 {
                recorder.note(
                    Self.exchange(20 * block + number), Recorder.Context(sequence: Int64(block)))
            }
            recorder.close()
        }

        let files = RecordingDirectory(path: scratch.recordings).files
        let sizes = try files.map {
            try #require(FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int)
        }
        #expect(sizes.allSatisfy { $0 <= 70_000 } && sizes.reduce(0, +) <= 80_000)
        #expect(try scratch.records().last?.sequence == 39)
        #expect(try (scratch.records().first?.sequence ?? 0) > 0, "the oldest are gone")
    }

    @Test func `recordings that are too old are removed`() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.recordings, withIntermediateDirectories: true)
        for name in ["1000000-a-1.jsonl", "9000000-a-1.jsonl", "notes.txt"] {
            try Data("{}\n".utf8).write(to: URL(filePath: scratch.recordings + "/" + name))
        }
        var limits = RecordingLimits()
        limits.ageSeconds = 5
        let directory = RecordingDirectory(path: scratch.recordings)
        directory.trim(to: limits, at: 10_000_000)

        #expect(directory.files == [scratch.recordings + "/9000000-a-1.jsonl"])
        #expect(FileManager.default.fileExists(atPath: scratch.recordings + "/notes.txt"))
    }

    @Test func `an answer that is too long is kept as its digest`() throws {
        let long = Self.exchange(1, hits: 2_000)
        let record = try RecordedRequest(
            .identify, long.request, long.answer, at: Timestamp(microseconds: 1), process: "test",
            build: "1", skipped: 0, sequence: 1)

        #expect(record.answer == nil)
        #expect(try long.answer.digest() == record.answerDigest)
        let again = try CairnJSON.decode(
            RecordedRequest.self, from: try CairnJSON.encode(record))
        #expect(again == record)
    }

    @Test func `lines name the log that their numbers are of, once that is known`() async throws {
        let scratch = try Scratch()
        let recorder = try recorder(scratch, "all")
        let incarnation = UUID()
        recorder.note(Self.exchange(0), Recorder.Context(sequence: 1))
        try await waitUntil("the first record is written") { recorder.counts.written >= 1 }
        recorder.nameLog { incarnation }
        recorder.note(Self.exchange(1), Recorder.Context(sequence: 2))
        recorder.close()

        #expect(try scratch.records().map(\.incarnation) == [nil, incarnation])
        let files = RecordingDirectory(path: scratch.recordings).files
        let text = try String(contentsOfFile: try #require(files.first), encoding: .utf8)
        #expect(
            text.contains(#""incarnation":"\#(incarnation.uuidString.lowercased())""#)
                && text.contains(#""form":1"#), "an earlier build reads it")
    }

    @Test func `the digest does not depend on when the log was last heard`() throws {
        var answer = Self.exchange(1).answer
        let digest = try answer.digest()
        answer.sequence += 5
        answer.isStale = true
        #expect(try answer.digest() == digest)
        answer.layers[0].results[0].distance += 1e-12
        #expect(try answer.digest() != digest)
    }

    private static func answer(_ body: String, next: QueryPart? = nil) -> QueryAnswer {
        QueryAnswer(body: Array(body.utf8), sequence: 7, isStale: true, next: next)
    }

    @Test func `queries and finds read back as they were, and their lines have the later form`()
        throws
    {
        var query = QueryRequest(map: Self.world, layer: 3)
        query.clause = "NAME = 'Zürich'"
        query.part = QueryPart(row: 1, byteCount: 2, totalByteCount: 3)
        var find = FindRequest(map: Self.world, text: "ü")
        find.layerDefinitions = [3: "POP > 1"]
        let more = QueryPart(row: 9, byteCount: 8, totalByteCount: 7)
        func record<Request: RecordedQuestion, Answer: RecordedAnswer>(
            _ operation: CairnModel.Operation<Request, Answer>, _ request: Request, _ answer: Answer
        ) throws -> RecordedRequest {
            try RecordedRequest(
                operation, request, answer, at: Timestamp(microseconds: 1), process: "test",
                build: "1", skipped: 0, sequence: 7)
        }
        let records = [
            try record(.query, query, Self.answer(#"{"features":[{"name":"Zürich \u0007"}]}"#)),
            try record(.query, query, Self.answer("\"half of", next: more)),
            try record(.find, find, Self.answer(#"{"results":[]}"#)),
        ]
        for (record, form) in zip(records, [2, 2, 3]) {
            let line = try CairnJSON.encode(record)
            #expect(String(decoding: line, as: UTF8.self).contains(#""form":\#(form)"#))
            let again = try CairnJSON.decode(RecordedRequest.self, from: line)
            #expect(again == record && again.answer != nil)
            #expect(try again.answer?.digest() == record.answerDigest)
        }
        #expect(Set(records.map(\.answerDigest)).count == records.count)

        let click = Self.exchange(1)
        let identify = try record(.identify, click.request, click.answer)
        let line = String(decoding: try CairnJSON.encode(identify), as: UTF8.self)
        #expect(line.contains(#""form":1"#), "an earlier build reads it")
        let failure = #expect(throws: Failure.self) {
            try CairnJSON.decode(
                RecordedRequest.self,
                from: Data(line.replacing(#""form":1"#, with: #""form":5"#).utf8))
        }
        #expect(failure?.code == .newerVersion)
    }

    @Test func `the digest of a query is that of its bytes and of where it goes on`() throws {
        func digest(_ answer: QueryAnswer) throws -> ContentID {
            try answer.digest()
        }
        var later = Self.answer("{}")
        later.sequence = 99
        later.isStale = false
        #expect(try digest(later) == digest(Self.answer("{}")))
        #expect(try digest(Self.answer("{ }")) != digest(later))
        let next = QueryPart(row: 1, byteCount: 0, totalByteCount: 2)
        #expect(try digest(Self.answer("{}", next: next)) != digest(later))
    }

    @Test func `an answer that is long, or ends in the middle of a letter, is kept as its digest`()
        throws
    {
        let long = String(repeating: "x", count: RecordedRequest.answerByteLimit + 1)
        let halves = [Array(long.utf8), Array("Zü".utf8.dropLast())]
        for body in halves {
            let answer = QueryAnswer(body: body, sequence: 1, isStale: false, next: nil)
            let record = try RecordedRequest(
                .query, QueryRequest(map: Self.world, layer: 0), answer,
                at: Timestamp(microseconds: 1), process: "test", build: "1", skipped: 0,
                sequence: 1)
            #expect(record.answer == nil)
            #expect(try answer.digest() == record.answerDigest)
        }
    }

    @Test func `large answers that wait are bounded by their bytes`() throws {
        let scratch = try Scratch()
        let gate = BlockingQueue<Bool>(capacity: 1)
        // The recorder's thread reads the build before it writes anything.
        let recorder = try Recorder(
            directory: scratch.recordings, process: "test", rate: .all,
            build: { gate.pop() == true ? "1" : "0" })
        let body = [UInt8](repeating: 0x20, count: 6 << 20)
        for number in 0..<20 {
            recorder.note(
                .query, QueryRequest(map: Self.world, layer: 0),
                QueryAnswer(body: body, sequence: 1, isStale: false, next: nil),
                Recorder.Context(sequence: Int64(number)))
        }
        #expect(recorder.counts.dropped == 15, "five have 30 MiB, one more 36")
        _ = gate.tryPush(true)
        recorder.close()

        #expect(recorder.counts.written == 5)
        #expect(try scratch.records().map(\.sequence) == [0, 1, 2, 3, 4])
    }

    @Test func `a build is named by the bytes of its program`() throws {
        let scratch = try Scratch()
        try Data("abc".utf8).write(to: URL(filePath: scratch.path + "/program"))
        // FIPS 180-4's example.
        #expect(Recorder.digest(ofProgram: scratch.path + "/program") == "ba7816bf8f01")
        #expect(Recorder.digest(ofProgram: scratch.path + "/none") == nil)
    }

    @Test func `a directory that cannot be made fails no request`() throws {
        let scratch = try Scratch()
        try Data().write(to: URL(filePath: scratch.recordings))
        let recorder = try recorder(scratch, "all")
        recorder.note(Self.exchange(1), Recorder.Context(sequence: 1))
        recorder.close()

        #expect(recorder.counts.failed == 1 && recorder.counts.written == 0)
    }
}

extension Recorder {
    fileprivate func note(
        _ exchange: (request: IdentifyRequest, answer: IdentifyAnswer), _ context: Context
    ) {
        note(.identify, exchange.request, exchange.answer, context)
    }
}

@Suite struct RecordedOperationTests {
    @Test func `every operation that is recorded has its line, and no other`() {
        let recorded = Operations.all.filter(\.isRecorded).map(\.name)

        #expect(Set(RecordedOperation.all.map(\.name)) == Set(recorded))
    }
}
