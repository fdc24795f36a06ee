// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// A tile as it is read: what its bytes say, in the tile's own grid.
public struct DecodedVectorTile: Hashable, Sendable {
    /// A layer of a tile.
    public struct Layer: Hashable, Sendable {
        /// The layer's name.
        public var name: String
        /// The version of the specification it follows, 1 or 2.
        public var version: UInt64
        /// Cells along a side.
        public var extent: UInt64
        /// In their order.
        public var features: [Feature]
    }

    /// A feature of a layer.
    public struct Feature: Hashable, Sendable {
        /// Its number; nil without one.
        public var id: UInt64?
        /// Names and values in their order.
        public var attributes: [Attribute]
        /// Points, lines or areas; nil where the tile says that it is unknown.
        public var kind: Kind?
        /// Positions of points in one part, paths, or rings without repetition of their first
        /// position; cells, x from the left, y downwards.
        public var parts: [[Position]]
    }

    /// A name with a value.
    public struct Attribute: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: VectorTileValue
    }

    /// The kinds of geometry.
    public enum Kind: Hashable, Sendable {
        /// Positions.
        case points
        /// Paths.
        case lines
        /// Rings.
        case polygons
    }

    /// A position in cells.
    public struct Position: Hashable, Sendable {
        /// From the left.
        public var x: Int64
        /// From the top, downwards.
        public var y: Int64

        /// A position.
        public init(x: Int64, y: Int64) {
            self.x = x
            self.y = y
        }
    }

    /// In their order.
    public var layers: [Layer]
}

/// Reads Mapbox Vector Tiles, versions 1 and 2, from bytes that may be anything.
public struct VectorTileReader: Sendable {
    /// The most bytes of a tile.
    public var byteLimit = 16 << 20
    /// The most positions, attributes, features and layers of a tile, taken together.
    ///
    /// Bytes become up to forty times as much memory: two name an attribute.
    public var itemLimit = 4 << 20

    /// A reader with the usual limits.
    public init() {}

    /// The tile's layers; throws `corrupt` with what is wrong, `tooLarge` above a limit.
    public func read(_ bytes: [UInt8]) throws(Failure) -> DecodedVectorTile {
        guard bytes.count <= byteLimit else {
            throw Failure(
                .tooLarge,
                "a vector tile of \(bytes.count) bytes is above the limit of \(byteLimit)")
        }
        var budget = ItemBudget(left: itemLimit, limit: itemLimit)
        var layers: [DecodedVectorTile.Layer] = []
        var tile = ProtobufReader(bytes[...])
        while let field = try tile.next() {
            guard field.number == 3 else { continue }
            try budget.take(1)
            layers.append(try Self.layer(field.bytes(), &budget))
        }
        return DecodedVectorTile(layers: layers)
    }

