// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Platform
import TestKit
import Testing

/// Messages in the fixed layout are decoded as they were encoded, and hostile bytes are refused.
@Suite struct LogLayoutTests {
    private static let seeds: [UInt64] = [1, 20, 300, 4_000]

    private func metadata(_ random: inout SeededGenerator) -> EventMetadata {
        func text() -> String? {
            ["cairn-mapstate/0.1.0", "local", "Jörg", "a \"quote\"", "back\\slash", "a/b", "", nil]
                .randomElement(using: &random) ?? nil
        }
        return EventMetadata(
            causation: Bool.random(using: &random) ? UUID() : nil,
            correlation: Bool.random(using: &random) ? UUID() : nil, actor: text(),
            producer: text())
    }

    private func event(_ random: inout SeededGenerator) -> NewEvent {
        NewEvent(
            id: UUID(), type: ["a", "map.layer.added"].randomElement(using: &random) ?? "a",
            schema: Int.random(in: 1...65_535, using: &random),
            data: Data(
                (0..<Int.random(in: 0...200, using: &random)).map { _ in
                    UInt8.random(in: .min ... .max, using: &random)
                }), metadata: metadata(&random))
    }

    private func record(_ random: inout SeededGenerator) throws -> RecordedEvent {
        RecordedEvent(
            globalPosition: Int64.random(in: 1 ... .max, using: &random),
            stream: try #require(StreamName(rawValue: "map-Größe \(random.next() % 100)")),
            streamPosition: Int64.random(in: 0 ... .max, using: &random),
            recordedAt: Timestamp(microseconds: Int64.random(in: .min ... .max, using: &random)),
            event: event(&random))
    }

    @Test(arguments: seeds)
    func `metadata is stored with the bytes that the general coder writes`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let metadata = metadata(&random)
            #expect(
                try Data(metadata.storedForm()) == CairnJSON.encode(metadata), "seed \(seed)")
        }
    }

    @Test(arguments: seeds)
    func `pages come back as they were`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let events = try (0..<50).map { _ in try record(&random) }
        let records = try CanonicalRecords(events)
        let page = ReadPage(events: events, through: 70, head: 71)
        let layout = ReadPage.fixedLayout(records, through: 70, head: 71)
        #expect(try ReadPage(fixedLayout: layout) == page, "seed \(seed)")
        var decoder = RecordDecoder()
        let published = PublishedEvents.fixedLayout(records, 7..<31)
        // Twice, because the second time every text has been met before.
        for _ in 0..<2 {
            #expect(
                try PublishedEvents.read(fixedLayout: published, by: &decoder)
                    == Array(events[7..<31]), "seed \(seed)")
        }
    }

    @Test(arguments: seeds)
    func `appends and their results come back as they were`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let expected: [ExpectedVersion] = [
            .any, .noStream, .streamExists, .exact(-1), .exact(0), .exact(.max),
        ]
        let request = AppendRequest(
            appends: try expected.map { expected in
                StreamAppend(
                    stream: try record(&random).stream, expected: expected,
                    events: (0..<3).map { _ in event(&random) })
            }, epochs: seed == 1 ? nil : ["map": 3, "job": .max])
        #expect(
            try AppendRequest(fixedLayout: request.fixedLayout()) == request, "seed \(seed)")
        let result = AppendResult(
            firstPosition: 4, lastPosition: 9, isRepeat: true,
            recordedAt: Timestamp(microseconds: -5))
        #expect(try AppendResult(fixedLayout: result.fixedLayout) == result)
    }

    /// Metadata in words of one's own: spaces, another order, small letters, escapes.
    private func otherWords(_ metadata: EventMetadata) throws -> [UInt8] {
        let text = String(decoding: try metadata.storedForm(), as: UTF8.self)
        return Array(text.replacing(/[:,]/) { $0.output + " " }.lowercased().utf8)
    }

    @Test(arguments: seeds)
    func `a record made of an append by copying is the record of its event`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let record = try record(&random)
            let part = StreamAppend(
                stream: record.stream, expected: .any, events: [record.event])
            let request = AppendRequest(appends: [part, part], epochs: ["map": 1])
            let append = try AppendBytes(fixedLayout: request.fixedLayout())
            #expect(append.parts.map(\.events) == [0..<1, 1..<2])
            #expect(append.epochs == request.epochs)
            var records = CanonicalRecords()
            for (part, event) in zip(append.parts, append.events) {
                #expect(try append.value(of: event) == record.event, "seed \(seed)")
                records.append {
                    append.write(
                        event, of: part.stream, at: record.globalPosition,
                        streamPosition: record.streamPosition, time: record.recordedAt, to: &$0)
                }
            }
            #expect(try records == CanonicalRecords([record, record]), "seed \(seed)")
            #expect(records.id(1) == record.event.id)
            #expect(records.position(1) == record.globalPosition)
        }
    }

    @Test(arguments: seeds)
    func `metadata in other words are stored in the one form`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var record = try record(&random)
            record.event.metadata.actor = ["ann", nil].randomElement(using: &random) ?? nil
            record.event.metadata.producer = ["p/1", nil].randomElement(using: &random) ?? nil
            let stored = try record.event.metadata.storedForm()
            let other = try otherWords(record.event.metadata)
            let written = try AppendRequest(appends: [
                StreamAppend(stream: record.stream, expected: .any, events: [record.event])
            ]).fixedLayout()
            func counted(_ bytes: [UInt8]) -> Data {
                var writer = ByteWriter()
                writer.append(count: bytes.count)
                writer.append(bytes)
                return Data(writer.bytes)
            }
            let place = try #require(written.range(of: counted(stored)))
            var changed = written
            changed.replaceSubrange(place, with: counted(other))
            let append = try AppendBytes(fixedLayout: changed)
            #expect(Data(append.bytes) == written, "seed \(seed)")
            #expect(try append.value(of: append.events[0]) == record.event, "seed \(seed)")
        }
    }

    @Test(.slow, arguments: seeds)
    func `damaged bytes are refused or read, and never trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let request = try AppendRequest(appends: [
            StreamAppend(
                stream: record(&random).stream, expected: .exact(4), events: [event(&random)])
        ]).fixedLayout()
        let page = ReadPage.fixedLayout(
            try CanonicalRecords([record(&random)]), through: 1, head: 1)
        for _ in 0..<2_000 {
            for whole in [request, page] {
                var bytes = whole
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
                case 1: bytes.append(0)
                default:
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                        UInt8.random(in: .min ... .max, using: &random)
                }
                _ = try? AppendRequest(fixedLayout: Data(bytes))
                _ = try? ReadPage(fixedLayout: Data(bytes))
                // Taken apart or decoded: both admit the same.
                #expect(
                    (try? AppendBytes(fixedLayout: Data(bytes))) == nil
                        ? (try? AppendRequest(fixedLayout: Data(bytes))) == nil
                        : (try? AppendRequest(fixedLayout: Data(bytes))) != nil, "seed \(seed)")
                _ = try? AppendResult(fixedLayout: Data(bytes))
            }
        }
        for count in 0..<request.count {
            #expect(throws: Failure.self) {
                try AppendRequest(fixedLayout: request.prefix(count))
            }
        }
        for count in 0..<page.count {
            #expect(throws: Failure.self) { try ReadPage(fixedLayout: page.prefix(count)) }
        }
    }
}
