// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// The network, the way of moving and the places of a request in OSRM's form.
struct OSRMOptions {
    var network: NetworkPublished
    var terms: RouteTerms
    /// The kind of the mode.
    var kind: NetworkMode.Kind
    /// The unit of the travel mode's cost.
    var minimises: NetworkMode.Cost
    var places: [RoutePlace]
    private let parameters: Parameters

    /// Reads the options that all services have.
    ///
    /// Throws OSRM's `InvalidUrl`, `InvalidQuery`, `InvalidOptions`, `InvalidValue`,
    /// `NotImplemented`.
    init(_ network: NetworkPublished, _ call: Call) throws(Failure) {
        self.network = network
        parameters = call.parameters
        try Self.refuseUnknown(parameters, call.route)
        let mode = try Self.mode(call.captures.task, of: network)
        kind = network.modes[mode].kind
        terms = RouteTerms(network: network.name)
        let all = network.travelModes
        let profile = call.captures.task.lowercased()
        let named = all.filter { $0.travelMode.name.lowercased() == profile }
        let own = named.isEmpty ? all.filter { $0.mode == mode } : named
        guard let chosen = own.first(where: { $0.travelMode.minimises == .time }) ?? own.first
        else {
            throw OSRMCode.invalidOptions.failure(
                "Mode '\(network.modes[mode].name)' has no travel mode.")
        }
        minimises = chosen.travelMode.minimises
        let isFirst = all.first { $0.travelMode.name == chosen.travelMode.name }?.mode == mode
        terms.travelMode = isFirst ? chosen.travelMode.name : network.modes[mode].name
        terms.minSequence = try parameters.minSequence()
        places = try OSRMCoordinates.parse(call.captures.text).map { RoutePlace($0) }
        try readBearings()
        try readRadiuses()
        try readApproaches()
        try readExclude()
        _ = try list(Known.osrmHints)
        _ = try flag(Known.osrmGenerateHints, or: true)
        _ = try flag(Known.osrmSkipWaypoints, or: false)
        if try word(Known.osrmSnapping, ["default", "any"]) == "any" {
            throw OSRMCode.notImplemented.failure(
                "snapping=any: places are found on roads that the mode may use.")
        }
    }

    private static func refuseUnknown(_ parameters: Parameters, _ route: Route) throws(Failure) {
        for name in parameters.names
        where route.declaredNames?.contains(name.lowercased()) == false {
            throw OSRMCode.invalidOptions.failure("Option '\(name.prefix(64))' is not known.")
        }
    }

    private static let profiles: [String: NetworkMode.Kind] = [
        "driving": .automobile, "car": .automobile, "walking": .walk, "foot": .walk,
        "cycling": .bicycle, "bicycle": .bicycle, "bike": .bicycle,
    ]

    /// The index of the mode for a profile, of the mode of that name, or of a travel mode's.
    private static func mode(
        _ profile: String, of network: NetworkPublished
    ) throws(Failure) -> Int {
        let name = profile.lowercased()
        if let kind = profiles[name],
            let index = network.modes.firstIndex(where: { $0.kind == kind })
        {
            return index
        }
        if let index = network.modes.firstIndex(where: { $0.name.lowercased() == name }) {
            return index
        }
        let byTravelMode = network.travelModes.first { $0.travelMode.name.lowercased() == name }
        if let byTravelMode { return byTravelMode.mode }
        throw OSRMCode.invalidUrl.failure(
            "Network '\(network.name)' has no profile '\(profile.prefix(64))': expected driving, "
                + "walking, cycling or one of "
                + network.modes.map(\.name).joined(separator: ", ") + ".")
    }

    // MARK: Lists

    /// The elements of a list with one for each place, empty ones included; nil when absent.
    private func list(_ parameter: Parameter<String?>) throws(Failure) -> [Substring]? {
        guard let text = parameters[parameter] else { return nil }
        let elements = text.split(separator: ";", omittingEmptySubsequences: false)
        guard elements.count == places.count else {
            throw OSRMCode.invalidOptions.failure(
                "Number of elements in \(parameter.name) (\(elements.count)) does not match number "
                    + "of coordinates (\(places.count)).")
        }
        return elements
    }

    private func invalid(_ parameter: String, _ text: some StringProtocol, _ expected: String)
        -> Failure
    {
        OSRMCode.invalidOptions.failure(
            "\(parameter) '\(text.prefix(60))': expected \(expected).")
    }

    private mutating func readBearings() throws(Failure) {
        guard let elements = try list(Known.osrmBearings) else { return }
        for (index, element) in elements.enumerated() where !element.isEmpty {
            guard let pair = Parameters.numbers(String(element), counts: 2...2),
                0...360 ~= pair[0], 0...180 ~= pair[1]
            else { throw invalid("bearings", element, "0 to 360, and 0 to 180 to either side") }
            (places[index].bearing, places[index].bearingTolerance) = (pair[0], pair[1])
        }
    }

