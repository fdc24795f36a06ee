// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CPango

/// A requested font; Pango substitutes a missing family.
public struct Font: Hashable, Sendable {
    /// Families with commas, the first that there is.
    public var family: String
    /// The size of the font in pixels, above 0.
    public var sizePixels: Double
    /// Whether it is bold.
    public var isBold: Bool
    /// Whether it slants.
    public var isItalic: Bool

    /// Describes one.
    public init(family: String, sizePixels: Double, isBold: Bool = false, isItalic: Bool = false) {
        self.family = family
        self.sizePixels = sizePixels
        self.isBold = isBold
        self.isItalic = isItalic
    }

    /// Pango's form of it, which the caller frees; nil where there is no memory for it.
    func description() -> OpaquePointer? {
        guard let description = unsafe pango_font_description_new() else { return nil }
        unsafe pango_font_description_set_family(description, family)
        unsafe pango_font_description_set_absolute_size(
            description, sizePixels * Double(PANGO_SCALE))
        unsafe pango_font_description_set_weight(
            description, isBold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL)
        unsafe pango_font_description_set_style(
            description, isItalic ? PANGO_STYLE_ITALIC : PANGO_STYLE_NORMAL)
        return unsafe description
    }

    /// Has a `PangoContext` fit neither shapes nor distances to pixels.
    static func keepShapes(of context: OpaquePointer?) {
        // Metrics that do not snap to pixels: glyph distances are those of the font.
        unsafe pango_context_set_round_glyph_positions(context, 0)
        guard let options = unsafe cairo_font_options_create() else { return }
        unsafe cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
        unsafe cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        unsafe pango_cairo_context_set_font_options(context, options)
        unsafe cairo_font_options_destroy(options)
    }
}

/// Text in one font, laid out on a canvas: shaped and ordered by its script, missing glyphs taken
/// from other fonts; lines are centred.
///
/// Used on the canvas's thread, which keeps Pango's fonts for the next. Glyphs are drawn as shapes,
/// not fitted to pixels, so they look the same at any place and angle. It owns a `PangoLayout`.
@safe
public final class TextLayout {
    private let canvas: Canvas
    private let layout: OpaquePointer
    /// Width and height of the text in pixels, ascenders and descenders included.
    public private(set) var size = (width: 0.0, height: 0.0)

    /// A layout without text; nil where there is no memory for it.
    public init?(_ font: Font, on canvas: Canvas) {
        guard let layout = unsafe canvas.withContext({ unsafe pango_cairo_create_layout($0) })
        else { return nil }
        unsafe self.layout = layout
        self.canvas = canvas
        let context = unsafe pango_layout_get_context(layout)
        unsafe Font.keepShapes(of: context)
        if let description = unsafe font.description() {
            unsafe pango_layout_set_font_description(layout, description)
            unsafe pango_font_description_free(description)
        }
        unsafe pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER)
    }

    deinit { unsafe g_object_unref(UnsafeMutableRawPointer(layout)) }

    /// Takes another text, and measures it.
    public func setText(_ text: String) {
        unsafe pango_layout_set_text(layout, text, -1)
        var (width, height): (Int32, Int32) = (0, 0)
        unsafe pango_layout_get_size(layout, &width, &height)
        size = (Double(width) / Double(PANGO_SCALE), Double(height) / Double(PANGO_SCALE))
    }

    /// Draws the text around a place; clears the canvas's path.
    ///
    /// - Parameters:
    ///   - x, y: The middle of the text.
    ///   - angle: Clockwise rotation in radians.
    ///   - halo: The colour and the width in pixels, above 0, of a halo; nil for none.
    public func draw(
        x: Double, y: Double, angle: Double = 0, _ color: PaintColor,
        halo: (color: PaintColor, reach: Double)? = nil
    ) {
        canvas.turned(by: angle, around: (x, y)) {
            canvas.clearPath()
            canvas.move(to: -size.width / 2, -size.height / 2)
            unsafe canvas.withContext { unsafe pango_cairo_layout_path($0, layout) }
            if let halo { canvas.stroke(halo.color, width: 2 * halo.reach) }
            canvas.fill(color, .winding)
            canvas.clearPath()
        }
    }
}
