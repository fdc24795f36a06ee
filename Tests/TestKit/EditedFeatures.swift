// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry

/// Random features with random edits, as GeoJSON for an import and as the edits of a layer.
///
/// After edits a layer holds the same as an import of ``geoJSON``: the two ways share no code.
public struct EditedFeatures {
    /// The kind of the features.
    public enum Kind: CaseIterable, Sendable { case points, lines, areas }

    private struct Feature {
        /// Polygons with holes, lines, or one position; none of a feature without geometry.
        var parts: [[[Coordinate]]]
        var pop: Int64?
        var size: Double?
        var name: String?
        /// Seconds of 2020.
        var day: Int64?
    }

    private let kind: Kind
    private let hasZ: Bool
    private var features: [Int64: Feature] = [:]
    private var random: SeededGenerator
    private var nextID: Int64 = 1
    private var sequence: Int64 = 100
    /// The edits since the first features, or since ``forget(through:)``.
    public private(set) var edits = LayerEdits(isOpen: true)

    /// Features within 0…100 in both directions, every coordinate with a Z or none.
    public init(_ kind: Kind, hasZ: Bool = false, count: Int, seed: UInt64) {
        self.kind = kind
        self.hasZ = hasZ
        random = SeededGenerator(seed: seed)
        for _ in 0..<count {
            features[nextID] = feature()
            nextID += Int64.random(in: 1...3, using: &random)
        }
        // No column is empty, so that an import finds the type of each, and that of the geometries.
        if var first = features[1] {
            if first.parts.isEmpty { first.parts = parts() }
            (first.pop, first.size, first.name, first.day) = (1, 0.5, "first", 0)
            features[1] = first
        }
        edits.nextID = nextID
    }

    /// Object ids, rising.
    public var ids: [Int64] { features.keys.sorted() }

    /// Every object id that a feature has, or ever had, rising.
    public var everyID: [Int64] { Array(1..<nextID) }

    /// The object ids of features without geometry, rising.
    public var placelessIDs: [Int64] { ids.filter { features[$0]?.parts.isEmpty == true } }

    /// The features, each as a GeoJSON text.
    public var geoJSON: [String] { ids.map { text($0) } }

    /// Drops the edits that a dataset includes, up to a sequence number.
    public mutating func forget(through position: Int64) {
        edits.changes.removeAll { $0.sequence <= position }
    }

