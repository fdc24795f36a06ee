// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Pictures and graphics laid over each other, in memory.
struct PictureCanvas {
    private let frame: ViewFrame
    private(set) var raster: Raster

    init(_ frame: ViewFrame) {
        self.frame = frame
        raster = Raster(width: max(1, Int(frame.width)), height: max(1, Int(frame.height)))
    }

    /// Draws a PNG over an extent of the map; throws for another format.
    mutating func draw(_ png: Data, over extent: Envelope, opacity: Float) throws {
        let source = try PNG.decode([UInt8](png))
        guard extent.width > 0, extent.height > 0 else { return }
        let isWhole =
            extent == frame.unrotatedExtent && source.width == raster.width
            && source.height == raster.height
            && frame.rotation.truncatingRemainder(dividingBy: 360) == 0
        let scaleX = Double(source.width) / extent.width
        let scaleY = Double(source.height) / extent.height
        // The rows and columns that the extent can touch.
        let corners = extent.polygon.places.map { frame.pixel($0) }
        let (left, right) = (corners.map(\.x).min() ?? 0, corners.map(\.x).max() ?? 0)
        let (top, bottom) = (corners.map(\.y).min() ?? 0, corners.map(\.y).max() ?? 0)
        let columns = Raster.pixels(from: left, to: right, of: raster.width)
        let rows = Raster.pixels(from: top, to: bottom, of: raster.height)
        for y in rows {
            for x in columns {
                if isWhole {
                    raster.blend(source.pixel(x, y), opacity, x, y)
                    continue
                }
                let place = frame.location(Double(x) + 0.5, Double(y) + 0.5)
                let column = ((place.x - extent.xMin) * scaleX).rounded(.down)
                let row = ((extent.yMax - place.y) * scaleY).rounded(.down)
                guard column >= 0, row >= 0, column < Double(source.width),
                    row < Double(source.height)
                else { continue }
                raster.blend(source.pixel(Int(column), Int(row)), opacity, x, y)
            }
        }
    }

    /// Draws a picture of the view's size.
    mutating func draw(_ picture: Raster, opacity: Float) {
        for y in 0..<min(raster.height, picture.height) {
            for x in 0..<min(raster.width, picture.width) {
                raster.blend(picture.pixel(x, y), opacity, x, y)
            }
        }
    }

    /// Draws the graphics of an overlay, bottom to top.
    mutating func draw(_ overlay: GraphicsOverlay) {
        for (geometry, symbol) in overlay.shapes { draw(geometry, symbol, overlay.opacity) }
    }

    /// Draws shapes in whatever references they are, the bottom one first; one that cannot be had
    /// in the view's is left out.
    mutating func draw(_ geometry: Geometry, _ symbol: Symbol?, _ opacity: Float) {
        if let own = try? frame.placed(geometry) { paint(own, symbol, opacity) }
    }

    private mutating func paint(_ geometry: Geometry, _ symbol: Symbol?, _ opacity: Float) {
        if let composite = symbol as? CompositeSymbol {
            for part in composite.symbols { paint(geometry, part, opacity) }
            return
        }
        switch geometry {
        case let area as Polygon where !(symbol is MarkerSymbol):
            let rings = area.lines.map { $0.map { frame.pixel($0) } }
            if let line = symbol as? SimpleLineSymbol {
                for ring in rings { stroke(ring, line, opacity) }
                return
            }
            let fill = symbol as? SimpleFillSymbol ?? SimpleFillSymbol(outline: SimpleLineSymbol())
            let style = fill.style
            if style != .noFill { raster.fill(rings, fill.color, opacity) { style.has($0, $1) } }
            if let outline = fill.outline {
                for ring in rings { stroke(ring, outline, opacity) }
            }
        case let line as Polyline where !(symbol is MarkerSymbol):
            let symbol = symbol as? SimpleLineSymbol ?? SimpleLineSymbol()
            for path in line.lines { stroke(path.map { frame.pixel($0) }, symbol, opacity) }
        case let box as Envelope: paint(box.polygon, symbol, opacity)
        case is Polygon, is Polyline:
            // A mark of a line or an area is in the middle of it.
            let center = geometry.extent.center
            if !geometry.isEmpty { mark(center.place, symbol, opacity) }
        default: for place in geometry.places { mark(place, symbol, opacity) }
        }
    }

    /// Pixels of a point.
    private var points: Double { frame.dpi / 72 }

    private mutating func stroke(
        _ line: [(x: Double, y: Double)], _ symbol: SimpleLineSymbol, _ opacity: Float
    ) {
        guard symbol.style != .null else { return }
        let width = symbol.width * points
        for piece in Raster.dashes(line, symbol.style.pattern.map { $0 * max(width, 1) }) {
            raster.stroke(piece, width, symbol.color, opacity)
        }
    }

    private mutating func mark(_ place: Place, _ symbol: Symbol?, _ opacity: Float) {
        let pixel = frame.pixel(place)
        guard let symbol = symbol as? MarkerSymbol ?? (symbol == nil ? SimpleMarkerSymbol() : nil)
        else { return }
        let center = (
            x: pixel.x + symbol.offsetX * points, y: pixel.y - symbol.offsetY * points
        )
        guard abs(center.x) < 1e6, abs(center.y) < 1e6 else { return }
        switch symbol {
        case let mark as SimpleMarkerSymbol: paint(mark, center, opacity)
        case let picture as PictureMarkerSymbol: paint(picture, center, opacity)
        case let text as TextSymbol: paint(text, center, opacity)
        default: break
        }
    }

