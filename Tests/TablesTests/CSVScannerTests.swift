// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Tables
import TestKit
import Testing

@Suite struct CSVScannerTests {
    private func read(
        _ text: String, pieces: (Int) -> Int = { _ in 7 }
    ) throws -> (records: [CSVScanner.Record], scanner: CSVScanner) {
        let bytes = Array(text.utf8)
        var scanner = CSVScanner()
        var records: [CSVScanner.Record] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + pieces(start))
            try scanner.feed(bytes[start..<end]) { records.append($0) }
            start = end
        }
        try scanner.finish { records.append($0) }
        return (records, scanner)
    }

    private func texts(_ records: [CSVScanner.Record]) -> [[String]] {
        records.map { $0.fields.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(arguments: [
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ("a,b\r\n1,2", [["a", "b"], ["1", "2"]]),
        ("a\r1\r", [["a"], ["1"]]),
        ("a,\"b,\nc\"\n", [["a", "b,\nc"]]),
        ("\"a\"\"b\",\"\"\n", [["a\"b", ""]]),
        ("a b\"c,\"d\"e\n", [["a b\"c", "de"]]),
        (",\n,,\n", [["", ""], ["", "", ""]]),
        ("\n\na\n\n\nb\n\n", [["a"], ["b"]]),
        ("\"\"\n", [[""]]),
        ("", []),
        ("ж,日本\n", [["ж", "日本"]]),
    ])
    func `records are what RFC 4180 says`(_ text: String, _ expected: [[String]]) throws {
        for size in 1...4 {
            #expect(texts(try read(text, pieces: { _ in size }).records) == expected)
        }
    }

    @Test func `a CSV table that was written is read back, in pieces of any size`() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let alphabet = ["a", ",", "\"", "\n", "\r", " ", "é", "xyz", ""]
        for _ in 0..<300 {
            let width = Int.random(in: 1...4, using: &random)
            let table = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                (0..<width).map { _ in
                    (0..<Int.random(in: 0...4, using: &random)).map { _ in
                        alphabet.randomElement(using: &random) ?? ""
                    }.joined()
                }
            }
            let newline = Array((Bool.random(using: &random) ? "\n" : "\r\n").utf8)
            let bytes = table.flatMap {
                CSVWriter.record($0.map { Array($0.utf8) }, newline: newline)
            }

            let text = String(decoding: bytes, as: UTF8.self)
            let (records, scanner) = try read(
                text, pieces: { _ in Int.random(in: 1...9, using: &random) })

            #expect(texts(records) == table, "seed \(seed)")
            #expect(records.map { $0.number } == Array(0..<table.count), "seed \(seed)")
            if !table.isEmpty { #expect(scanner.newline == newline, "seed \(seed)") }
            for (record, next) in zip(records, records.dropFirst()) {
                var alone = CSVScanner(at: record.start)
                var again: [CSVScanner.Record] = []
                try alone.feed(Array(bytes[record.start..<next.start])) { again.append($0) }
                #expect(again.map { $0.fields } == [record.fields], "seed \(seed)")
            }
        }
    }

    @Test func `an open quote is an error that names the row`() {
        let failure = #expect(throws: Failure.self) { try read("a\nb\n\"c\n") }
        #expect(failure?.message.contains("row 2") == true)
    }

    @Test func `a record without end is refused at the bound`() {
        let long = "a\n\"" + String(repeating: "x", count: 70_000)
        let failure = #expect(throws: Failure.self) { try read(long) }
        #expect(failure?.code == .tooLarge)
        let wide = String(repeating: ",", count: 5_000)
        #expect(throws: Failure.self) { try read(wide) }
    }
}
