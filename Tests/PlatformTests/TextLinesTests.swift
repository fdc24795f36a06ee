// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Codecs
import Foundation
import Platform
import Testing

@Suite struct TextLinesTests {
    /// `printf 'a\nb\n' | gzip -n`.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0x4B, 0xE4, 0x4A, 0xE2, 0x02, 0, 0x97, 0x2A, 0x57,
        0x18, 0x04, 0, 0, 0,
    ]

    private func lines(of bytes: [UInt8]) throws -> [String] {
        let path = NSTemporaryDirectory() + "lines-\(UUID().uuidString)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var reader = try TextLines(path: path)
        var result: [String] = []
        while let line = try reader.next() { result.append(String(decoding: line, as: UTF8.self)) }
        return result
    }

    @Test func `plain text is read line by line, whatever ends the lines`() throws {
        #expect(try lines(of: Array("a\r\n\nb".utf8)) == ["a", "", "b"])
        #expect(try lines(of: []) == [])
    }

    @Test func `a line may span many pieces`() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 600_000)

        #expect(try lines(of: long + [10] + long).map(\.utf8.count) == [600_000, 600_000])
    }

    @Test func `a line without an end in sight is refused`() throws {
        let endless = [UInt8](repeating: UInt8(ascii: "x"), count: TextLines.longestLine * 2)

        #expect(throws: TextError.self) { try lines(of: endless) }
    }

    @Test func `gzip is recognised by its first bytes`() throws {
        #expect(try lines(of: Self.gzip) == ["a", "b"])
    }

    @Test func `cut or damaged gzip is refused, not read short`() throws {
        #expect(throws: TextError.self) { try lines(of: Array(Self.gzip.dropLast(6))) }
        var damaged = Self.gzip
        damaged[17] ^= 1

        #expect(throws: TextError.self) { try lines(of: damaged) }
    }

    @Test func `a missing file and a directory are refused by name`() {
        #expect(throws: TextError.self) { _ = try TextLines(path: "/nowhere/at/all") }
        #expect(throws: TextError.self) { _ = try TextLines(path: "/tmp") }
    }
}
