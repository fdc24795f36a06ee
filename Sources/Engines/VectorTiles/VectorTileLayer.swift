// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// A feature as it goes into tiles.
public struct VectorTileFeature: Sendable {
    /// Its number, unique in its layer by the specification's wish; nil without one.
    public var id: UInt64?
    /// Names and values in the order in which they are written; without nulls.
    public var attributes: [(name: String, value: VectorTileValue)]
    /// Its geometry in EPSG:3857, metres, x east, y north.
    public var shape: Shape

    /// A feature; attributes whose value is nil are left out.
    public init(
        id: UInt64?, attributes: [(name: String, value: VectorTileValue?)] = [], shape: Shape
    ) {
        self.id = id
        self.attributes = attributes.compactMap { name, value in value.map { (name, $0) } }
        self.shape = shape
    }
}

/// Features under one name, ready for any number of tiles: geometry in one array, each name and
/// each value of attributes once.
public struct VectorTileLayer: Sendable {
    /// Its name, unique in a tile.
    public let name: String
    /// Number of features without coordinates, or with one that is not finite; they are in no tile.
    public private(set) var unplaceable = 0
    /// The numbers of those that have one, in their order.
    public private(set) var unplaceableIDs: [UInt64] = []
    /// The positions of its areas' labels, which are a layer of their own in tiles, behind it; none
    /// or one.
    public private(set) var labels: [VectorTileLayer] = []

    var features: [Feature] = []
    var geometry = GeometryStore()
    var keys: [[UInt8]] = []
    var values: [[UInt8]] = []
    /// Pairs of a key's and a value's number, feature after feature.
    var tags: [Int32] = []
    /// Whether its points are the positions of areas' labels: each in one tile of a level alone.
    private(set) var isLabels = false
    private var keyNumbers: [[UInt8]: Int32] = [:]
    private var valueNumbers: [[UInt8]: Int32] = [:]

    struct Feature {
        let id: UInt64?
        let kind: GeometryKind
        let tags: Range<Int>
        let dust: Dust
    }

    /// The positions of areas' labels as a layer of tiles.
    public struct AreaLabels: Hashable, Sendable {
        /// The name of that layer.
        public var name: String
        /// The attributes that they have of their areas.
        public var attributes: Set<String>

        /// Names the layer.
        public init(name: String, attributes: Set<String>) {
            self.name = name
            self.attributes = attributes
        }
    }

    /// A layer of features, kept in their order.
    ///
    /// - Parameter labels: Of areas; nil for a layer without.
    public init(
        name: String, features source: [VectorTileFeature], labels areaLabels: AreaLabels? = nil
    ) {
        self.name = name
        features.reserveCapacity(source.count)
        var places = areaLabels.map { VectorTileLayer(name: $0.name, features: []) }
        places?.isLabels = true
        for feature in source {
            let dust = Dust(feature.shape, id: feature.id)
            guard append(feature, feature.shape, dust) else {
                unplaceable += 1
                if let id = feature.id { unplaceableIDs.append(id) }
                continue
            }
            guard let areaLabels, let place = LabelPlace.place(of: feature.shape) else { continue }
            var label = feature
            label.attributes.removeAll { !areaLabels.attributes.contains($0.name) }
            _ = places?.append(label, .point(place), dust)
        }
        (keyNumbers, valueNumbers) = ([:], [:])
        if var places {
            (places.keyNumbers, places.valueNumbers) = ([:], [:])
            labels = [places]
        }
    }

    /// Appends a feature with another shape; false for one without a place.
    private mutating func append(
        _ feature: VectorTileFeature, _ shape: Shape, _ dust: Dust
    ) -> Bool {
        guard geometry.append(shape, of: features.count) else { return false }
        let first = tags.count
        for (name, value) in feature.attributes {
            // By their bytes: texts that Swift takes for equal may differ in them.
            tags.append(Self.number(of: Array(name.utf8), in: &keys, &keyNumbers))
            tags.append(Self.number(of: value.message, in: &values, &valueNumbers))
        }
        features.append(
            Feature(
                id: feature.id, kind: GeometryKind(shape), tags: first..<tags.count, dust: dust))
        return true
    }

    private static func number(
        of bytes: [UInt8], in all: inout [[UInt8]], _ numbers: inout [[UInt8]: Int32]
    ) -> Int32 {
        if let number = numbers[bytes] { return number }
        let number = Int32(all.count)
        numbers[bytes] = number
        all.append(bytes)
        return number
    }
}
