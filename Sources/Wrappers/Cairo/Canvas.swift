// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairo

/// A picture in memory with four bytes a pixel; used from one thread at a time.
///
/// Pixels count from the upper left corner, x to the right and y down; whole numbers are between
/// pixels. Cairo keeps coordinates in 24.8 fixed point: those beyond ±8,388,607 pixels are
/// misplaced, so callers clip first. After a failure nothing more is drawn, and ``png(atMost:)``
/// and ``rgb()`` throw. It owns a `cairo_surface_t` and a `cairo_t`.
@safe
public final class Canvas {
    /// The greatest width and height that Cairo allows, in pixels.
    public static let sizeLimit = 32_767

    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    private let surface: OpaquePointer
    private let context: OpaquePointer

    /// A canvas without anything on it: clear where it has an alpha channel, else black
    /// (`cairo_image_surface_create`).
    ///
    /// Throws ``CairoError`` when there is no memory for it or the size is not 1…``sizeLimit``.
    public convenience init(width: Int, height: Int, hasAlpha: Bool) throws(CairoError) {
        guard 1...Self.sizeLimit ~= width, 1...Self.sizeLimit ~= height else {
            throw CairoError(operation: "make a canvas", message: "invalid value for its size")
        }
        let format = hasAlpha ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24
        // Cairo returns an object in any case; a failed one has an error status.
        guard
            let surface = unsafe cairo_image_surface_create(format, Int32(width), Int32(height))
        else { throw CairoError(operation: "make a canvas", message: "no memory") }
        try unsafe self.init(owning: surface, "make a canvas")
    }

    /// A canvas with alpha that has these pixels: red, green, blue and alpha of each, 0…255, row by
    /// row from the top, colours not multiplied.
    ///
    /// Throws ``CairoError`` as ``init(width:height:hasAlpha:)`` does, and for another number of
    /// bytes.
    public convenience init(width: Int, height: Int, rgba: [UInt8]) throws(CairoError) {
        guard rgba.count == width * height * 4 else {
            throw CairoError(operation: "make a canvas", message: "\(rgba.count) bytes do not fit")
        }
        try self.init(width: width, height: height, hasAlpha: true)
        unsafe cairo_surface_flush(surface)
        guard let data = unsafe cairo_image_surface_get_data(surface) else { return }
        let stride = Int(unsafe cairo_image_surface_get_stride(surface))
        for row in 0..<height {
            let start = unsafe UnsafeMutableRawPointer(data + row * stride)
            let pixels = unsafe UnsafeMutableBufferPointer(
                start: start.assumingMemoryBound(to: UInt32.self), count: width)
            for column in 0..<width {
                let index = (row * width + column) * 4
                unsafe pixels[column] = Ink.pixel(
                    rgba[index], rgba[index + 1], rgba[index + 2], rgba[index + 3])
            }
        }
        unsafe cairo_surface_mark_dirty(surface)
    }

    /// Takes the surface over, also where it throws.
    init(owning surface: OpaquePointer, _ operation: String) throws(CairoError) {
        let status = unsafe cairo_surface_status(surface)
        guard status == CAIRO_STATUS_SUCCESS, let context = unsafe cairo_create(surface) else {
            unsafe cairo_surface_destroy(surface)
            throw CairoError(operation, status)
        }
        unsafe self.surface = surface
        unsafe self.context = context
        width = Int(unsafe cairo_image_surface_get_width(surface))
        height = Int(unsafe cairo_image_surface_get_height(surface))
        unsafe cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        unsafe cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
    }

    deinit {
        unsafe cairo_destroy(context)
        unsafe cairo_surface_destroy(surface)
    }

    // MARK: Paths

    /// Begins a piece of the path (`cairo_move_to`).
    public func move(to x: Double, _ y: Double) { unsafe cairo_move_to(context, x, y) }

    /// Adds a straight line (`cairo_line_to`).
    public func line(to x: Double, _ y: Double) { unsafe cairo_line_to(context, x, y) }

