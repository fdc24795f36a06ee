// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Cairo
internal import VectorTiles

/// The glyphs of a range as MapLibre reads them: a protocol buffer with distances from the glyphs'
/// borders.
///
/// Fields as node-fontnik writes them: `glyphs{stacks=1}`, `fontstack{name=1, range=2, glyphs=3}`,
/// `glyph{id=1, bitmap=2, width=3, height=4, left=5, top=6, advance=7}`. Sizes are pixels of a font
/// of 24 pixels; bitmaps have 3 more on each side. `top` counts from 25 pixels above the baseline,
/// where MapLibre's lines begin.
public enum GlyphSheet {
    /// Pixels of the font.
    private static let size = 24.0
    /// Pixels around a glyph.
    private static let buffer = 3
    /// Where lines begin, in pixels above the baseline.
    private static let ascent = 25
    /// The greatest width and height of a glyph, in pixels; greater ones are cut.
    private static let sideBound = 250

    /// Draws the glyphs of fonts, those that are missing from other fonts, as labels of pictures
    /// have them.
    ///
    /// Characters without a glyph in any font are left out. The same fonts give the same bytes.
    /// Throws `cancelled`, and `unavailable` when out of memory.
    public static func bytes(
        of fonts: FontStack, _ range: GlyphRange, isCancelled: () -> Bool = { false }
    ) throws(Failure) -> [UInt8] {
        let font = Font(
            family: fonts.families.joined(separator: ","), sizePixels: size,
            isBold: fonts.isBold, isItalic: fonts.isItalic)
        guard let outlines = GlyphOutlines(font) else {
            throw Failure(.unavailable, "there is no memory for the glyphs of a font")
        }
        var stack = ProtobufWriter()
        stack.field(1, fonts.name)
        stack.field(2, range.text)
        for number in range.first..<range.first + GlyphRange.count {
            if number.isMultiple(of: 16), isCancelled() {
                throw Failure(.cancelled, "the request was cancelled or timed out")
            }
            // Neither halves of pairs nor controls.
            guard let character = Unicode.Scalar(UInt32(number)), number >= 32,
                !(0x7F..<0xA0).contains(number), let outline = outlines.outline(of: character)
            else { continue }
            stack.field(3, bytes: glyph(number, outline))
        }
        var file = ProtobufWriter()
        file.field(1, bytes: stack.bytes)
        return file.bytes
    }

    private static func glyph(_ id: Int, _ outline: GlyphOutline) -> [UInt8] {
        var writer = ProtobufWriter()
        writer.field(1, UInt64(id))
        let corners = outline.contours.joined()
        var (left, top, width, height) = (0, 0, 0, 0)
        if let first = corners.first {
            var (low, high) = (first, first)
            for corner in corners {
                low = GlyphCorner(x: min(low.x, corner.x), y: min(low.y, corner.y))
                high = GlyphCorner(x: max(high.x, corner.x), y: max(high.y, corner.y))
            }
            left = pixel(low.x.rounded(.down))
            top = pixel(low.y.rounded(.down))
            width = min(sideBound, pixel(high.x.rounded(.up)) - left)
            height = min(sideBound, pixel(high.y.rounded(.up)) - top)
            writer.field(
                2,
                bytes: DistanceField(outline.contours).bytes(
                    left: left - buffer, top: top - buffer, width: width + 2 * buffer,
                    height: height + 2 * buffer))
        }
        writer.field(3, UInt64(width))
        writer.field(4, UInt64(height))
        writer.field(5, ProtobufWriter.zigzag(Int64(left)))
        writer.field(6, ProtobufWriter.zigzag(Int64(width == 0 ? 0 : -top - ascent)))
        writer.field(7, UInt64(max(0, pixel(outline.advance.rounded()))))
        return writer.bytes
    }

    private static func pixel(_ value: Double) -> Int { Int(min(max(value, -1_000), 1_000)) }
}
