// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Expat
import TestKit
import Testing

@Suite struct ExpatTests {
    private func read(_ text: String) throws(XMLError) -> XMLElement {
        try XMLReader.read(Array(text.utf8))
    }

    @Test func `elements, attributes and text are read without prefixes`() throws {
        let root = try read(
            #"<?xml version="1.0"?><a:r xmlns:a="u" a:k="v"><b> x &amp; y </b><B/><![CDATA[z]]></a:r>"#
        )

        #expect(root.name == "r" && root.attributes["k"] == "v" && root.text == "z")
        #expect(root.all("b").count == 2 && root.first("b")?.trimmed == "x & y")
    }

    @Test func `documents in other encodings are read`() throws {
        let latin = Array(#"<?xml version="1.0" encoding="ISO-8859-1"?><a>"#.utf8) + [0xDF]
        #expect(try XMLReader.read(latin + Array("</a>".utf8)).text == "ß")
    }

    @Test func `hostile documents are refused`() {
        let laughs = """
            <!DOCTYPE a [<!ENTITY b "lol"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>
            """
        let file = #"<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>"#
        let deep = String(repeating: "<a>", count: 200) + String(repeating: "</a>", count: 200)
        for text in [laughs, file, deep, "", "<a>", "<a></b>", "no", "<a/><b/>"] {
            #expect(throws: XMLError.self, "\(text.prefix(40))") { try read(text) }
        }
    }

    @Test func `a document of any bytes gives an element or an error`() {
        var random = SeededGenerator(seed: 5)
        let valid = Array(#"<a k="1"><b>text &lt; more</b><c><d/></c></a>"#.utf8)
        for _ in 0..<3000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            _ = try? XMLReader.read(bytes)
        }
    }
}