    /// Goes back to where the piece began (`cairo_close_path`).
    public func close() { unsafe cairo_close_path(context) }

    /// The fill rule of a path.
    public enum FillRule: Hashable, Sendable {
        /// Those that an odd number of pieces surround.
        case evenOdd
        /// Those that pieces go around more often one way than the other.
        case winding
    }

    /// Paints a colour through a coverage mask; the path stays.
    ///
    /// Colours are composited (`CAIRO_OPERATOR_OVER`); the mask is clipped to the canvas.
    public func paint(_ color: PaintColor, through mask: CoverageMask) {
        guard color.alpha > 0, let target = unsafe cairo_get_group_target(context),
            unsafe cairo_surface_status(target) == CAIRO_STATUS_SUCCESS,
            unsafe cairo_surface_get_type(target) == CAIRO_SURFACE_TYPE_IMAGE
        else { return }
        unsafe cairo_surface_flush(target)
        guard let data = unsafe cairo_image_surface_get_data(target) else { return }
        let stride = Int(unsafe cairo_image_surface_get_stride(target))
        let width = min(
            self.width, mask.width, Int(unsafe cairo_image_surface_get_width(target)))
        let height = min(self.height, Int(unsafe cairo_image_surface_get_height(target)))
        let ink = Ink(color)
        for row in mask.rows.clamped(to: 0..<height) {
            let columns = mask.columns(of: row).clamped(to: 0..<width)
            guard !columns.isEmpty else { continue }
            let start = unsafe UnsafeMutableRawPointer(data + row * stride)
            let pixels = unsafe UnsafeMutableBufferPointer(
                start: start.assumingMemoryBound(to: UInt32.self), count: width)
            mask.withCoverages(of: row) { coverages in
                var column = columns.lowerBound
                while column < columns.upperBound {
                    // Inside and outside of areas, coverages are the same for many pixels.
                    let end = coverages.runEnd(from: column, to: columns.upperBound)
                    let coverage = coverages[column]
                    if coverage > 0 {
                        for each in column..<end {
                            unsafe pixels[each] = ink.laid(over: pixels[each], coverage)
                        }
                    }
                    column = end
                }
            }
        }
        unsafe cairo_surface_mark_dirty(target)
    }

    /// Fills the path; the path stays (`cairo_fill_preserve`).
    public func fill(_ color: PaintColor, _ rule: FillRule) {
        use(color)
        unsafe cairo_set_fill_rule(
            context, rule == .evenOdd ? CAIRO_FILL_RULE_EVEN_ODD : CAIRO_FILL_RULE_WINDING)
        unsafe cairo_fill_preserve(context)
    }

    /// Fills the path with a repeated picture, from the upper left corner of this canvas on; the
    /// path stays.
    public func fill(repeating tile: Canvas, _ rule: FillRule) {
        guard let pattern = unsafe cairo_pattern_create_for_surface(tile.surface) else { return }
        unsafe cairo_pattern_set_extend(pattern, CAIRO_EXTEND_REPEAT)
        unsafe cairo_set_source(context, pattern)
        unsafe cairo_pattern_destroy(pattern)
        unsafe cairo_set_fill_rule(
            context, rule == .evenOdd ? CAIRO_FILL_RULE_EVEN_ODD : CAIRO_FILL_RULE_WINDING)
        unsafe cairo_fill_preserve(context)
    }

    /// Paints along the path, joins and ends round; the path stays (`cairo_stroke_preserve`).
    ///
    /// - Parameters:
    ///   - width: In pixels, above 0.
    ///   - dashes: Lengths of dashes and gaps by turns, in pixels, not below 0 and not all 0; a
    ///     round
    ///     end is added to each dash. Empty: no gaps.
    public func stroke(_ color: PaintColor, width: Double, dashes: [Double] = []) {
        use(color)
        unsafe cairo_set_line_width(context, width)
        unsafe dashes.withUnsafeBufferPointer { lengths in
            unsafe cairo_set_dash(context, lengths.baseAddress, Int32(lengths.count), 0)
        }
        unsafe cairo_stroke_preserve(context)
    }

