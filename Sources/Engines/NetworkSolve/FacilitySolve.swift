// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// Features with the places of those that have a point.
package struct NetworkLocations {
    package let list: String
    package let features: [NetworkFeature]
    /// By their place in `features`.
    package private(set) var places: [(feature: Int, place: RoutePlace)] = []
    /// What else is said of them.
    package private(set) var notes: [String] = []

    package init(
        _ parameter: String, _ list: String, atMost limit: Int, _ solve: SolveParameters
    ) throws(Failure) {
        self.list = list
        guard solve.parameters[parameter] != nil else {
            throw Failure(.invalidParameter, "parameter '\(parameter)' is missing")
        }
        var features = try solve.parameters.features(parameter, list, atMost: limit)
        // Answers refer to features by their ids.
        if Set(features.map(\.objectID)).count < features.count {
            for index in features.indices { features[index].attributes["objectid"] = nil }
            notes = ["ObjectIDs of \"\(list)\" are not unique: their features are numbered."]
        }
        self.features = features
        for (index, feature) in features.enumerated() {
            if let place = try solve.place(feature, in: list) { places.append((index, place)) }
        }
    }

    package var request: [RoutePlace] { places.map(\.place) }

    package func feature(_ place: Int) -> NetworkFeature { features[places[place].feature] }

    /// What is said of those without a place on a road.
    package func unlocated(_ located: [LocatedPlace]) -> [String] {
        features.indices.filter { index in
            guard let place = places.firstIndex(where: { $0.feature == index }) else {
                return true
            }
            return located.indices.contains(place) && located[place].status == .notLocated
        }.map { SolveFailure.unlocated(features[$0].name, in: list) }
    }

    package func rows(_ located: [LocatedPlace]) -> [NetworkFeatureSet.Row] {
        features.enumerated().map { index, feature in
            let place = places.firstIndex { $0.feature == index }
            let found = place.flatMap { located.indices.contains($0) ? located[$0] : nil }
            return .init(
                attributes: [
                    ("ObjectID", .whole(feature.objectID)), ("Name", .text(feature.name)),
                ] + SolveParameters.located(found, feature), shape: feature.shape,
                number: feature.number)
        }
    }
}

