// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import NetworkSolve

extension JobKind {
    /// Finds routes over stops, as Esri's task of that name does.
    public static let findRoutes = JobKind(rawValue: "FindRoutes")
}

/// The job kind `FindRoutes`: a route for each `RouteName` of the stops, with directions.
///
/// The network is asked as of the job's submission, so the product does not depend on when, or
/// where, its chunk runs; it says what `Route/solve` of a `NAServer` says of the same request.
public enum FindRoutes: NetworkTask {
    /// The published description.
    public static let description = JobKindDescription.task(
        .findRoutes, "Finds routes over stops, with directions.",
        [
            .places(
                "stops", "Two or more stops of each route.", atMost: NetworkTasks.stopLimit,
                [
                    .init(name: "RouteName", type: .text), .init(name: "Sequence", type: .whole),
                    .init(name: "TimeWindowStart", type: .number),
                    .init(name: "TimeWindowEnd", type: .number),
                    .init(name: "LocationType", type: .whole),
                ]),
            .units("measurement_units", "The unit of a cost that routes have besides the usual."),
            .region,
            .flag(
                "reorder_stops_to_find_optimal_routes",
                "Whether the best order of the stops is looked for."),
            .choice(
                "preserve_terminal_stops", "Which stops stay in their place.", "Preserve First",
                [
                    "Preserve First", "Preserve Last", "Preserve First and Last",
                    "Preserve None",
                ]),
            .flag("return_to_start", "Whether each route ends where it began."),
            .flag(
                "use_time_windows",
                "Whether TimeWindowStart and TimeWindowEnd are regarded; needs time_of_day."),
            .timeOfDay, .timeZone, .uTurns,
        ] + TaskInput.barriers + [
            .hierarchy, .restrictions, .attributes, .routeShape, .routeTolerance,
            .flag("populate_route_edges", "Changes nothing: Output_Route_Edges is empty."),
        ] + TaskInput.directions(true) + [
            .travelMode, .impedance,
            .choice(
                "time_zone_for_time_windows", "The clock of time windows.",
                "Geographically Local", ["Geographically Local", "UTC"]),
        ] + TaskInput.saved + [.routeData] + TaskInput.last,
        results: [
            .succeeded, .features("Output_Routes", "Polyline", "The routes."),
            .features("Output_Route_Edges", "Polyline", "Always empty."), .directions,
            .features("Output_Stops", "Point", "The stops with their arrivals."), .layer,
            .routeData, .resultFile, .layerPackage,
        ] + JobKindDescription.Result.directionSets + [.usage])

    static func read(_ form: TaskForm, _ run: TaskRun) throws(Failure) {
        var solve = try RouteSolve(run.network, form, at: run.position)
        for index in solve.groups.indices { _ = try solve.request(index) }
    }

    static func solve(_ form: TaskForm, _ run: TaskRun) throws(Failure) -> TaskProduct {
        var solve = try RouteSolve(run.network, form, at: run.position)
        var router: JobRouter?
        for index in solve.groups.indices {
            try run.step(Double(index) / Double(solve.groups.count))
            guard let request = try solve.request(index) else { continue }
            // One for all routes, whose terms are the same.
            if router == nil { router = try run.router(request.terms) }
            guard let router else { continue }
            solve.take(try router.route(request), for: index)
        }
        var results = try solve.results()
        name(&results.stops, by: solve, results.solved)
        let stops = form.given("stops")
        var product = TaskProduct(results.messages)
        product.add("Output_Routes", TaskTable(results.routes, TaskColumns.routes(solve.costs)))
        product.add(
            "Output_Stops",
            TaskTable(results.stops, TaskColumns.stops(solve.costs)) { number in
                stops.indices.contains(number - 1) ? stops[number - 1].properties : []
            })
        if let writer = solve.writer { product.add(writer, results.solved) }
        return product
    }
}

extension FindRoutes {
    /// Gives stops without a `RouteName` that of their route.
    private static func name(
        _ stops: inout NetworkFeatureSet, by solve: RouteSolve, _ routes: [SolvedRoute]
    ) {
        let found = solve.groups.filter { $0.answer?.routes.isEmpty == false }
        guard let place = found.firstIndex(where: { $0.name == nil }) else { return }
        for row in stops.rows.indices {
            for attribute in stops.rows[row].attributes.indices
            where stops.rows[row].attributes[attribute] == ("RouteName", .null) {
                stops.rows[row].attributes[attribute].value = .text(routes[place].name)
            }
        }
    }
}

extension TaskProduct {
    /// Adds the directions of routes.
    mutating func add(_ writer: NetworkDirections, _ routes: [SolvedRoute]) {
        add("Output_Directions", TaskTable(writer.table(of: routes), TaskColumns.directions))
        let sets = writer.sets(of: routes)
        add("Output_Direction_Points", TaskTable(sets.points, TaskColumns.directionPoints))
        add("Output_Direction_Lines", TaskTable(sets.lines, TaskColumns.directionLines))
    }
}