    private mutating func readRadiuses() throws(Failure) {
        guard let elements = try list(Known.osrmRadiuses) else { return }
        for (index, element) in elements.enumerated()
        where !element.isEmpty && element != "unlimited" {
            guard let radius = Parameters.number(String(element)), radius > 0 else {
                throw invalid("radiuses", element, "metres above 0, or unlimited")
            }
            places[index].radius = min(radius, RoutePlace.usualRadius)
        }
    }

    private mutating func readApproaches() throws(Failure) {
        guard let elements = try list(Known.osrmApproaches) else { return }
        for (index, element) in elements.enumerated() {
            switch element {
            case "", "unrestricted": break
            case "curb": places[index].approach = .right
            case "opposite": places[index].approach = .left
            default: throw invalid("approaches", element, "curb, opposite or unrestricted")
            }
        }
    }

    private mutating func readExclude() throws(Failure) {
        guard let text = parameters[Known.osrmExclude] else { return }
        terms.avoiding = try text.split(separator: ",").map { word throws(Failure) in
            guard let kind = AvoidedRoads(rawValue: String(word)) else {
                throw OSRMCode.invalidValue.failure(
                    "Exclude flag combination is not supported: '\(word.prefix(60))', expected "
                        + AvoidedRoads.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            return kind
        }
    }

    // MARK: Options of single services

    /// The times of the places, in seconds since 1970; nil for each where there are none.
    func timestamps() throws(Failure) -> [Timestamp?] {
        guard let elements = try list(Known.osrmTimestamps) else {
            return places.map { _ in nil }
        }
        return try elements.map { element throws(Failure) in
            guard !element.isEmpty else { return nil }
            // Up to the year 9999.
            guard let seconds = Parameters.number(String(element)), seconds >= 0,
                seconds <= 253_402_300_799
            else { throw invalid("timestamps", element, "seconds since 1970") }
            return Timestamp(microseconds: Int64((seconds * 1e6).rounded()))
        }
    }

    /// Refuses places on a certain side of the vehicle.
    func refuseSides() throws(Failure) {
        guard places.allSatisfy({ $0.approach == nil }) else {
            throw OSRMCode.notImplemented.failure(
                "approaches: recorded positions have no side; expected unrestricted.")
        }
    }

    func flag(_ parameter: Parameter<String?>, or standard: Bool) throws(Failure) -> Bool {
        switch parameters[parameter] {
        case nil: return standard
        case "true": return true
        case "false": return false
        case let text?: throw invalid(parameter.name, text, "true or false")
        }
    }

    /// The value, one of some words; nil when absent.
    func word(_ parameter: Parameter<String?>, _ words: [String]) throws(Failure) -> String? {
        guard let text = parameters[parameter] else { return nil }
        guard words.contains(text) else {
            throw invalid(parameter.name, text, words.joined(separator: ", "))
        }
        return text
    }

    /// Values with commas, each one of some words; nil when absent.
    func words(_ parameter: Parameter<String?>, _ words: [String]) throws(Failure) -> [String]? {
        guard let text = parameters[parameter] else { return nil }
        let values = text.split(separator: ",").map(String.init)
        guard !values.isEmpty, values.allSatisfy(words.contains) else {
            throw invalid(parameter.name, text, words.joined(separator: ", "))
        }
        return values
    }

    /// The number of alternatives: `true` is one.
    func alternatives() throws(Failure) -> Int {
        switch parameters[Known.osrmAlternatives] {
        case nil, "false": return 0
        case "true": return 1
        case let text?:
            guard let count = Int(text), count >= 0 else {
                throw invalid("alternatives", text, "true, false or a number")
            }
            guard count <= 5 else {
                throw OSRMCode.tooBig.failure(
                    "Requested number of alternatives is higher than current maximum (5)")
            }
            return count
        }
    }

    /// Indices of places with `;`; nil for all.
    func indices(_ parameter: Parameter<String?>) throws(Failure) -> [Int]? {
        guard let text = parameters[parameter], text != "all" else { return nil }
        return try text.split(separator: ";", omittingEmptySubsequences: false).map {
            part throws(Failure) in
            guard let index = Int(part), places.indices.contains(index) else {
                throw invalid(
                    parameter.name, part, "indices of coordinates from 0 to \(places.count - 1)")
            }
            return index
        }
    }

    func whole(
        _ parameter: Parameter<String?>, or standard: Int, atMost limit: Int
    ) throws(Failure) -> Int {
        guard let text = parameters[parameter] else { return standard }
        guard let number = Int(text), number >= 1 else {
            throw invalid(parameter.name, text, "a whole number from 1")
        }
        guard number <= limit else {
            throw OSRMCode.tooBig.failure(
                "\(parameter.name) \(number) is higher than current maximum (\(limit))")
        }
        return number
    }

    /// The number of places that a service needs.
    func require(_ range: ClosedRange<Int>) throws(Failure) {
        guard places.count <= range.upperBound else {
            throw OSRMCode.tooBig.failure(
                "Number of entries \(places.count) is higher than current maximum "
                    + "(\(range.upperBound))")
        }
        guard places.count >= range.lowerBound else {
            throw OSRMCode.invalidOptions.failure(
                "Number of coordinates needs to be at least \(range.lowerBound)"
                    + (range.upperBound == range.lowerBound ? ", and at most that." : "."))
        }
    }
}
