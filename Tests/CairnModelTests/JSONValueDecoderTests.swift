// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

/// The fast decoder agrees with Foundation, and leaves the rest to it.
@Suite struct JSONReadingTests {
    /// A form with every kind of member.
    private struct Form: Codable, Hashable {
        enum Choice: String, Codable { case first, second }
        var flag: Bool?
        var number: Int?
        var small: UInt8?
        var big: UInt64?
        var real: Double?
        var text: String?
        var bytes: Data?
        var id: UUID?
        var choice: Choice?
        var value: AttributeValue?
        var values: [AttributeValue]?
        var table: [String: Int]?
        var inside: [Form]?
        var pair: Pair?

        struct Pair: Codable, Hashable {
            var left: String
            var right: [Double?]
        }
    }

    private func oracle<Value: Decodable>(_ type: Value.Type, _ data: Data) -> Value? {
        try? JSONDecoder().decode(type, from: data)
    }

    /// The reader's answer must be Foundation's, or none.
    private func expectAgreement<Value: Decodable & Hashable>(
        _ type: Value.Type, _ text: Data, _ note: Comment
    ) {
        guard let read = JSONValueDecoder.decode(type, from: text) else { return }
        #expect(
            oracle(type, text) == read,
            "\(note): \(String(decoding: text.prefix(400), as: UTF8.self))")
    }

    @Test(arguments: GoldenEventTests.goldens)
    func `stored events are read fast and read the same`(
        golden: GoldenEventTests.Golden
    ) throws {
        let event = NewEvent(
            id: UUID(), type: golden.type, schema: golden.schema, data: golden.bytes,
            metadata: EventMetadata())
        func check<Payload: EventPayload>(_ payload: Payload) {
            #expect(JSONValueDecoder.decode(Payload.self, from: golden.bytes) == payload)
            #expect(oracle(Payload.self, golden.bytes) == payload)
        }
        switch golden.type.split(separator: ".").first {
        case "map": check(try MapEvent(event).payload)
        case "job": check(try JobEvent(event).payload)
        case "site": check(try SiteEvent(event).payload)
        case "refresh": check(try RefreshEvent(event).payload)
        case "network": check(try NetworkEvent(event).payload)
        case "locator" where event.type == LocatorDeleted.eventType:
            check(try LocatorDeleted.decode(event))
        default: check(try LocatorPublished.decode(event))
        }
    }

    @Test func `metadata and everything that programs ask each other is read fast`() throws {
        let event = NewEvent(
            id: UUID(), type: "job.progressed", schema: 1, data: Data(#"{"progress":1.5}"#.utf8),
            metadata: EventMetadata(
                causation: UUID(), actor: "Jörg \"J\" / Müller", producer: "cairn-test/1"))
        let record = RecordedEvent(
            globalPosition: 1 << 50, stream: .job(JobID(rawValue: UUID())), streamPosition: 7,
            recordedAt: Timestamp(microseconds: 1_700_000_000_000_000), event: event)
        let page = ReadPage(events: [record, record], through: 9, head: 10)
        #expect(JSONValueDecoder.decode(ReadPage.self, from: try CairnJSON.encode(page)) == page)
        let append = AppendRequest(appends: [
            StreamAppend(stream: record.stream, expected: .exact(3), events: [event]),
            StreamAppend(stream: record.stream, expected: .noStream, events: [event]),
        ])
        #expect(
            JSONValueDecoder.decode(AppendRequest.self, from: try CairnJSON.encode(append))
                == append)
    }

    private static let seeds: [UInt64] = (1...8).map { $0 &* 7_919 }

    @Test(.slow, arguments: seeds)
    func `random values are read fast and read the same`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let form = randomForm(&random, depth: 0)
            for formatting: JSONEncoder.OutputFormatting in [
                [.sortedKeys, .withoutEscapingSlashes], [.sortedKeys, .prettyPrinted],
            ] {
                let encoder = JSONEncoder()
                encoder.outputFormatting = formatting
                let text = try encoder.encode(form)
                let read = JSONValueDecoder.decode(Form.self, from: text)
                #expect(read == oracle(Form.self, text), "seed \(seed)")
                #expect(read != nil, "seed \(seed): \(String(decoding: text, as: UTF8.self))")
            }
        }
    }

    @Test(.slow, arguments: seeds)
    func `damaged text is read as Foundation reads it, or not at all`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ 1)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0041", "null", "true", "0", "-0", "1e3",
            "1.0", "01", "1e400", "9223372036854775808", "-9223372036854775808", "1e-400", " ",
            "\u{1}",
            "\"number\":3,", "\"number\":2.0,", "é", "\"é\":1,", "2.5e1", ".5", "5.", "+1", "NaN",
            "\"text\":null,", "\"value\":3.0,", "\"value\":1e2,", "\"big\":18446744073709551615,",
            "\"small\":256,", "\"table\":{\"b\":1,\"a\":2,\"b\":3},",
        ].map { Data($0.utf8) }
        let encoder = JSONEncoder()
        for _ in 0..<1_500 {
            encoder.outputFormatting = Bool.random(using: &random) ? [.sortedKeys] : []
            var text = try encoder.encode(randomForm(&random, depth: 1))
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                let end = min(text.count, place + Int.random(in: 0...2, using: &random))
                let piece =
                    Int.random(in: 0..<6, using: &random) == 0
                    ? Data([UInt8.random(in: .min ... .max, using: &random)])
                    : pieces.randomElement(using: &random) ?? Data()
                text.replaceSubrange(place..<end, with: piece)
                guard !text.isEmpty else { break }
            }
            expectAgreement(Form.self, text, "seed \(seed)")
            expectAgreement([AttributeValue].self, text, "seed \(seed)")
        }
    }

    @Test(arguments: [
        "", " ", "[]", "[1", "[1]]", "{\"a\":1", "[1,]", "{\"a\":1,}", "{,}", "[\"\u{7f}\"]",
        "[1e]", "[-]", "[1.]", "[\"\\x\"]", "[\"\\\"]", "[tru]", "[nul", "\u{feff}[1]", "[1]\u{0}",
        "[0x10]", "[1 2]", "[\"a\nb\"]", "[1.0]", "[1e2]", "[100000000000000000000]", "[-0]",
        "[9007199254740993.0]", "[null]", "[true]", "[\"1\"]", "[{\"real\":1,\"real\":2}]",
        "[{\"date\":1.5}]", "[\"\\u00e9\"]", "[\"\\ud800\"]",
    ])
    func `odd text is read as Foundation reads it, or not at all`(text: String) {
        expectAgreement([AttributeValue].self, Data(text.utf8), "text")
        expectAgreement([Int64].self, Data(text.utf8), "text")
        expectAgreement([Double].self, Data(text.utf8), "text")
        expectAgreement([String?].self, Data(text.utf8), "text")
        expectAgreement([[String: Double]].self, Data(text.utf8), "text")
    }

    @Test(arguments: [63, 64, 65, 511, 512, 513, 100_000])
    func `the depth of JSON that is read is bounded`(depth: Int) {
        let text = Data(
            (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        indirect enum Nest: Codable, Hashable {
            case list([Nest])
            init(from decoder: any Decoder) throws {
                self = .list(try decoder.singleValueContainer().decode([Nest].self))
            }
        }
        let isRead = JSONValueDecoder.decode(Nest.self, from: text) != nil
        #expect(isRead == (depth <= 64))
    }

    @Test(arguments: seeds)
    func `every double is read as it was`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let numbers = (0..<2_000).map { index -> Double in
            switch index % 4 {
            case 0: Double.random(in: -180...180, using: &random)
            case 1: (Double.random(in: -1e9...1e9, using: &random) * 100).rounded() / 100
            case 2: Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 1_000
            default:
                Double(
                    sign: .plus,
                    exponent: Int.random(in: -900...900, using: &random),
                    significand: Double.random(in: 1..<2, using: &random))
            }
        }
        let text = try JSONEncoder().encode(numbers)
        let read = try #require(JSONValueDecoder.decode([Double].self, from: text), "seed \(seed)")
        #expect(read.map(\.bitPattern) == numbers.map(\.bitPattern), "seed \(seed)")
    }

    private func randomForm(_ random: inout SeededGenerator, depth: Int) -> Form {
        func chance() -> Bool { Bool.random(using: &random) }
        func text() -> String {
            let letters = Array("abz/\"\\\n\t é😀09{}[],: ")
            return String(
                (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                    letters.randomElement(using: &random)
                })
        }
        func value() -> AttributeValue {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: .null
            case 1: .integer(Int64.random(in: .min ... .max, using: &random))
            case 2: .real(Double.random(in: -1e6...1e6, using: &random))
            case 3: .date(Int64.random(in: -1_000...1_000, using: &random))
            default: .string(text())
            }
        }
        var form = Form()
        if chance() { form.flag = chance() }
        if chance() { form.number = Int.random(in: .min ... .max, using: &random) }
        if chance() { form.small = UInt8.random(in: .min ... .max, using: &random) }
        if chance() { form.big = UInt64.random(in: 0...UInt64(Int64.max), using: &random) }
        if chance() { form.real = Double.random(in: -1e9...1e9, using: &random) }
        if chance() { form.text = text() }
        if chance() { form.bytes = Data(text().utf8) }
        if chance() { form.id = UUID() }
        if chance() { form.choice = chance() ? .first : .second }
        if chance() { form.value = value() }
        if chance() { form.values = (0..<4).map { _ in value() } }
        if chance() { form.table = ["b": 1, "a": 2, "long name of ten": 3, "long name of two": 4] }
        if chance() { form.pair = Form.Pair(left: text(), right: [1.5, nil, 3]) }
        if depth < 2, chance() { form.inside = [randomForm(&random, depth: depth + 1)] }
        return form
    }
}