    private static func layer(
        _ bytes: ArraySlice<UInt8>, _ budget: inout ItemBudget
    ) throws(Failure) -> DecodedVectorTile.Layer {
        var layer = DecodedVectorTile.Layer(name: "", version: 1, extent: 4096, features: [])
        var hasName = false
        var keys: [String] = []
        var values: [VectorTileValue] = []
        var features: [ArraySlice<UInt8>] = []
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                layer.name = try field.text()
                hasName = true
            case 2: features.append(try field.bytes())
            case 3: keys.append(try field.text())
            case 4: values.append(try value(field.bytes()))
            case 5: layer.extent = try field.varint()
            case 15: layer.version = try field.varint()
            default: continue
            }
            try budget.take(1)
        }
        guard hasName else { throw damage("a layer has no name") }
        guard 1...2 ~= layer.version else {
            throw damage("layer '\(layer.name)' has version \(layer.version), not 1 or 2")
        }
        for bytes in features {
            layer.features.append(try feature(bytes, keys, values, &budget))
        }
        return layer
    }

    private static func feature(
        _ bytes: ArraySlice<UInt8>, _ keys: [String], _ values: [VectorTileValue],
        _ budget: inout ItemBudget
    ) throws(Failure) -> DecodedVectorTile.Feature {
        var feature = DecodedVectorTile.Feature(id: nil, attributes: [], kind: nil, parts: [])
        var tags: [UInt64] = []
        var geometry: [UInt64] = []
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: feature.id = try field.varint()
            case 2: try field.appendVarints(to: &tags)
            case 3: feature.kind = try kind(field.varint())
            case 4: try field.appendVarints(to: &geometry)
            default: continue
            }
        }
        guard tags.count.isMultiple(of: 2) else {
            throw damage("a feature has \(tags.count) tags, which is not a number of pairs")
        }
        try budget.take(tags.count / 2 + geometry.count)
        for index in stride(from: 0, to: tags.count, by: 2) {
            guard tags[index] < keys.count, tags[index + 1] < values.count else {
                throw damage("a feature's tag is outside its layer's keys or values")
            }
            feature.attributes.append(
                DecodedVectorTile.Attribute(
                    name: keys[Int(tags[index])], value: values[Int(tags[index + 1])]))
        }
        feature.parts = try parts(geometry, feature.kind)
        return feature
    }

    private static func kind(_ number: UInt64) throws(Failure) -> DecodedVectorTile.Kind? {
        switch number {
        case 0: nil
        case 1: .points
        case 2: .lines
        case 3: .polygons
        default: throw damage("a feature's type is \(number), not 0 to 3")
        }
    }

    private static func value(_ bytes: ArraySlice<UInt8>) throws(Failure) -> VectorTileValue {
        var value: VectorTileValue?
        var reader = ProtobufReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: value = .string(try field.text())
            case 2: value = .float(Float(bitPattern: try field.fixed32()))
            case 3: value = .double(Double(bitPattern: try field.fixed64()))
            case 4: value = .int64(Int64(bitPattern: try field.varint()))
            case 5: value = .uint64(try field.varint())
            case 6: value = .int64(ProtobufReader.unzigzag(try field.varint()))
            case 7: value = .bool(try field.varint() != 0)
            default: continue
            }
        }
        guard let value else { throw damage("a value has no content") }
        return value
    }

    /// Section 4.3 of the specification; a cursor beyond 32 bits is refused.
    private static func parts(
        _ words: [UInt64], _ kind: DecodedVectorTile.Kind?
    ) throws(Failure) -> [[DecodedVectorTile.Position]] {
        guard let kind else { return [] }
        var parts: [[DecodedVectorTile.Position]] = []
        var part: [DecodedVectorTile.Position] = []
        var cursor = DecodedVectorTile.Position(x: 0, y: 0)
        var index = 0
        func finish() throws(Failure) {
            if part.isEmpty { return }
            guard kind != .lines || part.count > 1 else { throw damage("a line has one position") }
            parts.append(part)
            part = []
        }
        while index < words.count {
            let word = words[index]
            index += 1
            let (command, count) = (word & 7, word >> 3)
            if command == 7 {
                guard kind == .polygons, count == 1, part.count > 2 else {
                    throw damage("a path is closed that is no ring of three positions or more")
                }
                try finish()
                continue
            }
            guard command == 1 || command == 2 else {
                throw damage("a geometry has command \(command), not 1, 2 or 7")
            }
            guard count > 0, count <= (words.count - index) / 2 else {
                throw damage("a geometry's command is for \(count) positions, which do not follow")
            }
            if command == 1 && kind != .points {
                guard kind != .polygons || part.isEmpty else {
                    throw damage("a ring is not closed")
                }
                guard count == 1 else { throw damage("a path begins at \(count) positions") }
                try finish()
            }
            guard command == 1 || (kind != .points && !part.isEmpty) else {
                throw damage("a geometry draws a line that has no beginning")
            }
            for _ in 0..<count {
                let (dx, dy) = (
                    ProtobufReader.unzigzag(words[index]), ProtobufReader.unzigzag(words[index + 1])
                )
                index += 2
                let (x, isXOver) = cursor.x.addingReportingOverflow(dx)
                let (y, isYOver) = cursor.y.addingReportingOverflow(dy)
                guard !isXOver, !isYOver, Int32(exactly: x) != nil, Int32(exactly: y) != nil else {
                    throw damage("a position is more than 32 bits from the tile's corner")
                }
                cursor = DecodedVectorTile.Position(x: x, y: y)
                part.append(cursor)
            }
        }
        guard kind != .polygons || part.isEmpty else { throw damage("a ring is not closed") }
        try finish()
        return parts
    }

    private static func damage(_ what: String) -> Failure {
        Failure(.corrupt, "the bytes are no vector tile: \(what)")
    }
}

/// What may still be read.
private struct ItemBudget {
    var left: Int
    let limit: Int

    mutating func take(_ count: Int) throws(Failure) {
        guard count <= left else {
            throw Failure(.tooLarge, "a vector tile has more than \(limit) items")
        }
        left -= count
    }
}
