// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

extension IdentifyEngine {
    /// The most rectangles of changed features; a map with more counts as changed anywhere.
    public static let changedBoxBound = 100_000

    /// Where pictures and tiles of a map may differ between two of its states.
    ///
    /// Edits of features and of graphics are bounded by the rectangles of the features before and
    /// after. Where edits change the order in which other edited features are drawn, those count as
    /// changed too. Anything else that pictures or tiles show is a change anywhere.
    ///
    /// Throws `cancelled` soon after `isCancelled` returns true, and what the datasets throw.
    ///
    /// - Parameter reach: How far a layer's symbols reach beyond its features, in pixels of 96
    ///   dots per inch.
    public func changes(
        from old: MapDescription, to new: MapDescription,
        reach: (LayerDescription) -> Double, isCancelled: @escaping () -> Bool
    ) throws(Failure) -> MapChanges {
        if let reason = new.wholeChange(from: old) { return .anywhere(reason) }
        let state = kept.take(nil)
        defer { kept.giveBack(state) }
        var layers: [LayerChanges] = []
        var count = 0
        for (then, now) in zip(old.layers, new.layers) {
            try Failure.stop(if: isCancelled)
            let found: ChangedFeatures
            switch now.kind.source {
            case .dataset(let id):
                found = try changes(from: then, to: now, id, of: new.name, state, isCancelled)
            case .graphics(let source):
                found = try graphicChanges(from: then, to: now, source, state)
            case .raster, .wms, .mapService, .featureService, .tiles, nil: continue
            }
            if let reason = found.wholeReason { return .anywhere(reason) }
            count += found.boxes.count
            guard count <= Self.changedBoxBound else {
                return .anywhere("more than \(Self.changedBoxBound) features changed")
            }
            guard !found.boxes.isEmpty else { continue }
            layers.append(
                LayerChanges(layer: now.id, boxes: found.boxes, reachPixels: reach(now)))
        }
        return .features(layers)
    }

    private func changes(
        from old: LayerDescription, to new: LayerDescription, _ id: ContentID, of map: MapName,
        _ state: EngineState, _ isCancelled: @escaping () -> Bool
    ) throws(Failure) -> ChangedFeatures {
        let (before, after) = (old.edits?.changes ?? [], new.edits?.changes ?? [])
        if before == after { return ChangedFeatures(new, nil) }
        let dataset = try sources.datasets(id)
        let toMap = try state.transforms.transform(
            ofLayerIn: dataset.properties.spatialReference, to: .webMercator)
        var found = ChangedFeatures(
            new, toMap, isRectilinear: dataset.properties.spatialReference.isOfWebMaps)
        let then = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
        let now = Dictionary(uniqueKeysWithValues: after.map { ($0.id, $0) })
        var changed = Set(then.keys).union(now.keys).filter { then[$0] != now[$0] }
        let (drawn, redrawn) = (
            try state.edited(dataset, old, in: map).0, try state.edited(dataset, new, in: map).0
        )
        if drawn.order(without: changed) != redrawn.order(without: changed) {
            changed = Set(then.keys).union(now.keys)
        }
        guard changed.count <= Self.changedBoxBound else {
            found.wholeReason = "more than \(Self.changedBoxBound) features changed"
            return found
        }
        let order = try state.order(id, dataset, isCancelled)
        for (number, each) in changed.sorted().enumerated() {
            if number.isMultiple(of: 64) { try Failure.stop(if: isCancelled) }
            var original: Shape?
            if then[each] == nil || now[each] == nil, let ordinal = order.ordinal(of: each),
                let feature = dataset.feature(at: Int(ordinal))
            {
                original = try dataset.shape(of: feature)
            }
            found.add(then[each].map(\.feature?.shape) ?? original)
            found.add(now[each].map(\.feature?.shape) ?? original)
        }
        return found
    }

