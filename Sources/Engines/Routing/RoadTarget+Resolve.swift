// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import RoadNetwork

extension RoutableNetwork {
    /// Most positions of the shape of a change.
    static let changeShapeLimit = 10_000

    /// The edges of a target, ascending.
    ///
    /// - Parameters:
    ///   - target: What they are named by.
    ///   - direction: The direction along their ways that is kept; nil for both.
    ///   - modes: The modes of which one may use a road that a point names.
    /// - Throws: `notFound` where the network has no such road, `invalidParameter`, `tooLarge`.
    func edges(
        of target: RoadTarget, _ direction: RoadDirection?, modes: [Int]
    ) throws(Failure) -> [Int] {
        var found: [Int]
        switch target {
        case .pieces(let pieces):
            guard pieces.count <= RoadChange.largestEdgeCount else {
                throw Failure(
                    .tooLarge,
                    "\(pieces.count) pieces of ways: expected at most "
                        + "\(RoadChange.largestEdgeCount)")
            }
            var all: Set<Int> = []
            for piece in pieces { all.formUnion(try edges(of: piece)) }
            found = all.sorted()
        case .street(let name, let area): found = try edges(ofStreet: name, within: area)
        case .shape(let shape):
            found = try edges(touching: shape, modes: modes)
            guard !found.isEmpty else { throw noRoad(shape) }
        case .layer(let layer):
            throw Failure(
                .invalidParameter,
                "the features of layer '\(layer.layer.prefix(64))' name no roads of a turn")
        }
        if let direction {
            found = found.filter { roads.link(of: $0).isBackward == (direction == .backward) }
        }
        guard !found.isEmpty else {
            throw Failure(
                .notFound,
                "the roads are not open in the direction '\(direction?.rawValue ?? "")' of their "
                    + "ways")
        }
        guard found.count <= RoadChange.largestEdgeCount else {
            throw Failure(
                .tooLarge,
                "\(found.count) edges: expected at most \(RoadChange.largestEdgeCount) of one "
                    + "change")
        }
        return found
    }

    private func edges(of piece: RoadPiece) throws(Failure) -> [Int] {
        let all = roads.edges(ofWay: piece.way)
        guard !all.isEmpty else {
            throw Failure(
                .notFound, "network '\(published.name)' has no road of way \(piece.way)")
        }
        let segments = Set(all.map { roads.name(of: $0).segment })
        if let segment = piece.segment, !segments.contains(segment) {
            throw Failure(
                .notFound,
                "way \(piece.way) has no edge that begins with segment \(segment); its edges begin "
                    + "with "
                    + segments.sorted().prefix(20).map(String.init).joined(separator: ", "))
        }
        let found = all.filter { edge in
            let name = roads.name(of: edge)
            return name.segment == piece.segment ?? name.segment
                && name.isBackward == piece.direction.map { $0 == .backward } ?? name.isBackward
        }
        guard !found.isEmpty else {
            throw Failure(
                .notFound,
                "way \(piece.way) is not open in the direction '\(piece.direction?.rawValue ?? "")'"
            )
        }
        return found
    }

    private func edges(
        ofStreet name: String, within area: Shape?
    ) throws(Failure) -> [Int] {
        guard !name.isEmpty else {
            throw Failure(.invalidParameter, "the name of the street is empty")
        }
        let found = roads.edges(ofStreet: name)
        guard !found.isEmpty else {
            let near = roads.streets(holding: name, atMost: 3)
            throw Failure(
                .notFound,
                "no road of network '\(published.name)' is called '\(name.prefix(80))'"
                    + (near.isEmpty
                        ? "" : "; there are " + near.map { "'\($0)'" }.joined(separator: ", ")))
        }
        guard let area else { return found }
        let touched = Set(try roads.edges(touching: try checked(area)))
        let inside = found.filter(touched.contains)
        guard !inside.isEmpty else {
            throw Failure(
                .notFound,
                "no part of '\(name.prefix(80))' in network '\(published.name)' touches the area")
        }
        return inside
    }

