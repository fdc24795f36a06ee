// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform
internal import Site

/// `solve`: a route over stops, or one for each route name.
struct RouteSolve {
    /// The stops of one route in the order of travel, unless that is looked for.
    struct Group {
        var name: String?
        var stops: [NetworkFeature]
        /// Those with a point, by their place in `stops`.
        var places: [(stop: Int, place: RoutePlace)] = []
        var answer: RouteAnswer?
        var failure: [String] = []
    }

    var groups: [Group] = []
    private(set) var context: RouteContext?
    private var solve: SolveParameters
    private let directions: NetworkDirections?
    private let lines: NetworkLines
    private let order: RouteRequest.StopOrder?
    private let skipsUnlocated: Bool
    /// Whether the answer says what shaped the routes.
    private let explains: Bool
    private let caller: Caller
    /// Whether an answer without a route is no failure.
    var isEmptyAllowed: Bool

    init(
        _ network: NetworkPublished, _ call: Call, at position: Int64?
    ) throws(Failure) {
        let parameters = call.parameters
        solve = try SolveParameters(network, call, at: position)
        try solve.readStart(Known.startTime, isUTC: Known.startTimeIsUTC)
        let directions = try NetworkDirections(solve)
        self.directions =
            try parameters.flag(Known.returnDirections.name, default: true) ? directions : nil
        if let note = self.directions?.note { solve.messages.append((50, note)) }
        lines = try solve.lines() ?? .trueShape
        if lines == .measured {
            solve.messages.append((50, "Lines have no measures: 'outputLines' is true shape."))
        }
        skipsUnlocated = try parameters.flag(
            Known.ignoreInvalidLocations.name, default: true)
        isEmptyAllowed = try parameters.flag(Known.returnEmptyResults)
        explains = try parameters.flag(Known.explain)
        caller = call.caller
        order =
            try parameters.flag(Known.findBestSequence)
            ? RouteRequest.StopOrder(
                keepsFirst: try parameters.flag(Known.preserveFirstStop),
                keepsLast: try parameters.flag(Known.preserveLastStop)) : nil
        let usesWindows = try parameters.flag(Known.useTimeWindows)
        let areUTC = try parameters.flag(Known.timeWindowsAreUTC)
        guard !usesWindows || solve.start != nil else {
            throw Failure(
                .invalidParameter, "'useTimeWindows' needs 'startTime': when the first stop is left"
            )
        }
        guard parameters[Known.stops] != nil else {
            throw Failure(.invalidParameter, "parameter 'stops' is missing")
        }
        let stops = try NetworkFeatures.read(
            Known.stops, "Stops", atMost: RouteRequest.largestStopCount, parameters)
        var names: [String?] = []
        for stop in stops where !names.contains(stop.text("RouteName")) {
            names.append(stop.text("RouteName"))
        }
        for name in names {
            var own = stops.filter { $0.text("RouteName") == name }
            let sequences = try own.map { stop throws(Failure) in try stop.number("Sequence") }
            if sequences.allSatisfy({ $0 != nil }) {
                own = zip(own, sequences).sorted {
                    ($0.1 ?? 0, $0.0.number) < ($1.1 ?? 0, $1.0.number)
                }.map(\.0)
            }
            var group = Group(name: name, stops: own)
            for (index, stop) in own.enumerated() {
                if var place = try solve.place(stop, in: "Stops") {
                    if usesWindows { place.window = try solve.window(stop, isUTC: areUTC) }
                    group.places.append((index, place))
                }
            }
            groups.append(group)
        }
        if groups.isEmpty { groups = [Group(name: nil, stops: [])] }
    }

    /// The request of a group; nil where it has too few places.
    mutating func request(_ index: Int) throws(Failure) -> RouteRequest? {
        let group = groups[index]
        let located = Set(group.places.map(\.stop))
        let lost = group.stops.indices.filter { !located.contains($0) }.map {
            SolveFailure.unlocated(group.stops[$0].name, in: "Stops")
        }
        if group.places.count < 2 || !lost.isEmpty && !skipsUnlocated {
            groups[index].failure =
                lost + (group.places.count < 2 ? ["Need at least 2 valid stops."] : [])
            return nil
        }
        solve.messages += lost.map { (50, $0) }
        var request = RouteRequest(solve.terms, stops: group.places.map(\.place))
        request.order = order
        if skipsUnlocated { request.skipsUnlocated = true }
        if explains { request.explain = true }
        if let directions {
            request.directions = RouteRequest.Directions(language: directions.language)
        }
        return request
    }