    private func graphicChanges(
        from old: LayerDescription, to new: LayerDescription, _ source: GraphicsSource,
        _ state: EngineState
    ) throws(Failure) -> ChangedFeatures {
        let (before, after) = (old.graphics ?? [], new.graphics ?? [])
        if before == after { return ChangedFeatures(new, nil) }
        let toMap = try state.transforms.transform(
            ofLayerIn: source.spatialReference, to: .webMercator)
        var found = ChangedFeatures(
            new, toMap, isRectilinear: source.spatialReference.isOfWebMaps)
        let (columns, columnsBefore) = (new.asQueried.properties, old.asQueried.properties)
        // A layer of tiles has the columns of its own kind of geometry.
        let parts = [old, new].map { layer in
            Dictionary(
                layer.tileParts.map { ($0.name, $0.properties?.fields) },
                uniquingKeysWith: { first, _ in first })
        }
        guard columns?.fields == columnsBefore?.fields,
            columns?.geometryType == columnsBefore?.geometryType,
            parts[0].allSatisfy({ name, fields in parts[1][name].map { $0 == fields } ?? true })
        else {
            found.wholeReason = "the graphics of layer \(new.id) '\(new.name)' have other columns"
            return found
        }
        let then = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
        let now = Dictionary(uniqueKeysWithValues: after.map { ($0.id, $0) })
        for each in Set(then.keys).union(now.keys).sorted() where then[each] != now[each] {
            found.add(then[each]?.shape)
            found.add(now[each]?.shape)
        }
        return found
    }
}

/// The rectangles of one layer's changed features.
private struct ChangedFeatures {
    /// In EPSG:3857.
    private(set) var boxes: [Envelope] = []
    /// Why the layer counts as changed as a whole; nil while it does not.
    var wholeReason: String?
    private let layer: LayerDescription
    private let toMap: CoordinateTransform?
    private let isRectilinear: Bool
    /// Parts into which edges are divided that are no straight lines on the map.
    private static let partCount = 64

    /// - Parameters:
    ///   - toMap: To EPSG:3857; nil for the identity.
    ///   - isRectilinear: Whether rectangles become rectangles.
    init(_ layer: LayerDescription, _ toMap: CoordinateTransform?, isRectilinear: Bool = true) {
        self.layer = layer
        self.toMap = toMap
        self.isRectilinear = isRectilinear
    }

    /// Adds the place of a feature; nil for one without.
    mutating func add(_ shape: Shape?) {
        guard let shape, shape.coordinateCount > 0, wholeReason == nil else { return }
        guard let box = box(of: shape), box.isFinite, !box.isEmpty else {
            wholeReason =
                "a changed feature of layer \(layer.id) '\(layer.name)' has no place on the map"
            return
        }
        boxes.append(box)
    }

    /// Nil where a coordinate has no place in EPSG:3857.
    private func box(of shape: Shape) -> Envelope? {
        guard let toMap else { return shape.envelope }
        switch shape {
        case .point(let place): return box(of: [place], toMap, isPath: false)
        case .multipoint(let places): return box(of: places, toMap, isPath: false)
        case .polyline(let paths), .polygon(let paths):
            var result = Envelope.empty
            for path in paths {
                guard let box = box(of: path, toMap, isPath: !isRectilinear) else { return nil }
                result = result.union(box)
            }
            return result
        case .envelope: return nil
        }
    }

    private func box(
        of places: [Coordinate], _ transform: CoordinateTransform, isPath: Bool
    ) -> Envelope? {
        var result = Envelope.empty
        var step = 0.0
        var last: (place: Coordinate, there: Coordinate)?
        for place in places {
            guard let there = try? transform.forward(place) else { return nil }
            result.extend(to: there)
            if isPath, let (start, startThere) = last {
                var before = startThere
                for part in 1...Self.partCount {
                    let share = Double(part) / Double(Self.partCount)
                    let between = Coordinate(
                        x: start.x + (place.x - start.x) * share,
                        y: start.y + (place.y - start.y) * share)
                    guard let next = try? transform.forward(between) else { return nil }
                    result.extend(to: next)
                    step = max(step, abs(next.x - before.x), abs(next.y - before.y))
                    before = next
                }
            }
            last = (place, there)
        }
        // The largest step between neighbouring samples bounds what is between them.
        return result.expanded(by: step)
    }
}

extension SpatialReference {
    /// Whether its rectangles are rectangles on the map: WGS 84 and Web Mercator.
    fileprivate var isOfWebMaps: Bool { latestWkid == 4326 || latestWkid == 3857 }
}

extension EditedDataset {
    /// The object ids of added and changed features in the order of drawing, without some.
    fileprivate func order(without left: Set<Int64>) -> [Int64] {
        var ids: [Int64] = []
        overlay?.forEach { if !left.contains($0.objectID) { ids.append($0.objectID) } }
        return ids
    }
}
