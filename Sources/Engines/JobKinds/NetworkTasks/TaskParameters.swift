// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import NetworkSolve

// The inputs of the tasks under Esri's names, with Esri's defaults and choices.
extension JobKindDescription {
    /// Describes a task.
    ///
    /// - Parameter inputs: Its inputs in the order in which they are published.
    static func task(
        _ kind: JobKind, _ summary: String, _ inputs: [TaskInput], results: [Result]
    ) -> JobKindDescription {
        let parameters = inputs.compactMap { input in
            if case .parameter(let parameter) = input { parameter } else { nil }
        }
        let features = inputs.compactMap { input in
            if case .features(let features) = input { features } else { nil }
        }
        return JobKindDescription(
            kind: kind, summary: summary,
            input: "GeoJSON, each feature with a role: "
                + features.map(\.name).joined(separator: ", "),
            output: "JSON: " + results.map(\.name).joined(separator: ", "),
            outputMediaType: MediaType.json.rawValue,
            parameters: [
                .text("network", "The road network that is asked.", isRequired: true)
            ] + parameters + [
                .text(
                    NetworkTasks.outputReference,
                    "The reference of the results' geometries; else 4326.")
            ],
            reads: [.network(parameter: "network", moment: "")], inputNamesBlobs: false,
            features: features, results: results, inputOrder: ["network"] + inputs.map(\.name))
    }
}

/// An input of a task.
enum TaskInput {
    case features(JobKindDescription.FeatureInput)
    case parameter(JobKindDescription.Parameter)

    var name: String {
        switch self {
        case .features(let features): features.name
        case .parameter(let parameter): parameter.name
        }
    }

    // MARK: Features

    private static let place: [JobKindDescription.Field] = [
        .init(name: "Name", type: .text), .init(name: "AdditionalTime", type: .number),
        .init(name: "CurbApproach", type: .whole), .init(name: "Bearing", type: .number),
        .init(name: "BearingTol", type: .number),
    ]

    static func places(
        _ name: String, _ summary: String, atMost most: Int,
        _ own: [JobKindDescription.Field] = []
    ) -> TaskInput {
        .features(
            .init(
                name: name, summary: summary, geometryType: "Point", fields: own + place,
                role: name, mostFeatures: most))
    }

    static let barriers: [TaskInput] = [
        barriers("point_barriers", "Point", "Points that close a road or add AdditionalTime."),
        barriers("line_barriers", "Polyline", "Lines that close the roads that they cross."),
        barriers(
            "polygon_barriers", "Polygon",
            "Areas that close the roads in them or scale their times by ScaledTimeFactor."),
    ]

    private static func barriers(
        _ name: String, _ geometryType: String, _ summary: String
    ) -> TaskInput {
        .features(
            .init(
                name: name, summary: summary, geometryType: geometryType,
                fields: [
                    .init(name: "Name", type: .text), .init(name: "BarrierType", type: .whole),
                    .init(name: "AdditionalTime", type: .number),
                    .init(name: "ScaledTimeFactor", type: .number),
                ], role: name, mostFeatures: 1_000, isRequired: false))
    }

    // MARK: Parameters

    static func choice(
        _ name: String, _ summary: String, _ value: String, _ choices: [String]
    ) -> TaskInput { .parameter(.text(name, summary, value, of: choices)) }

    static func flag(_ name: String, _ summary: String, _ value: Bool = false) -> TaskInput {
        .parameter(.flag(name, summary, value))
    }

    static func text(_ name: String, _ summary: String, _ value: String? = nil) -> TaskInput {
        .parameter(.text(name, summary, value))
    }

    static func other(
        _ name: String, _ type: JobKindDescription.ParameterType, _ summary: String
    ) -> TaskInput { .parameter(.other(name, type, summary)) }

    static func units(_ name: String, _ summary: String) -> TaskInput {
        choice(name, summary, "Minutes", TaskUnit.all.map(\.name))
    }

