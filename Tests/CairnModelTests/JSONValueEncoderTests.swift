// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

/// The fast encoder writes Foundation's bytes, and leaves the rest to it.
@Suite struct JSONWritingTests {
    private static func oracle(_ value: some Encodable) -> Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try? encoder.encode(value)
    }

    /// A value that writes itself in every way that an `Encoder` offers.
    private indirect enum Tree: Encodable {
        case null, bool(Bool), int(Int), tiny(Int8), big(UInt64), real(Double), half(Float)
        case text(String), data(Data), id(UUID), date(Date), nothing
        case list([Tree])
        case object([(String, Tree)])
        /// Its elements' members through containers of one encoder.
        case nested([[(String, Tree)]])
        /// One object inside another, written after a member that follows it.
        case late(String, String)
        /// An object in two goes.
        case twice([(String, Tree)], [(String, Tree)])
        case parent(Tree)
        case optional(Tree?)
        case table([String: Int])

        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        private static func write(
            _ members: [(String, Tree)], to container: inout KeyedEncodingContainer<Key>
        ) throws {
            for (name, value) in members {
                let key = Key(stringValue: name)
                switch value {
                case .null: try container.encodeNil(forKey: key)
                case .bool(let value): try container.encode(value, forKey: key)
                case .int(let value): try container.encode(value, forKey: key)
                case .real(let value): try container.encode(value, forKey: key)
                case .text(let value): try container.encode(value, forKey: key)
                case .data(let value): try container.encode(value, forKey: key)
                case .optional(let value): try container.encodeIfPresent(value, forKey: key)
                default: try container.encode(value, forKey: key)
                }
            }
        }

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .nothing: break
            case .list(let elements):
                var container = encoder.unkeyedContainer()
                for element in elements {
                    switch element {
                    case .null: try container.encodeNil()
                    case .text(let value): try container.encode(value)
                    case .object(let members):
                        var inner = container.nestedContainer(keyedBy: Key.self)
                        try Self.write(members, to: &inner)
                    default: try container.encode(element)
                    }
                }
            case .object(let members):
                var container = encoder.container(keyedBy: Key.self)
                try Self.write(members, to: &container)
            case .nested(let parts):
                var container = encoder.container(keyedBy: Key.self)
                for (number, members) in parts.enumerated() {
                    var inner = container.nestedContainer(
                        keyedBy: Key.self, forKey: Key(stringValue: "\(9 - number)"))
                    try Self.write(members, to: &inner)
                }
                var list = container.nestedUnkeyedContainer(forKey: Key(stringValue: "list"))
                for members in parts { try list.encode(Tree.object(members)) }
            case .late(let first, let second):
                var container = encoder.container(keyedBy: Key.self)
                var inner = container.nestedContainer(
                    keyedBy: Key.self, forKey: Key(stringValue: "inner"))
                try inner.encode(first, forKey: Key(stringValue: "a"))
                try container.encode(second, forKey: Key(stringValue: "outer"))
                try inner.encode(second, forKey: Key(stringValue: "b"))
            case .twice(let first, let second):
                var container = encoder.container(keyedBy: Key.self)
                try Self.write(first, to: &container)
                var again = encoder.container(keyedBy: Key.self)
                try Self.write(second, to: &again)
            case .parent(let value):
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(1, forKey: Key(stringValue: "own"))
                try value.encode(to: container.superEncoder())
            default:
                var container = encoder.singleValueContainer()
                switch self {
                case .bool(let value): try container.encode(value)
                case .int(let value): try container.encode(value)
                case .tiny(let value): try container.encode(value)
                case .big(let value): try container.encode(value)
                case .real(let value): try container.encode(value)
                case .half(let value): try container.encode(value)
                case .text(let value): try container.encode(value)
                case .data(let value): try container.encode(value)
                case .id(let value): try container.encode(value)
                case .date(let value): try container.encode(value)
                case .optional(let value): try container.encode(value)
                case .table(let value): try container.encode(value)
                default: try container.encodeNil()
                }
            }
        }
    }

    private struct Trees {
        var random: SeededGenerator

        mutating func text() -> String {
            let letters = Array("abzZ_ !/\"\\\n\t\u{0}\u{1f}\u{7f}é\u{301}e😀\u{fffd}09{}[],:")
            return String(
                (0..<Int.random(in: 0...9, using: &random)).compactMap { _ in
                    letters.randomElement(using: &random)
                })
        }

        mutating func name() -> String {
            let names = [
                "a", "B", "b", "ab", "ab c", "ab!", "a10", "a2", "", "é", "e\u{301}", "ä",
                "\u{fffd}", "😀", "objectid", "objectIds", "a/b", "q\"", "l\n", "\u{7f}",
            ]
            let isPlain = Int.random(in: 0..<8, using: &random) > 0
            return (isPlain ? names.prefix(12).randomElement(using: &random) : nil)
                ?? names.randomElement(using: &random) ?? ""
        }

        mutating func members(_ depth: Int) -> [(String, Tree)] {
            (0..<Int.random(in: 0...5, using: &random)).map { _ in (name(), tree(depth + 1)) }
        }

        mutating func tree(_ depth: Int) -> Tree {
            if depth < 5, Int.random(in: 0..<3, using: &random) > 0 {
                switch Int.random(in: 0..<24, using: &random) {
                case 0: return .late(text(), text())
                case 1: return .parent(tree(depth + 1))
                case 2: return .twice(members(depth), members(depth))
                case 3, 4:
                    return .nested(
                        (0..<Int.random(in: 0...3, using: &random)).map { _ in members(depth) })
                case 5: return .optional(Bool.random(using: &random) ? tree(depth + 1) : nil)
                case 6:
                    let names = [text(), text(), name(), name() + "x"]
                    return .table(
                        Dictionary(zip(names, 1...)) { first, _ in first })
                case 7..<14:
                    return .list(
                        (0..<Int.random(in: 0...5, using: &random)).map { _ in tree(depth + 1) })
                default: return .object(members(depth))
                }
            }
            switch Int.random(in: 0..<40, using: &random) {
            case 0: return .date(Date(timeIntervalSinceReferenceDate: 1.5))
            case 1: return .nothing
            case 2: return .real(.infinity)
            case 3..<6: return .tiny(Int8.random(in: .min ... .max, using: &random))
            case 6..<9: return .big(UInt64.random(in: .min ... .max, using: &random))
            case 9..<13: return .half(Float.random(in: -1e6...1e6, using: &random))
            case 13..<19: return .real(Double.random(in: -1e6...1e6, using: &random))
            case 19..<22: return .data(Data(text().utf8))
            case 22..<24: return .id(UUID())
            case 24..<26: return .bool(Bool.random(using: &random))
            case 26..<28: return .null
            case 28..<33: return .int(Int.random(in: .min ... .max, using: &random))
            default: return .text(text())
            }
        }
    }

    private static let seeds: [UInt64] = (1...8).map { $0 &* 6_151 }

    @Test(.slow, arguments: seeds)
    func `random values are written as Foundation writes them, or not at all`(seed: UInt64) {
        var trees = Trees(random: SeededGenerator(seed: seed))
        var (fast, slow) = (0, 0)
        for _ in 0..<4_000 {
            let tree = trees.tree(0)
            guard let written = JSONValueEncoder.encode(tree) else {
                slow += 1
                continue
            }
            fast += 1
            let expected = Self.oracle(tree)
            if written != expected { Issue.record("seed \(seed): \(tree)") }
        }
        #expect(min(fast, slow) > 500, "seed \(seed): \(fast) fast, \(slow) slow")
    }

    @Test(arguments: GoldenEventTests.goldens)
    func `stored events are written fast and written the same`(
        golden: GoldenEventTests.Golden
    ) throws {
        let event = NewEvent(
            id: UUID(), type: golden.type, schema: golden.schema, data: golden.bytes,
            metadata: EventMetadata())
        func check(_ payload: some EventPayload) throws {
            let written = try #require(JSONValueEncoder.encode(payload))
            #expect(written == Self.oracle(payload))
        }
        switch golden.type.split(separator: ".").first {
        case "map": try check(try MapEvent(event).payload)
        case "job": try check(try JobEvent(event).payload)
        case "site": try check(try SiteEvent(event).payload)
        case "refresh": try check(try RefreshEvent(event).payload)
        case "network": try check(try NetworkEvent(event).payload)
        case "locator" where event.type == LocatorDeleted.eventType:
            try check(try LocatorDeleted.decode(event))
        default: try check(try LocatorPublished.decode(event))
        }
    }

    @Test(arguments: seeds)
    func `every number is written as Foundation writes it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var numbers: [Double] = [
            0, -0.0, 1, -1, 1e15, 1e16, 1e17, 9_007_199_254_740_992, 9_007_199_254_740_994,
            -9_007_199_254_740_994, 123_456_789_012_345_680, 1e22, 1e-4, 1e-5,
            .leastNonzeroMagnitude,
            .greatestFiniteMagnitude, .leastNormalMagnitude, 0.1, 100, 1_000_000,
        ]
        for _ in 0..<2_000 {
            numbers.append(Double.random(in: -180...180, using: &random))
            numbers.append(Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 1_000)
            numbers.append(Double(Int64.random(in: .min ... .max, using: &random)))
            let any = Double(bitPattern: UInt64.random(in: .min ... .max, using: &random))
            if any.isFinite { numbers.append(any) }
        }
        #expect(JSONValueEncoder.encode(numbers) == Self.oracle(numbers), "seed \(seed)")
        let halves = numbers.map { Float($0) }.filter(\.isFinite)
        #expect(JSONValueEncoder.encode(halves) == Self.oracle(halves), "seed \(seed)")
        let whole = (0..<2_000).map { _ in UInt64.random(in: .min ... .max, using: &random) }
        #expect(JSONValueEncoder.encode(whole) == Self.oracle(whole), "seed \(seed)")
        #expect(
            JSONValueEncoder.encode([Int64.min, .max, 0, -1])
                == Self.oracle([Int64.min, .max, 0, -1]))
    }

    @Test func `a value that JSON cannot express is refused as Foundation refuses it`() throws {
        for value in [Double.nan, .infinity, -.infinity] {
            #expect(JSONValueEncoder.encode(["a": value]) == nil)
            let failure = #expect(throws: Failure.self) { try CairnJSON.encode(["a": value]) }
            #expect(failure?.code == .invalidParameter)
        }
        #expect(JSONValueEncoder.encode(Tree.nothing) == nil)
    }

    /// Thrown by a value that tolerates the loss of its member.
    private struct Careless: Encodable {
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try container.encode(1)
                throw CancellationError()
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Tree.Key.self)
            try? container.encode(Failing(), forKey: Tree.Key(stringValue: "a"))
            try container.encode(2, forKey: Tree.Key(stringValue: "b"))
        }
    }

    @Test func `a value that throws leaves nothing half written`() {
        #expect(JSONValueEncoder.encode(Careless()) == nil)
        #expect(JSONValueEncoder.encode(Careless.Failing()) == nil)
    }
}
