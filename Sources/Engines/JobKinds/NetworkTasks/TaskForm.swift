// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import NetworkSolve
internal import Platform

/// The parameters of a task of Esri's asynchronous analyses under the names that a `NAServer` has
/// for them.
struct TaskForm: SolveForm {
    private var values: [String: String] = [:]
    private(set) var ignored: [String] = []
    let departure: Timestamp?
    let stopLimit: Int? = NetworkTasks.stopLimit
    private let texts: ParameterTexts
    private let lists: TaskFeatures
    private let network: NetworkPublished
    /// Those that reports have, by Esri's words for units.
    private var reported: [NetworkCost] = []
    /// The unit of times that features state.
    private let timeUnit: Double
    private var unit: (parameter: String, cost: NetworkCost)?

    /// Reads what all tasks have in common, and what each has of its own.
    ///
    /// Throws `Failure` (`invalidParameter`) with the parameter.
    init(
        _ texts: ParameterTexts, _ features: TaskFeatures, on network: NetworkPublished,
        departure: Timestamp
    ) throws(Failure) {
        self.texts = texts
        self.network = network
        self.departure = departure
        lists = features
        timeUnit =
            ["measurement_units", "break_units", "time_units"].compactMap { texts[$0] }
            .compactMap { TaskUnit.named($0) }.first { $0.kind == .time }?.unit ?? 60
        try readUnits()
        try readTravelMode()
        try readTimes()
        try readSettings()
        try readOwn()
        try noteUnused()
    }

    /// Of features the parameter's own name stands for them.
    subscript(name: String) -> String? {
        values[name.lowercased()] ?? (given(name).isEmpty ? nil : name)
    }

    private mutating func set(_ name: String, _ value: String?) {
        if let value { values[name.lowercased()] = value }
    }

    private func isTrue(_ name: String) throws(Failure) -> Bool { try texts.flag(name) }

    // MARK: Units

    private func unit(_ name: String) throws(Failure) -> NetworkCost? {
        guard let text = texts[name] else { return nil }
        guard let unit = TaskUnit.named(text) else {
            throw ParameterTexts.fault(
                name, "one of \(TaskUnit.all.map(\.name).joined(separator: ", "))")
        }
        return unit
    }

    private mutating func readUnits() throws(Failure) {
        let usual = ["Minutes", "Miles", "Kilometers"].compactMap { TaskUnit.named($0) }
        for name in ["measurement_units", "break_units"] {
            guard let cost = try unit(name) else { continue }
            unit = (name, cost)
            reported = usual.contains(cost) ? usual : usual + [cost]
        }
        if let time = try unit("time_units"), let distance = try unit("distance_units") {
            guard time.kind == .time, distance.kind == .distance else {
                throw Failure(
                    .invalidParameter,
                    "parameters 'time_units' and 'distance_units': expected a unit of time and "
                        + "one of length")
            }
            reported = [time, distance]
        }
    }

    func unit(of mode: NetworkTravelMode) -> (parameter: String, cost: NetworkCost)? {
        if let unit { return unit }
        return reported.first { $0.kind == mode.impedance.kind }.map {
            ($0.kind == .time ? "time_units" : "distance_units", $0)
        }
    }

    func costs(of mode: NetworkTravelMode) throws(Failure) -> [NetworkCost]? {
        var costs = reported
        if texts["time_units"] != nil {
            // The first is what destinations are ranked by.
            costs = costs.map { cost in
                var named = cost
                named.name = cost.kind == .time ? "Time" : "Distance"
                return named
            }
            if costs.first?.kind != mode.impedance.kind { costs.reverse() }
        }
        for name in try texts.list("accumulate_attributes") {
            guard var cost = mode.costs.first(where: { $0.name.lowercased() == name.lowercased() })
            else {
                throw ParameterTexts.fault(
                    "accumulate_attributes", mode.costs.map(\.name).joined(separator: ", "))
            }
            cost.name += "_" + cost.unitName.dropFirst("esriNAU".utf8.count)
            if !costs.contains(cost) { costs.append(cost) }
        }
        return costs
    }

    // MARK: Travel mode

    private mutating func readTravelMode() throws(Failure) {
        let stated = texts["travel_mode"].flatMap { $0.lowercased() == "custom" ? nil : $0 }
        if let stated {
            set("travelMode", stated)
            return
        }
        let mode = try customMode()
        set("travelMode", mode.id)
        set("restrictionAttributeNames", try texts.list("restrictions").joined(separator: ","))
        if let word = texts["uturn_at_junctions"]?.lowercased() {
            let words = [
                "allowed": "esriNFSBAllowBacktrack", "not allowed": "esriNFSBNoBacktrack",
                "allowed only at intersections and dead ends":
                    "esriNFSBAtDeadEndsAndIntersections",
                "allowed only at dead ends": "esriNFSBAtDeadEndsOnly",
            ]
            set("restrictUTurns", words[word])
        }
        if let rows = texts["attribute_parameter_values"],
            let tree = try? FormText.json(rows), !(tree["features"]?.elements ?? []).isEmpty
        {
            throw ParameterTexts.fault(
                "attribute_parameter_values", "no rows: attributes have no values")
        }
    }

