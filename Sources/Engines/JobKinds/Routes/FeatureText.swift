// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Site

/// Features of GeoJSON (RFC 7946), one on each line, in parts that are joined to a file.
enum FeatureText {
    /// Decimals of a degree.
    private static let factor = 1e7
    private static let head = "{\"type\":\"FeatureCollection\",\"features\":[\n"
    private static let foot = "\n]}\n"

    /// One feature, after a comma unless it is the file's first.
    static func feature(
        _ properties: [(String, JSONValue)], geometry: String?, isFirst: Bool
    ) throws(Failure) -> String {
        var members: [String] = []
        for (name, value) in properties {
            members.append(try text(.string(name)) + ":" + text(value))
        }
        return (isFirst ? "" : ",\n") + "{\"type\":\"Feature\",\"properties\":{"
            + members.joined(separator: ",") + "},\"geometry\":" + (geometry ?? "null") + "}"
    }

    private static func text(_ value: JSONValue) throws(Failure) -> String {
        String(decoding: try CairnJSON.encode(value), as: UTF8.self)
    }

    /// A line; nil for fewer than two positions.
    static func line(_ positions: [Coordinate]) -> String? {
        guard positions.count >= 2 else { return nil }
        return "{\"type\":\"LineString\",\"coordinates\":\(chain(positions))}"
    }

    /// Areas by their rings, shells anticlockwise; nil for none.
    static func areas(_ rings: [[Coordinate]]) -> String? {
        guard !rings.isEmpty else { return nil }
        let nesting = RingNesting(rings)
        let polygons = nesting.polygons.map { polygon in
            let parts = polygon.enumerated().map { place, ring in
                turned(rings[ring], isAnticlockwise: place == 0)
            }
            return "[" + parts.map(chain).joined(separator: ",") + "]"
        }
        return "{\"type\":\"MultiPolygon\",\"coordinates\":[\(polygons.joined(separator: ","))]}"
    }

    private static func turned(_ ring: [Coordinate], isAnticlockwise: Bool) -> [Coordinate] {
        var doubled = 0.0
        for (from, to) in zip(ring, ring.dropFirst()) {
            doubled += (from.x - ring[0].x) * (to.y - ring[0].y)
            doubled -= (to.x - ring[0].x) * (from.y - ring[0].y)
        }
        return (doubled > 0) == isAnticlockwise ? ring : ring.reversed()
    }

    private static func chain(_ positions: [Coordinate]) -> String {
        let texts = positions.map { position in
            "[\(degrees(position.x)),\(degrees(position.y))]"
        }
        return "[" + texts.joined(separator: ",") + "]"
    }

    private static func degrees(_ number: Double) -> String {
        BatchGeocode.decimal((number * factor).rounded() / factor)
    }

    /// Joins the parts of a file.
    static func file(_ parts: [BlobReference], in blobs: BlobStore) throws(Failure) -> BlobReference
    {
        let type = MediaType.geoJSON.rawValue
        let end = try blobs.put(Data(foot.utf8), mediaType: type)
        return try blobs.put(Data(head.utf8), then: parts + [end], mediaType: type)
    }
}

extension ChunkContext {
    /// The blobs of the stage before; throws `corrupt` where one is missing.
    func parts() throws(Failure) -> [BlobReference] {
        let parts = assignment.gathered.compactMap(\.self)
        guard parts.count == assignment.gathered.count else {
            throw Failure(.corrupt, "a chunk of rows has no output blob")
        }
        return parts
    }
}
