// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// What a layer has in one tile: geometry in the tile's grid.
struct TileLayer {
    var features: [Feature] = []
    var parts = TilePartStore()
    var fates = VectorTileReport.Layer(name: "")

    struct Feature {
        /// The number of the feature in its layer.
        let number: Int
        let kind: GeometryKind
        let parts: Range<Int>
        /// Twice its area in cells, or its length in cells; 0 for points.
        let measure: Double
        /// Whether a square or stroke stands for it.
        let isReplaced: Bool
    }
}

/// Brings geometry into the grid of one tile after another; keeps its arrays between tiles.
struct LayerTiling {
    private var cleaning = PolygonCleaning()
    private var ring: [GridPlace] = []
    private var path: [PackedPlace] = []

    /// A layer's features in a tile, in their order.
    ///
    /// Geometry is all of the layer's, or what was kept of it for a square around the tile.
    mutating func content(
        of layer: VectorTileLayer, _ geometry: GeometryStore, in frame: TileFrame
    ) -> TileLayer {
        var result = TileLayer()
        result.fates.name = layer.name
        var clipping = GridClipping(frame)
        for entry in geometry.entries where entry.envelope.intersects(frame.reach) {
            let feature = layer.features[entry.feature]
            let first = result.parts.ends.count
            var measure = 0.0
            let isTouching: Bool
            switch feature.kind {
            case .point where layer.isLabels:
                isTouching = append(
                    label: entry, of: geometry, feature.dust, in: frame, to: &result.parts)
                // The largest areas stay in a tile that is too large.
                measure = feature.dust.reach
            case .point:
                isTouching = append(points: entry, of: geometry, in: frame, to: &result.parts)
            case .line:
                isTouching = append(
                    lines: entry, of: geometry, in: frame, clipping, to: &result.parts, &measure)
            case .polygon:
                isTouching = append(
                    polygon: entry, of: geometry, in: frame, &clipping, to: &result.parts,
                    &measure)
            }
            let isOwn = result.parts.ends.count > first
            if isOwn {
                result.fates.kept += 1
            } else if isTouching {
                guard append(dust: feature, in: frame, to: &result.parts, &measure) else {
                    result.fates.vanished += 1
                    continue
                }
                result.fates.replaced += 1
            } else {
                continue
            }
            result.features.append(
                TileLayer.Feature(
                    number: entry.feature, kind: feature.kind,
                    parts: first..<result.parts.ends.count, measure: measure,
                    isReplaced: !isOwn))
        }
        return result
    }

    /// The position of a label, of an area that is large enough for one.
    private func append(
        label entry: GeometryStore.Entry, of geometry: GeometryStore, _ dust: Dust,
        in frame: TileFrame, to parts: inout TilePartStore
    ) -> Bool {
        guard let part = entry.parts.first else { return false }
        let first = geometry.coordinates(ofPart: part).lowerBound
        let place = frame.place(of: geometry.coordinates[first])
        guard frame.isOwn(place) else { return false }
        if dust.reach >= frame.leastLabelledMeters { parts.append([frame.packed(place)]) }
        return true
    }

    /// Points of a feature that fall into one cell are one point, the first.
    private mutating func append(
        points entry: GeometryStore.Entry, of geometry: GeometryStore, in frame: TileFrame,
        to parts: inout TilePartStore
    ) -> Bool {
        path.removeAll(keepingCapacity: true)
        for part in entry.parts {
            for coordinate in geometry.coordinates[geometry.coordinates(ofPart: part)] {
                let place = frame.place(of: coordinate)
                if frame.contains(place) { path.append(frame.packed(place)) }
            }
        }
        if path.count > 1 {
            var seen: Set<PackedPlace> = []
            path.removeAll { !seen.insert($0).inserted }
        }
        if !path.isEmpty { parts.append(path) }
        return !path.isEmpty
    }

