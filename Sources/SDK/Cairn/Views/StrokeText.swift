// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Letters as strokes, for texts in pictures.
///
/// A glyph lies on a grid: x from 0 to 4, y upwards with the baseline at 2, small letters up to 6,
/// capitals and digits up to 8, what hangs below from 0. Strokes are pairs of digits, parted by
/// spaces.
enum StrokeText {
    /// A text as lines of the grid's units: x to the right, y upwards from the first baseline.
    struct Shape {
        var strokes: [[(x: Double, y: Double)]] = []
        /// The width of the widest line.
        var width = 0.0
        var lineCount = 1
    }

    /// Units of the grid in the height of a line.
    static let lineHeight = 10.0
    /// From the baseline to the top of capitals.
    static let ascent = 6.0
    /// From the baseline down to what hangs below.
    static let descent = 2.0
    private static let narrowing = 0.8
    private static let gap = 1.8

    static func shape(
        of text: String, alignment: TextSymbol.HorizontalAlignment
    ) -> Shape {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(line)
        var shape = Shape()
        shape.width = lines.map(\.width).max() ?? 0
        shape.lineCount = lines.count
        for (number, line) in lines.enumerated() {
            let room = shape.width - line.width
            let shift =
                switch alignment {
                case .left, .justify: 0.0
                case .center: room / 2
                case .right: room
                }
            shape.strokes += line.strokes.map { stroke in
                stroke.map { ($0.x + shift, $0.y - Double(number) * lineHeight) }
            }
        }
        return shape
    }

    private static func line(_ text: Substring) -> Shape {
        var shape = Shape()
        var x = 0.0
        for character in text {
            if character == " " || character == "\t" {
                x += 2 * gap
                continue
            }
            let strokes = glyph(character)
            let columns = strokes.joined().map(\.x)
            let (least, most) = (columns.min() ?? 0, columns.max() ?? 0)
            shape.strokes += strokes.map { stroke in
                stroke.map { (($0.x - least) * narrowing + x, $0.y) }
            }
            x += (most - least) * narrowing + gap
        }
        shape.width = max(0, x - gap)
        return shape
    }

    private static func glyph(_ character: Character) -> [[(x: Double, y: Double)]] {
        if let known = table[character] { return strokes(known) }
        let parts = String(character).decomposedStringWithCanonicalMapping.unicodeScalars
        guard let first = parts.first, let base = table[Character(first)] else {
            return strokes("0208484202")
        }
        let isHigh = first.properties.isUppercase
        return strokes(base)
            + parts.dropFirst().flatMap { mark in
                strokes(marks[mark.value] ?? "1939").map { stroke in
                    stroke.map { ($0.x, $0.y - (isHigh ? 0 : 1)) }
                }
            }
    }

    private static func strokes(_ text: String) -> [[(x: Double, y: Double)]] {
        text.split(separator: " ").map { stroke in
            let digits = stroke.utf8.map { Double($0) - 48 }
            return stride(from: 0, to: digits.count - 1, by: 2).map {
                (digits[$0], digits[$0 + 1] - 2)
            }
        }
    }

    /// Marks above capitals; above small letters they are lower.
    private static let marks: [UInt32: String] = [
        0x300: "1928", 0x301: "2839", 0x302: "182938", 0x308: "0919 3949", 0x30C: "192839",
        0x327: "2211", 0x328: "2211",
    ]

    private static let table: [Character: String] = [
        "A": "022842 1535", "B": "02083847463505 3544433202", "C": "4738180703123243",
        "D": "02082846442202", "E": "48080242 0535", "F": "480802 0535",
        "G": "47381807031232434525", "H": "0208 4248 0545", "I": "1232 1838 2228",
        "J": "4843321203", "K": "0208 480542", "L": "080242", "M": "0208254842",
        "N": "02084248", "O": "120307183847433212", "P": "02083847463505",
        "Q": "120307183847433212 2442", "R": "02083847463505 2542",
        "S": "473818070615354443321203", "T": "0848 2822", "U": "080312324348", "V": "082248",
        "W": "0812253248", "X": "0842 4802", "Y": "082548 2522", "Z": "08480242",
        "0": "120307183847433212 1337", "1": "172822 1232", "2": "07183847460242",
        "3": "07183847463515 354443321203", "4": "32380444", "5": "480805354443321203",
        "6": "4738180703123243443505", "7": "084822",
        "8": "15060718384746351504031232434435", "9": "4515060718384743321203",
        "a": "16364542 441403123243", "b": "0802 0516364543321203", "c": "4536160503123243",
        "d": "4842 4536160503123243", "e": "04444536160503123243", "f": "38281712 0636",
        "g": "4641301001 4536160503123243", "h": "0802 0516364542", "i": "2622 2728",
        "j": "262110 2728", "k": "0802 360432", "l": "2822", "m": "0206 05162522 25364542",
        "n": "0206 0516364542", "o": "120305163645433212", "p": "0006 0516364543321203",
        "q": "4046 4536160503123243", "r": "0206 05163645", "s": "4616051434433202",
        "t": "18132232 0636", "u": "0603123243 4642", "v": "062246", "w": "0612243246",
        "x": "0642 4602", "y": "0622 4610", "z": "06460242", "ß": "02071838474635444332",
        "ı": "2622", "Ø": "120307183847433212 0248", "ø": "120305163645433212 0246",
        "Æ": "022842 1525 2848 2545 2242", "æ": "16252203121424 24444536252332",
        "!": "2825 2322", "\"": "1816 3836", "#": "1218 3238 0444 0646",
        "$": "473818070615354443321203 2129", "%": "0248 0717180807 3242433332",
        "&": "420607182837360403123244", "'": "2826", "(": "38272332", ")": "18272312",
        "*": "2327 0446 0644", "+": "2327 0545", ",": "2311", "-": "0545", ".": "2223",
        "/": "0248", ":": "2223 2526", ";": "2311 2526", "<": "480542", "=": "0444 0646",
        ">": "084502", "?": "07183847462524 2322", "@": "43321203071838474434252636",
        "[": "38181232", "\\": "0842", "]": "18383212", "^": "062846", "_": "0141",
        "`": "1827", "{": "38272615242332", "|": "2028", "}": "18272635242312",
        "~": "05163445", "°": "1828271718", "–": "0545", "—": "0545", "’": "2826", "‘": "2826",
        "“": "1816 3836", "”": "1816 3836", "·": "2425", "…": "0203 2223 4243",
    ]
}