    /// Clears the path (`cairo_new_path`).
    public func clearPath() { unsafe cairo_new_path(context) }

    private func use(_ color: PaintColor) {
        unsafe cairo_set_source_rgba(context, color.red, color.green, color.blue, color.alpha)
    }

    /// Draws with the upper left corner's axes moved to a place and turned there, clockwise in
    /// radians.
    public func turned(
        by angle: Double, around place: (x: Double, y: Double), _ body: () -> Void
    ) {
        unsafe cairo_save(context)
        unsafe cairo_translate(context, place.x, place.y)
        unsafe cairo_rotate(context, angle)
        body()
        unsafe cairo_restore(context)
    }

    /// Lends the `cairo_t` to another library that draws on it.
    @unsafe
    package func withContext<Value>(_ body: (OpaquePointer) -> Value) -> Value {
        unsafe body(context)
    }

    // MARK: Whole pictures

    /// Paints everything over (`cairo_paint`).
    public func paint(_ color: PaintColor) {
        use(color)
        unsafe cairo_paint(context)
    }

    /// Paints another canvas over this one.
    ///
    /// - Parameters:
    ///   - x, y: The place of the other's upper left corner, in pixels.
    public func paint(_ other: Canvas, x: Int = 0, y: Int = 0) {
        unsafe cairo_set_source_surface(context, other.surface, Double(x), Double(y))
        unsafe cairo_paint(context)
        // Releases the other surface.
        unsafe cairo_set_source_rgba(context, 0, 0, 0, 0)
    }

    /// Begins a group, which ``endGroup(alpha:)`` composites as one (`cairo_push_group`); groups
    /// nest.
    public func beginGroup() { unsafe cairo_push_group(context) }

    /// Composites the paint since ``beginGroup()`` over the canvas.
    ///
    /// - Parameter alpha: Opacity, 0…1.
    public func endGroup(alpha: Double) {
        unsafe cairo_pop_group_to_source(context)
        unsafe cairo_paint_with_alpha(context, alpha)
        // Releases the group.
        unsafe cairo_set_source_rgba(context, 0, 0, 0, 0)
    }

    /// Takes everything away; a canvas without alpha becomes black.
    public func clear() {
        unsafe cairo_save(context)
        unsafe cairo_set_operator(context, CAIRO_OPERATOR_CLEAR)
        unsafe cairo_paint(context)
        unsafe cairo_restore(context)
    }

    // MARK: Results

    /// Throws ``CairoError`` where something that was drawn so far has failed (`cairo_status`).
    public func check() throws(CairoError) {
        let status = unsafe cairo_status(context)
        guard status == CAIRO_STATUS_SUCCESS else { throw CairoError("draw", status) }
    }

    /// Every pixel, row by row from the top: red, green, blue; three bytes each.
    ///
    /// Translucent pixels are darkened as if on black.
    ///
    /// Throws ``CairoError``.
    public func rgb() throws(CairoError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(width * height * 3)
        try forEachRow { row in
            for column in row.indices {
                let pixel = row[column]
                result.append(UInt8(truncatingIfNeeded: pixel >> 16))
                result.append(UInt8(truncatingIfNeeded: pixel >> 8))
                result.append(UInt8(truncatingIfNeeded: pixel))
            }
        }
        return result
    }

    /// Whether pixels have an alpha channel.
    var hasAlpha: Bool { unsafe cairo_image_surface_get_format(surface) == CAIRO_FORMAT_ARGB32 }

    /// The rows from the top, or some of them, pixels as `0xAARRGGBB`, colours premultiplied; alpha
    /// is undefined for a canvas without.
    func forEachRow(
        _ rows: Range<Int>? = nil, _ body: (Span<UInt32>) -> Void
    ) throws(CairoError) {
        try check()
        unsafe cairo_surface_flush(surface)
        guard let data = unsafe cairo_image_surface_get_data(surface) else {
            throw CairoError(operation: "read pixels", message: "the surface has none")
        }
        let stride = Int(unsafe cairo_image_surface_get_stride(surface))
        for row in (rows ?? 0..<height).clamped(to: 0..<height) {
            // Cairo keeps rows at whole pixels.
            let start = unsafe UnsafeRawPointer(data + row * stride)
            let pixels = unsafe UnsafeBufferPointer(
                start: start.assumingMemoryBound(to: UInt32.self), count: width)
            unsafe body(pixels.span)
        }
    }

