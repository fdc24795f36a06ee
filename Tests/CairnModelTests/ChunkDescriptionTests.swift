// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

/// How the input of a chunk is written.
@Suite struct ChunkDescriptionTests {
    private static func chunk(_ input: String) -> ChunkDescription {
        ChunkDescription(pool: .work, operation: "x", input: Data(input.utf8), weight: 1)
    }

    private static func written(_ input: String) throws -> String {
        String(decoding: try CairnJSON.encode(chunk(input)), as: UTF8.self)
    }

    @Test func `an object is written as one, any other bytes as text in Base64`() throws {
        #expect(try Self.written(#"{"end":9,"start":0}"#).contains(#""input":{"end":9,"start":0}"#))
        #expect(try Self.written("").contains(#""input":"""#))
        #expect(try Self.written("[1]").contains(#""input":"WzFd""#))
        // Not as this project writes it: kept byte for byte.
        #expect(try Self.written(#"{ "a": 1 }"#).contains(#""input":"eyAi"#))
        #expect(try Self.written(#"{"b":1,"a":2}"#).contains(#""input":"eyJi"#))
    }

    @Test func `every input reads back byte for byte`() throws {
        var random = SeededGenerator(seed: 0xC4_12)
        let pieces = [
            "{", "}", "\"a\":", "\"b\":", "1", "-0.5", "1e400", "9223372036854775807", "null", ",",
            "[", "]", "\"é\"", "\"\\u00e9\"", " ", "true", "\u{0}",
        ]
        var objectCount = 0
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...7, using: &random)
            var input = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            if Bool.random(using: &random) { input = "{\"a\":\(input)}" }

            let chunk = Self.chunk(input)
            let text = try CairnJSON.encode(chunk)

            #expect(try CairnJSON.decode(ChunkDescription.self, from: text) == chunk, "\(input)")
            #expect(try JSONDecoder().decode(ChunkDescription.self, from: text) == chunk)
            if text.range(of: Data("\"input\":{".utf8)) != nil { objectCount += 1 }
        }
        #expect(objectCount > 20)
    }

    @Test(arguments: ["3", "null", "[]", "\"?\"", "true"])
    func `an input of another type is refused`(_ input: String) {
        let text =
            "{\"gathers\":false,\"input\":\(input),\"operation\":\"x\",\"pool\":3,\"weight\":1}"
        #expect(throws: Failure.self) {
            try CairnJSON.decode(ChunkDescription.self, from: Data(text.utf8))
        }
    }
}