/// `solveClosestFacility`: the nearest facilities of each incident.
package struct FacilitySolve {
    /// An incident with a facility.
    package struct Pair {
        package var incident: Int
        package var facility: Int
        package var rank: Int
    }

    /// Most routes of an answer.
    package static let routeLimit = 500

    package private(set) var pairs: [Pair] = []
    package private(set) var context: RouteContext?
    /// The request for the costs of all pairs; nil where there are none.
    package let table: RouteTableRequest?
    private var solve: SolveParameters
    private let incidents: NetworkLocations
    private let facilities: NetworkLocations
    private let direction: TravelDirection
    private let count: Int
    private let directions: NetworkDirections?
    private let lines: NetworkLines
    private let isEmptyAllowed: Bool
    private var located: (incidents: [LocatedPlace], facilities: [LocatedPlace]) = ([], [])
    private var routes: [(pair: Pair, route: SolvedRoute)] = []
    private var failures: [String] = []

    package init(
        _ network: NetworkPublished, _ parameters: any SolveForm, at position: Int64?
    ) throws(Failure) {
        solve = try SolveParameters(network, parameters, at: position)
        try solve.readStart("timeOfDay", isUTC: "timeOfDayIsUTC")
        if let usage = parameters["timeOfDayUsage"],
            !usage.isEqualIgnoringCase("esriNATimeOfDayUseAsStartTime")
        {
            throw FormText.unexpected(
                "timeOfDayUsage", usage, "esriNATimeOfDayUseAsStartTime")
        }
        let directions = try NetworkDirections(solve)
        self.directions =
            try parameters.flag("returnDirections", default: false) ? directions : nil
        if let note = self.directions?.note { solve.messages.append((50, note)) }
        lines = try solve.lines() ?? .trueShape
        direction =
            try parameters.word("travelDirection", TravelDirection.self) ?? .to
        count = try parameters.integer("defaultTargetFacilityCount", in: 1...1_000) ?? 1
        isEmptyAllowed = try parameters.flag("returnEmptyResults")
        let cutoff = try solve.cutoff()
        incidents = try NetworkLocations(
            "incidents", "Incidents", atMost: 1_000, solve)
        facilities = try NetworkLocations(
            "facilities", "Facilities", atMost: 1_000, solve)
        let isTo = direction == .to
        guard !incidents.places.isEmpty, !facilities.places.isEmpty else {
            table = nil
            return
        }
        var request = RouteTableRequest(
            solve.terms, origins: (isTo ? incidents : facilities).request,
            destinations: (isTo ? facilities : incidents).request)
        request.cutoff = cutoff
        table = request
    }

    /// Ranks the facilities of each incident.
    package mutating func take(_ answer: RouteTableAnswer) throws(Failure) {
        context = answer.context
        solve.note(answer.context)
        let isTo = direction == .to
        located =
            isTo
            ? (answer.origins, answer.destinations) : (answer.destinations, answer.origins)
        let values =
            answer.context.travelMode.minimises == .time
            ? answer.durations : answer.lengths
        let columns = answer.destinations.count
        guard let values, values.count == answer.origins.count * columns else {
            throw Failure(.internal, "a table lacks its costs")
        }
        for incident in incidents.places.indices {
            let costs = facilities.places.indices.compactMap { facility -> (Double, Int)? in
                let cell = isTo ? incident * columns + facility : facility * columns + incident
                return values[cell].map { ($0, facility) }
            }.sorted { $0 < $1 }
            for (rank, cost) in costs.prefix(count).enumerated() {
                pairs.append(Pair(incident: incident, facility: cost.1, rank: rank + 1))
            }
            let name = incidents.feature(incident).name
            if costs.isEmpty, located.incidents[incident].status == .ok {
                failures.append("No facility is reached from location \"\(name)\".")
            }
        }
        guard pairs.count <= Self.routeLimit else {
            throw Failure(
                .tooLarge, SolveFailure.title,
                details: [
                    "\(pairs.count) routes: the service finds at most \(Self.routeLimit) at once."
                ])
        }
    }

    package func route(_ index: Int) -> RouteRequest {
        let pair = pairs[index]
        let ends = [
            incidents.places[pair.incident].place, facilities.places[pair.facility].place,
        ]
        var request = RouteRequest(solve.terms, stops: direction == .to ? ends : ends.reversed())
        if let directions {
            request.directions = RouteRequest.Directions(language: directions.language)
        }
        return request
    }

    package mutating func take(_ answer: RouteAnswer, for index: Int) throws(Failure) {
        guard let best = answer.routes.first else { return }
        solve.note(answer.context)
        let pair = pairs[index]
        let names = [
            incidents.feature(pair.incident).name, facilities.feature(pair.facility).name,
        ]
        let ordered = direction == .to ? names : names.reversed()
        routes.append(
            (
                pair,
                try SolvedRoute(
                    id: routes.count + 1, name: ordered.joined(separator: " - "), best)
            ))
    }

    /// What was found.
    package struct Results {
        /// Type and text.
        package var messages: [(type: Int, text: String)]
        package var routes = NetworkFeatureSet(geometryType: "Polyline")
        package var facilities: NetworkFeatureSet
        package var incidents: NetworkFeatureSet
        /// Places in `facilities` of those that a route leads to, ascending.
        package var closest: [Int]
        package var solved: [SolvedRoute]
    }

    /// Throws Esri's phrases where there is no route, unless empty results are wanted.
    package func results() throws(Failure) -> Results {
        let lost =
            incidents.unlocated(located.incidents) + facilities.unlocated(located.facilities)
        try solve.check(unlocated: lost)
        var messages =
            solve.messages + (incidents.notes + facilities.notes).map { (type: 50, text: $0) }
        if routes.isEmpty, !isEmptyAllowed {
            throw SolveFailure.unable(lost + failures + [SolveFailure.noSolution])
        }
        messages += (lost + failures).filter { text in
            !messages.contains { $0.text == text }
        }.map { (50, $0) }
        let output = SolveOutput(solve)
        let closest = Set(routes.map { facilities.places[$0.pair.facility].feature })
        var results = Results(
            messages: messages,
            facilities: NetworkFeatureSet(
                geometryType: "Point", rows: facilities.rows(located.facilities)),
            incidents: NetworkFeatureSet(
                geometryType: "Point", rows: incidents.rows(located.incidents)),
            closest: closest.sorted(), solved: routes.map(\.route))
        for (pair, route) in routes { results.routes.rows.append(row(pair, route, output)) }
        return results
    }

    /// The answer of a `NAServer`; throws as ``results()`` does.
    package func body() throws(Failure) -> [UInt8] {
        var results = try results()
        let (output, parameters) = (SolveOutput(solve), solve.parameters)
        if try !parameters.flag("returnCFRoutes") { results.routes.rows = [] }
        var json = JSONWriter()
        json.openObject()
        json.messages(results.messages)
        results.routes.write("routes", in: output, to: &json)
        for (flag, name, set) in [
            ("returnFacilities", "facilities", results.facilities),
            ("returnIncidents", "incidents", results.incidents),
        ] where try parameters.flag(flag) {
            set.write(name, in: output, to: &json)
        }
        try solve.writeBarriers(output, to: &json)
        if let directions { try directions.write(results.solved, to: &json) }
        json.closeObject()
        return json.bytes
    }

    /// The costs that results have.
    package var costs: [NetworkCost] { solve.costs }

    /// What writes the directions; nil where they are not wanted.
    package var writer: NetworkDirections? { directions }

    private func row(
        _ pair: Pair, _ route: SolvedRoute, _ output: SolveOutput
    ) -> NetworkFeatureSet.Row {
        let (incident, facility) = (
            incidents.feature(pair.incident), facilities.feature(pair.facility)
        )
        var row = NetworkFeatureSet.Row(
            attributes: [
                ("ObjectID", .whole(route.id)), ("FacilityID", .whole(facility.objectID)),
                ("FacilityRank", .whole(pair.rank)), ("Name", .text(route.name)),
                ("IncidentCurbApproach", .whole(incident.approach)),
                ("FacilityCurbApproach", .whole(facility.approach)),
                ("IncidentID", .whole(incident.objectID)),
            ])
        if let start = solve.start {
            let (end, local) = (start + (route.seconds * 1000).rounded(), solve.localShift)
            row.attributes += [
                ("StartTime", .real(start + local)), ("EndTime", .real(end + local)),
                ("StartTimeUTC", .real(start)), ("EndTimeUTC", .real(end)),
            ]
        }
        for cost in solve.costs {
            row.attributes.append(
                (
                    "Total_" + cost.name,
                    .real(cost.value(length: route.route.length, duration: route.seconds))
                ))
        }
        let line: [Coordinate]? =
            switch lines {
            case .trueShape, .measured: route.line
            case .straight: [route.line.first, route.line.last].compactMap { $0 }
            case .none: nil
            }
        if let line, !line.isEmpty {
            let shape = Shape.polyline(paths: [line])
            row.attributes.append(("Shape_Length", .real(output.length(shape))))
            row.shape = shape
        }
        return row
    }
}