    /// Red, green, blue and alpha of a pixel with alpha, colours no longer multiplied by it.
    static func unmultiplied(_ pixel: UInt32) -> (UInt8, UInt8, UInt8, UInt8) {
        let alpha = pixel >> 24
        guard alpha > 0 else { return (0, 0, 0, 0) }
        func plain(_ shift: UInt32) -> UInt8 {
            UInt8(min(255, ((pixel >> shift & 0xFF) * 255 + alpha / 2) / alpha))
        }
        return (plain(16), plain(8), plain(0), UInt8(alpha))
    }
}

extension Canvas {
    /// Reads a PNG (`cairo_image_surface_create_from_png_stream`); throws ``CairoError`` for other
    /// bytes.
    public convenience init(png bytes: [UInt8]) throws(CairoError) {
        let source = PNGSource(bytes)
        let surface = unsafe withExtendedLifetime(source) {
            unsafe cairo_image_surface_create_from_png_stream(
                { closure, target, count in
                    guard let closure = unsafe closure, let target = unsafe target else {
                        return CAIRO_STATUS_NULL_POINTER
                    }
                    let source = unsafe Unmanaged<PNGSource>.fromOpaque(closure)
                        .takeUnretainedValue()
                    let part = unsafe UnsafeMutableRawBufferPointer(
                        start: target, count: Int(count))
                    return unsafe source.give(part)
                        ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_READ_ERROR
                }, Unmanaged.passUnretained(source).toOpaque())
        }
        guard let surface = unsafe surface else {
            throw CairoError(operation: "read PNG", message: "no memory")
        }
        try unsafe self.init(owning: surface, "read PNG")
    }

    /// Every pixel, row by row from the top: red, green, blue, alpha, 0…255, colours not
    /// multiplied; alpha is 255 where the canvas has none.
    ///
    /// Throws ``CairoError``.
    public func rgba() throws(CairoError) -> [UInt8] {
        let hasAlpha = hasAlpha
        var result: [UInt8] = []
        result.reserveCapacity(width * height * 4)
        try forEachRow { row in
            for column in row.indices {
                let pixel = row[column]
                let plain = Self.unmultiplied(hasAlpha ? pixel : pixel | 0xFF00_0000)
                result.append(contentsOf: [plain.0, plain.1, plain.2, plain.3])
            }
        }
        return result
    }
}

/// A colour to paint with; all numbers 0…1, colours not multiplied by alpha.
public struct PaintColor: Hashable, Sendable {
    /// Red channel.
    public var red: Double
    /// Green channel.
    public var green: Double
    /// Blue channel.
    public var blue: Double
    /// Opacity.
    public var alpha: Double

    /// Mixes it.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }
}

/// An error of Cairo, with the attempted operation.
public struct CairoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The attempted operation, as a verb with its object.
    public let operation: String
    /// Cairo's message.
    public let message: String

    init(operation: String, message: String) {
        self.operation = operation
        self.message = message
    }

    init(_ operation: String, _ status: cairo_status_t) {
        self.operation = operation
        message = unsafe cairo_status_to_string(status).map { unsafe String(cString: $0) } ?? ""
    }

    /// One sentence.
    public var description: String { "cannot \(operation): \(message)" }
}

/// The bytes of a PNG that is read.
private final class PNGSource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func give(_ target: UnsafeMutableRawBufferPointer) -> Bool {
        guard target.count <= rest.count else { return false }
        unsafe target.copyBytes(from: rest.prefix(target.count))
        rest = rest.dropFirst(target.count)
        return true
    }
}