    /// The travel mode that an impedance and the unit of measurement choose.
    private func customMode() throws(Failure) -> NetworkTravelMode {
        let modes = NetworkTravelMode.all(of: network)
        guard let usual = modes.first else {
            throw Failure(.corrupt, "network '\(network.name)' publishes no travel mode")
        }
        let text = texts["impedance"] ?? "Drive Time"
        let word = text.lowercased()
        if let own = modes.first(where: { $0.impedance.name.lowercased() == word }),
            unit == nil || unit?.cost.kind == own.impedance.kind
        {
            return own
        }
        let kinds: [(words: [String], type: String?, kind: NetworkMode.Cost)] = [
            (["drive time", "travel time", "traveltime", "minutes"], "AUTOMOBILE", .time),
            (["truck time", "trucktraveltime", "truckminutes"], "TRUCK", .time),
            (["walk time", "walktime"], "WALK", .time),
            (["travel distance", "drive distance", "miles", "kilometers"], nil, .distance),
        ]
        guard let wanted = kinds.first(where: { $0.words.contains(word) }) else {
            throw ParameterTexts.fault(
                "impedance",
                (Set(modes.map(\.impedance.name)).sorted() + ["Drive Time", "Travel Distance"])
                    .joined(separator: ", "))
        }
        // The unit decides what is minimised, as Esri's tasks have it.
        let kind = unit?.cost.kind ?? wanted.kind
        let isUsual = wanted.type == nil || wanted.type == "AUTOMOBILE"
        let type = modes.contains { $0.type == wanted.type } ? wanted.type : nil
        guard type != nil || isUsual else {
            throw ParameterTexts.fault(
                "impedance",
                "that of one of the network's travel modes, which are "
                    + modes.map { "'\($0.travelMode.name)'" }.joined(separator: ", "))
        }
        let found = modes.first {
            $0.impedance.kind == kind && (type == nil || $0.type == type)
        }
        guard let found else {
            throw ParameterTexts.fault(
                "impedance", "\(usual.impedance.name), which is all that the network minimises")
        }
        return found
    }

    // MARK: Times

    private mutating func readTimes() throws(Failure) {
        if let text = texts["time_of_day"] {
            let time: Double
            if let number = FormText.number(text) {
                time = number
            } else if case .time(let moment)? = AsOf(parsing: text) {
                time = Double(moment.microseconds / 1_000)
                set("startTimeIsUTC", "true")
                set("timeOfDayIsUTC", "true")
            } else if text.lowercased() == "now", let departure {
                time = Double(departure.microseconds / 1_000)
                set("startTimeIsUTC", "true")
                set("timeOfDayIsUTC", "true")
            } else {
                throw ParameterTexts.fault(
                    "time_of_day",
                    "milliseconds since 1970, a time like 2026-11-21T09:30:00Z, or now")
            }
            guard abs(time) <= 1e14 else {
                throw ParameterTexts.fault("time_of_day", "milliseconds since 1970")
            }
            set("startTime", "\(Int64(time))")
            set("timeOfDay", "\(Int64(time))")
        }
        if texts["time_zone_for_time_of_day"]?.lowercased() == "utc" {
            set("startTimeIsUTC", "true")
            set("timeOfDayIsUTC", "true")
        }
        if texts["time_zone_for_time_windows"]?.lowercased() == "utc" {
            set("timeWindowsAreUTC", "true")
        }
        if texts["time_of_day_usage"]?.lowercased() == "end time" {
            throw ParameterTexts.fault("time_of_day_usage", "Start Time")
        }
    }

    // MARK: The rest

    private mutating func readSettings() throws(Failure) {
        set("ignoreInvalidLocations", texts["ignore_invalid_locations"])
        set("locateSettings", texts["locate_settings"])
        let shapes = [
            "true shape": "esriNAOutputLineTrueShape",
            "true shape with measures": "esriNAOutputLineTrueShapeWithMeasure",
            "straight line": "esriNAOutputLineStraight", "none": "esriNAOutputLineNone",
        ]
        set("outputLines", texts["route_shape"].flatMap { shapes[$0.lowercased()] })
        for name in [
            "route_line_simplification_tolerance", "polygon_simplification_tolerance",
        ] {
            guard let (distance, unit) = try texts.distance(name) else { continue }
            set("outputGeometryPrecision", distance)
            set("outputGeometryPrecisionUnits", unit)
        }
        set("returnDirections", texts["populate_directions"])
        set("directionsLanguage", texts["directions_language"])
        set("directionsLengthUnits", texts["directions_distance_units"].map { "esriNAU" + $0 })
    }