    static let region = text("analysis_region", "Changes nothing: the network is stated.")
    static let uTurns = choice(
        "uturn_at_junctions", "Where a route may turn back, unless the travel mode says so.",
        "Allowed Only at Intersections and Dead Ends",
        [
            "Allowed", "Not Allowed", "Allowed Only at Intersections and Dead Ends",
            "Allowed Only at Dead Ends",
        ])
    static let hierarchy = flag("use_hierarchy", "Changes nothing: answers are exact.")
    static let restrictions = other(
        "restrictions", .list, "Restrictions of the travel mode Custom.")
    static let attributes = other(
        "attribute_parameter_values", .rows, "Rows are refused: attributes have no values.")
    static let timeOfDay = other(
        "time_of_day", .date, "When it begins; decides which changes of roads hold.")
    static let timeZone = choice(
        "time_zone_for_time_of_day", "The clock of time_of_day.", "Geographically Local",
        ["Geographically Local", "UTC"])
    static let travelMode = text(
        "travel_mode", "A travel mode's object in JSON, id or name; Custom for the parameters.",
        "Custom")
    static let impedance = text(
        "impedance", "The cost that the travel mode Custom minimises.", "Drive Time")
    static let routeShape = choice(
        "route_shape", "The form of routes.", "True Shape",
        ["True Shape", "True Shape with Measures", "Straight Line", "None"])
    static let routeTolerance = other(
        "route_line_simplification_tolerance", .distance,
        "How far generalised routes may be off.")

    static func directions(_ value: Bool) -> [TaskInput] {
        [
            flag("populate_directions", "Whether there are directions.", value),
            text("directions_language", "The language of directions.", "en"),
            choice(
                "directions_distance_units", "The unit of lengths in directions.", "Miles",
                TaskUnit.lengths),
            choice(
                "directions_style_name", "Changes nothing.", "NA Desktop",
                ["NA Desktop", "NA Navigation", "NA Campus"]),
        ]
    }

    static let saved: [TaskInput] = [
        flag("save_output_network_analysis_layer", "True is refused: there are no such files."),
        text("overrides", "Settings are refused."),
    ]
    static let routeData = flag("save_route_data", "True is refused: there are no such files.")
    /// What the tasks end with.
    static let last: [TaskInput] = [
        text("time_impedance", "Times are those of the travel mode.", "TravelTime"),
        text("distance_impedance", "Lengths are those of the roads.", "Kilometers"),
        choice(
            "output_format", "Others than Feature Set are refused.", "Feature Set",
            ["Feature Set", "JSON File", "GeoJSON File"]),
        other("accumulate_attributes", .list, "Further costs of the results, by their names."),
        flag("ignore_network_location_fields", "Places are located by their points alone."),
        flag(
            "ignore_invalid_locations",
            "Whether places without a road near by are left out with a message.", true),
        text("locate_settings", "Its tolerance: how far from a road a place may be, in JSON."),
    ]
}

extension JobKindDescription.Result {
    static func features(_ name: String, _ type: String, _ summary: String) -> Self {
        Self(name: name, summary: summary, form: .features(type))
    }

    static func file(_ name: String) -> Self {
        Self(name: name, summary: "There is no such file: null.", form: .file)
    }

    static let succeeded = Self(
        name: "Solve_Succeeded", summary: "Whether there is a result.", form: .flag)
    static let directions = features("Output_Directions", "Polyline", "The directions.")
    static let layer = file("Output_Network_Analysis_Layer")
    static let routeData = file("Output_Route_Data")
    static let resultFile = file("Output_Result_File")
    static let layerPackage = file("Output_Network_Analysis_Layer_Package")
    static let directionSets = [
        features("Output_Direction_Points", "Point", "Where the maneuvers are."),
        features("Output_Direction_Lines", "Polyline", "The way from one to the next."),
    ]
    static let usage = Self(
        name: "Usage_Cost", summary: "Null: the site has no credits.", form: .text)
}
