// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import RouteDirections

/// Networks whose roads are where they are asked for: routes are straight lines over the stops, a
/// degree of which is 1000 m long and takes 100 s.
struct SimulatedRoads {
    var networks = [Self.network("Roads")]
    var routes: [RouteRequest] = []
    var tables: [RouteTableRequest] = []
    var reaches: [ReachRequest] = []
    var nearest: [NearestRoadsRequest] = []
    var orders: [RoadChangeRequest] = []
    var listings: [RoadChangesRequest] = []
    /// The changes that stand, ascending.
    var changes: [RoadChangeReport] = []
    var traces: [TraceRequest] = []
    /// Places at this longitude have no road.
    var sea = 99.0
    /// Stops at this longitude are not reached.
    var island = 98.0
    var messages: [RouteMessage] = []

    var isUnasked: Bool {
        routes.isEmpty && tables.isEmpty && reaches.isEmpty && nearest.isEmpty && traces.isEmpty
            && orders.isEmpty && listings.isEmpty
    }

    static let file = ContentID(rawValue: String(repeating: "b", count: 64))

    static func network(_ name: String) -> NetworkPublished {
        func mode(
            _ name: String, _ kind: NetworkMode.Kind, _ word: String, _ time: String
        ) -> NetworkMode {
            NetworkMode(
                name: name, kind: kind,
                travelModes: [
                    .init(
                        name: word + " Time", minimises: .time, timeAttribute: time,
                        timeUnit: .minutes, distanceAttribute: "Kilometers",
                        distanceUnit: .kilometers),
                    .init(
                        name: word + " Distance", minimises: .distance, timeAttribute: time,
                        timeUnit: .minutes, distanceAttribute: "Kilometers",
                        distanceUnit: .kilometers),
                ], turns: .free)
        }
        guard let file else { preconditionFailure("not the name of a file") }
        return NetworkPublished(
            name: name, network: file, topology: file,
            modes: [
                mode("car", .automobile, "Driving", "TravelTime"),
                mode("foot", .walk, "Walking", "WalkTime"),
            ],
            edgeCount: 4, extent: Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10))
    }

    private func context(_ terms: RouteTerms) throws(Failure) -> RouteContext {
        guard let file = Self.file else { throw Failure(.internal, "no file") }
        let all = networks.first { $0.name == terms.network }?.travelModes ?? []
        let found =
            terms.travelMode == nil
            ? all.first : all.first { $0.travelMode.name == terms.travelMode }
        guard let found else {
            throw Failure(.invalidParameter, "no travel mode '\(terms.travelMode ?? "")'")
        }
        return RouteContext(
            network: terms.network, file: file, sequence: 7, isStale: false, mode: "car",
            travelMode: found.travelMode, messages: messages)
    }

    private func located(_ place: RoutePlace, _ order: Int?) -> LocatedPlace {
        guard place.location.x != sea else { return LocatedPlace(status: .notLocated) }
        var located = LocatedPlace(status: .ok)
        (located.position, located.distance, located.street) = (place.location, 1.25, "Main St")
        (located.fraction, located.side, located.order) = (0.5, .right, order)
        return located
    }

    private static func degrees(_ first: Coordinate, _ second: Coordinate) -> Double {
        let (x, y) = (second.x - first.x, second.y - first.y)
        return (x * x + y * y).squareRoot()
    }

    mutating func answer(_ request: RouteRequest) throws(Failure) -> RouteAnswer {
        routes.append(request)
        var answer = RouteAnswer(context: try context(request.terms), stops: [])
        answer.stops = request.stops.enumerated().map { located($1, $0) }
        if request.explain == true {
            var change = RouteShaping(effect: .closed)
            (change.change, change.reason, change.costWithout) = (57, "works", 90)
            var barrier = RouteShaping(effect: .factor(2))
            (barrier.barrier, barrier.reason) = (0, "flood")
            answer.shapedBy = [change, barrier]
        }
        let areLocated = answer.stops.allSatisfy { $0.status == .ok }
        let count = answer.stops.count { $0.status == .ok }
        guard count >= 2, areLocated || request.skipsUnlocated == true else { return answer }
        if let lost = request.stops.firstIndex(where: { $0.location.x == island }) {
            answer.unreachedStop = lost
            answer.stops[lost].status = .notReached
            return answer
        }
        var line = request.stops.filter { $0.location.x != sea }.map(\.location)
        if request.order?.returns == true { line.append(line[0]) }
        var route = FoundRoute(length: 0, duration: 0, legs: [])
        var lines: [FoundRoute.Line] = []
        var steps: [FoundRoute.Step] = []
        for leg in line.indices.dropLast() {
            let length = Self.degrees(line[leg], line[leg + 1]) * 1000
            route.legs.append(.init(length: length, duration: length / 10))
            route.legs[leg].summary = request.directions == nil ? nil : "Main St"
            route.length += length
            route.duration += length / 10
            var step = FoundRoute.Step(
                type: "depart", leg: leg, points: leg...leg + 1, text: "Head on")
            (step.length, step.duration) = (length, length / 10)
            (step.name, step.bearingAfter) = ("Main St", 90)
            steps.append(step)
            step = FoundRoute.Step(
                type: "arrive", leg: leg, points: leg + 1...leg + 1, text: "Arrive")
            step.bearingBefore = 90
            steps.append(step)
            lines += [
                .init(
                    text: "Start", type: "esriDMTDepart", leg: leg, length: 0, duration: 0,
                    points: leg...leg, names: []),
                .init(
                    text: "Go on Main St", type: "esriDMTStraight", leg: leg, length: length,
                    duration: length / 10, points: leg...leg + 1,
                    names: [.init(text: "Main St", type: "esriDSTStreetName")]),
                .init(
                    text: "Finish", type: "esriDMTStop", leg: leg, length: 0, duration: 0,
                    points: leg + 1...leg + 1, names: []),
            ]
        }
        if request.directions?.areSteps == true {
            route.steps = steps
        } else if request.directions != nil {
            route.lines = lines
        }
        if request.wantsShape != false { route.shape = try EncodedPolyline.seven.encode(line) }
        if request.stops.contains(where: { $0.window != nil }) {
            // Each stop is waited for and late alike.
            route.times = line.indices.map {
                .init(
                    arrival: 1_000 * Double($0), wait: 30, violation: $0 > 0 ? 60 : 0,
                    departure: 1_000 * Double($0) + 90)
            }
        }
        answer.routes = Array(repeating: route, count: 1 + (request.alternatives ?? 0))
        return answer
    }

    mutating func answer(_ request: RouteTableRequest) throws(Failure) -> RouteTableAnswer {
        tables.append(request)
        var answer = RouteTableAnswer(
            context: try context(request.terms),
            origins: request.origins.map { located($0, nil) },
            destinations: request.destinations.map { located($0, nil) })
        let lengths = request.origins.flatMap { origin in
            request.destinations.map { destination -> Double? in
                origin.location.x == island || destination.location.x == island
                    || origin.location.x == sea || destination.location.x == sea
                    ? nil : Self.degrees(origin.location, destination.location) * 1000
            }
        }
        let durations = lengths.map { $0.map { $0 / 10 } }
        let isTime = answer.context.travelMode.minimises == .time
        if isTime || request.wantsBoth == true { answer.durations = durations }
        if !isTime || request.wantsBoth == true { answer.lengths = lengths }
        return answer
    }

    mutating func answer(_ request: ReachRequest) throws(Failure) -> ReachAnswer {
        reaches.append(request)
        var answer = ReachAnswer(
            context: try context(request.terms),
            facilities: request.facilities.map { located($0, nil) })
        for (number, place) in request.facilities.enumerated() {
            let (x, y) = (place.location.x, place.location.y)
            for (upper, lower) in zip(request.breaks, [0] + request.breaks).reversed() {
                let side = upper / 1000
                let ring = [(x, y), (x, y + side), (x + side, y + side), (x + side, y), (x, y)]
                    .map { Coordinate(x: $0.0, y: $0.1) }
                let from = request.areRings == false ? 0 : lower
                if request.wantsAreas != false {
                    answer.areas.append(
                        .init(
                            facility: number, from: from, to: upper, shape: .polygon(rings: [ring]))
                    )
                }
                if request.wantsLines == true {
                    answer.lines.append(
                        .init(
                            facility: number, from: lower, to: upper,
                            shape: .polyline(paths: [Array(ring.prefix(2))])))
                }
            }
        }
        return answer
    }

    /// One matching of the positions that have a road.
    mutating func answer(_ request: TraceRequest) throws(Failure) -> TraceAnswer {
        traces.append(request)
        var answer = TraceAnswer(
            context: try context(request.terms),
            points: request.points.map { _ in TraceAnswer.Point() })
        let stops = request.points.filter { $0.location.x != sea }.map { RoutePlace($0.location) }
        guard stops.count > 1 else { return answer }
        var plain = RouteRequest(request.terms, stops: stops)
        (plain.directions, plain.wantsShape) = (request.directions, request.wantsShape)
        guard let route = try self.answer(plain).routes.first else { return answer }
        answer.matchings = [TraceAnswer.Matching(confidence: 0.75, edges: [], route: route)]
        var count = 0
        for (number, point) in request.points.enumerated() where point.location.x != sea {
            answer.points[number].place = located(RoutePlace(point.location), number)
            (answer.points[number].matching, answer.points[number].number) = (0, count)
            answer.points[number].otherCount = 2
            count += 1
        }
        return answer
    }

    mutating func answer(_ request: NearestRoadsRequest) throws(Failure) -> NearestRoadsAnswer {
        nearest.append(request)
        let place = located(request.place, nil)
        return NearestRoadsAnswer(
            context: try context(request.terms), roads: place.status == .ok ? [place] : [])
    }

    static let road = ChangedRoad(
        edge: RoadEdge(way: 12, segment: 3, isBackward: true), street: "Main St", length: 10.5)

    mutating func answer(_ request: RoadChangeRequest) throws(Failure) -> RoadChangeAnswer {
        orders.append(request)
        switch request.action {
        case .change(let order):
            var answer = RoadChangeAnswer(
                number: 57, network: request.network, effect: order.effect, edgeCount: 1,
                turnCount: order.effect == .bannedTurn ? 1 : nil, length: 10.5,
                roads: [Self.road])
            if case .layer(let layer) = order.target {
                answer.followed = FollowedLayer(
                    map: layer.map, layer: 0, name: "Water", clause: layer.clause, sequence: 55)
            }
            return answer
        case .restore(let numbers):
            return RoadChangeAnswer(number: 61, network: request.network, restored: numbers)
        case .restoreAll:
            return RoadChangeAnswer(number: 61, network: request.network, restored: [57, 58])
        }
    }

    mutating func answer(_ request: RoadChangesRequest) throws(Failure) -> RoadChangesAnswer {
        listings.append(request)
        let wanted = changes.filter { request.number == nil || request.number == $0.number }
        guard request.number == nil || !wanted.isEmpty else {
            throw Failure(.notFound, "no change \(request.number ?? 0) stands")
        }
        return RoadChangesAnswer(
            network: request.network, sequence: 58, isStale: false, changes: wanted,
            isExceeded: request.number == nil && !wanted.isEmpty)
    }
}