    private mutating func readOwn() throws(Failure) {
        // Routes.
        set("useTimeWindows", texts["use_time_windows"])
        if texts["reorder_stops_to_find_optimal_routes"] != nil {
            let keeps = texts["preserve_terminal_stops"]?.lowercased() ?? ""
            let returns = try isTrue("return_to_start")
            set("findBestSequence", texts["reorder_stops_to_find_optimal_routes"])
            set(
                "preserveFirstStop",
                "\(returns || ["preserve first", "preserve first and last"].contains(keeps))")
            set(
                "preserveLastStop",
                "\(returns || ["preserve last", "preserve first and last"].contains(keeps))")
        }
        // Facilities and tables.
        set("defaultCutoff", texts["cutoff"])
        set("defaultTargetFacilityCount", texts["number_of_facilities_to_find"])
        set("defaultTargetDestinationCount", texts["number_of_destinations_to_find"])
        switch texts["travel_direction"]?.lowercased() {
        case "incident to facility", "towards facility":
            set("travelDirection", TravelDirection.to.rawValue)
        case "facility to incident", "away from facility":
            set("travelDirection", TravelDirection.from.rawValue)
        default: break
        }
        set("returnCFRoutes", "true")
        let lines = texts["origin_destination_line_shape"]?.lowercased()
        set(
            "outputType",
            lines == "straight line"
                ? "esriNAODOutputStraightLines" : lines.map { _ in "esriNAODOutputNoLines" })
        // Areas.
        set("defaultBreaks", texts["break_values"])
        if let (distance, unit) = try texts.distance("polygon_trim_distance") {
            set("trimPolygonDistance", distance)
            set("trimPolygonDistanceUnits", unit)
        }
        if let word = texts["polygons_for_multiple_facilities"], word.lowercased() != "overlapping"
        {
            throw ParameterTexts.fault("polygons_for_multiple_facilities", "Overlapping")
        }
        if let word = texts["polygon_overlap_type"] {
            set("splitPolygonsAtBreaks", "\(word.lowercased() == "rings")")
        }
        switch texts["output_type"]?.lowercased() {
        case "polygons and lines": set("outputLines", "esriNAOutputLineTrueShape")
        case "lines":
            set("outputLines", "esriNAOutputLineTrueShape")
            set("outputPolygons", "esriNAOutputPolygonNone")
        default: break
        }
    }

    /// Refuses what cannot be done, and notes what changes nothing.
    private mutating func noteUnused() throws(Failure) {
        for name in ["save_output_network_analysis_layer", "save_route_data"]
        where try isTrue(name) {
            throw ParameterTexts.fault(name, "false: there are no such files")
        }
        if let format = texts["output_format"], format.lowercased() != "feature set" {
            throw ParameterTexts.fault("output_format", "Feature Set")
        }
        if let text = texts["overrides"], text.filter({ !$0.isWhitespace }) != "{}" {
            throw ParameterTexts.fault("overrides", "none: the search has no settings")
        }
        for name in ["use_hierarchy", "populate_route_edges"] where try isTrue(name) {
            ignored.append(name)
        }
        for name in ["analysis_region", "polygon_detail"] where texts[name] != nil {
            ignored.append(name)
        }
        if try texts.list("exclude_sources_from_polygon_generation").isEmpty == false {
            ignored.append("exclude_sources_from_polygon_generation")
        }
        if let style = texts["directions_style_name"], style.lowercased() != "na desktop" {
            ignored.append("directions_style_name")
        }
        let costs = Set(
            NetworkTravelMode.all(of: network).flatMap(\.costs).map { $0.name.lowercased() })
        for name in ["time_impedance", "distance_impedance"] {
            let usual = ["minutes", "miles", "kilometers"]
            guard let text = texts[name]?.lowercased(), !usual.contains(text),
                !costs.contains(text)
            else { continue }
            ignored.append(name)
        }
        if values["travelmode"] == texts["travel_mode"] {
            // A travel mode overrides them.
            for name in ["restrictions", "attribute_parameter_values"] {
                guard let text = texts[name], text != "[]", !text.isEmpty else { continue }
                ignored.append(name)
            }
        }
        let all = lists.lists.values.joined().flatMap { $0.properties.map { $0.name.lowercased() } }
        let unused: Set = [
            "additionaldistance", "additional_distance", "additionalcost", "scaleddistancefactor",
            "sourceoid", "posalong",
        ]
        ignored += Set(all).intersection(unused).sorted().map { $0 + " of features" }
    }

