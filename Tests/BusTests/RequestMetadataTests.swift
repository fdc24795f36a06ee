// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Testing

@Suite struct RequestMetadataTests {
    static let texts: [String?] = [
        nil, "", "identify", "a b", "World_2", "with \"quotes\"", "back\\slash", "slash/", "tab\t",
        "Zürich", "\u{7f}", "{}", "a,b:c",
    ]

    @Test func `metadata in the direct form has the general coder's bytes, and reads back`() throws
    {
        for operation in Self.texts {
            for actor in Self.texts {
                for map in Self.texts {
                    guard let operation else { continue }
                    let metadata = RequestMetadata(operation: operation, actor: actor, map: map)
                    let wire = try metadata.wireForm()
                    #expect(wire == (try CairnJSON.encode(metadata)))
                    #expect(try RequestMetadata(wireForm: wire) == metadata)
                }
            }
        }
    }

    @Test(arguments: [
        "{\"operation\":\"x\"", "{\"operation\"}", "{}", "{,}", "", "{",
        "{\"operation\":1}", "{\"map\":\"x\"}", "{\"operation\":\"x\"}}", "{\"operation\":\"x\"\"}",
        "{\"operation\":\"\u{1}\"}",
    ])
    func `text that is no metadata is refused`(_ text: String) {
        #expect(throws: Failure.self) { try RequestMetadata(wireForm: Data(text.utf8)) }
    }

    @Test(arguments: [
        "{ \"operation\" : \"x\" }", "{\"operation\":\"x\",\"new\":\"field\"}",
        "{\"map\":null,\"operation\":\"x\"}", "{\"operation\":\"\\u0078\"}",
    ])
    func `other spellings of the same metadata are read`(_ text: String) throws {
        #expect(
            try RequestMetadata(wireForm: Data(text.utf8)) == RequestMetadata(operation: "x"))
    }
}
