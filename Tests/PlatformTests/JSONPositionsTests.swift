// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import TestKit
import Testing

@testable import Platform

/// Coordinates read without a tree are those of the tree.
@Suite struct JSONPositionsTests {
    private func trees(_ text: String) -> (plain: JSONTree?, packed: JSONTree?) {
        (JSONTree(Array(text.utf8)), JSONTree(Array(text.utf8), packsPositions: true))
    }

    private func isPacked(_ tree: JSONTree?, _ name: String) -> Bool {
        if case .positions? = tree?[name] { true } else { false }
    }

    @Test(arguments: Seeds.chosen(40))
    func `packed positions are the numbers of the text`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        func number() -> String {
            let digits = (0..<Int.random(in: 0...18, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }.joined()
            let whole = Int.random(in: -200...200, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: return "\(whole)"
            case 1: return "\(whole).\(digits)5e\(Int.random(in: -30...30, using: &random))"
            case 2: return "-0.\(digits)0"
            default: return "\(whole).\(digits)\(Int.random(in: 0...9, using: &random))"
            }
        }
        let (space, count) = (seed % 3 == 0 ? " \n\t" : "", Int.random(in: 2...4, using: &random))
        func position() -> String {
            "[" + (0..<count).map { _ in number() }.joined(separator: space + "," + space) + "]"
        }
        func list() -> String {
            let positions = (0..<Int.random(in: 0...30, using: &random)).map { _ in position() }
            return "[\(space)" + positions.joined(separator: "," + space) + "\(space)]"
        }
        let lists = (0..<Int.random(in: 0...5, using: &random)).map { _ in list() }
        let rings = "[\(space)" + lists.joined(separator: ",") + "]"
        let name = seed % 2 == 0 ? "rings" : "paths"
        let text = #"{"\#(name)":\#(rings),"points":\#(list()),"hasZ":true}"#

        let (plain, packed) = trees(text)

        #expect(isPacked(packed, name) && isPacked(packed, "points"), "\(text)")
        #expect(!isPacked(plain, name))
        for name in [name, "points"] {
            let wanted = try #require(plain?[name]).numbers.map(\.bitPattern)
            #expect(try #require(packed?[name]).numbers.map(\.bitPattern) == wanted)
        }
        #expect(packed?["hasZ"]?.isTrue == true)
        #expect(try #require(plain).shape == (try #require(packed).shape))
    }

    @Test(
        arguments: [
            #"{"rings":[[[1,2],[3,"4"]]]}"#, #"{"rings":[[[1,2],[3,4,5]]]}"#,
            #"{"rings":[[[1,2],null]]}"#, #"{"rings":[[[1]]]}"#, #"{"rings":[[[1,2,3,4,5]]]}"#,
            #"{"rings":[[1,2]]}"#, #"{"rings":{"x":1}}"#, #"{"rings":null}"#, #"{"rings":"a"}"#,
            #"{"points":[[[1,2]]]}"#, #"{"points":[1,2]}"#, #"{"rings":[[[[1,2]]]]}"#,
        ])
    func `what is not positions is a tree`(_ text: String) throws {
        let (plain, packed) = trees(text)
        #expect(!isPacked(packed, "rings") && !isPacked(packed, "points"))
        #expect(try #require(plain).jsonText == (try #require(packed).jsonText))
    }

    @Test(
        arguments: [
            #"{"rings":[[[1,2],[3,4]]"#, #"{"rings":[[[1,2],[3,]]]}"#, #"{"rings":[[[01,2]]]}"#,
            #"{"rings":[[[1.,2]]]}"#, #"{"rings":[[[+1,2]]]}"#, #"{"rings":[[[1,2]]]]}"#,
            #"{"rings":[[[.5,2]]]}"#, #"{"rings":[[[1e,2]]]}"#, #"{"rings":[[[1,2],]]}"#,
            #"{"rings":[[[-,2]]]}"#, #"{"rings":[[[1 2]]]}"#, #"{"rings":[[[1.5.5,2]]]}"#,
            #"{"rings":[[[1e999,2]]]}"#, #"{"rings":[[[1,2"#, #"{"points":[[1,00]]}"#,
        ])
    func `what is no JSON is refused`(_ text: String) {
        let (plain, packed) = trees(text)
        #expect(plain == nil && packed == nil)
    }

    @Test func `as deep as a tree may be, and no deeper`() {
        for (name, value, depth) in [("rings", "[[[1,2]]]", 3), ("points", "[[1,2]]", 2)] {
            for level in 58...64 {
                let text =
                    String(repeating: "[", count: level) + #"{"\#(name)":\#(value)}"#
                    + String(repeating: "]", count: level)
                let (plain, packed) = trees(text)
                #expect((plain == nil) == (packed == nil), "\(name) \(level)")
                #expect((plain != nil) == (level + 1 + depth < 64), "\(name) \(level)")
            }
        }
    }

    @Test(arguments: Seeds.chosen(20))
    func `a division by a power of ten is rounded once`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let digits = Int.random(in: 0...19, using: &random)
            let bits = Int.random(in: 1...63, using: &random)
            var whole = UInt64.random(in: 0...(1 << UInt64(bits)), using: &random)
            if Bool.random(using: &random) {
                // Half way between two of 53 bits, or next to that.
                whole = (whole >> 11 | 1 << 52) << 11 | 1 << 10
                whole = whole &+ UInt64.random(in: 0...2, using: &random) &- 1
            }
            whole = min(whole, 9_999_999_999_999_999_999)
            #expect(
                DecimalScale.all[digits].nearest(whole) == Double("\(whole)e-\(digits)"),
                "\(whole)e-\(digits)")
        }
    }
}

extension JSONTree {
    fileprivate var numbers: [Double] {
        switch self {
        case .array, .positions: elements.flatMap(\.numbers)
        default: number.map { [$0] } ?? []
        }
    }

    /// The value without its numbers.
    fileprivate var shape: String {
        switch self {
        case .array, .positions: "[" + elements.map(\.shape).joined(separator: ",") + "]"
        case .object(let members): members.map { $0.name + $0.value.shape }.joined()
        default: number == nil ? "v" : "n"
        }
    }
}
