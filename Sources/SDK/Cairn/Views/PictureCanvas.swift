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

    /// Draws the graphics of an overlay, bottom to top.
    mutating func draw(_ overlay: GraphicsOverlay) {
        let graphics = overlay.graphics.enumerated()
            .sorted { ($0.element.zIndex, $0.offset) < ($1.element.zIndex, $1.offset) }
            .map(\.element)
        for graphic in graphics where graphic.isVisible {
            guard let geometry = graphic.geometry,
                let own = geometry.spatialReference == nil
                    ? geometry : try? GeometryEngine.project(geometry, into: frame.spatialReference)
            else { continue }
            let symbol: Symbol?
            if let given = graphic.symbol {
                symbol = given
            } else if let renderer = overlay.renderer {
                guard let chosen = renderer.symbol(for: graphic) else { continue }
                symbol = chosen
            } else {
                symbol = nil
            }
            draw(own, symbol, overlay.opacity)
        }
    }

    private mutating func draw(_ geometry: Geometry, _ symbol: Symbol?, _ opacity: Float) {
        if let composite = symbol as? CompositeSymbol {
            for part in composite.symbols { draw(geometry, part, opacity) }
            return
        }
        let points = frame.dpi / 72
        switch geometry {
        case let area as Polygon:
            let fill = symbol as? SimpleFillSymbol ?? SimpleFillSymbol(outline: SimpleLineSymbol())
            let rings = area.lines.map { $0.map { frame.pixel($0) } }
            if fill.style != .noFill { raster.fill(rings, fill.color, opacity) }
            if let outline = fill.outline, outline.style != .null {
                for ring in rings {
                    raster.stroke(ring, outline.width * points, outline.color, opacity)
                }
            }
        case let line as Polyline:
            let stroke = symbol as? SimpleLineSymbol ?? SimpleLineSymbol()
            guard stroke.style != .null else { return }
            for path in line.lines {
                raster.stroke(
                    path.map { frame.pixel($0) }, stroke.width * points, stroke.color, opacity)
            }
        case let box as Envelope: draw(box.polygon, symbol, opacity)
        default:
            let mark = symbol as? SimpleMarkerSymbol ?? SimpleMarkerSymbol()
            for place in geometry.places {
                raster.mark(mark.style, frame.pixel(place), mark.size * points, mark.color, opacity)
            }
        }
    }
}

