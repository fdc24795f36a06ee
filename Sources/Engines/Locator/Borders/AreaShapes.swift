// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Codecs
internal import Geometry
internal import Platform
internal import SpatialIndex

/// Polygons in longitude and latitude, encoded for a file: vertices, and an index over them.
///
/// Vertices are rounded to 1e-7 degrees individually, so that common borders stay identical. Edges
/// are straight in longitude and latitude; a polygon is even-odd over its rings, borders included.
struct AreaShapes {
    /// Two doubles a vertex, longitude and latitude.
    let vertices: ByteWriter
    let index: ByteWriter
    let search: AreaSearch?

    /// Limit of vertices of all polygons together.
    static let mostVertices = 50_000_000

    /// Encodes the rings of every polygon, as returned by ``rounded(_:)``.
    init(_ areas: [[[Coordinate]]]) {
        var vertices = ByteWriter()
        var extents: [(place: Int, ends: [Int])] = []
        for rings in areas {
            let place = vertices.byteCount
            var ends: [Int] = []
            for ring in rings {
                for vertex in ring {
                    vertices.append(vertex.x)
                    vertices.append(vertex.y)
                }
                ends.append((vertices.byteCount - place) / 16)
            }
            extents.append((place, ends))
        }
        var index = ByteWriter()
        index.append(
            vertices.withBytes { data in
                var builder = FeatureIndexBuilder(.areas)
                for (number, area) in extents.enumerated() {
                    builder.addFeature(Int64(number))
                    builder.add(
                        place: area.place, count: area.ends.last ?? 0, ringEnds: area.ends, in: data
                    )
                }
                return builder.finish(data: data, dataHash: Array(SHA256.digest(data).bytes))
            })
        let count = vertices.byteCount
        search = index.withBytes { AreaSearch($0, vertexByteCount: count) }
        self.vertices = vertices
        self.index = index
    }

    /// The rings of a polygon in their stored form: rounded, without duplicates, closed.
    ///
    /// Collapsed rings are left out. Nil for a vertex off the Earth.
    static func rounded(_ rings: [[Coordinate]]) -> [[Coordinate]]? {
        var result: [[Coordinate]] = []
        for ring in rings {
            var kept: [Coordinate] = []
            for vertex in ring {
                // Tolerates rounding errors at the antimeridian and the poles.
                guard vertex.isFinite, abs(vertex.x) <= 180.000_01, abs(vertex.y) <= 90.000_01
                else { return nil }
                let next = Coordinate(
                    x: min(180, max(-180, (vertex.x * 1e7).rounded() / 1e7)),
                    y: min(90, max(-90, (vertex.y * 1e7).rounded() / 1e7)))
                if kept.last != next { kept.append(next) }
            }
            if let first = kept.first, kept.last != first { kept.append(first) }
            if kept.count >= 4 { result.append(kept) }
        }
        return result
    }

    /// The areas around a position, and those within a distance of it.
    func areas(near location: Coordinate, within meters: Double = 0) -> [NearFeature] {
        guard let search else { return [] }
        return index.withBytes { index in
            vertices.withBytes { vertices in
                search.areas(near: location, within: meters, index: index, vertices: vertices)
            }
        }
    }
}

/// Finds the polygons of ``AreaShapes`` at a position; the bytes are passed to each call.
struct AreaSearch: Sendable {
    private let index: FeatureIndex
    private static let metersPerDegree = Sphere.radius * .pi / 180

    /// Number of polygons.
    var count: Int { index.featureCount }

    /// Reads the header; nil for a mismatch.
    init?(_ index: RawSpan, vertexByteCount: Int) {
        guard let index = try? FeatureIndex(index, dataByteCount: vertexByteCount),
            index.kind == .areas
        else { return nil }
        self.index = index
    }

    /// Whether every offset in the index is valid.
    func isSound(index: RawSpan, vertices: RawSpan) -> Bool {
        (try? self.index.check(index, vertices)) != nil
    }

    /// The polygons around a position, with distance 0, and those within a distance in metres, each
    /// once.
    ///
    /// Distances are on the tangent plane at the position: for some tens of kilometres. Longitudes
    /// wrap around the Earth.
    func areas(
        near location: Coordinate, within meters: Double, index: RawSpan, vertices: RawSpan
    ) -> [NearFeature] {
        guard location.isFinite else { return [] }
        let x = location.x - 360 * (location.x / 360).rounded()
        let here = Coordinate(x: x, y: location.y)
        let scaleX = max(0.01, Self.cosine(here.y)) * Self.metersPerDegree
        let reach = meters / scaleX
        var found: [NearFeature] = []
        var counted = 0
        for turn in [0.0, 360, -360] where turn == 0 || abs(x) + reach >= 180 && x * turn <= 0 {
            let at = Coordinate(x: here.x + turn, y: here.y)
            var part: [NearFeature] = []
            do throws(IndexDamage) {
                try self.index.search(
                    index, vertices, Self.probe(at, within: meters, reach),
                    meters > 0 ? Self.plane(around: at, scaleX) : nil, into: &part,
                    counted: &counted)
            } catch {
                // Validated when the file was opened; the results so far are kept.
            }
            for one in part {
                if let known = found.firstIndex(where: { $0.feature == one.feature }) {
                    found[known].distance = min(found[known].distance, one.distance)
                } else {
                    found.append(one)
                }
            }
        }
        return found.sorted { $0.feature < $1.feature }
    }

    private static func probe(
        _ at: Coordinate, within meters: Double, _ reach: Double
    ) -> PointProbe {
        let point = Envelope(minX: at.x, minY: at.y, maxX: at.x, maxY: at.y)
        guard meters > 0 else { return PointProbe(at, within: 0, window: point) }
        let high = meters / metersPerDegree
        let window = Envelope(
            minX: at.x - reach, minY: at.y - high, maxX: at.x + reach, maxY: at.y + high)
        return PointProbe(Coordinate(x: 0, y: 0), within: meters, window: window, nearby: point)
    }

    /// Metres east and north of a position.
    private static func plane(around at: Coordinate, _ scaleX: Double) -> Frame {
        Frame {
            Coordinate(x: ($0.x - at.x) * scaleX, y: ($0.y - at.y) * metersPerDegree)
        }
    }

    private static func cosine(_ degrees: Double) -> Double {
        UnitVector(Coordinate(x: 0, y: degrees)).x
    }
}