    // MARK: Features

    func reference() throws(Failure) -> SolveReference { .wgs84 }

    private static let inputs = [
        "barriers": "point_barriers", "polylinebarriers": "line_barriers",
        "polygonbarriers": "polygon_barriers",
    ]

    /// The features that a parameter of a `NAServer` has here.
    func given(_ name: String) -> [TaskFeatures.Feature] {
        lists.lists[Self.inputs[name.lowercased()] ?? name] ?? []
    }

    func features(
        _ name: String, _ list: String, atMost limit: Int
    ) throws(Failure) -> [NetworkFeature] {
        var features: [NetworkFeature] = []
        for feature in given(name) {
            var read = feature.network(features.count + 1)
            for word in ["AdditionalTime", "Additional_Time"] {
                if let time = try read.number(word) { read.seconds = time * timeUnit }
            }
            read.factor = try read.number("ScaledTimeFactor")
            features.append(read)
        }
        guard name == "stops", try isTrue("return_to_start") else { return features }
        return try returning(features)
    }

    /// With a copy of the first stop of each route behind its last one.
    private func returning(_ stops: [NetworkFeature]) throws(Failure) -> [NetworkFeature] {
        var (all, names) = (stops, [String?]())
        for stop in stops where !names.contains(stop.text("RouteName")) {
            let name = stop.text("RouteName")
            names.append(name)
            let own = stops.filter { $0.text("RouteName") == name }
            var (first, least, most, isSequence) = (stop, Double.infinity, -Double.infinity, true)
            for other in own {
                guard let place = try other.number("Sequence") else {
                    isSequence = false
                    break
                }
                if place < least { (first, least) = (other, place) }
                most = max(most, place)
            }
            if !isSequence { first = own[0] }
            var last = first
            last.number = all.count + 1
            if isSequence { last.attributes["sequence"] = .real(most + 1) }
            all.append(last)
        }
        return all
    }
}

/// Esri's words for units of measurement.
enum TaskUnit {
    static let all: [NetworkCost] = [
        cost("Seconds", .time, 1), cost("Minutes", .time, 60), cost("Hours", .time, 3_600),
        cost("Days", .time, 86_400), cost("Meters", .distance, 1),
        cost("Kilometers", .distance, 1_000), cost("Feet", .distance, 0.3048),
        cost("Yards", .distance, 0.9144), cost("Miles", .distance, 1_609.344),
        cost("NauticalMiles", .distance, 1_852),
    ]

    private static func cost(
        _ name: String, _ kind: NetworkMode.Cost, _ unit: Double
    ) -> NetworkCost { NetworkCost(name: name, kind: kind, unit: unit, unitName: "esriNAU" + name) }

    static let times = all.filter { $0.kind == .time }.map(\.name)
    static let lengths = all.filter { $0.kind == .distance }.map(\.name)

    /// Ignores letter case; nil for an unknown one.
    static func named(_ text: String) -> NetworkCost? {
        all.first { $0.name.lowercased() == text.lowercased() }
    }
}

extension ParameterTexts {
    /// The texts of a list: JSON, as Python or JavaScript write it, or with commas.
    func list(_ name: String) throws(Failure) -> [String] {
        guard var text = self[name] else { return [] }
        if text.first == "[" {
            if let tree = try? FormText.json(text) {
                return tree.elements.compactMap(\.text).filter { !$0.isEmpty }
            }
            text = String(text.filter { !"[]'\"".contains($0) })
        }
        return text.split(separator: ",").map { part in
            var part = part.drop { $0 == " " }
            while part.last == " " { part.removeLast() }
            return String(part)
        }.filter { !$0.isEmpty }
    }

    /// A distance with its unit; nil where it is absent.
    func distance(_ name: String) throws(Failure) -> (distance: String, unit: String)? {
        guard let text = self[name] else { return nil }
        let fault = Self.fault(name, #"a distance like {"distance":10,"units":"esriMeters"}"#)
        guard let tree = try? FormText.json(text) else {
            let parts = text.split(separator: " ")
            guard parts.count == 2, FormText.number(String(parts[0])) != nil else { throw fault }
            return (String(parts[0]), "esri" + parts[1])
        }
        if let number = tree.number { return ("\(number)", "esriMeters") }
        guard let distance = tree["distance"] else { throw fault }
        if case .null = distance { return nil }
        guard let number = distance.number else { throw fault }
        return ("\(number)", tree["units"]?.text ?? "esriMeters")
    }
}
