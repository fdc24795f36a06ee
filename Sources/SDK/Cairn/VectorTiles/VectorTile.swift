// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// A Mapbox Vector Tile, version 1 or 2, as it is drawn.
struct VectorTile: Sendable {
    struct Layer: Sendable {
        var name = ""
        /// Cells along a side.
        var extent = 4096
        var features: [Feature] = []
        var values: [StyleValue] = []
        /// The place of each key, of the first where several are equal.
        var keys: [String: Int] = [:]

        /// An attribute of a feature; nil where it has none of that name.
        func attribute(_ name: String, of feature: Feature) -> StyleValue? {
            guard let key = keys[name] else { return nil }
            return feature.tags.first { $0.key == key }.map { values[$0.value] }
        }

        func attributes(of feature: Feature) -> [String: StyleValue] {
            keys.compactMapValues { key in
                feature.tags.first { $0.key == key }.map { values[$0.value] }
            }
        }
    }

    struct Feature: Sendable {
        var id: UInt64?
        var kind = Kind.point
        /// Places in the layer's keys and values.
        var tags: [(key: Int, value: Int)] = []
        /// Positions in one part, paths, or rings without repetition of the first position; cells,
        /// y downwards.
        var parts: [[Position]] = []
    }

    enum Kind: String, Sendable {
        case point = "Point"
        case line = "LineString"
        case polygon = "Polygon"
    }

    struct Position: Sendable, Hashable {
        var x: Int32
        var y: Int32
    }

    var layers: [Layer] = []
    /// About the bytes of memory that it takes.
    private(set) var weight = 0

    /// The most bytes of a tile, once it is unpacked.
    private static let byteLimit = 16 << 20
    /// About the most bytes of memory that a tile may take: its own become up to thirty times as
    /// many.
    private static let memoryLimit = 128 << 20

    /// About what parts of a tile take in memory.
    private enum Weight {
        static let layer = 200
        static let feature = 200
        static let text = 64
        static let tag = 16
        static let number = 4
    }

    /// Reads a tile, packed by gzip or not; features without geometries are left out.
    ///
    /// Throws ``CairnError`` of the kind `invalidDocument` for what is no such tile or is larger
    /// than tiles may be.
    init(_ data: Data) throws {
        let bytes = try Inflate.gunzip([UInt8](data))
        guard bytes.count <= Self.byteLimit else {
            throw Self.damage("it has \(bytes.count) bytes, more than \(Self.byteLimit)")
        }
        var left = Self.memoryLimit
        var fields = ProtobufFields(bytes[...])
        while let field = try fields.next() {
            guard field.number == 3 else { continue }
            let layer = try Self.layer(try field.bytes(), &left)
            if !layer.features.isEmpty { layers.append(layer) }
        }
        weight = Self.memoryLimit - left
    }

    static func damage(_ what: String) -> CairnError {
        CairnError(.invalidDocument, "the bytes are no vector tile: \(what)")
    }

    private static func take(_ count: Int, _ left: inout Int) throws {
        guard count <= left else {
            throw damage("it needs more than \(memoryLimit) bytes of memory")
        }
        left -= count
    }

    private static func layer(_ bytes: ArraySlice<UInt8>, _ left: inout Int) throws -> Layer {
        var layer = Layer()
        var names: [String] = []
        var features: [ArraySlice<UInt8>] = []
        var version: UInt64 = 1
        var fields = ProtobufFields(bytes)
        try take(Weight.layer, &left)
        while let field = try fields.next() {
            switch field.number {
            case 1: layer.name = try field.text()
            case 2: features.append(try field.bytes())
            case 3: names.append(try field.text())
            case 4: layer.values.append(try value(try field.bytes()))
            case 5:
                let extent = try field.varint()
                guard 1...1 << 20 ~= extent else {
                    throw damage("a layer has \(extent) cells along a side")
                }
                layer.extent = Int(extent)
            case 15: version = try field.varint()
            default: continue
            }
            try take(field.number == 2 ? Weight.feature : Weight.text, &left)
        }
        guard 1...2 ~= version else {
            throw damage("layer '\(layer.name)' has version \(version), expected 1 or 2")
        }
        layer.keys = Dictionary(
            names.enumerated().map { ($0.element, $0.offset) },
            uniquingKeysWith: { $1 < $0 ? $1 : $0 })
        let first = names.map { layer.keys[$0] ?? 0 }
        for bytes in features {
            let feature = try feature(bytes, first, layer.values.count, &left)
            if !feature.parts.isEmpty { layer.features.append(feature) }
        }
        return layer
    }

