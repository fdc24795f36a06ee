// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Glibc
import TestKit
import Testing

@testable import Terminal

/// The C library's `wcwidth` is the oracle: what tmux, xterm and most others go by.
@Suite struct WidthTests {
    private typealias Width = @convention(c) (wchar_t) -> Int32
    private let wcwidth: Width

    init() throws {
        unsafe setlocale(LC_CTYPE, "C.UTF-8")
        // The headers declare it for X/Open programs only.
        let symbol = unsafe dlsym(nil, "wcwidth")
        wcwidth = unsafe unsafeBitCast(try #require(symbol), to: Width.self)
    }

    /// The number of columns of a line in a terminal, code point by code point.
    private func measured(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + max(0, Int(wcwidth(wchar_t($1.value)))) }
    }

    @Test func `every code point that the C library knows has its columns`() {
        var wrong: [String] = []
        for value in UInt32(0x20)..<0x11_0000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let known = Int(wcwidth(wchar_t(value)))
            // Prepended format characters, such as the Arabic number sign, are escaped.
            let isPrepended = known == 1 && scalar.properties.generalCategory == .format
            // U+1171E has another category since.
            if known < 0 || isPrepended || value == 0x1171E { continue }
            if TextWidth.columns(of: scalar) != known {
                wrong.append("U+\(String(value, radix: 16)) \(known)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(20))")
    }

    static let texts: [(text: String, columns: Int)] = [
        ("न्यूयॉर्क", 6), ("क्षेत्र", 4), ("কলকাতা", 6), ("தமிழ்", 4), ("ಬೆಂಗಳೂರು", 7), ("ශ්‍රී ලංකා", 7),
        ("မြန်မာ", 5), ("ភ្នំពេញ", 5), ("กำแพง", 5), ("ກຳແພງ", 5), ("한글", 4),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("القاهرة", 7), ("مُحَمَّد", 4), ("می‌خواهم", 7),
        ("e\u{301}\u{302}", 1), ("東京都", 6), ("Ａ１", 4), ("ｶﾞ", 2), ("α±Я", 3), ("🇫🇷🇩🇪", 4),
        ("👨‍👩‍👧‍👦", 2), ("👍🏽", 2), ("❤️", 1), ("☺︎", 1), ("1️⃣", 1), ("🏴‍☠️", 2), ("🏳️‍🌈", 1),
        ("🗺️x", 2), ("葛\u{E0100}", 2), ("a\u{200B}b", 3), ("a\u{200D}b", 2), ("\u{1161}", 1),
        ("🇫", 1), ("\u{301}", 1), ("a\tb", 3), ("a\u{202E}b", 3), ("\u{FEFF}a", 2),
    ]

    @Test(arguments: texts)
    func `text that is shown takes the columns that are counted`(_ text: String, _ columns: Int) {
        var frame = Frame(columns: 12, rows: 1)
        let end = frame.put(text, column: 0, row: 0)
        frame.put("│", column: 11, row: 0)

        #expect(end == columns)
        #expect(measured(frame.text) == 12, "\(frame.text.unicodeScalars.map { $0 })")
        let padded = TextWidth.padded(TextWidth.displayable(text), to: 9)
        #expect(measured(padded) == 9)
        for limit in 0...8 {
            let cut = TextWidth.truncated(TextWidth.displayable(text), to: limit)
            #expect(measured(cut) <= limit)
            #expect(measured(cut) == TextWidth.columns(of: cut))
        }
    }

    @Test(arguments: Seeds.chosen(4))
    func `rows stay as wide as the frame, whatever is written over what`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var frame = Frame(columns: 20, rows: 3)
        for _ in 0..<400 {
            let text = (0..<Int.random(in: 1..<4, using: &random)).map { _ in
                Self.texts.randomElement(using: &random)?.text ?? "x"
            }.joined()
            let (column, row) = (
                Int.random(in: -2..<20, using: &random), Int.random(in: 0..<3, using: &random)
            )
            switch Int.random(in: 0..<5, using: &random) {
            case 0: frame[column, row] = Cell("│")
            case 1: frame[column, row].style.isReversed = true
            case 2: frame.clear(Area(column: column, row: row, columns: 3, rows: 2))
            case 3:
                frame.border(
                    Area(column: column, row: row, columns: 7, rows: 2), title: text, style: .plain)
            default: frame.put(text, column: column, row: row)
            }
            frame[19, 0] = Cell("|")
            frame[19, 1] = Cell("|")
            frame[19, 2] = Cell("|")
            let widths = frame.text.split(separator: "\n", omittingEmptySubsequences: false)
                .map { measured($0) }
            #expect(widths == [20, 20, 20], "\(text)")
        }
    }

    @Test func `the sign behind one that terminals count each in its way is placed by itself`() {
        var writer = FrameWriter(usesColour: false)
        var frame = Frame(columns: 8, rows: 1)
        frame.put("कि|", column: 0, row: 0)
        let text = String(decoding: writer.bytes(for: frame), as: UTF8.self)

        #expect(text.contains("कि\u{1B}[1;3H|"))
    }
}