    /// The edges that a shape is about: of points, the nearest road that one of some modes may use.
    func edges(touching shape: Shape, modes: [Int]) throws(Failure) -> [Int] {
        switch try checked(shape) {
        case .point(let position): return try edges(nearest: position, modes)
        case .multipoint(let positions):
            var all: Set<Int> = []
            for position in positions { all.formUnion(try edges(nearest: position, modes)) }
            return all.sorted()
        default: return try roads.edges(touching: shape)
        }
    }

    /// Both directions of the road nearest to a position; empty where no road is near.
    func edges(nearest position: Coordinate, _ modes: [Int]) throws(Failure) -> [Int] {
        let snaps = try roads.nearestEdges(
            to: position, radius: Self.barrierRadius, count: 1
        ) { edge in modes.contains { roads.access(of: edge, mode: $0) != .closed } }
        guard let nearest = snaps.first else { return [] }
        let link = roads.link(of: nearest.edge).link
        return [false, true].compactMap { roads.edge(ofLink: link, isBackward: $0) }.sorted()
    }

    private func checked(_ shape: Shape) throws(Failure) -> Shape {
        guard shape.coordinateCount <= Self.changeShapeLimit else {
            throw Failure(
                .tooLarge,
                "a shape of \(shape.coordinateCount) positions: expected at most "
                    + "\(Self.changeShapeLimit)")
        }
        let extent = shape.envelope
        guard shape.coordinateCount > 0, extent.minX >= -180, extent.maxX <= 180,
            extent.minY >= -90, extent.maxY <= 90
        else {
            throw Failure(
                .invalidParameter, "a shape outside the world: expected longitude and latitude")
        }
        return shape
    }

    private func noRoad(_ shape: Shape) -> Failure {
        switch shape {
        case .point(let position):
            Failure(
                .notFound,
                "network '\(published.name)' has no road within \(Int(Self.barrierRadius)) m of "
                    + "\(position.x),\(position.y)")
        case .multipoint:
            Failure(
                .notFound,
                "network '\(published.name)' has no road within \(Int(Self.barrierRadius)) m of "
                    + "the points")
        default:
            Failure(.notFound, "the shape touches no road of network '\(published.name)'")
        }
    }

    /// The turns from some edges into others, by edge that is left, then by the other.
    ///
    /// Turning back is meant where both are the same alone.
    func turns(
        from sources: [Int], onto targets: [Int], via: Coordinate?
    ) throws(Failure) -> [RoadConditions.Turn] {
        let goesBack = sources == targets
        let wanted = Set(targets)
        var found: [(turn: RoadConditions.Turn, vertex: Int)] = []
        for from in sources {
            let vertex = roads.head(of: from)
            for to in roads.edges(leaving: vertex) where wanted.contains(to) {
                guard (roads.opposite(of: from) == to) == goesBack else { continue }
                found.append((RoadConditions.Turn(from: UInt32(from), to: UInt32(to)), vertex))
            }
        }
        guard !found.isEmpty else {
            throw Failure(
                .notFound,
                goesBack
                    ? "no turn back is possible at the ends of these roads"
                    : "no turn leads from the first roads into the second: they do not meet")
        }
        if let via {
            _ = try checked(.point(via))
            func distance(_ vertex: Int) -> Double {
                let place = roads.vertex(vertex).position
                return Sphere.distance(
                    LineCut.unit(place.x), LineCut.unit(place.y), LineCut.unit(via.x),
                    LineCut.unit(via.y))
            }
            let nearest = found.map { distance($0.vertex) }.min() ?? 0
            found = found.filter { distance($0.vertex) <= nearest }
        }
        guard found.count <= RoadChange.largestTurnCount else {
            throw Failure(
                .tooLarge,
                "\(found.count) turns: expected at most \(RoadChange.largestTurnCount) of one ban")
        }
        return found.map(\.turn)
    }

    /// The point in the middle of an edge.
    func middle(of edge: Int) -> Coordinate {
        LineCut(roads.shape(of: edge)).part(0.5, 0.5)[0]
    }
}
