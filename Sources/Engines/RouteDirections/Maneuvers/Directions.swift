// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// The directions of a path, in no language yet.
///
/// Lengths and durations of the maneuvers add up exactly to those of the path's edges. Junctions
/// are judged by the change of heading between 15 m before and 15 m after them.
public struct Directions: Hashable, Sendable {
    /// Leg after leg: a departure, what is to be done on the way, an arrival.
    public let maneuvers: [Maneuver]
    /// The shape of the whole path, WGS 84 longitude and latitude; what two edges share is once
    /// in it.
    public let shape: [Coordinate]
    /// The stops of the path.
    public let stops: [RouteStop]
    /// How the path is travelled.
    public let means: TravelMeans
    /// Millimetres.
    public let length: Int64
    /// Milliseconds.
    public let duration: Int64

    /// Finds the maneuvers of a path; throws `invalidParameter` or `tooLarge` for a path without
    /// legs, an edge without positions or with a negative cost, or more than a million edges.
    public init(_ path: RoutePath) throws(Failure) {
        try path.check()
        var draft = DirectionsDraft()
        for (number, leg) in path.legs.enumerated() {
            draft.append(leg, number: number, from: path.stops[number], to: path.stops[number + 1])
        }
        maneuvers = draft.maneuvers
        shape = draft.shape
        stops = path.stops
        means = path.means
        length = maneuvers.reduce(0) { $0 + $1.length }
        duration = maneuvers.reduce(0) { $0 + $1.duration }
    }

    /// The shape of a maneuver's stretch: two positions at least, equal ones at the end of a leg.
    public func shape(of maneuver: Maneuver) -> [Coordinate] { shape(of: maneuver.points) }

    func shape(of points: Range<Int>) -> [Coordinate] {
        let stretch = Array(shape[points])
        return stretch.count == 1 ? stretch + stretch : stretch
    }
}

/// Directions, leg after leg.
private struct DirectionsDraft {
    var maneuvers: [Maneuver] = []
    var shape: [Coordinate] = []
    private var edgeCount = 0

    mutating func append(
        _ leg: [TraversedEdge], number: Int, from: RouteStop, to: RouteStop
    ) {
        let reader = LegManeuvers(leg, number: number)
        var found = ShortStretches(leg).join(reader.maneuvers)
        let starts = found.map(\.edges.lowerBound) + [leg.count]
        for place in found.indices {
            complete(&found[place], edges: starts[place]..<starts[place + 1], of: leg)
        }
        if leg.isEmpty { found[0].points = addPosition(from.location) }
        found[0].stop = number
        found[0].crossStreet = Self.crossStreet(of: found[0], in: leg)
        maneuvers += found

        var arrival = Maneuver(
            kind: .arrive, leg: number, bearingBefore: reader.arrivalBearing, bearingAfter: 0)
        edgeCount += leg.count
        arrival.edges = edgeCount..<edgeCount
        arrival.points =
            leg.isEmpty
            ? addPosition(to.location) : shape.count - 1..<shape.count
        arrival.street = found.last?.street ?? Street()
        arrival.stop = number + 1
        arrival.side = to.side
        maneuvers.append(arrival)
    }

    private mutating func complete(
        _ maneuver: inout Maneuver, edges: Range<Int>, of leg: [TraversedEdge]
    ) {
        let first = leg[edges].first.map { add($0.shape) } ?? max(0, shape.count - 1)
        for edge in leg[edges].dropFirst() { _ = add(edge.shape) }
        maneuver.points = first..<max(first + 1, shape.count)
        maneuver.edges = edgeCount + edges.lowerBound..<edgeCount + edges.upperBound
        for edge in leg[edges] {
            maneuver.length += edge.length
            maneuver.duration += edge.duration
            maneuver.traits.formUnion(edge.traits)
        }
        // A roundabout's ring has a name of its own, and no instruction is about it.
        let road = leg[edges].filter { !$0.isRing }
        maneuver.street = road.first { !$0.street.isNameless }?.street ?? Street()
        maneuver.roadClass = (road.first ?? leg[edges].first)?.roadClass
    }

    /// Adds what is new of an edge's shape; returns the place of its first position.
    private mutating func add(_ more: [Coordinate]) -> Int {
        guard let last = shape.last, last == more.first else {
            let first = shape.count
            shape += more
            return first
        }
        shape += more.dropFirst()
        return shape.count - more.count
    }

    private mutating func addPosition(_ location: Coordinate) -> Range<Int> {
        let first = add([location])
        return first..<first + 1
    }

    /// The first street that crosses or leaves the one on which the leg begins.
    private static func crossStreet(of start: Maneuver, in leg: [TraversedEdge]) -> String {
        for edge in leg.prefix(start.edges.count) {
            for branch in edge.branches where !branch.name.isEmpty {
                let cross = Street(name: branch.name)
                if !cross.goesOn(as: start.street) { return branch.name }
            }
        }
        return ""
    }
}