    mutating func take(_ answer: RouteAnswer, for index: Int) {
        groups[index].answer = answer
        context = answer.context
        solve.note(answer.context)
        guard answer.routes.isEmpty else { return }
        let group = groups[index]
        func name(_ place: Int) -> String { group.stops[group.places[place].stop].name }
        if let place = answer.unreachedStop, group.places.indices.contains(place) {
            let own = answer.stops.indices.contains(place) ? answer.stops[place].order ?? place : 0
            let before = answer.stops.firstIndex { $0.order == own - 1 } ?? max(place - 1, 0)
            groups[index].failure = [
                SolveFailure.noRoute(name(before), name(place)), SolveFailure.noSolution,
            ]
            return
        }
        let lost = answer.stops.indices.filter { answer.stops[$0].status == .notLocated }
        var details =
            skipsUnlocated ? [] : lost.map { SolveFailure.unlocated(name($0), in: "Stops") }
        if answer.stops.count - lost.count < 2 { details.append("Need at least 2 valid stops.") }
        if skipsUnlocated, !lost.isEmpty {
            details = lost.map { SolveFailure.unlocated(name($0), in: "Stops") } + details
        }
        groups[index].failure = details.isEmpty ? [SolveFailure.noSolution] : details
    }

    /// Throws Esri's phrases where there is no route, unless empty results are wanted.
    func body() throws(Failure) -> [UInt8] {
        let failures = groups.flatMap(\.failure)
        var messages = solve.messages
        let found = groups.contains { $0.answer?.routes.isEmpty == false }
        if !found, !isEmptyAllowed { throw SolveFailure.unable(failures) }
        messages += failures.filter { failure in
            !messages.contains { $0.text == failure }
        }.map { (100, $0) }
        var routes: [SolvedRoute] = []
        var rows: [NetworkFeatureSet.Row] = []
        var stops: [NetworkFeatureSet.Row] = []
        let output = SolveOutput(solve)
        for group in groups {
            if let answer = group.answer, let best = answer.routes.first {
                let (solved, order) = try solved(group, answer, best, id: routes.count + 1)
                routes.append(solved)
                rows.append(row(solved, group, order, output))
            }
            stops += self.stops(group)
        }
        let parameters = solve.parameters
        var json = JSONWriter()
        json.openObject()
        json.messages(messages)
        if try parameters.flag(Known.returnRoutes.name, default: true) {
            NetworkFeatureSet(geometryType: "Polyline", rows: rows)
                .write("routes", in: output, to: &json)
        }
        if try parameters.flag(Known.returnStops) {
            NetworkFeatureSet(geometryType: "Point", rows: stops)
                .write("stops", in: output, to: &json)
        }
        try solve.writeBarriers(output, to: &json)
        if let directions { try directions.write(routes, to: &json) }
        if explains { writeShaping(&json) }
        json.closeObject()
        return json.bytes
    }

    /// Writes the changes of roads and the barriers without which a route would cost something
    /// else, with its cost then; null for no route.
    private func writeShaping(_ json: inout JSONWriter) {
        let cost = solve.mode.impedance
        let found = groups.compactMap(\.answer).filter { !$0.routes.isEmpty }
        let all = found.enumerated().flatMap { place, answer in
            (answer.shapedBy ?? []).map { (route: place + 1, shaping: $0) }
        }
        json.member("shapedBy", array: all) { json, element in
            let shaping = element.shaping
            json.object { json in
                json.member("routeId", element.route)
                if let change = shaping.change {
                    json.member("change", Int(change))
                    if let reason = shaping.reason { json.member("reason", reason) }
                } else if let name = shaping.reason {
                    json.member("barrier", name)
                }
                RoadResource.write(shaping.effect, &json)
                if let followed = shaping.followed {
                    let isNamed = caller.may(.query, on: .map(followed.map.rawValue))
                    RoadResource.write(followed, isNamed: isNamed, &json)
                }
                json.key("Total_" + cost.name)
                if let without = shaping.costWithout {
                    json.number(without / cost.unit)
                } else {
                    json.null()
                }
            }
        }
    }

