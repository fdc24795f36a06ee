// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry

/// A layer of a map as its vector tiles have it.
public struct TileLayer: Hashable, Sendable {
    /// The layer.
    public var layer: LayerDescription
    /// The levels at which tiles have it.
    public var levels: ClosedRange<Int>
    /// The layer of the tiles that has the positions of its labels; nil for one that has none: of
    /// points or lines, or without labels.
    public var labelName: String?

    /// A layer at some levels.
    public init(layer: LayerDescription, levels: ClosedRange<Int>, labelName: String? = nil) {
        self.layer = layer
        self.levels = levels
        self.labelName = labelName
    }

    /// The scale's denominator at which a tile of level 0 has 512 pixels.
    public static let rootScale = 295_828_763.795777

    /// The scales at which a level's tiles are shown: from its own up to that of the next level,
    /// denominators.
    static func scales(of level: Int) -> (largest: Double, smallest: Double) {
        let own = rootScale / Double(1 << level)
        // The last level is magnified without an end.
        return (own, level == TileAddress.levels.upperBound ? 0 : own / 2)
    }
}

extension MapDescription {
    /// The layers of the map's vector tiles, in drawing order, bottom first.
    ///
    /// Those that `wanted` selects and that are loaded, may be queried, and have features on this
    /// site: datasets and graphics, which are one layer for each kind of geometry, see
    /// ``LayerDescription/tileParts``. Each is in the levels in which it is shown at some scale.
    ///
    /// The labels of areas are in a layer `NAME/label`, as Esri's tiles have them; with `'` behind
    /// it where that is the name of another layer.
    public func tileLayers(_ wanted: DrawnLayers = DrawnLayers()) -> [TileLayer] {
        let byID = Dictionary(layers.map { ($0.id, $0) }) { first, _ in first }
        var named = Set(wanted.ids)
        // Groups come before their children.
        for layer in layers where layer.parent.map(named.contains) ?? false {
            named.insert(layer.id)
        }
        var result = layers.flatMap { layer -> [TileLayer] in
            let parts = layer.tileParts.filter(\.hasTileFeatures)
            guard !parts.isEmpty else { return [] }
            var ancestry = [layer]
            while let parent = ancestry.last?.parent.flatMap({ byID[$0] }),
                ancestry.count <= layers.count
            {
                ancestry.append(parent)
            }
            let isNamed = named.contains(layer.id)
            let isVisible = ancestry.allSatisfy(\.isVisible)
            let isWanted =
                switch wanted.option {
                case .show: isNamed
                case .hide: !isNamed
                case .include: isVisible || isNamed
                case .exclude: isVisible && !isNamed
                }
            guard isWanted, let levels = Self.levels(of: ancestry.map(\.scaleRange)) else {
                return []
            }
            return parts.map { TileLayer(layer: $0, levels: levels) }
        }
        var names = Set(result.map(\.layer.name))
        for index in result.indices where result[index].layer.hasAreaLabels {
            var name = result[index].layer.name + "/label"
            while !names.insert(name).inserted { name += "'" }
            result[index].labelName = name
        }
        return result
    }

    /// The levels that show a layer inside all of the ranges; nil for none.
    private static func levels(of ranges: [ScaleRange]) -> ClosedRange<Int>? {
        let largest = ranges.map { $0.minScale == 0 ? .infinity : $0.minScale }.min() ?? .infinity
        let smallest = ranges.map(\.maxScale).max() ?? 0
        guard smallest <= largest else { return nil }
        let shown = TileAddress.levels.filter { level in
            let scales = TileLayer.scales(of: level)
            return scales.largest >= smallest && scales.smallest < largest
        }
        guard let first = shown.first, let last = shown.last else { return nil }
        return first...last
    }
}

extension LayerDescription {
    /// Whether it has areas with labels.
    fileprivate var hasAreaLabels: Bool {
        properties?.geometryType == .polygon
            && shownDrawing?.labels.contains { $0.symbol.sizePoints > 0 } == true
    }

    /// Whether vector tiles can have its features.
    fileprivate var hasTileFeatures: Bool {
        guard loadStatus == .loaded, isQueryable, properties?.geometryType != nil else {
            return false
        }
        return switch kind.source {
        case .dataset, .graphics: true
        case .raster, .wms, .mapService, .featureService, .tiles, nil: false
        }
    }
}
