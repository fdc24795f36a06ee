// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Platform
import TestKit
import Testing

/// What the log and its clients say in the fixed layout comes back as it was, and hostile bytes are
/// refused.
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
        let bytes = try events.map { event in
            var writer = ByteWriter()
            event.write(to: &writer, metadata: try event.event.metadata.storedForm())
            return writer.bytes
        }
        let page = ReadPage(events: events, through: 70, head: 71)
        let layout = ReadPage.fixedLayout(bytes, through: 70, head: 71)
        #expect(try ReadPage(fixedLayout: layout) == page, "seed \(seed)")
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

    @Test(arguments: seeds)
    func `damaged bytes are refused or read, and never trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let request = try AppendRequest(appends: [
            StreamAppend(
                stream: record(&random).stream, expected: .exact(4), events: [event(&random)])
        ]).fixedLayout()
        var writer = ByteWriter()
        try record(&random).write(to: &writer, metadata: Array("{}".utf8))
        let page = ReadPage.fixedLayout([writer.bytes], through: 1, head: 1)
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
