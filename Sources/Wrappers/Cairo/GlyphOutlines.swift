// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairo
internal import CPango

/// The shape of one character's glyph.
public struct GlyphOutline: Hashable, Sendable {
    /// Distance to the next glyph in pixels.
    public var advance: Double
    /// Closed contours, without the first corner again at the end: pixels from the glyph's origin
    /// on the baseline, x to the right, y down; all none where nothing is drawn, as for a space.
    ///
    /// Inside is where they go around more often one way than the other.
    public var contours: [[GlyphCorner]]
}

/// A corner of a contour, in pixels.
public struct GlyphCorner: Hashable, Sendable {
    /// To the right of the origin.
    public var x: Double
    /// Below the baseline.
    public var y: Double

    /// States it.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// The glyphs of single characters in one font: not shaped, not fitted to pixels, missing ones from
/// other fonts, as those of a ``TextLayout``.
///
/// Used on one thread, which keeps Pango's fonts for the next. It owns a `PangoFontset`.
@safe
public final class GlyphOutlines {
    private let canvas: Canvas
    private let fonts: OpaquePointer

    /// How far curves may be from their chords, in pixels.
    private static let tolerance = 0.01

    /// The glyphs of a font; nil where there is no memory for it.
    public init?(_ font: Font) {
        guard let canvas = try? Canvas(width: 1, height: 1, hasAlpha: true),
            let layout = unsafe canvas.withContext({ unsafe pango_cairo_create_layout($0) })
        else { return nil }
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(layout)) }
        let context = unsafe pango_layout_get_context(layout)
        unsafe Font.keepShapes(of: context)
        guard let description = unsafe font.description() else { return nil }
        defer { unsafe pango_font_description_free(description) }
        // A language of its own, so that fonts do not depend on the process's locale.
        let language = unsafe pango_language_from_string("en")
        guard let fonts = unsafe pango_context_load_fontset(context, description, language) else {
            return nil
        }
        self.canvas = canvas
        unsafe self.fonts = fonts
        unsafe canvas.withContext { unsafe cairo_set_tolerance($0, Self.tolerance) }
    }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(fonts)) }

    /// The glyph of a character; nil where no font has one.
    public func outline(of character: Unicode.Scalar) -> GlyphOutline? {
        guard let font = unsafe pango_fontset_get_font(fonts, character.value) else { return nil }
        defer { unsafe g_object_unref(UnsafeMutableRawPointer(font)) }
        guard unsafe pango_font_has_char(font, character.value) != 0,
            let scaled = unsafe pango_cairo_font_get_scaled_font(font)
        else { return nil }
        var glyphs: UnsafeMutablePointer<cairo_glyph_t>?
        var count: Int32 = 0
        let status = unsafe cairo_scaled_font_text_to_glyphs(
            scaled, 0, 0, String(character), -1, &glyphs, &count, nil, nil, nil)
        guard status == CAIRO_STATUS_SUCCESS, let glyphs = unsafe glyphs else { return nil }
        defer { unsafe cairo_glyph_free(glyphs) }
        guard count == 1, unsafe glyphs[0].index != 0 else { return nil }
        var extents = cairo_text_extents_t()
        unsafe cairo_scaled_font_glyph_extents(scaled, glyphs, 1, &extents)
        return unsafe canvas.withContext { context in
            unsafe cairo_set_scaled_font(context, scaled)
            unsafe cairo_new_path(context)
            unsafe cairo_glyph_path(context, glyphs, 1)
            defer { unsafe cairo_new_path(context) }
            guard let path = unsafe cairo_copy_path_flat(context) else { return nil }
            defer { unsafe cairo_path_destroy(path) }
            guard unsafe path.pointee.status == CAIRO_STATUS_SUCCESS else { return nil }
            return GlyphOutline(
                advance: extents.x_advance, contours: unsafe Self.contours(of: path.pointee))
        }
    }

    private static func contours(of path: cairo_path_t) -> [[GlyphCorner]] {
        var contours: [[GlyphCorner]] = []
        var contour: [GlyphCorner] = []
        func end() {
            if contour.count > 1, contour.first == contour.last { contour.removeLast() }
            if contour.count > 2 { contours.append(contour) }
            contour = []
        }
        var index = 0
        while index < Int(unsafe path.num_data) {
            let header = unsafe path.data[index].header
            switch header.type {
            case CAIRO_PATH_MOVE_TO:
                end()
                fallthrough
            case CAIRO_PATH_LINE_TO:
                let point = unsafe path.data[index + 1].point
                let corner = GlyphCorner(x: point.x, y: point.y)
                if contour.last != corner { contour.append(corner) }
            default: end()
            }
            index += max(1, Int(header.length))
        }
        end()
        return contours
    }
}
