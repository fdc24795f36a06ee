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

    var features: [Feature] = []
    var geometry = GeometryStore()
    var keys: [[UInt8]] = []
    var values: [[UInt8]] = []
    /// Pairs of a key's and a value's number, feature after feature.
    var tags: [Int32] = []

    struct Feature {
        let id: UInt64?
        let kind: GeometryKind
        let tags: Range<Int>
        let dust: Dust
    }

    /// A layer of features, kept in their order.
    public init(name: String, features source: [VectorTileFeature]) {
        self.name = name
        features.reserveCapacity(source.count)
        // By their bytes: texts that Swift takes for equal may differ in them.
        var keyNumbers: [[UInt8]: Int32] = [:]
        var valueNumbers: [[UInt8]: Int32] = [:]
        for feature in source {
            guard geometry.append(feature.shape, of: features.count) else {
                unplaceable += 1
                if let id = feature.id { unplaceableIDs.append(id) }
                continue
            }
            let first = tags.count
            for (name, value) in feature.attributes {
                tags.append(Self.number(of: Array(name.utf8), in: &keys, &keyNumbers))
                tags.append(Self.number(of: value.message, in: &values, &valueNumbers))
            }
            features.append(
                Feature(
                    id: feature.id, kind: GeometryKind(feature.shape), tags: first..<tags.count,
                    dust: Dust(feature.shape, id: feature.id)))
        }
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
