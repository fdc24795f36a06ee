// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import MapState
import Replay
import SiteStory
import TestKit
import Testing

@Suite struct StateDiffTests {
    private static func value(_ text: String) throws -> JSONValue {
        try CairnJSON.decode(JSONValue.self, from: Data(text.utf8))
    }

    @Test(.slow, arguments: [3, 4] as [UInt64])
    func `a difference applied to the first state gives the second`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var kept: [Int64: [StatePart]] = [0: []]
        var story = SiteStory(seed: seed) { state in
            if state.sequence % 25 == 0 { kept[state.sequence] = try state.parts() }
        }
        try story.run(to: 500)
        for _ in 0..<40 {
            let moments = kept.keys.sorted()
            let one = try #require(moments.randomElement(using: &random))
            let two = try #require(moments.randomElement(using: &random))
            let (first, second) = (try #require(kept[one]), try #require(kept[two]))
            let diff = try StateDiff(from: first, to: second)

            #expect(diff.parts.isEmpty == (one == two), "seed \(seed): \(one), \(two)")
            var values: [String: JSONValue] = [:]
            for part in first { values[part.name] = try part.value() }
            for part in diff.parts {
                #expect(!part.changes.isEmpty)
                values[part.name] = FieldChange.apply(part.changes, to: values[part.name])
            }
            var expected: [String: JSONValue] = [:]
            for part in second { expected[part.name] = try part.value() }
            #expect(values == expected, "seed \(seed): \(one), \(two)")
        }
    }

    @Test func `a field is named by its path, an element by its id`() throws {
        let changes = FieldChange.between(
            try Self.value(#"{"a":{"b/c":1},"l":[{"id":1,"v":1},{"id":4,"v":2}],"p":[1,2]}"#),
            try Self.value(#"{"a":{"b/c":2},"l":[{"id":4,"v":3},{"id":9,"v":1}],"p":[2,1]}"#))

        #expect(
            changes.map(\.pointer) == ["a/b~1c", "l/1", "l/4/v", "l/9", "p"])
        #expect(changes[0].before == .integer(1) && changes[0].after == .integer(2))
        #expect(changes[1].after == nil && changes[3].before == nil)
    }

    @Test func `numbers are equal within the tolerance, absolutely and in proportion`() throws {
        func isEqual(_ one: Double, _ two: Double, _ tolerance: Double) -> Bool {
            FieldChange.between(.real(one), .real(two), tolerance: tolerance).isEmpty
        }
        #expect(isEqual(0.5, 0.5 + 1e-10, 1e-9))
        #expect(!isEqual(0.5, 0.5 + 1e-8, 1e-9))
        #expect(isEqual(1e12, 1e12 + 100, 1e-9))
        #expect(!isEqual(1e12, 1e12 + 10_000, 1e-9))
        #expect(!isEqual(1, 1 + 1e-15, 0))
        #expect(FieldChange.between(.integer(1), .real(1.0000000001), tolerance: 1e-9).isEmpty)
        #expect(!FieldChange.between(.string("1"), .integer(1), tolerance: 1).isEmpty)
    }
}
