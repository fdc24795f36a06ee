// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// The texts of symbol layers: placed where there is room, then drawn with their layers.
struct TileLabels {
    /// The most texts of a picture.
    private static let limit = 20_000
    /// The most characters of a text.
    private static let characterLimit = 1_000

    private typealias Point = (x: Double, y: Double)

    /// A box around a text in pixels.
    private struct Box {
        var left, top, right, bottom: Double

        func overlaps(_ other: Box) -> Bool {
            left < other.right && other.left < right && top < other.bottom && other.top < bottom
        }
    }

    private struct Label {
        var layer: Int
        var strokes: [[Point]]
        var strokeWidth: Double
        var color, halo: StyleColor
        var haloWidth: Double
        var opacity: Double
    }

    private let view: Box
    private let width, height: Int
    private let ratio: Double
    private var labels: [Label] = []
    private var taken: [Box] = []

    init(width: Int, height: Int, ratio: Double) {
        self.width = width
        self.height = height
        self.ratio = ratio
        view = Box(left: 0, top: 0, right: Double(width), bottom: Double(height))
    }

    // MARK: Placing

    /// Adds the text of a feature where there is room for it.
    ///
    /// - Parameter number: The layer's, for ``draw(_:into:_:)``.
    mutating func add(
        _ feature: VectorTile.Feature, _ tileLayer: VectorTile.Layer, _ layer: TileStyle.Layer,
        _ number: Int, _ spot: TileGrid.Spot, _ scope: inout StyleScope
    ) {
        guard labels.count < Self.limit, layer.properties["text-field"] != nil else { return }
        var text = String(
            layer.text("text-field", "", &scope).prefix(Self.characterLimit))
        switch layer.text("text-transform", "none", &scope) {
        case "uppercase": text = text.uppercased()
        case "lowercase": text = text.lowercased()
        default: break
        }
        let size = layer.number("text-size", 16, &scope) * ratio
        let color = layer.color("text-color", .black, &scope)
        let opacity = layer.opacity("text-opacity", &scope)
        guard !text.allSatisfy(\.isWhitespace), size > 0, size < 1e4, color.alpha * opacity > 0
        else { return }
        let placement = layer.text("symbol-placement", "point", &scope)
        let anchors: [Anchor]
        if placement == "point" {
            let wide = max(layer.number("text-max-width", 10, &scope), 1)
            text = Self.wrapped(text, ems: wide)
            anchors = Self.anchors(of: feature, tileLayer, spot)
        } else {
            anchors = Self.anchors(
                along: feature, tileLayer, spot,
                spacing: max(layer.number("symbol-spacing", 250, &scope), 1) * ratio,
                budget: scope.budget,
                isCentered: placement == "line-center",
                room: StrokeText.shape(of: text, alignment: .left).width * size
                    / StrokeText.lineHeight)
        }
        let isBold = layer.texts("text-font", &scope).contains { $0.contains("Bold") }
        let unit = size / StrokeText.lineHeight
        let look = Label(
            layer: number, strokes: [], strokeWidth: max(ratio, unit * (isBold ? 1.6 : 0.9)),
            color: color, halo: layer.color("text-halo-color", .clear, &scope),
            haloWidth: layer.number("text-halo-width", 0, &scope) * ratio, opacity: opacity)
        let isFree = layer.flag("text-allow-overlap", &scope)
        let leavesRoom = layer.flag("text-ignore-placement", &scope)
        let turn = layer.number("text-rotate", 0, &scope) * .pi / 180
        let places = Self.places(layer, size, &scope)
        let shapes = places.map { Shape(text, unit, $0) }
        for anchor in anchors where labels.count < Self.limit && !scope.budget.isSpent {
            for shape in shapes {
                let box = shape.box(at: anchor, turn + anchor.turn)
                scope.budget.spend(taken.count + 10)
                guard box.overlaps(view) else { continue }
                guard isFree || !taken.contains(where: { $0.overlaps(box) }) else { continue }
                if !leavesRoom { taken.append(box) }
                var label = look
                label.strokes = shape.strokes(at: anchor, turn + anchor.turn)
                scope.budget.spend(label.strokes.count * 10)
                labels.append(label)
                break
            }
        }
    }

    /// Where a text may be, relative to its anchor: which of its sides is there, −1 for the left or
    /// the upper one, and by how many pixels it is moved.
    private struct Placement {
        var side: (x: Double, y: Double)
        var offset: Point
    }

    private static let sides: [String: (x: Double, y: Double)] = [
        "center": (0, 0), "left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1),
        "top-left": (-1, -1), "top-right": (1, -1), "bottom-left": (-1, 1), "bottom-right": (1, 1),
    ]

