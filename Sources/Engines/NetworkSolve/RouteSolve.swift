// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import EsriForms
internal import Geometry
package import Platform

/// `solve`: a route over stops, or one for each route name.
package struct RouteSolve {
    /// The stops of one route in the order of travel, unless that is looked for.
    package struct Group {
        package var name: String?
        package var stops: [NetworkFeature]
        /// Those with a point, by their place in `stops`.
        package var places: [(stop: Int, place: RoutePlace)] = []
        package var answer: RouteAnswer?
        package var failure: [String] = []
    }

    package var groups: [Group] = []
    package private(set) var context: RouteContext?
    private var solve: SolveParameters
    private let directions: NetworkDirections?
    private let lines: NetworkLines
    private let order: RouteRequest.StopOrder?
    private let skipsUnlocated: Bool
    /// Whether the answer says what shaped the routes.
    private let explains: Bool
    /// Whether an answer without a route is no failure.
    package var isEmptyAllowed: Bool

    package init(
        _ network: NetworkPublished, _ parameters: any SolveForm, at position: Int64?
    ) throws(Failure) {
        solve = try SolveParameters(network, parameters, at: position)
        try solve.readStart("startTime", isUTC: "startTimeIsUTC")
        let directions = try NetworkDirections(solve)
        self.directions =
            try parameters.flag("returnDirections", default: true) ? directions : nil
        if let note = self.directions?.note { solve.messages.append((50, note)) }
        lines = try solve.lines() ?? .trueShape
        if lines == .measured {
            solve.messages.append((50, "Lines have no measures: 'outputLines' is true shape."))
        }
        skipsUnlocated = try parameters.flag(
            "ignoreInvalidLocations", default: true)
        isEmptyAllowed = try parameters.flag("returnEmptyResults")
        explains = try parameters.flag("explain")
        order =
            try parameters.flag("findBestSequence")
            ? RouteRequest.StopOrder(
                keepsFirst: try parameters.flag("preserveFirstStop", default: true),
                keepsLast: try parameters.flag("preserveLastStop", default: true)) : nil
        let usesWindows = try parameters.flag("useTimeWindows")
        let areUTC = try parameters.flag("timeWindowsAreUTC")
        guard !usesWindows || solve.start != nil else {
            throw Failure(
                .invalidParameter, "'useTimeWindows' needs 'startTime': when the first stop is left"
            )
        }
        guard parameters["stops"] != nil else {
            throw Failure(.invalidParameter, "parameter 'stops' is missing")
        }
        let stops = try parameters.features(
            "stops", "Stops", atMost: parameters.stopLimit ?? RouteRequest.largestStopCount)
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
            guard own.count <= RouteRequest.largestStopCount else {
                throw Failure(
                    .tooLarge, SolveFailure.title,
                    details: [
                        "Route \"\(name ?? "")\" has \(own.count) stops: the most is "
                            + "\(RouteRequest.largestStopCount)."
                    ])
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
    package mutating func request(_ index: Int) throws(Failure) -> RouteRequest? {
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

    package mutating func take(_ answer: RouteAnswer, for index: Int) {
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

    /// What was found.
    package struct Results {
        /// Type and text.
        package var messages: [(type: Int, text: String)]
        package var routes = NetworkFeatureSet(geometryType: "Polyline")
        package var stops = NetworkFeatureSet(geometryType: "Point")
        package var solved: [SolvedRoute] = []
    }

    /// Throws Esri's phrases where there is no route, unless empty results are wanted.
    package func results() throws(Failure) -> Results {
        let failures = groups.flatMap(\.failure)
        var results = Results(messages: solve.messages)
        let found = groups.contains { $0.answer?.routes.isEmpty == false }
        if !found, !isEmptyAllowed { throw SolveFailure.unable(failures) }
        results.messages += failures.filter { failure in
            !solve.messages.contains { $0.text == failure }
        }.map { (100, $0) }
        let output = SolveOutput(solve)
        for group in groups {
            if let answer = group.answer, let best = answer.routes.first {
                let (solved, order) = try solved(
                    group, answer, best, id: results.solved.count + 1)
                results.solved.append(solved)
                results.routes.rows.append(row(solved, group, order, output))
            }
            results.stops.rows += self.stops(group)
        }
        return results
    }

    /// The answer of a `NAServer`, with what `append` writes behind; throws as ``results()`` does.
    package func body(
        append: (inout JSONWriter) -> Void = { _ in }
    ) throws(Failure) -> [UInt8] {
        let results = try results()
        let (output, parameters) = (SolveOutput(solve), solve.parameters)
        var json = JSONWriter()
        json.openObject()
        json.messages(results.messages)
        if try parameters.flag("returnRoutes", default: true) {
            results.routes.write("routes", in: output, to: &json)
        }
        if try parameters.flag("returnStops") {
            results.stops.write("stops", in: output, to: &json)
        }
        try solve.writeBarriers(output, to: &json)
        if let directions { try directions.write(results.solved, to: &json) }
        if explains { append(&json) }
        json.closeObject()
        return json.bytes
    }

    /// The changes of roads and the barriers without which a route would cost something else, each
    /// with the number of its route; of a request that asks for them.
    package var shapings: [(route: Int, shaping: RouteShaping)] {
        groups.compactMap(\.answer).filter { !$0.routes.isEmpty }.enumerated()
            .flatMap { place, answer in
                (answer.shapedBy ?? []).map { (route: place + 1, shaping: $0) }
            }
    }

    /// The costs that results have.
    package var costs: [NetworkCost] { solve.costs }

    /// The cost that is minimised.
    package var impedance: NetworkCost { solve.mode.impedance }

    /// What writes the directions; nil where they are not wanted.
    package var writer: NetworkDirections? { directions }

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
            let (time, local) = (solve.time, solve.localShift)
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
                ] + SolveParameters.located(located, stop), shape: stop.shape,
                number: stop.number)
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
                let (visit, time) = (times[order], solve.time)
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
    package static func located(
        _ place: LocatedPlace?, _ feature: NetworkFeature
    ) -> [(name: String, value: NetworkValue)] {
        [
            ("SourceID", place?.position == nil ? .null : .whole(1)),
            ("SourceOID", place?.edge.map { .whole(Int($0.way)) } ?? .null),
            ("PosAlong", NetworkValue(place?.fraction)),
            ("SideOfEdge", place?.side.map { .whole($0.rawValue) } ?? .null),
            ("CurbApproach", .whole(feature.approach)),
            ("Status", .whole((place?.status ?? .notLocated).rawValue)),
            ("SnapX", NetworkValue(place?.position?.x)),
            ("SnapY", NetworkValue(place?.position?.y)),
            ("DistanceToNetworkInMeters", NetworkValue(place?.distance)),
        ]
    }

    /// Writes the barriers that are wanted back.
    package func writeBarriers(_ output: SolveOutput, to json: inout JSONWriter) throws(Failure) {
        for (flag, list, name, type) in [
            ("returnBarriers", "Barriers", "barriers", "Point"),
            ("returnPolylineBarriers", "PolylineBarriers", "polylineBarriers", "Polyline"),
            ("returnPolygonBarriers", "PolygonBarriers", "polygonBarriers", "Polygon"),
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