    private mutating func paint(
        _ mark: SimpleMarkerSymbol, _ center: (x: Double, y: Double), _ opacity: Float
    ) {
        let size = mark.size * points
        raster.mark(mark.style, center, size, mark.color, opacity, angle: mark.angle)
        guard let outline = mark.outline else { return }
        for ring in Raster.outline(mark.style, center, size, angle: mark.angle) {
            stroke(ring, outline, opacity)
        }
    }

    private mutating func paint(
        _ symbol: PictureMarkerSymbol, _ center: (x: Double, y: Double), _ opacity: Float
    ) {
        guard let picture = symbol.picture else { return }
        let (width, height) = (symbol.width * points, symbol.height * points)
        guard width > 0, height > 0, width < 1e5, height < 1e5 else { return }
        let turn = symbol.angle * .pi / 180
        let (sine, cosine) = (sin(turn), cos(turn))
        let reach = hypot(width, height) / 2
        let rows = Raster.pixels(
            from: center.y - reach, to: center.y + reach, of: raster.height)
        let columns = Raster.pixels(
            from: center.x - reach, to: center.x + reach, of: raster.width)
        for y in rows {
            for x in columns {
                let (dx, dy) = (Double(x) + 0.5 - center.x, Double(y) + 0.5 - center.y)
                let column = ((dx * cosine + dy * sine) / width + 0.5) * Double(picture.width)
                let row = ((dy * cosine - dx * sine) / height + 0.5) * Double(picture.height)
                guard column >= 0, row >= 0, column < Double(picture.width),
                    row < Double(picture.height)
                else { continue }
                raster.blend(
                    picture.pixel(Int(column), Int(row)), opacity * symbol.opacity, x, y)
            }
        }
    }

    private mutating func paint(
        _ symbol: TextSymbol, _ center: (x: Double, y: Double), _ opacity: Float
    ) {
        let state = symbol.state.current
        guard !state.text.isEmpty, state.size > 0, state.size < 1e4 else { return }
        let shape = StrokeText.shape(of: state.text, alignment: state.horizontal)
        // A line of the height of the size.
        let unit = state.size * points / StrokeText.lineHeight
        let below = Double(shape.lineCount - 1) * StrokeText.lineHeight
        let left =
            switch state.horizontal {
            case .left, .justify: 0.0
            case .center: -shape.width / 2
            case .right: -shape.width
            }
        let first =
            switch state.vertical {
            case .baseline: below
            case .bottom: below + StrokeText.descent
            case .middle: (below - StrokeText.ascent + StrokeText.descent) / 2
            case .top: -StrokeText.ascent
            }
        let turn = symbol.angle * .pi / 180
        let (sine, cosine) = (sin(turn), cos(turn))
        func pixel(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            let (right, down) = ((x + left) * unit, -(y + first) * unit)
            return (
                center.x + right * cosine - down * sine, center.y + right * sine + down * cosine
            )
        }
        let box = [
            (0.0, StrokeText.ascent), (shape.width, StrokeText.ascent),
            (shape.width, -below - StrokeText.descent), (0, -below - StrokeText.descent),
            (0, StrokeText.ascent),
        ].map { pixel($0.0, $0.1) }
        raster.fill([box], state.backgroundColor, opacity)
        if state.outlineWidth > 0 {
            raster.stroke(box, state.outlineWidth * points, state.outlineColor, opacity)
        }
        var strokes = shape.strokes.map { stroke in stroke.map { pixel($0.x, $0.y) } }
        if state.fontDecoration != .none {
            let height = state.fontDecoration == .underline ? -1.5 : 2.5
            for line in 0..<shape.lineCount {
                let y = height - Double(line) * StrokeText.lineHeight
                strokes.append([pixel(0, y), pixel(shape.width, y)])
            }
        }
        let width = max(1, unit * (state.fontWeight == .bold ? 1.6 : 0.9))
        if state.haloWidth > 0 {
            let wide = width + 2 * state.haloWidth * points
            for stroke in strokes {
                raster.stroke(stroke, wide, state.haloColor, opacity, isRound: true)
            }
        }
        for stroke in strokes { raster.stroke(stroke, width, state.color, opacity) }
    }
}

extension GraphicsOverlay {
    /// What is drawn of it, the bottom one first; a graphic with neither a symbol nor one of the
    /// renderer has nil and the standard one, one that the renderer leaves out is not there.
    var shapes: [(geometry: Geometry, symbol: Symbol?)] {
        let renderer = renderer
        return graphics.enumerated()
            .sorted { ($0.element.zIndex, $0.offset) < ($1.element.zIndex, $1.offset) }
            .compactMap { _, graphic in
                guard graphic.isVisible, let geometry = graphic.geometry else { return nil }
                if let symbol = graphic.symbol { return (geometry, symbol) }
                guard let renderer else { return (geometry, nil) }
                return renderer.symbol(for: graphic).map { (geometry, $0) }
            }
    }
}
