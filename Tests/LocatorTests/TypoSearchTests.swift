// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Platform
import TestKit
import Testing

@testable import Locator

@Suite struct TypoSearchTests {
    /// Optimal string alignment by the textbook, without limits.
    private func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var table = Array(
            repeating: Array(repeating: 0, count: right.count + 1), count: left.count + 1)
        for row in 0...left.count { table[row][0] = row }
        for column in 0...right.count { table[0][column] = column }
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        for row in 1...left.count {
            for column in 1...right.count {
                let cost = left[row - 1] == right[column - 1] ? 0 : 1
                table[row][column] = min(
                    table[row - 1][column] + 1, table[row][column - 1] + 1,
                    table[row - 1][column - 1] + cost)
                if row > 1, column > 1, left[row - 1] == right[column - 2],
                    left[row - 2] == right[column - 1]
                {
                    table[row][column] = min(
                        table[row][column], table[row - 2][column - 2] + 1)
                }
            }
        }
        return table[left.count][right.count]
    }

    /// Words over a small alphabet, so that near neighbours are many.
    private func word(_ random: inout SeededGenerator, letters: ClosedRange<Int>) -> String {
        String(
            (0..<Int.random(in: letters, using: &random)).map { _ in
                "abcdeé ".randomElement(using: &random) ?? "a"
            })
    }

    @Test(.slow, arguments: [1, 2])
    func `the walk finds exactly what comparing with every name finds`(limit: Int) throws {
        var random = SeededGenerator(seed: UInt64(7 + limit))
        print("seed \(random.seed)")
        let header = "id\tname\tlatitude\tlongitude\n"
        let lines = (1...3_000).map { "\($0)\tq\(word(&random, letters: 3...10))\t1\t2" }
        let (built, path) = try Scratch.build([header + lines.joined(separator: "\n")])
        let mapped = try MappedFile(path: path)
        try mapped.withBytes { bytes in
            let file = try LocatorFile(checking: bytes, path: path)
            let keys = (0..<file.keyCount).map { key in
                Array(
                    String(decoding: file.keyBytes(key, bytes), as: UTF8.self).unicodeScalars)
            }
            for _ in 0..<150 {
                let text = Folder.fold("q" + word(&random, letters: 4...11)).bytes
                let wanted = Array(String(decoding: text, as: UTF8.self).unicodeScalars)
                var search = TypoSearch(text[...], limit: limit)
                let found = search.run(file.names, bytes)
                // As many letters as one text has more than the other are errors at least.
                let expected = keys.indices.filter {
                    abs(keys[$0].count - wanted.count) <= limit
                        && distance(keys[$0], wanted) <= limit
                }

                #expect(found.map(\.key) == expected, "\(String(decoding: text, as: UTF8.self))")
                for (key, errors) in found { #expect(errors == distance(keys[key], wanted)) }
            }
        }
        #expect(built.placeCount >= 3_000)
    }

    @Test(.slow, arguments: 0...TypoSearch.mostErrors)
    func `errors between two texts are those of the whole table, up to the limit`(limit: Int) {
        var random = SeededGenerator(seed: UInt64(40 + limit))
        print("seed \(random.seed)")
        var near = 0
        for _ in 0..<20_000 {
            let left = word(&random, letters: 0...9)
            var right = word(&random, letters: 0...9)
            if Bool.random(using: &random) {
                // A neighbour, since most pairs of words are far from each other.
                var letters = Array(left)
                for _ in 0...limit where letters.count > 1 {
                    let place = Int.random(in: 1..<letters.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: letters.remove(at: place)
                    case 1: letters.insert("a", at: place)
                    case 2: letters[place] = "b"
                    default: letters.swapAt(place, place - 1)
                    }
                }
                right = String(letters)
            }
            let all = distance(Array(left.unicodeScalars), Array(right.unicodeScalars))
            let found = TypoSearch.errors(
                Array(left.utf8)[...], Array(right.utf8)[...], limit: limit)
            #expect(found == (all <= limit ? all : nil), "\(left) and \(right)")
            if all <= limit { near += 1 }
        }
        #expect(near > 500)
    }
}
