// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Cairo
import Testing
import TileStyles

/// Glyphs, read by a reader of their own and measured against pictures of the same characters.
@Suite struct GlyphTests {
    private static let fonts = FontStack(name: "DejaVu Sans Regular")

    private func sheet(
        _ range: String = "0-255", _ fonts: FontStack? = GlyphTests.fonts
    ) throws -> GlyphFile {
        try GlyphFile(
            try GlyphSheet.bytes(
                of: try #require(fonts), try #require(GlyphRange(text: range))))
    }

    @Test func `a range has its fonts, its name and the glyphs of its characters`() throws {
        let file = try sheet()
        #expect(file.name == "DejaVu Sans" && file.range == "0-255")
        let printed = Array(32..<127) + Array(160..<256)
        #expect(file.glyphs.map(\.id) == printed)
        for glyph in file.glyphs {
            let pixels = glyph.width == 0 ? 0 : (glyph.width + 6) * (glyph.height + 6)
            #expect(glyph.bitmap.count == pixels, "U+\(glyph.id)")
        }
        let space = try #require(file.glyphs.first)
        #expect(space.id == 32 && space.width == 0 && (6...9).contains(space.advance))
        // 0.73 of the size above the baseline, where lines begin 25 pixels higher.
        let capital = try #require(file.glyphs.first { $0.id == 0x48 })
        #expect(capital.top == 18 - 25 && capital.height == 18)
        let deep = try #require(file.glyphs.first { $0.id == 0x67 })
        #expect(deep.top - deep.height < -25)
        let again = try sheet()
        #expect(again == file)
    }

    @Test(arguments: ["A", "g", "8", "@", "ß", "Ç", "%", "é"])
    func `bytes are the distances from the border of the drawn character`(
        _ character: Unicode.Scalar
    ) throws {
        let glyph = try #require(
            try sheet().glyphs.first { $0.id == Int(character.value) })
        let outlines = try #require(GlyphOutlines(Font(family: "DejaVu Sans", sizePixels: 24)))
        let outline = try #require(outlines.outline(of: character))
        let corners = Array(outline.contours.joined())
        let left = try #require(corners.map(\.x).min())
        let top = try #require(corners.map(\.y).min())
        let ink = try Ink(character, scale: 8)
        // Where the drawn character's upper left corner is.
        #expect(glyph.left == Int(left.rounded(.down)))
        #expect(-glyph.top - 25 == Int(top.rounded(.down)))
        var (worst, inside, outside) = (0, 0, 0)
        for row in 0..<glyph.height + 6 {
            for column in 0..<glyph.width + 6 {
                let x = Double(glyph.left - 3 + column) + 0.5 - left
                let y = Double(-glyph.top - 25 - 3 + row) + 0.5 - top
                let distance = ink.distance(x, y)
                let wanted = min(255, max(0, 255 - 255 * (distance / 8 + 0.25)))
                let found = Int(glyph.bitmap[row * (glyph.width + 6) + column])
                worst = max(worst, abs(found - Int(wanted)))
                if found > 200 { inside += 1 }
                if found < 100 { outside += 1 }
            }
        }
        // A quarter of a pixel is 8: what a drawing of eight times the size can be off.
        #expect(worst <= 8, "\(character)")
        #expect(inside > 20 && outside > 20)
    }

    @Test func `a wide text is as long as the advances of its glyphs`() throws {
        let file = try sheet()
        let canvas = try Canvas(width: 1, height: 1, hasAlpha: true)
        let layout = try #require(
            TextLayout(Font(family: "DejaVu Sans", sizePixels: 24), on: canvas))
        for id in [0x57, 0x69, 0x6D, 0x38, 0xC4] {
            layout.setText(String(try #require(Unicode.Scalar(UInt32(id)))))
            let glyph = try #require(file.glyphs.first { $0.id == id })
            #expect(abs(layout.size.width - Double(glyph.advance)) <= 0.6, "U+\(id)")
        }
    }

    @Test func `bold and oblique glyphs are others, and unknown fonts have some`() throws {
        let plain = try sheet().glyphs
        let bold = try sheet("0-255", FontStack(name: "DejaVu Sans Bold")).glyphs
        let oblique = try sheet("0-255", FontStack(name: "DejaVu Sans Italic")).glyphs
        #expect(bold != plain && oblique != plain && oblique != bold)
        let unknown = try sheet("0-255", FontStack(name: "No Such Font Regular,DejaVu Sans"))
        #expect(unknown.glyphs == plain)
        let none = try sheet("0-255", FontStack(name: "No Such Font"))
        #expect(Set(none.glyphs.map(\.id)).isSuperset(of: 33..<127))
    }

    @Test func `characters without a glyph are left out`() throws {
        // Halves of pairs, and characters that Unicode has not assigned.
        #expect(try sheet("55296-55551").glyphs.isEmpty)
        #expect(try !sheet("768-1023").glyphs.map(\.id).contains(0x378))
        #expect(try sheet("1024-1279").glyphs.map(\.id).contains(0x416))
    }

    @Test func `drawing ends when it is cancelled`() throws {
        let fonts = try #require(Self.fonts)
        let range = try #require(GlyphRange(first: 0))
        let failure = #expect(throws: Failure.self) {
            try GlyphSheet.bytes(of: fonts, range) { true }
        }
        #expect(failure?.code == .cancelled)
    }

    @Test(arguments: [
        "", "0", "0-254", "1-256", "-256--1", "65536-65791", "0-255-511", "00-255", "0 - 255",
        "256-511.pbf", "٠-255", "9223372036854775807-1",
    ])
    func `what is no range is refused`(_ text: String) {
        #expect(GlyphRange(text: text) == nil)
    }

    @Test func `every range is read as it is written`() {
        let ranges = stride(from: 0, to: 65_536, by: 256).compactMap { GlyphRange(first: $0) }
        #expect(ranges.count == 256)
        for range in ranges { #expect(GlyphRange(text: range.text) == range) }
        #expect(GlyphRange(containing: "é")?.first == 0)
        #expect(GlyphRange(containing: "Ж")?.text == "1024-1279")
        #expect(GlyphRange(containing: "🗺") == nil)
    }

    @Test func `fonts are named by family and style`() throws {
        let both = try #require(FontStack(name: "Noto Sans  Bold Italic, Arial Unicode MS Regular"))
        #expect(both.families == ["Noto Sans", "Arial Unicode MS"])
        #expect(both.isBold && both.isItalic)
        #expect(both.name == "Noto Sans Bold Italic,Arial Unicode MS Bold Italic")
        #expect(FontStack(name: both.name) == both)
        #expect(FontStack(name: "Bold")?.families == ["Bold"])
        for name in ["", " , ", "a\u{0}b", String(repeating: "x", count: 257)] {
            #expect(FontStack(name: name) == nil)
        }
        let symbol = TextSymbol(family: "Arial, DejaVu Sans", isBold: true)
        #expect(FontStack(symbol).name == "Arial Bold,DejaVu Sans Bold")
        for family in ["", ",", "\u{7}", String(repeating: "y", count: 300)] {
            #expect(FontStack(TextSymbol(family: family)).name == "DejaVu Sans")
        }
    }
}

/// A file of glyphs, read field by field.
struct GlyphFile: Hashable {
    struct Glyph: Hashable {
        var id = -1
        var bitmap: [UInt8] = []
        var width = -1
        var height = -1
        var left = 0
        var top = 0
        var advance = -1
    }

    struct Damage: Error {}

    var name = ""
    var range = ""
    var glyphs: [Glyph] = []

    init(_ bytes: [UInt8]) throws {
        let file = try Self.fields(bytes[...])
        guard file.count == 1, file[0].number == 1 else { throw Damage() }
        for field in try Self.fields(file[0].bytes) {
            switch field.number {
            case 1: name = String(decoding: field.bytes, as: UTF8.self)
            case 2: range = String(decoding: field.bytes, as: UTF8.self)
            case 3: glyphs.append(try Self.glyph(field.bytes))
            default: throw Damage()
            }
        }
    }

    private static func glyph(_ bytes: ArraySlice<UInt8>) throws -> Glyph {
        var glyph = Glyph()
        for field in try fields(bytes) {
            let signed = Int(field.value >> 1) ^ -Int(field.value & 1)
            switch field.number {
            case 1: glyph.id = Int(field.value)
            case 2: glyph.bitmap = Array(field.bytes)
            case 3: glyph.width = Int(field.value)
            case 4: glyph.height = Int(field.value)
            case 5: glyph.left = signed
            case 6: glyph.top = signed
            case 7: glyph.advance = Int(field.value)
            default: throw Damage()
            }
        }
        return glyph
    }

    private static func fields(
        _ bytes: ArraySlice<UInt8>
    ) throws -> [(number: Int, value: UInt64, bytes: ArraySlice<UInt8>)] {
        var rest = bytes
        func varint() throws -> UInt64 {
            var (value, shift) = (UInt64(0), UInt64(0))
            while let byte = rest.popFirst() {
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            throw Damage()
        }
        var fields: [(number: Int, value: UInt64, bytes: ArraySlice<UInt8>)] = []
        while !rest.isEmpty {
            let key = try varint()
            let value = try varint()
            switch key & 7 {
            case 0: fields.append((Int(key >> 3), value, []))
            case 2:
                guard value <= UInt64(rest.count) else { throw Damage() }
                fields.append((Int(key >> 3), value, rest.prefix(Int(value))))
                rest = rest.dropFirst(Int(value))
            default: throw Damage()
            }
        }
        return fields
    }
}

/// A character as a text layout draws it, many times as large.
private struct Ink {
    private let scale: Double
    private let isInked: [[Bool]]
    private let left: Int
    private let top: Int
    /// Pixels with a neighbour of the other kind.
    private var inked: [(x: Int, y: Int)] = []
    private var blank: [(x: Int, y: Int)] = []

    init(_ character: Unicode.Scalar, scale: Int) throws {
        let side = 48 * scale
        let canvas = try Canvas(width: side, height: side, hasAlpha: true)
        let font = Font(family: "DejaVu Sans", sizePixels: Double(24 * scale))
        let layout = try #require(TextLayout(font, on: canvas))
        layout.setText(String(character))
        layout.draw(
            x: Double(side) / 2, y: Double(side) / 2, PaintColor(red: 0, green: 0, blue: 0))
        let pixels = try canvas.rgba()
        let isInked = (0..<side).map { row in
            (0..<side).map { pixels[(row * side + $0) * 4 + 3] >= 128 }
        }
        self.isInked = isInked
        self.scale = Double(scale)
        let rows = (0..<side).filter { isInked[$0].contains(true) }
        let columns = (0..<side).filter { column in isInked.contains { $0[column] } }
        top = try #require(rows.first)
        left = try #require(columns.first)
        for y in 1..<side - 1 {
            for x in 1..<side - 1 {
                let own = isInked[y][x]
                guard
                    [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)].contains(where: {
                        isInked[$0.1][$0.0] != own
                    })
                else { continue }
                if own { inked.append((x, y)) } else { blank.append((x, y)) }
            }
        }
    }

    /// The distance of a place from the border, negative inside; in pixels from the upper left
    /// corner of the ink.
    func distance(_ x: Double, _ y: Double) -> Double {
        let (x, y) = (x * scale + Double(left), y * scale + Double(top))
        let (column, row) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
        let isInside =
            isInked.indices.contains(row) && isInked.indices.contains(column)
            && isInked[row][column]
        var least = Double.infinity
        for pixel in isInside ? blank : inked {
            let (dx, dy) = (Double(pixel.x) + 0.5 - x, Double(pixel.y) + 0.5 - y)
            least = min(least, dx * dx + dy * dy)
        }
        // Borders are half a pixel from the middle of a pixel.
        let distance = (least.squareRoot() - 0.5) / scale
        return isInside ? -distance : distance
    }
}
