// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import NetworkSolve

extension JobKind {
    /// Finds the nearest facilities of incidents, as Esri's task of that name does.
    public static let findClosestFacilities = JobKind(rawValue: "FindClosestFacilities")
}

/// The job kind `FindClosestFacilities`: the routes between incidents and their nearest facilities.
///
/// It says what `ClosestFacility/solveClosestFacility` of a `NAServer` says of the same request, as
/// of the job's submission.
public enum FindClosestFacilities: NetworkTask {
    /// The published description.
    public static let description = JobKindDescription.task(
        .findClosestFacilities, "Finds the nearest facilities of incidents, with their routes.",
        [
            .places("incidents", "Where routes begin or end.", atMost: 1_000),
            .places("facilities", "Of which the nearest are found.", atMost: 1_000),
            .units("measurement_units", "The unit of cutoff, and of a cost of the routes."),
            .region,
            .parameter(
                .whole("number_of_facilities_to_find", "Facilities of each incident.", "1")),
            .parameter(.number("cutoff", "The most that a route may cost; else any.")),
            .choice(
                "travel_direction", "Where routes begin.", "Incident to Facility",
                ["Incident to Facility", "Facility to Incident"]),
            .hierarchy, .timeOfDay,
            .choice(
                "time_of_day_usage", "End Time is refused.", "Start Time",
                ["Start Time", "End Time", "Not Specified"]),
            .uTurns,
        ] + TaskInput.barriers + [
            .restrictions, .attributes, .routeShape, .routeTolerance,
        ] + TaskInput.directions(false) + [.timeZone, .travelMode, .impedance]
            + TaskInput.saved + [.routeData] + TaskInput.last,
        results: [
            .features("Output_Routes", "Polyline", "The routes."), .directions, .succeeded,
            .features(
                "Output_Closest_Facilities", "Point", "The facilities that routes lead to."),
            .layer, .routeData, .resultFile,
            .features("Output_Incidents", "Point", "All incidents."),
            .features("Output_Facilities", "Point", "All facilities."), .layerPackage,
        ] + JobKindDescription.Result.directionSets + [.usage])

    static func read(_ form: TaskForm, _ run: TaskRun) throws(Failure) {
        _ = try FacilitySolve(run.network, form, at: run.position)
    }

    static func solve(_ form: TaskForm, _ run: TaskRun) throws(Failure) -> TaskProduct {
        var solve = try FacilitySolve(run.network, form, at: run.position)
        if let request = solve.table {
            let router = try run.router(request.terms)
            try solve.take(try router.table(request, run.isCancelled))
            for index in solve.pairs.indices {
                try run.step(Double(index) / Double(solve.pairs.count))
                try solve.take(try router.route(solve.route(index)), for: index)
            }
        }
        let results = try solve.results()
        var product = TaskProduct(results.messages)
        product.add(
            "Output_Routes",
            TaskTable(results.routes, TaskColumns.facilityRoutes(solve.costs)))
        var closest = results.facilities
        closest.rows = results.closest.map { closest.rows[$0] }
        for (name, set, list, id) in [
            ("Output_Closest_Facilities", closest, "facilities", "FacilityOID"),
            ("Output_Incidents", results.incidents, "incidents", "IncidentOID"),
            ("Output_Facilities", results.facilities, "facilities", "FacilityOID"),
        ] {
            product.add(name, .places(set, form.given(list), id))
        }
        if let writer = solve.writer { product.add(writer, results.solved) }
        return product
    }
}

extension TaskTable {
    /// Places of a request with the attributes that they came with.
    static func places(
        _ set: NetworkFeatureSet, _ given: [TaskFeatures.Feature], _ id: String
    ) -> TaskTable {
        TaskTable(set, TaskColumns.places(id)) { number in
            given.indices.contains(number - 1) ? given[number - 1].properties : []
        }
    }
}