/// The columns of the results, in Esri's order.
enum TaskColumns {
    typealias Column = TaskTable.Column

    static let id = Column("ObjectID", "OID")

    static func totals(_ costs: [NetworkCost]) -> [Column] {
        costs.map { Column("Total_" + $0.name, "Double") }
    }

    private static let times = ["StartTime", "EndTime", "StartTimeUTC", "EndTimeUTC"].map {
        Column($0, "Date")
    }

    static func routes(_ costs: [NetworkCost]) -> [Column] {
        [id, Column("Name", "String"), Column("StopCount", "Integer")] + totals(costs) + times
            + [
                Column("TotalWait_Minutes", "Double"), Column("TotalViolation_Minutes", "Double"),
                Column("FirstStopOID", "Integer", from: "FirstStopID"),
                Column("LastStopOID", "Integer", from: "LastStopID"),
                Column("Shape_Length", "Double"),
            ]
    }

    /// Where a place was found.
    static let located = [
        Column("CurbApproach", "Integer"), Column("Status", "Integer"),
        Column("SourceID", "Integer"), Column("SourceOID", "Integer"),
        Column("PosAlong", "Double"), Column("SideOfEdge", "Integer"), Column("SnapX", "Double"),
        Column("SnapY", "Double"), Column("DistanceToNetworkInMeters", "Double"),
    ]

    static func stops(_ costs: [NetworkCost]) -> [Column] {
        [
            id, Column("Name", "String"), Column("RouteName", "String"),
            Column("Sequence", "Integer"),
            Column("StopOID", "Integer", from: "ObjectID"),
        ]
            + ["ArriveTime", "DepartTime", "ArriveTimeUTC", "DepartTimeUTC"].map {
                Column($0, "Date")
            } + costs.map { Column("Cumul_" + $0.name, "Double") }
            + [Column("Wait_Minutes", "Double"), Column("Violation_Minutes", "Double")] + located
    }

    static func places(_ id: String) -> [Column] {
        [
            self.id, Column("Name", "String"), Column(id, "Integer", from: "ObjectID"),
        ] + located
    }

    static let directions = [
        id, Column("RouteName", "String"), Column("ArriveTime", "Date"),
        Column("Type", "SmallInteger"), Column("SubItemType", "SmallInteger"),
        Column("Text", "String"), Column("ElapsedTime", "Double"),
        Column("DriveDistance", "Double"),
    ]
    static let directionPoints = [
        id, Column("RouteID", "Integer"), Column("Sequence", "Integer"),
        Column("DirectionPointType", "String"), Column("DisplayText", "String"),
        Column("ArrivalTime", "Date"), Column("Name", "String"),
    ]
    static let directionLines = [
        id, Column("RouteID", "Integer"), Column("DirectionPointID", "Integer"),
        Column("Meters", "Double"), Column("Minutes", "Double"),
    ]

    static func facilityRoutes(_ costs: [NetworkCost]) -> [Column] {
        [
            id, Column("Name", "String"), Column("FacilityRank", "Integer"),
            Column("FacilityOID", "Integer", from: "FacilityID"),
            Column("IncidentOID", "Integer", from: "IncidentID"),
            Column("FacilityID", "Integer"), Column("IncidentID", "Integer"),
            Column("FacilityCurbApproach", "Integer"), Column("IncidentCurbApproach", "Integer"),
        ] + totals(costs) + times + [Column("Shape_Length", "Double")]
    }

    static let areas = [
        id, Column("Name", "String"), Column("FacilityID", "Integer"),
        Column("FacilityOID", "Integer", from: "FacilityID"), Column("FromBreak", "Double"),
        Column("ToBreak", "Double"), Column("Shape_Length", "Double"),
        Column("Shape_Area", "Double"),
    ]

    static func areaLines(_ impedance: String) -> [Column] {
        [
            id, Column("FacilityID", "Integer"),
            Column("FacilityOID", "Integer", from: "FacilityID"),
            Column("FromCumul", "Double", from: "FromCumul_" + impedance),
            Column("ToCumul", "Double", from: "ToCumul_" + impedance),
            Column("Shape_Length", "Double"),
        ]
    }

    static func matrix(_ costs: [NetworkCost]) -> [Column] {
        [
            id, Column("OriginOID", "Integer", from: "OriginID"),
            Column("DestinationOID", "Integer", from: "DestinationID"),
            Column("DestinationRank", "Integer"), Column("Total_Time", "Double"),
            Column("Total_Distance", "Double"),
        ] + totals(costs.filter { !["Time", "Distance"].contains($0.name) }) + [
            Column("OriginID", "Integer"), Column("DestinationID", "Integer"),
            Column("Name", "String"), Column("Shape_Length", "Double"),
        ]
    }
}
