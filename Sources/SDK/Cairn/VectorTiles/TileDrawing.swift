// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Draws vector tiles in a style, into a picture of a view.
struct TileDrawing {
    private typealias Entry = (spot: TileGrid.Spot, tile: VectorTile)

    private let style: TileStyle
    private let grid: TileGrid
    private let tiles: [Entry]
    private let width, height: Int
    private let budget: DrawingBudget

    /// - Parameter tiles: Those of `grid` that there are, in any order.
    init(
        _ style: TileStyle, _ grid: TileGrid,
        _ tiles: [(column: Int, row: Int, tile: VectorTile)], width: Int, height: Int,
        budget: DrawingBudget = DrawingBudget()
    ) {
        self.style = style
        self.grid = grid
        self.tiles = tiles.sorted { ($0.row, $0.column) < ($1.row, $1.column) }.map {
            (grid.spot($0.column, $0.row), $0.tile)
        }
        self.width = width
        self.height = height
        self.budget = budget
    }

    /// The picture, the style's first layer at the bottom, and what is left out of it by name, with
    /// the number of features.
    ///
    /// Throws `CancellationError`; ``CairnError`` where style and tiles want too much work.
    func draw() throws -> (raster: Raster, leftOut: [String: Int]) {
        let shown = style.layers.filter { $0.isShown(at: grid.zoom) }
        var labels = TileLabels(width: width, height: height, ratio: grid.ratio)
        var leftOut: [String: Int] = [:]
        // Labels of upper layers come first where there is no room for all.
        for (number, layer) in shown.enumerated().reversed() where layer.kind == .symbol {
            for entry in tiles {
                try features(of: entry, layer) { tileLayer, feature, scope in
                    if layer.properties["icon-image"] != nil,
                        let icon = layer.value("icon-image", &scope), icon.isTruthy
                    {
                        leftOut["\(layer.id): icon-image", default: 0] += 1
                    }
                    labels.add(feature, tileLayer, layer, number, entry.spot, &scope)
                }
            }
        }
        var raster = Raster(width: width, height: height)
        for (number, layer) in shown.enumerated() {
            try check()
            switch layer.kind {
            case .background: background(layer, &raster)
            case .fill: for entry in tiles { try fill(layer, entry, &raster) }
            case .line: for entry in tiles { try line(layer, entry, &raster) }
            case .circle: try circles(layer, &raster)
            case .symbol: labels.draw(number, into: &raster, budget)
            }
        }
        try check()
        return (raster, leftOut)
    }

    private func check() throws {
        try Task.checkCancellation()
        guard !budget.isSpent else {
            throw CairnError(
                .invalidState,
                "style and tiles want more than \(budget.limit) steps of work for a picture")
        }
    }

    /// The features of a tile that a layer's filter takes.
    private func features(
        of entry: Entry, _ layer: TileStyle.Layer,
        _ each: (VectorTile.Layer, VectorTile.Feature, inout StyleScope) -> Void
    ) throws {
        try check()
        for tileLayer in entry.tile.layers where tileLayer.name == layer.sourceLayer {
            for (number, feature) in tileLayer.features.enumerated() {
                budget.spend(1)
                if number % 256 == 255 || budget.isSpent { try check() }
                // Filters see whole zooms.
                var scope = StyleScope(
                    zoom: grid.zoom.rounded(.down), layer: tileLayer, feature: feature,
                    budget: budget)
                guard layer.takes(&scope) else { continue }
                scope.zoom = grid.zoom
                each(tileLayer, feature, &scope)
            }
        }
    }

    private func mask(_ entry: Entry) -> CoverageMask? {
        let (columns, rows) = grid.pixels(
            entry.spot.column, entry.spot.row, width: width, height: height)
        guard !columns.isEmpty, !rows.isEmpty else { return nil }
        budget.spend(columns.count * rows.count)
        return CoverageMask(columns: columns, rows: rows)
    }

    private func background(_ layer: TileStyle.Layer, _ raster: inout Raster) {
        var scope = StyleScope(zoom: grid.zoom, budget: budget)
        let color = layer.color("background-color", .black, &scope)
        let opacity = color.alpha * layer.opacity("background-opacity", &scope)
        budget.spend(width * height)
        for y in 0..<height {
            for x in 0..<width { raster.blend(color.opaque, Float(opacity), x, y) }
        }
    }

    // MARK: Areas and lines

    private func fill(
        _ layer: TileStyle.Layer, _ entry: Entry, _ raster: inout Raster
    ) throws {
        guard var mask = mask(entry) else { return }
        let owns = grid.owner(entry.spot.column, entry.spot.row)
        try features(of: entry, layer) { tileLayer, feature, scope in
            guard feature.kind == .polygon else { return }
            let rings = feature.parts.map { Self.ring($0, tileLayer, entry.spot) }
            guard mask.touches(rings, 1) else { return }
            let color = layer.color("fill-color", .black, &scope)
            let opacity = layer.opacity("fill-opacity", &scope)
            if color.alpha * opacity > 0 {
                for ring in rings { mask.add(ring, budget) }
                mask.flush(into: &raster, color.opaque, color.alpha * opacity, budget, where: owns)
            }
            guard layer.properties["fill-outline-color"] != nil else { return }
            let outline = layer.color("fill-outline-color", color, &scope)
            guard outline.alpha * opacity > 0 else { return }
            let form = CoverageMask.LineForm(width: grid.ratio)
            for ring in rings { mask.add(line: ring + ring.prefix(1), form, budget) }
            mask.flush(
                into: &raster, outline.opaque, outline.alpha * opacity, budget, where: owns)
        }
    }

