// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import NetworkSolve
internal import Platform
internal import Site

/// The features of a task on a network, by the parameter that had them: one file of GeoJSON.
struct TaskFeatures {
    struct Feature {
        /// Longitude and latitude; nil for none.
        var shape: Shape?
        var properties: [(name: String, value: JSONTree)]
        var id: JSONTree?

        /// What an analysis reads of it, as the feature of that number.
        func network(_ number: Int) -> NetworkFeature {
            var attributes = Dictionary(
                properties.map { ($0.name.lowercased(), $0.value) }
            ) { first, _ in first }
            if attributes["objectid"] == nil, let id { attributes["objectid"] = id }
            return NetworkFeature(shape: shape, attributes: attributes, number: number)
        }
    }

    private(set) var lists: [String: [Feature]] = [:]

    /// Reads the input of a job; throws `Failure` (`invalidParameter`, `tooLarge`) with the number
    /// of the feature.
    init(
        _ input: BlobReference?, _ inputs: [JobKindDescription.FeatureInput], in blobs: BlobStore
    ) throws(Failure) {
        guard let input else { throw Failure(.invalidParameter, "the job has no features") }
        guard input.byteCount <= PlaceFeatures.maximumByteCount else {
            throw Failure(
                .tooLarge,
                "the features have \(input.byteCount) bytes, the most is "
                    + "\(PlaceFeatures.maximumByteCount)")
        }
        try self.init(Array(try blobs.read(input)), inputs)
    }

    /// Reads a feature collection, whose features without a `role` are those of the first input.
    init(_ bytes: [UInt8], _ inputs: [JobKindDescription.FeatureInput]) throws(Failure) {
        let tree: JSONTree
        do throws(JSONFault) { tree = try JSONTree(bytes, .strict) } catch {
            throw Failure(.invalidParameter, "the features are no GeoJSON: \(error)")
        }
        try PlaceFeatures.checkReference(tree)
        guard case .array(let features)? = tree["features"] else {
            throw Failure(
                .invalidParameter, "the features are no GeoJSON: expected a FeatureCollection")
        }
        for (index, feature) in features.enumerated() {
            let role = feature["role"]?.text ?? inputs[0].name
            guard let input = inputs.first(where: { $0.name == role }) else {
                throw Failure(
                    .invalidParameter,
                    "feature \(index + 1) has the role '\(role.prefix(40))': expected "
                        + inputs.map(\.name).joined(separator: ", "))
            }
            do throws(Failure) {
                lists[role, default: []].append(
                    Feature(
                        shape: try Self.shape(feature["geometry"] ?? .null),
                        properties: feature["properties"]?.members ?? [], id: feature["id"]))
            } catch {
                throw Failure(error.code, "feature \(index + 1): \(error.message)")
            }
            guard lists[role]?.count ?? 0 <= input.mostFeatures else {
                throw Failure(
                    .tooLarge, SolveFailure.title,
                    details: [
                        "The number of input locations loaded into \(role) exceeded the maximum "
                            + "of \(input.mostFeatures) allowed by the service."
                    ])
            }
        }
        for input in inputs where input.isRequired && lists[input.name]?.isEmpty ?? true {
            throw Failure(
                .invalidParameter, "parameter '\(input.name)' is missing: \(input.summary)")
        }
    }

    private static func shape(_ geometry: JSONTree) throws(Failure) -> Shape? {
        if case .null = geometry { return nil }
        let list = geometry["coordinates"] ?? .null
        switch geometry["type"]?.text {
        case "Point": return .point(try place(list))
        case "LineString": return .polyline(paths: [try line(list)])
        case "MultiLineString":
            return .polyline(
                paths: try list.elements.map { part throws(Failure) in try line(part) })
        case "Polygon":
            return .polygon(
                rings: try list.elements.map { ring throws(Failure) in try line(ring) })
        case "MultiPolygon":
            return .polygon(
                rings: try list.elements.flatMap(\.elements).map { ring throws(Failure) in
                    try line(ring)
                })
        case let type:
            throw Failure(
                .invalidParameter,
                "a geometry of type '\((type ?? "").prefix(40))': expected a point, a line or an "
                    + "area")
        }
    }

    private static func line(_ list: JSONTree) throws(Failure) -> [Coordinate] {
        let line = try list.elements.map { part throws(Failure) in try place(part) }
        guard line.count >= 2 else {
            throw Failure(.invalidParameter, "a line of fewer than two positions")
        }
        return line
    }

    private static func place(_ position: JSONTree) throws(Failure) -> Coordinate {
        let numbers = position.elements.compactMap(\.number)
        guard numbers.count >= 2, numbers[0].isFinite, numbers[1].isFinite else {
            throw Failure(.invalidParameter, "a position that is no pair of numbers")
        }
        return Coordinate(x: numbers[0], y: numbers[1])
    }
}