/// A picture as pixels of four bytes: red, green, blue, alpha, not multiplied; rows from the top.
public struct Raster: Sendable {
    /// Pixels of a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// The pixels, four bytes each, row after row.
    public internal(set) var bytes: [UInt8]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 0, count: width * height * 4)
    }

    /// The color of a pixel, counted from the upper left; both numbers inside the picture.
    public func pixel(_ x: Int, _ y: Int) -> SymbolColor {
        let place = (y * width + x) * 4
        return SymbolColor(
            red: bytes[place], green: bytes[place + 1], blue: bytes[place + 2],
            alpha: bytes[place + 3])
    }

    /// Lays a color over a pixel (source over).
    mutating func blend(_ color: SymbolColor, _ opacity: Float, _ x: Int, _ y: Int) {
        let above = Float(color.alpha) / 255 * opacity
        guard above > 0 else { return }
        let place = (y * width + x) * 4
        let below = Float(bytes[place + 3]) / 255 * (1 - above)
        let alpha = above + below
        func mixed(_ upper: UInt8, _ lower: UInt8) -> UInt8 {
            UInt8(min(255, ((Float(upper) * above + Float(lower) * below) / alpha).rounded()))
        }
        bytes[place] = mixed(color.red, bytes[place])
        bytes[place + 1] = mixed(color.green, bytes[place + 1])
        bytes[place + 2] = mixed(color.blue, bytes[place + 2])
        bytes[place + 3] = UInt8(min(255, (alpha * 255).rounded()))
    }

    // MARK: Shapes

    /// The pixels of a row, or the rows, that something from one number to another touches; empty
    /// for what lies beside the picture, and for what are no numbers.
    static func pixels(from least: Double, to most: Double, of count: Int) -> Range<Int> {
        func place(_ value: Double) -> Int { value > 0 ? Int(min(value, Double(count))) : 0 }
        guard most >= 0, least <= most else { return 0..<0 }
        return place(least)..<max(place(least), min(count, place(most) + 1))
    }

    private static let samples = 4

    /// Fills rings by the parity of crossings, with four lines of samples a pixel.
    mutating func fill(
        _ rings: [[(x: Double, y: Double)]], _ color: SymbolColor, _ opacity: Float
    ) {
        let ys = rings.joined().map(\.y)
        guard let least = ys.min(), let most = ys.max(), least.isFinite, most.isFinite else {
            return
        }
        let rows = Self.pixels(from: least, to: most, of: height)
        guard !rows.isEmpty else { return }
        var cover = [Float](repeating: 0, count: width)
        for row in rows {
            for index in cover.indices { cover[index] = 0 }
            for sample in 0..<Self.samples {
                let y = Double(row) + (Double(sample) + 0.5) / Double(Self.samples)
                var crossings: [Double] = []
                for ring in rings {
                    for (start, end) in zip(ring, ring.dropFirst())
                    where (start.y > y) != (end.y > y) {
                        crossings.append(
                            start.x + (y - start.y) / (end.y - start.y) * (end.x - start.x))
                    }
                }
                crossings.sort()
                var index = 0
                while index + 1 < crossings.count {
                    Self.add(crossings[index], crossings[index + 1], to: &cover)
                    index += 2
                }
            }
            for x in 0..<width where cover[x] > 0 {
                blend(color, opacity * min(1, cover[x] / Float(Self.samples)), x, row)
            }
        }
    }

    private static func add(_ start: Double, _ end: Double, to cover: inout [Float]) {
        let (left, right) = (max(start, 0), min(end, Double(cover.count)))
        guard left < right else { return }
        var x = Int(left)
        while Double(x) < right, x < cover.count {
            cover[x] += Float(min(right, Double(x + 1)) - max(left, Double(x)))
            x += 1
        }
    }

    /// Strokes a line of a width in pixels: a rectangle for each piece, a disc at each bend.
    mutating func stroke(
        _ line: [(x: Double, y: Double)], _ lineWidth: Double, _ color: SymbolColor,
        _ opacity: Float
    ) {
        let half = max(lineWidth, 1) / 2
        let points = line.filter { abs($0.x) < 1e6 && abs($0.y) < 1e6 }
        for (start, end) in zip(points, points.dropFirst()) {
            let length = hypot(end.x - start.x, end.y - start.y)
            guard length > 0 else { continue }
            let (dx, dy) = ((end.x - start.x) / length * half, (end.y - start.y) / length * half)
            let box = [
                (x: start.x - dy, y: start.y + dx), (x: end.x - dy, y: end.y + dx),
                (x: end.x + dy, y: end.y - dx), (x: start.x + dy, y: start.y - dx),
                (x: start.x - dy, y: start.y + dx),
            ]
            fill([box], color, opacity)
        }
        guard lineWidth > 2 else { return }
        for point in points.dropFirst().dropLast() {
            mark(.circle, point, lineWidth, color, opacity)
        }
    }

    /// Draws a mark of a size in pixels.
    mutating func mark(
        _ style: SimpleMarkerSymbol.Style, _ center: (x: Double, y: Double), _ size: Double,
        _ color: SymbolColor, _ opacity: Float
    ) {
        guard abs(center.x) < 1e6, abs(center.y) < 1e6 else { return }
        let half = size / 2
        func ring(_ points: [(Double, Double)]) -> [(x: Double, y: Double)] {
            (points + points.prefix(1)).map { (center.x + $0.0 * half, center.y + $0.1 * half) }
        }
        switch style {
        case .circle:
            let steps = 24
            fill(
                [
                    ring(
                        (0..<steps).map { step in
                            let angle = Double(step) / Double(steps) * 2 * .pi
                            return (cos(angle), sin(angle))
                        })
                ], color, opacity)
        case .square: fill([ring([(-1, -1), (1, -1), (1, 1), (-1, 1)])], color, opacity)
        case .diamond: fill([ring([(0, -1), (1, 0), (0, 1), (-1, 0)])], color, opacity)
        case .triangle: fill([ring([(0, -1), (1, 1), (-1, 1)])], color, opacity)
        case .cross:
            stroke([(center.x - half, center.y), (center.x + half, center.y)], 2, color, opacity)
            stroke([(center.x, center.y - half), (center.x, center.y + half)], 2, color, opacity)
        case .x:
            stroke(
                [(center.x - half, center.y - half), (center.x + half, center.y + half)], 2, color,
                opacity)
            stroke(
                [(center.x - half, center.y + half), (center.x + half, center.y - half)], 2, color,
                opacity)
        }
    }
}