    private static func places(
        _ layer: TileStyle.Layer, _ size: Double, _ scope: inout StyleScope
    ) -> [Placement] {
        let offset = layer.numbers("text-offset", &scope)
        let moved: Point = offset.count == 2 ? (offset[0] * size, offset[1] * size) : (0, 0)
        let several = layer.texts("text-variable-anchor", &scope).compactMap { sides[$0] }
        let hasReach = layer.properties["text-radial-offset"] != nil
        let reach = layer.number("text-radial-offset", 0, &scope) * size
        guard !several.isEmpty else {
            let side = sides[layer.text("text-anchor", "center", &scope)] ?? (0, 0)
            return [Placement(side: side, offset: hasReach ? away(side, reach) : moved)]
        }
        return several.map { side in
            let own = (-side.x * moved.x.magnitude, -side.y * moved.y.magnitude)
            return Placement(side: side, offset: hasReach ? away(side, reach) : own)
        }
    }

    /// A way from the anchor towards the text.
    private static func away(_ side: (x: Double, y: Double), _ reach: Double) -> Point {
        let share = side.x != 0 && side.y != 0 ? 0.5.squareRoot() : 1
        return (-side.x * reach * share, -side.y * reach * share)
    }

    /// A text beside its anchor, not turned yet.
    private struct Shape {
        private let shape: StrokeText.Shape
        private let unit: Double
        private let offset: Point
        /// From the anchor to the left of the text and the top of its capitals, in units.
        private let start: Point
        private let high: Double

        init(_ text: String, _ unit: Double, _ place: Placement) {
            shape = StrokeText.shape(
                of: text,
                alignment: place.side.x < 0 ? .left : place.side.x > 0 ? .right : .center)
            let rows = Double(shape.lineCount - 1) * StrokeText.lineHeight
            high = StrokeText.ascent + StrokeText.descent + rows
            start = (-shape.width * (place.side.x + 1) / 2, -high * (place.side.y + 1) / 2)
            self.unit = unit
            offset = place.offset
        }

        private func pixel(_ x: Double, _ y: Double, _ anchor: Anchor, _ turn: Double) -> Point {
            let (sine, cosine) = (sin(turn), cos(turn))
            let (right, down) = (
                (start.x + x) * unit + offset.x, (start.y + y) * unit + offset.y
            )
            return (
                anchor.pixel.x + right * cosine - down * sine,
                anchor.pixel.y + right * sine + down * cosine
            )
        }

        func box(at anchor: Anchor, _ turn: Double) -> Box {
            let corners = [(0, 0), (shape.width, 0), (0, high), (shape.width, high)].map {
                pixel($0.0, $0.1, anchor, turn)
            }
            let (xs, ys) = (corners.map(\.x), corners.map(\.y))
            return Box(
                left: (xs.min() ?? 0) - 2, top: (ys.min() ?? 0) - 2, right: (xs.max() ?? 0) + 2,
                bottom: (ys.max() ?? 0) + 2)
        }

        func strokes(at anchor: Anchor, _ turn: Double) -> [[Point]] {
            shape.strokes.map { stroke in
                stroke.map { pixel($0.x, StrokeText.ascent - $0.y, anchor, turn) }
            }
        }
    }

