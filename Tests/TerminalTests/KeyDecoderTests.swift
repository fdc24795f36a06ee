// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Terminal
import TestKit
import Testing

@Suite struct KeyDecoderTests {
    static let table: [(String, [Key])] = [
        ("a", [.character("a")]),
        ("é漢🗺", [.character("é"), .character("漢"), .character("🗺")]),
        ("\r", [.enter]),
        ("\t\u{1B}[Z", [.tab, .backTab]),
        ("\u{7F}\u{08}", [.backspace, .backspace]),
        ("\u{03}\u{1A}", [.control("c"), .control("z")]),
        ("\u{1B}[A\u{1B}[B\u{1B}[C\u{1B}[D", [.up, .down, .right, .left]),
        ("\u{1B}OA\u{1B}OP\u{1B}OH", [.up, .function(1), .home]),
        ("\u{1B}[1;2A\u{1B}[1;2D", [.shiftUp, .shiftLeft]),
        ("\u{1B}[5~\u{1B}[6~\u{1B}[3~", [.pageUp, .pageDown, .delete]),
        ("\u{1B}[15~\u{1B}[24~", [.function(5), .function(12)]),
        ("\u{1B}[<0;10;5M\u{1B}[<0;10;5m", [.click(column: 9, row: 4)]),
        (
            "\u{1B}[<64;1;1M\u{1B}[<65;1;2M",
            [
                .wheelUp(column: 0, row: 0), .wheelDown(column: 0, row: 1),
            ]
        ),
        ("\u{1B}[<0;0;5M\u{1B}[<0;99999;5M\u{1B}[<2;3M", []),
        ("\u{1B}[200~q\u{1B}[31mx\u{1B}[201~y", [.paste("q[31mx"), .character("y")]),
        ("\u{1B}[?1;2;3xz", [.character("z")]),
        ("\u{1B}\u{1B}[A", [.escape, .up]),
    ]

    @Test(arguments: table.indices)
    func `bytes become keys however they are cut`(row: Int) {
        let (text, keys) = Self.table[row]
        let bytes = Array(text.utf8)

        for cut in 0...bytes.count {
            var decoder = KeyDecoder()
            let found = decoder.decode(Array(bytes[..<cut])) + decoder.decode(Array(bytes[cut...]))
            #expect(found == keys, "cut at \(cut)")
        }
    }

    @Test func `a lone escape is the key only once nothing follows`() {
        var decoder = KeyDecoder()

        #expect(decoder.decode([0x1B]) == [])
        #expect(decoder.isUndecided)
        #expect(decoder.flush() == [.escape])
        #expect(!decoder.isUndecided)
    }

    @Test func `an endless sequence is dropped and typing goes on`() {
        var decoder = KeyDecoder()

        #expect(decoder.decode([0x1B, 0x5B] + Array(repeating: 0x30, count: 10_000)) == [])
        #expect(decoder.decode(Array("ok".utf8)) == [.character("o"), .character("k")])
    }

    @Test func `the key decoder takes any bytes, and every printable letter between them arrives`()
    {
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        print("\(#function): seed \(random.seed)")
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            var decoder = KeyDecoder()
            _ = decoder.decode(bytes)
            _ = decoder.flush()
            _ = decoder.decode(Array("\u{1B}[201~".utf8))

            #expect(decoder.decode(Array("x".utf8)).last == .character("x"), "after \(bytes)")
        }
    }
}
