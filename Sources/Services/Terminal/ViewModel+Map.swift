// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry

extension ViewModel {
    /// Screen pixels per dot: a character cell of 8 by 16 pixels has 2 by 4 dots.
    static let pixelsPerDot = 4.0

    /// Tolerance of identify at the crosshair, in pixels.
    static let tolerance = 6.0

    /// The current arrangement of the screen.
    var layout: ViewLayout { ViewLayout(columns: columns, rows: rows, shown: shown) }

    /// The area of the map without its border.
    var mapArea: Area { layout.panes[.map]?.inset ?? Area(column: 0, row: 0, columns: 0, rows: 0) }

    /// The size of the map in dots.
    var mapDots: (width: Int, height: Int) { (mapArea.columns * 2, mapArea.rows * 4) }

    /// Position of the crosshair, in dots from the map's top left.
    var crosshairDot: Coordinate {
        crosshair ?? Coordinate(x: Double(mapArea.columns), y: Double(mapArea.rows) * 2)
    }

    /// Map coordinate of the crosshair; nil while the map is blank.
    var crosshairCoordinate: Coordinate? {
        let size = mapDots
        return viewport?.coordinate(of: crosshairDot, width: size.width, height: size.height)
    }

    /// Shows the map's initial extent.
    mutating func showWholeMap() {
        let size = mapDots
        guard let extent = map?.initialExtent, extent.isFinite, !extent.isEmpty else { return }
        viewport = Viewport(showing: extent, width: size.width, height: size.height)
        crosshair = nil
    }

    /// Whether coordinates of the map are in degrees.
    var isGeographic: Bool {
        guard let wkid = map?.spatialReference?.wkid else { return false }
        return 4000...4999 ~= wkid
    }

    /// The denominator of the scale: ground metres per metre of a 96 dpi screen.
    var scale: Double? {
        guard let viewport else { return nil }
        let metersPerUnit = isGeographic ? 111_319.490_793_273_57 : 1
        return viewport.unitsPerDot / Self.pixelsPerDot * metersPerUnit * 96 / 0.0254
    }

    /// The properties that determine a layer's features; nil for a group, a layer not drawn from
    /// features, an unloaded layer or a blank map.
    func make(of layer: LayerDescription) -> LayerMake? {
        guard case .layer(let source) = layer.kind, source.isDrawnHere, layer.loadStatus == .loaded,
            let reference = map?.spatialReference
        else { return nil }
        return LayerMake(
            source: source, definition: layer.definitionExpression, spatialReference: reference)
    }

    /// Whether the layer and its groups are visible at the present scale.
    func isDrawn(_ layer: LayerDescription) -> Bool {
        guard let map, let scale else { return false }
        var current: LayerDescription? = layer
        for _ in 0..<64 {
            guard let one = current else { return true }
            guard one.isVisible, one.scaleRange.contains(scale: scale) else { return false }
            current = one.parent.flatMap { map.layer($0) }
        }
        return false
    }

    /// The layers to draw, bottom first.
    var drawnLayers: [LayerDescription] {
        map?.layers.filter { make(of: $0) != nil && isDrawn($0) } ?? []
    }

    /// Queries for the features missing on the screen, at most one per layer.
    mutating func fetches() -> [ViewAction] {
        let size = mapDots
        guard let viewport, let map, size.width > 0, size.height > 0 else { return [] }
        let view = viewport.extent(width: size.width, height: size.height)
        var actions: [ViewAction] = []
        for layer in drawnLayers {
            guard let make = make(of: layer), let properties = layer.properties else { continue }
            var seen = view
            var asked = view.expanded(by: max(view.width, view.height) / 4)
            if properties.spatialReference.isEquivalent(to: make.spatialReference) {
                guard let extent = properties.extent else { continue }
                seen = view.intersection(extent)
                asked = asked.intersection(extent)
                if seen.isEmpty { continue }
            }
            let wanted = FeatureQuery(
                map: map.name, layer: layer.id, make: make, extent: asked,
                offset: viewport.unitsPerDot / 2, at: at, depth: 0)
            if let query = stores[layer.id, default: FeatureStore()].query(for: wanted, view: seen)
            {
                actions.append(.fetch(query))
            }
        }
        return actions
    }

    /// An identify at the crosshair, in the visible layers.
    mutating func identify() -> [ViewAction] {
        let size = mapDots
        guard let viewport, let map, let at = crosshairCoordinate else {
            say("the map is blank: no layer is loaded yet")
            return []
        }
        isIdentifying = true
        return [
            .identify(
                IdentifyRequest(
                    map: map.name, geometry: .point(at),
                    layers: LayerSelection(.visible), tolerance: Self.tolerance,
                    mapExtent: viewport.extent(width: size.width, height: size.height),
                    imageDisplay: ImageDisplay(
                        width: Double(size.width) * Self.pixelsPerDot,
                        height: Double(size.height) * Self.pixelsPerDot),
                    returnGeometry: true, maxAllowableOffset: viewport.unitsPerDot / 2,
                    at: self.at))
        ]
    }

    /// Moves the crosshair by dots, clamped to the pane.
    mutating func moveCrosshair(right: Int, down: Int) {
        let size = mapDots
        let now = crosshairDot
        crosshair = Coordinate(
            x: min(max(now.x + Double(right), 0), Double(max(size.width - 1, 0))),
            y: min(max(now.y + Double(down), 0), Double(max(size.height - 1, 0))))
    }

    /// Moves the crosshair to the middle of a cell of the screen.
    mutating func putCrosshair(column: Int, row: Int) {
        crosshair = Coordinate(
            x: Double(column - mapArea.column) * 2 + 1, y: Double(row - mapArea.row) * 4 + 2)
    }

    /// Zooms around the crosshair; in for a factor below 1.
    mutating func zoom(by factor: Double) {
        guard let fixed = crosshairCoordinate else { return }
        viewport?.zoom(by: factor, keeping: fixed)
    }
}

extension LayerSource {
    /// Whether the view draws its features.
    fileprivate var isDrawnHere: Bool {
        if case .dataset = self { true } else { false }
    }
}
