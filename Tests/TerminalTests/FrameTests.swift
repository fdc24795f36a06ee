// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Terminal
import Testing

@Suite struct FrameTests {
    @Test func `only cells that changed are written`() {
        var writer = FrameWriter(usesColour: true)
        var frame = Frame(columns: 40, rows: 10)
        frame.put("hello", column: 3, row: 2)
        let first = writer.bytes(for: frame)
        let again = writer.bytes(for: frame)
        frame.put("j", column: 3, row: 2, style: Style(foreground: 9))
        let changed = writer.bytes(for: frame)

        #expect(String(decoding: first, as: UTF8.self).hasSuffix("\u{1B}[3;4Hhello"))
        #expect(again == [])
        #expect(
            String(decoding: changed, as: UTF8.self)
                == "\u{1B}[3;4H\u{1B}[0;38;5;9mj\u{1B}[0m")
    }

    @Test func `without colour no colour is written`() {
        var writer = FrameWriter(usesColour: false)
        var frame = Frame(columns: 10, rows: 2)
        frame.put("x", column: 0, row: 0, style: Style(foreground: 9, isBold: true))

        let text = String(decoding: writer.bytes(for: frame), as: UTF8.self)

        #expect(!text.contains("38;5"))
        #expect(text.contains("\u{1B}[0;1mx"))
    }

    @Test func `text cannot steer the terminal`() {
        var frame = Frame(columns: 30, rows: 1)
        frame.put("a\u{1B}[2Jb\u{202E}c\nd\u{07}", column: 0, row: 0)

        #expect(frame.text == "a·[2Jb·c d·")
    }

    @Test func `wide characters take two columns`() {
        var frame = Frame(columns: 6, rows: 1)
        let end = frame.put("東京x", column: 1, row: 0)

        #expect(end == 6)
        #expect(frame[2, 0].character == nil)
        #expect(frame.text == " 東京x")
        #expect(TextWidth.padded("東京都庁", to: 6) == "東京… ")
        #expect(TextWidth.truncated("e\u{301}tude", to: 3) == "e\u{301}t…")
    }

    @Test func `writing outside a frame is no error`() {
        var frame = Frame(columns: 3, rows: 1)
        frame.put("abcdef", column: 1, row: 0)
        frame.put("x", column: 0, row: 5)
        frame.border(
            Area(column: -5, row: -5, columns: 100, rows: 100), title: "t", style: .plain)

        #expect(frame.text == " ab")
    }
}