    private func line(
        _ layer: TileStyle.Layer, _ entry: Entry, _ raster: inout Raster
    ) throws {
        guard var mask = mask(entry) else { return }
        let owns = grid.owner(entry.spot.column, entry.spot.row)
        try features(of: entry, layer) { tileLayer, feature, scope in
            guard feature.kind != .point else { return }
            var form = CoverageMask.LineForm(
                width: layer.number("line-width", 1, &scope) * grid.ratio)
            let color = layer.color("line-color", .black, &scope)
            let opacity = color.alpha * layer.opacity("line-opacity", &scope)
            guard form.width > 0, form.width < 1e4, opacity > 0 else { return }
            let lines = feature.parts.map { part in
                let line = Self.line(part, tileLayer, entry.spot)
                return feature.kind == .polygon ? line + line.prefix(1) : line
            }
            guard mask.touches(lines, form.width) else { return }
            form.cap = layer.text("line-cap", "butt", &scope)
            form.join = layer.text("line-join", "miter", &scope)
            let dashes = layer.numbers("line-dasharray", &scope).map { max($0, 0) * form.width }
            if dashes.count > 1 {
                // A pattern of an odd count goes on with its gaps drawn.
                form.dashes = dashes.count % 2 == 0 ? dashes : dashes + dashes
            }
            for line in lines { mask.add(line: line, form, budget) }
            mask.flush(into: &raster, color.opaque, opacity, budget, where: owns)
        }
    }

    private static func line(
        _ part: [VectorTile.Position], _ layer: VectorTile.Layer, _ spot: TileGrid.Spot
    ) -> [CoverageMask.Point] {
        let extent = Double(layer.extent)
        return part.map { spot.pixel(Double($0.x), Double($0.y), of: extent) }
    }

    /// The pixels of a ring; positions on the tile's sides lie a pixel outside, so that areas that
    /// end there leave no gap.
    private static func ring(
        _ part: [VectorTile.Position], _ layer: VectorTile.Layer, _ spot: TileGrid.Spot
    ) -> [CoverageMask.Point] {
        let extent = Double(layer.extent)
        let beyond = extent / max(hypot(spot.right.x, spot.right.y), 1)
        func moved(_ cell: Int32) -> Double {
            cell == 0
                ? -beyond : Int(cell) == layer.extent ? Double(cell) + beyond : Double(cell)
        }
        return part.map { spot.pixel(moved($0.x), moved($0.y), of: extent) }
    }

    // MARK: Circles

    private func circles(_ layer: TileStyle.Layer, _ raster: inout Raster) throws {
        // They reach over the sides of their tiles.
        var mask = CoverageMask(columns: 0..<width, rows: 0..<height)
        budget.spend(width * height)
        for entry in tiles {
            try features(of: entry, layer) { tileLayer, feature, scope in
                let radius = layer.number("circle-radius", 5, &scope) * grid.ratio
                let rim = layer.number("circle-stroke-width", 0, &scope) * grid.ratio
                guard radius >= 0, rim >= 0, radius + rim > 0, radius + rim < 1e4 else { return }
                let color = layer.color("circle-color", .black, &scope)
                let opacity = color.alpha * layer.opacity("circle-opacity", &scope)
                let rimColor = layer.color("circle-stroke-color", .black, &scope)
                let rimOpacity = rimColor.alpha * layer.opacity("circle-stroke-opacity", &scope)
                for position in feature.parts.joined() where tileLayer.owns(position) {
                    let center = entry.spot.pixel(
                        Double(position.x), Double(position.y), of: Double(tileLayer.extent))
                    guard mask.touches([[center]], radius + rim) else { continue }
                    if opacity > 0, radius > 0 {
                        mask.add(CoverageMask.circle(center, radius), budget)
                        mask.flush(into: &raster, color.opaque, opacity, budget, where: nil)
                    }
                    if rimOpacity > 0, rim > 0 {
                        mask.add(CoverageMask.circle(center, radius + rim), budget)
                        mask.add(CoverageMask.circle(center, radius).reversed(), budget)
                        mask.flush(into: &raster, rimColor.opaque, rimOpacity, budget, where: nil)
                    }
                }
            }
        }
    }
}

extension VectorTile.Layer {
    /// Whether a position is in the tile itself, not in what it has of its neighbours.
    func owns(_ position: VectorTile.Position) -> Bool {
        0..<extent ~= Int(position.x) && 0..<extent ~= Int(position.y)
    }
}

extension CoverageMask {
    /// Whether a box around lines, with room around it, touches the pixels.
    fileprivate func touches(_ lines: [[Point]], _ room: Double) -> Bool {
        var (left, top) = (Double.infinity, Double.infinity)
        var (right, bottom) = (-Double.infinity, -Double.infinity)
        for point in lines.joined() {
            (left, right) = (min(left, point.x), max(right, point.x))
            (top, bottom) = (min(top, point.y), max(bottom, point.y))
        }
        return right + room > Double(columns.lowerBound) && left - room < Double(columns.upperBound)
            && bottom + room > Double(rows.lowerBound) && top - room < Double(rows.upperBound)
    }
}

extension TileStyle.Layer {
    /// An opacity from 0 to 1; 1 unless there is one.
    func opacity(_ name: String, _ scope: inout StyleScope) -> Double {
        min(max(number(name, 1, &scope), 0), 1)
    }
}