    /// A text in lines of so many widths of an em, broken at spaces.
    private static func wrapped(_ text: String, ems: Double) -> String {
        let room = ems * StrokeText.lineHeight
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var lines: [String] = []
            for word in line.split(separator: " ") {
                let longer = lines.last.map { $0 + " " + word }
                if let longer, StrokeText.shape(of: longer, alignment: .left).width <= room {
                    lines[lines.count - 1] = longer
                } else {
                    lines.append(String(word))
                }
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    // MARK: Anchors

    /// Where a text is, and by how much it is turned clockwise.
    private struct Anchor {
        var pixel: Point
        var turn = 0.0
    }

    private static func anchors(
        of feature: VectorTile.Feature, _ layer: VectorTile.Layer, _ spot: TileGrid.Spot
    ) -> [Anchor] {
        let positions: [VectorTile.Position]
        switch feature.kind {
        case .point: positions = feature.parts.flatMap { $0 }
        case .line: positions = feature.parts.compactMap { $0[$0.count / 2] }
        case .polygon: positions = inside(feature.parts).map { [$0] } ?? []
        }
        return positions.filter { layer.owns($0) }.prefix(limit).map {
            Anchor(pixel: spot.pixel(Double($0.x), Double($0.y), of: Double(layer.extent)))
        }
    }

    /// A position inside rings: in the middle of the widest part of a line across them.
    private static func inside(_ rings: [[VectorTile.Position]]) -> VectorTile.Position? {
        let ys = rings.joined().map { Double($0.y) }
        guard let least = ys.min(), let most = ys.max() else { return nil }
        let y = (least + most) / 2 + 0.25
        var crossings: [Double] = []
        for ring in rings {
            guard var last = ring.last else { continue }
            for next in ring {
                let (from, to) = (Double(last.y), Double(next.y))
                if (from > y) != (to > y) {
                    let share = (y - from) / (to - from)
                    crossings.append(Double(last.x) + (Double(next.x) - Double(last.x)) * share)
                }
                last = next
            }
        }
        crossings.sort()
        var widest: (width: Double, middle: Double)?
        for index in stride(from: 0, to: crossings.count - 1, by: 2) {
            let width = crossings[index + 1] - crossings[index]
            if width > widest?.width ?? 0 {
                widest = (width, (crossings[index] + crossings[index + 1]) / 2)
            }
        }
        return widest.map { VectorTile.Position(x: Int32($0.middle), y: Int32(y)) }
    }

    /// Places along lines, in rows of a spacing, where the line is as long as the text and about
    /// straight.
    private static func anchors(
        along feature: VectorTile.Feature, _ layer: VectorTile.Layer, _ spot: TileGrid.Spot,
        spacing: Double, budget: DrawingBudget, isCentered: Bool, room: Double
    ) -> [Anchor] {
        let extent = Double(layer.extent)
        var anchors: [Anchor] = []
        for part in feature.kind == .point ? [] : feature.parts {
            var line: [(point: Point, along: Double)] = []
            for position in part {
                let point = spot.pixel(Double(position.x), Double(position.y), of: extent)
                let step = line.last.map { hypot(point.x - $0.point.x, point.y - $0.point.y) } ?? 0
                line.append((point, (line.last?.along ?? 0) + step))
            }
            guard let whole = line.last?.along, whole >= room, whole < 1e6 else { continue }
            func point(_ along: Double) -> Point {
                budget.spend(line.count)
                let next = line.firstIndex { $0.along >= along } ?? line.count - 1
                guard next > 0 else { return line[0].point }
                let (from, to) = (line[next - 1], line[next])
                let share = (along - from.along) / max(to.along - from.along, 1e-9)
                return (
                    from.point.x + (to.point.x - from.point.x) * share,
                    from.point.y + (to.point.y - from.point.y) * share
                )
            }
            let step = max(spacing, room)
            let count = isCentered ? 1 : max(1, min(1_000, Int(whole / step)))
            for index in 0..<count where !budget.isSpent {
                let middle = whole * (Double(index) + 0.5) / Double(count)
                guard middle >= room / 2, whole - middle >= room / 2 else { continue }
                let (start, end) = (point(middle - room / 2), point(middle + room / 2))
                let center = point(middle)
                let place = (
                    (center.x - spot.corner.x), (center.y - spot.corner.y)
                )
                guard spot.holds(place), hypot(end.x - start.x, end.y - start.y) > room * 0.9
                else { continue }
                var turn = atan2(end.y - start.y, end.x - start.x)
                // Texts are not upside down.
                if turn.magnitude > .pi / 2 { turn += turn > 0 ? -.pi : .pi }
                anchors.append(Anchor(pixel: center, turn: turn))
            }
        }
        return anchors
    }

    // MARK: Drawing

    /// Draws the texts of a layer, their halos below all of them.
    func draw(_ number: Int, into raster: inout Raster, _ budget: DrawingBudget) {
        let own = labels.filter { $0.layer == number }
        guard !own.isEmpty else { return }
        var mask = CoverageMask(columns: 0..<width, rows: 0..<height)
        budget.spend(width * height)
        func stroke(_ label: Label, _ width: Double, _ color: StyleColor) {
            let form = CoverageMask.LineForm(width: width, cap: "round", join: "round")
            for stroke in label.strokes { mask.add(line: stroke, form, budget) }
            mask.flush(
                into: &raster, color.opaque, color.alpha * label.opacity, budget, where: nil)
        }
        for label in own where label.haloWidth > 0 && label.halo.alpha > 0 {
            stroke(label, label.strokeWidth + 2 * min(label.haloWidth, 100), label.halo)
        }
        for label in own { stroke(label, label.strokeWidth, label.color) }
    }
}

extension TileGrid.Spot {
    /// Whether a way from the corner ends in the tile.
    fileprivate func holds(_ way: (x: Double, y: Double)) -> Bool {
        let area = right.x * down.y - right.y * down.x
        guard area != 0 else { return false }
        let across = (way.x * down.y - way.y * down.x) / area
        let along = (right.x * way.y - right.y * way.x) / area
        return 0..<1 ~= across && 0..<1 ~= along
    }
}
