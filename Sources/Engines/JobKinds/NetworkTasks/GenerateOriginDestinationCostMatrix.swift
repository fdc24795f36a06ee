// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import NetworkSolve

extension JobKind {
    /// Measures the ways between places, as Esri's task of that name does.
    public static let generateOriginDestinationCostMatrix = JobKind(
        rawValue: "GenerateOriginDestinationCostMatrix")
}

/// The job kind `GenerateOriginDestinationCostMatrix`: times and lengths from origins to
/// destinations.
///
/// It says what `ODCostMatrix/solveODCostMatrix` of a `NAServer` says of the same request, as of
/// the job's submission.
public enum GenerateOriginDestinationCostMatrix: NetworkTask {
    /// The published description.
    public static let description = JobKindDescription.task(
        .generateOriginDestinationCostMatrix, "Measures the ways from origins to destinations.",
        [
            .places("origins", "Where ways begin.", atMost: 1_000),
            .places("destinations", "Where they end.", atMost: 1_000), .travelMode,
            .choice("time_units", "The unit of Total_Time.", "Minutes", TaskUnit.times),
            .choice(
                "distance_units", "The unit of Total_Distance.", "Kilometers", TaskUnit.lengths),
            .region,
            .parameter(
                .whole(
                    "number_of_destinations_to_find", "The nearest of each origin; else all.")),
            .parameter(.number("cutoff", "The most that a way may cost; else any.")),
            .timeOfDay, .timeZone,
        ] + TaskInput.barriers + [
            .uTurns, .hierarchy, .restrictions, .attributes, .impedance,
            .choice(
                "origin_destination_line_shape", "The form of the lines.", "None",
                ["None", "Straight Line"]),
        ] + TaskInput.saved + TaskInput.last,
        results: [
            .succeeded,
            .features("Output_Origin_Destination_Lines", "Polyline", "A line for each pair."),
            .features("Output_Origins", "Point", "All origins."),
            .features("Output_Destinations", "Point", "All destinations."), .layer, .resultFile,
            .layerPackage, .usage,
        ])

    static func read(_ form: TaskForm, _ run: TaskRun) throws(Failure) {
        _ = try MatrixSolve(run.network, form, at: run.position)
    }

    static func solve(_ form: TaskForm, _ run: TaskRun) throws(Failure) -> TaskProduct {
        var solve = try MatrixSolve(run.network, form, at: run.position)
        try run.step(0)
        if let request = solve.request {
            solve.answer = try run.router(request.terms).table(request, run.isCancelled)
        }
        let results = try solve.results()
        var product = TaskProduct(results.messages)
        product.add(
            "Output_Origin_Destination_Lines",
            TaskTable(results.lines, TaskColumns.matrix(solve.costs)))
        product.add(
            "Output_Origins", .places(results.origins, form.given("origins"), "OriginOID"))
        product.add(
            "Output_Destinations",
            .places(results.destinations, form.given("destinations"), "DestinationOID"))
        return product
    }
}