    /// The route, and its places of the request in the order of travel.
    private func solved(
        _ group: Group, _ answer: RouteAnswer, _ best: FoundRoute, id: Int
    ) throws(Failure) -> (SolvedRoute, order: [Int]) {
        let order = answer.stops.indices.filter {
            answer.stops[$0].order != nil && group.places.indices.contains($0)
        }.sorted { (answer.stops[$0].order ?? 0) < (answer.stops[$1].order ?? 0) }
        guard let first = order.first, let last = order.last else {
            throw Failure(.internal, "a route has no stops in order")
        }
        func name(_ place: Int) -> String { group.stops[group.places[place].stop].name }
        var solved = try SolvedRoute(
            id: id, name: group.name ?? "\(name(first)) - \(name(last))", best)
        solved.services = order.map { group.places[$0].place.service ?? 0 }
        if let times = best.times {
            (solved.waits, solved.violations) = (times.map(\.wait), times.map(\.violation))
        }
        return (solved, order)
    }

    private func row(
        _ solved: SolvedRoute, _ group: Group, _ order: [Int], _ output: SolveOutput
    ) -> NetworkFeatureSet.Row {
        func id(_ place: Int?) -> NetworkValue {
            place.map { .whole(group.stops[group.places[$0].stop].objectID) } ?? .null
        }
        var row = NetworkFeatureSet.Row(
            attributes: [
                ("ObjectID", .whole(solved.id)), ("Name", .text(solved.name)),
                ("FirstStopID", id(order.first)), ("LastStopID", id(order.last)),
                ("StopCount", .whole(order.count)),
            ])
        for cost in solve.costs {
            row.attributes.append(
                (
                    "Total_" + cost.name,
                    .real(cost.value(length: solved.route.length, duration: solved.seconds))
                ))
        }
        if let start = solve.start {
            let wait = solved.waits.reduce(0, +)
            let end = start + ((solved.seconds + wait) * 1000).rounded()
            let (time, local) = (solve.mode.costs[0], solve.localShift)
            row.attributes += [
                ("StartTime", .real(start + local)), ("EndTime", .real(end + local)),
                ("StartTimeUTC", .real(start)), ("EndTimeUTC", .real(end)),
                ("TotalWait_" + time.name, .real(wait / time.unit)),
                (
                    "TotalViolation_" + time.name,
                    .real(solved.violations.reduce(0, +) / time.unit)
                ),
            ]
        }
        let line: [Coordinate]? =
            switch lines {
            case .trueShape, .measured: solved.line
            case .straight:
                order.compactMap {
                    group.places.indices.contains($0) ? group.places[$0].place.location : nil
                }
            case .none: nil
            }
        if let line, !line.isEmpty {
            // A shape has two positions at least.
            let shape = Shape.polyline(paths: [line.count == 1 ? [line[0], line[0]] : line])
            row.attributes.append(("Shape_Length", .real(output.length(shape))))
            row.shape = shape
        }
        return row
    }

