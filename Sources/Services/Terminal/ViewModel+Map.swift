// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry

extension ViewModel {
    /// Screen pixels per dot: a character cell of 8 by 16 pixels has 2 by 4 dots.
    static let pixelsPerDot = 4.0

    /// How far from the crosshair a feature still counts, in pixels.
    static let tolerance = 6.0

    /// Everything about where things are on the screen now.
    var layout: ViewLayout { ViewLayout(columns: columns, rows: rows, shown: shown) }

    /// The cells that the map is drawn in, its border left out.
    var mapArea: Area { layout.panes[.map]?.inset ?? Area(column: 0, row: 0, columns: 0, rows: 0) }

    /// The size of the map in dots.
    var mapDots: (width: Int, height: Int) { (mapArea.columns * 2, mapArea.rows * 4) }

    /// Where the crosshair is, in dots from the map's top left.
    var crosshairDot: Coordinate {
        crosshair ?? Coordinate(x: Double(mapArea.columns), y: Double(mapArea.rows) * 2)
    }

    /// The crosshair on the map; nil while the map is blank.
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

    /// Whether coordinates of the map are degrees.
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

    /// What decides a layer's features; nil for a group, a layer without features that are drawn
    /// here, an unloaded layer or a blank map.
    func make(of layer: LayerDescription) -> LayerMake? {
        guard case .layer(let source) = layer.kind, source.isDrawnHere, layer.loadStatus == .loaded,
            let reference = map?.spatialReference
        else { return nil }
        return LayerMake(
            source: source, definition: layer.definitionExpression, spatialReference: reference)
    }

    /// Whether the layer and all its groups are on, and the scale is in their ranges.
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

    /// Asks for the features that are missing on the screen, at most one question a layer.
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

    /// What is at the crosshair, in the layers one sees.
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

    /// Moves the crosshair by dots, kept inside the pane.
    mutating func moveCrosshair(right: Int, down: Int) {
        let size = mapDots
        let now = crosshairDot
        crosshair = Coordinate(
            x: min(max(now.x + Double(right), 0), Double(max(size.width - 1, 0))),
            y: min(max(now.y + Double(down), 0), Double(max(size.height - 1, 0))))
    }

    /// Puts the crosshair into the middle of a cell of the screen.
    mutating func putCrosshair(column: Int, row: Int) {
        crosshair = Coordinate(
            x: Double(column - mapArea.column) * 2 + 1, y: Double(row - mapArea.row) * 4 + 2)
    }

    /// Zooms about the crosshair; below 1 zooms in.
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
