// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import NetworkSolve

extension JobKind {
    /// Finds what is reached from facilities, as Esri's task of that name does.
    public static let generateServiceAreas = JobKind(rawValue: "GenerateServiceAreas")
}

/// The job kind `GenerateServiceAreas`: the areas that are reached from facilities within breaks.
///
/// It says what `ServiceArea/solveServiceArea` of a `NAServer` says of the same request, as of the
/// job's submission.
public enum GenerateServiceAreas: NetworkTask {
    /// The published description.
    public static let description = JobKindDescription.task(
        .generateServiceAreas, "Finds what is reached from facilities.",
        [
            .places("facilities", "Around which areas are.", atMost: 1_000),
            .text("break_values", "Costs with blanks or commas.", "5 10 15"),
            .units("break_units", "The unit of the breaks."), .region,
            .choice(
                "travel_direction", "Where routes begin.", "Away From Facility",
                ["Away From Facility", "Towards Facility"]),
            .timeOfDay, .hierarchy, .uTurns,
            .choice(
                "polygons_for_multiple_facilities", "Others than Overlapping are refused.",
                "Overlapping", ["Overlapping", "Not Overlapping", "Merge by Break Value"]),
            .choice(
                "polygon_overlap_type", "Whether areas lack those of smaller breaks.", "Rings",
                ["Rings", "Disks"]),
            .flag("detailed_polygons", "Changes nothing: all areas are detailed."),
            .other(
                "polygon_trim_distance", .distance,
                "How far from a reached road the edge of an area is."),
            .other(
                "polygon_simplification_tolerance", .distance,
                "How far generalised lines may be off."),
        ] + TaskInput.barriers + [
            .restrictions, .attributes, .timeZone, .travelMode, .impedance,
        ] + TaskInput.saved + [
            .text("polygon_detail", "Changes nothing: all areas are detailed."),
            .choice(
                "output_type", "Which results have features.", "Polygons",
                ["Polygons", "Polygons and Lines", "Lines"]),
        ] + TaskInput.last + [
            .other(
                "exclude_sources_from_polygon_generation", .list,
                "Changes nothing: a network has one source.")
        ],
        results: [
            .features("Service_Areas", "Polygon", "The areas of each facility, the largest first."),
            .succeeded,
            .layer, .features("Output_Facilities", "Point", "All facilities."),
            .features("Output_Service_Area_Lines", "Polyline", "The roads that are reached."),
            .resultFile, .layerPackage, .usage,
        ])

    static func read(_ form: TaskForm, _ run: TaskRun) throws(Failure) {
        _ = try AreaSolve(run.network, form, at: run.position)
    }

    static func solve(_ form: TaskForm, _ run: TaskRun) throws(Failure) -> TaskProduct {
        var solve = try AreaSolve(run.network, form, at: run.position)
        try run.step(0)
        if let request = solve.request {
            solve.answer = try run.router(request.terms).reach(request, run.isCancelled)
        }
        let results = try solve.results()
        let facilities = form.given("facilities")
        var product = TaskProduct(results.messages)
        product.add(
            "Service_Areas",
            TaskTable(results.areas, TaskColumns.areas) { number in
                facilities.indices.contains(number - 1)
                    ? facilities[number - 1].properties.filter {
                        $0.name.lowercased() != "objectid"
                    } : []
            })
        product.add(
            "Output_Facilities", .places(results.facilities, facilities, "FacilityOID"))
        product.add(
            "Output_Service_Area_Lines",
            TaskTable(results.lines, TaskColumns.areaLines(solve.impedance.name)))
        return product
    }
}
