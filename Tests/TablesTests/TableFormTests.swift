// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform
import Tables
import Testing

@Suite struct TableFormTests {
    private func form(_ bytes: [UInt8]) throws -> TableForm {
        TableForm(try MappedFile(copying: bytes, path: "test"))
    }

    @Test(arguments: [
        ("a,b\n1,2\n", ","), ("a;b\n1,5;2,5\n", ";"), ("a\tb,c\n1\t2\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"), ("query\n12 Main St, Paris\n", ","),
        ("id;query\n1;\"12, rue; x\"\n", ";"), ("sep=|\na|b\n", "|"), ("", ","),
        ("a;b\n", ";"), ("\"a,b,c\";d\n1;2\n", ";"),
    ])
    func `the separator is the sign that cuts header and rows alike`(
        _ text: String, _ separator: String
    ) throws {
        #expect(try form(Array(text.utf8)).separator == separator.utf8.first)
    }

    @Test(arguments: [
        ([0x61], TextEncoding.utf8, false), ([0xC3, 0xBC], .utf8, false),
        ([0xEF, 0xBB, 0xBF, 0x61], .utf8, false), ([0xFC, 0x62], .windows1252, true),
        ([0xEF, 0xBB, 0xBF, 0xFC, 0x62], .windows1252, true),
        ([0xFF, 0xFE, 0x61, 0], .utf16LittleEndian, false),
        ([0xFE, 0xFF, 0, 0x61], .utf16BigEndian, false),
        ([0x61, 0, 0x62, 0, 0x0A, 0], .utf16LittleEndian, true),
        ([0, 0x61, 0, 0x62, 0, 0x0A], .utf16BigEndian, true), ([0x61, 0xC3], .windows1252, true),
    ])
    func `the encoding is what the bytes say, else a guess`(
        _ bytes: [UInt8], _ encoding: TextEncoding, _ isGuess: Bool
    ) throws {
        let found = try form(bytes)
        #expect(found.encoding == encoding && found.isGuess == isGuess)
        #expect((found.note != nil) == isGuess)
    }

    @Test func `characters on the border of pieces are whole`() throws {
        // Longer than the pieces in which a file is looked through.
        let text = "x" + String(repeating: "é😀", count: 120_000)
        #expect(try form(Array(text.utf8)).encoding == .utf8)
        #expect(try form(Array(text.utf8) + [0xFF]).encoding == .windows1252)
    }
}