    /// One event: some features are added, changed and deleted, never the first one.
    public mutating func edit() {
        sequence += Int64.random(in: 1...4, using: &random)
        var news: [FeatureChange] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            features[nextID] = feature()
            news.append(change(nextID))
            nextID += 1
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            guard let id = ids.dropFirst().randomElement(using: &random),
                !news.contains(where: { $0.id == id })
            else { continue }
            if Bool.random(using: &random) {
                features[id] = nil
                news.append(FeatureChange(id: id, sequence: sequence, feature: nil))
            } else {
                features[id] = feature()
                news.append(change(id))
            }
        }
        edits.sequence = sequence
        edits.nextID = nextID
        edits.apply(news)
    }

    private func change(_ id: Int64) -> FeatureChange {
        FeatureChange(id: id, sequence: sequence, feature: edited(id))
    }

    private func edited(_ id: Int64) -> EditedFeature? {
        guard let feature = features[id] else { return nil }
        let shape: Shape? =
            switch kind {
            case _ where feature.parts.isEmpty: nil
            case .points: .point(feature.parts[0][0][0])
            case .lines: .polyline(paths: feature.parts[0])
            // Holes and their shells follow from the position of the rings.
            case .areas:
                .polygon(
                    rings: feature.parts.map { $0[0] } + feature.parts.flatMap { $0.dropFirst() })
            }
        func value(_ integer: Int64?) -> AttributeValue { integer.map { .integer($0) } ?? .null }
        var heights: [Double?] = []
        // In the order of the shape, which need not be that of the parts.
        _ = shape?.mapCoordinates { coordinate in
            heights.append(Self.height(coordinate))
            return coordinate
        }
        return EditedFeature(
            id: id, shape: shape,
            ordinates: FurtherOrdinates(z: hasZ && shape != nil ? heights : nil),
            attributes: Attributes([
                .init(name: "pop", value: value(feature.pop)),
                .init(name: "size", value: feature.size.map { .real($0) } ?? .null),
                .init(name: "name", value: feature.name.map { .string($0) } ?? .null),
                .init(
                    name: "day",
                    value: feature.day.map { .date((1_577_836_800 + $0) * 1000) } ?? .null),
            ]))
    }

    private static func height(_ place: Coordinate) -> Double { place.x * 7 - place.y }

    private mutating func feature() -> Feature {
        func maybe<T>(_ value: T) -> T? {
            Int.random(in: 0..<6, using: &random) == 0 ? nil : value
        }
        return Feature(
            parts: maybe(parts()) ?? [], pop: maybe(.random(in: -9...9, using: &random)),
            size: maybe(Double.random(in: 0...1, using: &random) + 0.25),
            name: maybe(["a", "b", "é\"", "東京", ""].randomElement(using: &random) ?? ""),
            day: maybe(.random(in: 0..<30_000_000, using: &random)))
    }

    private mutating func parts() -> [[[Coordinate]]] {
        let (x, y) = (
            Double.random(in: 0...90, using: &random), Double.random(in: 0...90, using: &random)
        )
        switch kind {
        case .points: return [[[Coordinate(x: x, y: y)]]]
        case .lines:
            return [
                (0..<Int.random(in: 1...2, using: &random)).map { _ in
                    (0..<Int.random(in: 2...5, using: &random)).map { _ in
                        Coordinate(
                            x: x + .random(in: 0...8, using: &random),
                            y: y + .random(in: 0...8, using: &random))
                    }
                }
            ]
        case .areas:
            return (0..<Int.random(in: 1...2, using: &random)).map { part in
                let (left, side) = (
                    x + Double(part) * 5, Double.random(in: 1...4, using: &random)
                )
                let shell = Self.square(left, y, side)
                if Bool.random(using: &random) { return [shell] }
                return [shell, Self.square(left + side / 4, y + side / 4, side / 2).reversed()]
            }
        }
    }

    private static func square(_ x: Double, _ y: Double, _ side: Double) -> [Coordinate] {
        [(0.0, 0.0), (0, side), (side, side), (side, 0), (0, 0)].map {
            Coordinate(x: x + $0.0, y: y + $0.1)
        }
    }

    private func text(_ id: Int64) -> String {
        guard let feature = features[id] else { return "" }
        func list(_ items: [String]) -> String { "[" + items.joined(separator: ",") + "]" }
        func position(_ place: Coordinate) -> String {
            "[\(place.x),\(place.y)" + (hasZ ? ",\(Self.height(place))]" : "]")
        }
        func path(_ path: [Coordinate]) -> String { list(path.map(position)) }
        let geometry: String
        switch kind {
        case _ where feature.parts.isEmpty: geometry = "null"
        case .points:
            let place = feature.parts[0][0][0]
            geometry = #"{"type":"Point","coordinates":"# + position(place) + "}"
        case .lines:
            geometry =
                #"{"type":"MultiLineString","coordinates":"# + list(feature.parts[0].map(path))
                + "}"
        case .areas:
            geometry =
                #"{"type":"MultiPolygon","coordinates":"#
                + list(feature.parts.map { list($0.map(path)) }) + "}"
        }
        let name = feature.name.map {
            "\"" + $0.replacing("\"", with: "\\\"") + "\""
        }
        let day = feature.day.map { seconds in
            "\"" + CalendarClock(milliseconds: (1_577_836_800 + seconds) * 1000).text + "\""
        }
        return #"{"type":"Feature","id":\#(id),"properties":{"pop":"#
            + (feature.pop.map { "\($0)" } ?? "null") + #","size":"#
            + (feature.size.map { "\($0)" } ?? "null") + #","name":"# + (name ?? "null")
            + #","day":"# + (day ?? "null") + #"},"geometry":"# + geometry + "}"
    }
}
