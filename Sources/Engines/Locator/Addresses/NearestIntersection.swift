// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// The nearest intersection of two streets of different names.
struct NearestIntersection {
    let file: AddressFile
    let location: Coordinate
    /// Excludes other territories.
    var filter: TerritoryFilter?

    /// Limit of vertices examined in one ring around the location, which ends the search.
    private static let mostVertices = 50_000

    /// The nearest within a distance, at most ``NearestAddress/farthestMeters``; nil for none.
    func run(within meters: Double, _ bytes: RawSpan) -> (Intersection, meters: Double)? {
        let limit = min(meters, NearestAddress.farthestMeters)
        var reach = min(100, limit)
        while true {
            let near = vertices(within: reach, bytes)
            if let found = nearest(near, bytes) { return found }
            guard reach < limit, near.count < Self.mostVertices else { return nil }
            reach = min(limit, 4 * reach)
        }
    }

    private struct Vertex {
        var location: Coordinate
        var street: Int
        var meters: Double
    }

    private func nearest(
        _ vertices: [Vertex], _ bytes: RawSpan
    ) -> (Intersection, meters: Double)? {
        var grid = VertexGrid()
        for vertex in vertices { grid.add(vertex.location, name: vertex.street) }
        var names: [Int: [Int]] = [:]
        func name(_ street: Int) -> [Int] {
            if let known = names[street] { return known }
            let name = file.nameWords(ofStreet: street, bytes)
            names[street] = name
            return name
        }
        let order = vertices.sorted { ($0.meters, $0.street) < ($1.meters, $1.street) }
        for vertex in order {
            let here = grid.names(within: IntersectionSearch.reachMeters, of: vertex.location)
            let other = here.sorted().first { name($0) != name(vertex.street) }
            if let other {
                let (first, second) = (min(vertex.street, other), max(vertex.street, other))
                return (
                    Intersection(first: first, second: second, location: vertex.location),
                    vertex.meters
                )
            }
        }
        return nil
    }

    private func vertices(within meters: Double, _ bytes: RawSpan) -> [Vertex] {
        var result: [Vertex] = []
        let box = Sphere.envelope(around: location, radiusMeters: meters)
        file.visitStreets(in: box, bytes) { street in
            let segments = file.segments(ofStreet: street, bytes)
            for segment in segments {
                for number in file.vertices(ofSegment: segment, bytes) {
                    guard result.count < Self.mostVertices else { return false }
                    let place = file.location(ofVertex: number, bytes)
                    let distance = Sphere.meters(from: location, to: place)
                    if distance <= meters,
                        filter?.accepts(street: street, at: place, file, bytes) ?? true
                    {
                        result.append(Vertex(location: place, street: street, meters: distance))
                    }
                }
            }
            return true
        }
        return result
    }
}

extension AddressFile {
    /// Calls `body` with every street whose rectangle meets a box, until it returns false.
    func visitStreets(in box: Envelope, _ bytes: RawSpan, _ body: (Int) -> Bool) {
        guard streetCount > 0 else { return }
        _ = visit(level: rectangleLevels.count - 1, number: 0, box, bytes, body)
    }

    private func visit(
        level: Int, number: Int, _ box: Envelope, _ bytes: RawSpan, _ body: (Int) -> Bool
    ) -> Bool {
        let entry = rectangleLevels[level] + number
        let sides = rectangle(entry, bytes)
        let (west, south) = (Double(sides.0) / 1e7, Double(sides.1) / 1e7)
        let (east, north) = (Double(sides.2) / 1e7, Double(sides.3) / 1e7)
        let touches = [-360.0, 0, 360].contains {
            west + $0 <= box.maxX && box.minX <= east + $0
        }
        guard touches, south <= box.maxY, box.minY <= north else { return true }
        guard level > 0 else { return body(street(atOrder: number, bytes)) }
        let width = rectangleLevels[level] - rectangleLevels[level - 1]
        let first = number * LocatorLayout.rectangleFanout
        for child in first..<min(first + LocatorLayout.rectangleFanout, width) {
            guard visit(level: level - 1, number: child, box, bytes, body) else { return false }
        }
        return true
    }
}
