// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Testing

@Suite struct MapNameTests {
    @Test(arguments: ["", "1st", "a b", "a/b", "é", String(repeating: "a", count: 65)])
    func `a name that breaks the rule is refused`(_ text: String) {
        #expect(MapName(rawValue: text) == nil)
    }

    @Test func `a plain name is taken`() {
        #expect(MapName(rawValue: "World_2")?.rawValue == "World_2")
    }
}
