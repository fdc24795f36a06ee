// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform
internal import RoadNetwork
internal import RouteDirections
internal import RouteSearch

extension Router {
    /// A part of a way as directions read it.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - next: The part after it on the same leg.
    ///   - length: Millimetres.
    ///   - duration: Milliseconds.
    ///   - described: What was read of the roads so far.
    func traversedEdge(
        _ part: MeasuredPart, before next: MeasuredPart?, length: Int64, duration: Int64,
        _ described: inout DescribedRoads
    ) -> TraversedEdge {
        let road = described.road(of: part.edge)
        return TraversedEdge(
            shape: shape(of: part), length: length, duration: duration, name: road.name,
            ref: road.ref, roadClass: road.roadClass, traits: road.kinds, signs: road.signs,
            branches: next.map { branches(part, $0, &described) } ?? [])
    }

    /// The other edges that leave the junction between two parts.
    private func branches(
        _ part: MeasuredPart, _ next: MeasuredPart, _ described: inout DescribedRoads
    ) -> [Branch] {
        let roads = network.roads
        let back = roads.opposite(of: part.edge)
        return roads.edges(leaving: roads.head(of: part.edge)).compactMap { edge in
            guard edge != next.edge, edge != back else { return nil }
            let road = described.road(of: edge)
            return Branch(
                bearing: roads.bearings(of: edge).start, roadClass: road.roadClass,
                traits: road.kinds, name: road.name,
                isUsable: isUsable(from: part.part.arc, onto: edge))
        }
    }

    private func isUsable(from arc: UInt32, onto edge: Int) -> Bool {
        guard network.access(of: edge, mode: costs.mode, conditions) != .closed else {
            return false
        }
        let turns = Int(network.turnStarts[Int(arc)])..<Int(network.turnStarts[Int(arc) + 1])
        return turns.contains {
            Int(network.arcEdges[Int(network.turnTargets[$0])]) == edge
                && network.cost(ofTurn: $0, from: Int(arc), costs, conditions)
                    < RouteWeights.infinity
        }
    }

    /// Adds instructions and the shape to a route.
    func direct(
        _ found: inout FoundRoute, _ legs: [[TraversedEdge]], _ visits: [Visit],
        _ wanted: RouteRequest.Directions, wantsShape: Bool?
    ) throws(Failure) {
        let kind = network.roads.modes[costs.mode].kind
        let means: TravelMeans =
            switch kind {
            case .bicycle: .bicycle
            case .walk: .foot
            default: .car
            }
        let stops = visits.map { visit in
            var side: VehicleSide?
            switch visit.snaps[0].side {
            case .left: side = .left
            case .right: side = .right
            case .on: side = nil
            }
            return RouteDirections.RouteStop(
                name: name(of: visit.place, visit.number), location: visit.snaps[0].position,
                side: side)
        }
        let directions = try Directions(
            RouteDirections.RoutePath(
                stops: Self.facing(stops, visits, legs), legs: legs, means: means))
        let language = DirectionsLanguage.named(wanted.language ?? "en")
        found.language = language.code
        if wanted.areSteps == true {
            found.steps = directions.maneuvers.map { maneuver in
                Self.step(maneuver, directions, directions.text(of: maneuver, in: language))
            }
        } else {
            found.lines = directions.written(in: language).lines.map { line in
                FoundRoute.Line(
                    text: line.text, type: line.type.name, leg: line.leg,
                    length: Double(line.length) / 1000, duration: Double(line.duration) / 1000,
                    points: Self.closed(line.points),
                    names: line.pieces.map {
                        FoundRoute.Line.Name(text: $0.text, type: $0.kind.rawValue)
                    })
            }
        }
        if wantsShape != false { found.shape = try EncodedPolyline.seven.encode(directions.shape) }
    }

    /// The stops with the side on which each is seen by the vehicle that arrives there.
    private static func facing(
        _ stops: [RouteDirections.RouteStop], _ visits: [Visit], _ legs: [[TraversedEdge]]
    ) -> [RouteDirections.RouteStop] {
        var stops = stops
        for (number, leg) in legs.enumerated() {
            guard let shape = leg.last?.shape, shape.count >= 2 else { continue }
            let (before, end) = (shape[shape.count - 2], shape[shape.count - 1])
            let place = visits[number + 1].place.location
            let cross =
                (end.x - before.x) * (place.y - end.y) - (end.y - before.y) * (place.x - end.x)
            guard stops[number + 1].side != nil, cross != 0 else { continue }
            stops[number + 1].side = cross > 0 ? .left : .right
        }
        return stops
    }

    private static func closed(_ points: Range<Int>) -> ClosedRange<Int> {
        points.lowerBound...max(points.lowerBound, points.upperBound - 1)
    }

    private static func step(
        _ maneuver: Maneuver, _ directions: Directions, _ text: String
    ) -> FoundRoute.Step {
        var step = FoundRoute.Step(
            type: maneuver.osrmType, leg: maneuver.leg, points: closed(maneuver.points), text: text)
        step.modifier = maneuver.osrmModifier
        step.exit = maneuver.roundaboutExit
        step.bearingBefore = maneuver.bearingBefore
        step.bearingAfter = maneuver.bearingAfter
        step.length = Double(maneuver.length) / 1000
        step.duration = Double(maneuver.duration) / 1000
        step.name = maneuver.street.name
        step.ref = maneuver.street.ref
        step.destinations =
            (maneuver.signs.refs.isEmpty ? "" : maneuver.signs.refs.joined(separator: ", ") + ": ")
            + maneuver.signs.destinations.joined(separator: ", ")
        step.rotaryName = maneuver.rotaryName
        step.isFerry = maneuver.traits.contains(.ferry)
        step.isLeftHand = maneuver.traits.contains(.leftHand)
        return step
    }
}
