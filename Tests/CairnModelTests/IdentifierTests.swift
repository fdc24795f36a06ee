// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Testing

@Suite struct MapNameTests {
    @Test(arguments: [
        "", "1st", "a b", "é", "a//b", "/a", "a/", "a/b/c", "a/1",
        "a/MapServer", "a/gpserver", "a/" + String(repeating: "b", count: 63),
        String(repeating: "a", count: 65),
    ])
    func `a name that breaks the rule is refused`(_ text: String) {
        #expect(MapName(rawValue: text) == nil)
    }

    @Test func `a plain name is taken`() {
        #expect(MapName(rawValue: "World_2")?.rawValue == "World_2")
    }

    @Test func `a folder stands before a slash`() throws {
        let name = try #require(MapName(rawValue: "Planning/MapServer_2"))
        #expect(name.rawValue == "Planning/MapServer_2")
        #expect(MapName(rawValue: "a/" + String(repeating: "b", count: 62)) != nil)
    }
}