    private func stops(_ group: Group) -> [NetworkFeatureSet.Row] {
        group.stops.enumerated().map { index, stop in
            let place = group.places.firstIndex { $0.stop == index }
            let located = place.flatMap { place in
                group.answer.flatMap { $0.stops.indices.contains(place) ? $0.stops[place] : nil }
            }
            var row = NetworkFeatureSet.Row(
                attributes: [
                    ("ObjectID", .whole(stop.objectID)), ("Name", .text(stop.name)),
                    ("RouteName", group.name.map { .text($0) } ?? .null),
                    ("Sequence", located?.order.map { .whole($0 + 1) } ?? .null),
                ] + SolveParameters.located(located, stop), shape: stop.shape)
            guard let order = located?.order, let answer = group.answer,
                let best = answer.routes.first
            else { return row }
            let legs = best.legs.prefix(order)
            let (length, driven) = (
                legs.reduce(0) { $0 + $1.length }, legs.reduce(0) { $0 + $1.duration }
            )
            let own = place.map { group.places[$0].place.service ?? 0 } ?? 0
            let before = answer.stops.indices.reduce(0.0) { sum, other in
                guard let number = answer.stops[other].order, number < order,
                    group.places.indices.contains(other)
                else { return sum }
                return sum + (group.places[other].place.service ?? 0)
            }
            for cost in solve.costs {
                row.attributes.append(
                    (
                        "Cumul_" + cost.name,
                        .real(cost.value(length: length, duration: driven + before + own))
                    ))
            }
            guard let start = solve.start else { return row }
            var arrival = start + ((driven + before) * 1000).rounded()
            var departure = arrival + own * 1000
            if let times = best.times, times.indices.contains(order) {
                let (visit, time) = (times[order], solve.mode.costs[0])
                arrival = start + (visit.arrival * 1000).rounded()
                departure = start + (visit.departure * 1000).rounded()
                row.attributes += [
                    ("Wait_" + time.name, .real(visit.wait / time.unit)),
                    ("Violation_" + time.name, .real(visit.violation / time.unit)),
                ]
                if visit.violation > 0, located?.status == .ok {
                    // Esri's status of a violated time window.
                    for index in row.attributes.indices
                    where row.attributes[index].name == "Status" {
                        row.attributes[index].value = .whole(6)
                    }
                }
            }
            let local = solve.localShift
            row.attributes += [
                ("ArriveTime", .real(arrival + local)), ("ArriveTimeUTC", .real(arrival)),
                ("DepartTime", .real(departure + local)), ("DepartTimeUTC", .real(departure)),
            ]
            return row
        }
    }
}

extension SolveParameters {
    /// The attributes that say where a place was found.
    static func located(
        _ place: LocatedPlace?, _ feature: NetworkFeature
    ) -> [(name: String, value: NetworkValue)] {
        let approach: Int =
            if case .number(let number)? = feature.attributes["curbapproach"] {
                Int(exactly: number) ?? 0
            } else { 0 }
        return [
            ("SourceID", place?.position == nil ? .null : .whole(1)),
            ("SourceOID", place?.edge.map { .whole(Int($0.way)) } ?? .null),
            ("PosAlong", NetworkValue(place?.fraction)),
            ("SideOfEdge", place?.side.map { .whole($0.rawValue) } ?? .null),
            ("CurbApproach", .whole(approach)),
            ("Status", .whole((place?.status ?? .notLocated).rawValue)),
            ("SnapX", NetworkValue(place?.position?.x)),
            ("SnapY", NetworkValue(place?.position?.y)),
            ("DistanceToNetworkInMeters", NetworkValue(place?.distance)),
        ]
    }

    /// Writes the barriers that are wanted back.
    func writeBarriers(_ output: SolveOutput, to json: inout JSONWriter) throws(Failure) {
        for (flag, list, name, type) in [
            (Known.returnBarriers, "Barriers", "barriers", "Point"),
            (Known.returnPolylineBarriers, "PolylineBarriers", "polylineBarriers", "Polyline"),
            (Known.returnPolygonBarriers, "PolygonBarriers", "polygonBarriers", "Polygon"),
        ] where try parameters.flag(flag) {
            var set = NetworkFeatureSet(geometryType: type)
            for feature in barriers[list] ?? [] {
                set.rows.append(
                    .init(
                        attributes: [
                            ("ObjectID", .whole(feature.objectID)), ("Name", .text(feature.name)),
                            (
                                "BarrierType",
                                .whole(try feature.whole("BarrierType", in: 0...2) ?? 0)
                            ),
                            ("Status", .whole(feature.shape == nil ? 1 : 0)),
                        ], shape: feature.shape))
            }
            set.write(name, in: output, to: &json)
        }
    }
}