    private mutating func append(
        lines entry: GeometryStore.Entry, of geometry: GeometryStore, in frame: TileFrame,
        _ clipping: GridClipping, to parts: inout TilePartStore, _ measure: inout Double
    ) -> Bool {
        var isTouching = false
        for part in entry.parts {
            path.removeAll(keepingCapacity: true)
            var before: GridPlace?
            for coordinate in geometry.coordinates[geometry.coordinates(ofPart: part)] {
                let place = frame.place(of: coordinate)
                guard let last = before, last != place else {
                    if before == nil && frame.contains(place) { isTouching = true }
                    before = place
                    continue
                }
                before = place
                guard let (from, to) = clipping.clip(last, place) else { continue }
                isTouching = true
                let (start, end) = (frame.packed(from), frame.packed(to))
                if path.last != start {
                    finishPath(&parts, &measure)
                    path.append(start)
                }
                if end != start { path.append(end) }
            }
            finishPath(&parts, &measure)
        }
        return isTouching
    }

    /// Appends the path without vertices that lie between their neighbours on a line.
    private mutating func finishPath(_ parts: inout TilePartStore, _ measure: inout Double) {
        defer { path.removeAll(keepingCapacity: true) }
        guard path.count > 1 else { return }
        var kept = 1
        for index in 1..<path.count {
            let (before, place) = (path[index - 1], path[index])
            let (dx, dy) = (Double(place.x - before.x), Double(place.y - before.y))
            measure += (dx * dx + dy * dy).squareRoot()
            if index + 1 < path.count,
                CollinearVertices.isBetween(path[kept - 1], place, path[index + 1])
            {
                continue
            }
            path[kept] = place
            kept += 1
        }
        parts.append(path[..<kept])
    }

    private mutating func append(
        polygon entry: GeometryStore.Entry, of geometry: GeometryStore, in frame: TileFrame,
        _ clipping: inout GridClipping, to parts: inout TilePartStore, _ measure: inout Double
    ) -> Bool {
        var isTouching = false
        cleaning.noding.removeAll()
        for part in entry.parts {
            ring.removeAll(keepingCapacity: true)
            var isInside = true
            for coordinate in geometry.coordinates[geometry.coordinates(ofPart: part)] {
                let place = frame.place(of: coordinate)
                if place == ring.last { continue }
                isInside = isInside && frame.contains(place)
                ring.append(place)
            }
            if isInside {
                isTouching = true
            } else {
                if !isTouching { isTouching = Self.touches(ring, clipping) }
                clipping.clip(ring: &ring)
            }
            guard ring.count > 2, var before = ring.last.map(frame.packed) else { continue }
            for place in ring {
                let next = frame.packed(place)
                cleaning.noding.add(before, next)
                before = next
            }
        }
        measure = Double(cleaning.appendRings(to: &parts))
        return isTouching
    }

    private static func touches(_ ring: [GridPlace], _ clipping: GridClipping) -> Bool {
        guard var before = ring.last else { return false }
        for place in ring {
            if clipping.clip(before, place) != nil { return true }
            before = place
        }
        return false
    }

    private func append(
        dust feature: VectorTileLayer.Feature, in frame: TileFrame, to parts: inout TilePartStore,
        _ measure: inout Double
    ) -> Bool {
        let place = frame.place(of: feature.dust.place)
        let far = GridPlace(x: place.x + frame.step, y: place.y + frame.step)
        guard frame.contains(place), frame.contains(far),
            feature.dust.isShown(stepMeters: frame.stepMeters, kind: feature.kind)
        else { return false }
        let (near, corner) = (frame.packed(place), frame.packed(far))
        let right = PackedPlace(x: corner.x, y: near.y)
        switch feature.kind {
        case .point: return false
        case .line:
            parts.append([near, right])
            measure = Double(frame.step)
        case .polygon:
            parts.append([near, right, corner, PackedPlace(x: near.x, y: corner.y)])
            measure = Double(2 * frame.step * frame.step)
        }
        return true
    }
}