    private static func value(_ bytes: ArraySlice<UInt8>) throws -> StyleValue {
        var value = StyleValue.null
        var fields = ProtobufFields(bytes)
        while let field = try fields.next() {
            switch field.number {
            case 1: value = .text(try field.text())
            case 2: value = .number(Double(Float(bitPattern: try field.fixed32())))
            case 3: value = .number(Double(bitPattern: try field.fixed64()))
            case 4: value = .number(Double(Int64(bitPattern: try field.varint())))
            case 5: value = .number(Double(try field.varint()))
            case 6: value = .number(Double(ProtobufFields.unzigzag(try field.varint())))
            case 7: value = .flag(try field.varint() != 0)
            default: continue
            }
        }
        return value
    }

    private static func feature(
        _ bytes: ArraySlice<UInt8>, _ keys: [Int], _ valueCount: Int, _ left: inout Int
    ) throws -> Feature {
        var feature = Feature()
        var tags: [UInt64] = []
        var geometry: [UInt64] = []
        var kind: Kind?
        var fields = ProtobufFields(bytes)
        while let field = try fields.next() {
            switch field.number {
            case 1: feature.id = try field.varint()
            case 2: try field.appendVarints(to: &tags)
            case 3:
                switch try field.varint() {
                case 0: kind = nil
                case 1: kind = .point
                case 2: kind = .line
                case 3: kind = .polygon
                case let other: throw damage("a feature has type \(other), expected 0 to 3")
                }
            case 4: try field.appendVarints(to: &geometry)
            default: continue
            }
        }
        guard tags.count.isMultiple(of: 2) else { throw damage("a feature's tags are no pairs") }
        try take(tags.count / 2 * Weight.tag + geometry.count * Weight.number, &left)
        for index in stride(from: 0, to: tags.count, by: 2) {
            guard tags[index] < keys.count, tags[index + 1] < valueCount else {
                throw damage("a feature's tag is outside its layer's keys or values")
            }
            feature.tags.append((keys[Int(tags[index])], Int(tags[index + 1])))
        }
        guard let kind else { return feature }
        feature.kind = kind
        feature.parts = try parts(geometry, kind)
        return feature
    }

    /// Section 4.3 of the specification; a position beyond 32 bits is refused.
    private static func parts(_ words: [UInt64], _ kind: Kind) throws -> [[Position]] {
        var parts: [[Position]] = []
        var part: [Position] = []
        var (x, y): (Int64, Int64) = (0, 0)
        var index = 0
        func finish() {
            if part.count > (kind == .point ? 0 : 1) { parts.append(part) }
            part = []
        }
        while index < words.count {
            let (command, count) = (words[index] & 7, words[index] >> 3)
            index += 1
            switch command {
            case 7:
                guard kind == .polygon, count == 1 else {
                    throw damage("a path is closed that is no ring")
                }
                // What follows without a beginning of its own goes on from the same cursor.
                if part.count < 3 { part = [] }
                finish()
                continue
            case 1 where kind != .point: finish()
            case 1: break
            case 2:
                guard kind != .point, !part.isEmpty else {
                    throw damage("a geometry draws a line that has no beginning")
                }
            default: throw damage("a geometry has command \(command), expected 1, 2 or 7")
            }
            guard count > 0, count <= UInt64((words.count - index) / 2) else {
                throw damage("a geometry's command is for \(count) positions, which do not follow")
            }
            for _ in 0..<count {
                let (nextX, isXOver) = x.addingReportingOverflow(
                    ProtobufFields.unzigzag(words[index]))
                let (nextY, isYOver) = y.addingReportingOverflow(
                    ProtobufFields.unzigzag(words[index + 1]))
                guard !isXOver, !isYOver, let cellX = Int32(exactly: nextX),
                    let cellY = Int32(exactly: nextY)
                else { throw damage("a position is more than 32 bits from the tile's corner") }
                index += 2
                (x, y) = (nextX, nextY)
                if command == 1, kind != .point { finish() }
                part.append(Position(x: cellX, y: cellY))
            }
        }
        if kind != .polygon || part.count > 2 { finish() }
        return parts
    }
}
