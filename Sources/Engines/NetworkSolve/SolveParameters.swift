// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import Platform

/// Failures in the words that clients of ArcGIS compare.
package enum SolveFailure {
    package static let title = "Unable to complete operation."
    private static let invalid = "Invalid or missing input parameters."

    package static func unable(_ details: [String]) -> Failure {
        Failure(.invalidParameter, title, details: details)
    }

    package static func unlocated(_ name: String, in list: String) -> String {
        "Location \"\(name)\" in \"\(list)\" is unlocated."
    }

    package static func noRoute(_ from: String, _ to: String) -> String {
        "No route from location \"\(from)\" to location \"\(to)\"."
    }

    package static let noSolution = "No solution found."

    /// Runs what reads parameters; what is wrong with one is a detail of Esri's sentence.
    package static func reading<Value>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do throws(Failure) { return try body() } catch {
            guard error.code == .invalidParameter, error.message != title else { throw error }
            throw Failure(.invalidParameter, invalid, details: [error.message] + error.details)
        }
    }
}

/// `outputLines` of routes.
package enum NetworkLines: String, CaseIterable {
    case trueShape = "esriNAOutputLineTrueShape"
    case measured = "esriNAOutputLineTrueShapeWithMeasure"
    case straight = "esriNAOutputLineStraight"
    case none = "esriNAOutputLineNone"
}

/// `travelDirection`.
package enum TravelDirection: String, CaseIterable {
    case to = "esriNATravelDirectionToFacility"
    case from = "esriNATravelDirectionFromFacility"
}

/// The parameters that all analyses of a network have.
package struct SolveParameters {
    /// The cost in whose unit waits and delays are.
    var time: NetworkCost { costs.first { $0.kind == .time } ?? mode.costs[0] }

    /// In units of the impedance.
    package static let usualBreaks = [5.0, 10, 15]

    package let network: NetworkPublished
    package let parameters: any SolveForm
    package var terms: RouteTerms
    package var mode: NetworkTravelMode
    /// The impedance, then the accumulated attributes.
    package var costs: [NetworkCost]
    package var reference: SolveReference
    /// Degrees of latitude within which lines are generalised; 0 for none.
    package var generalisation = 0.0
    /// Decimals of coordinates; nil for all.
    package var decimals: Int?
    /// Milliseconds since 1970 at the start; nil without one.
    package var start: Double?
    /// Type and text of the answer's messages.
    package var messages: [(type: Int, text: String)] = []
    /// Restrictions of the request that are a way of moving.
    private var restrictions: [String] = []
    /// Barriers by list, as they came.
    package var barriers: [String: [NetworkFeature]] = [:]
    /// Metres within which places are located; nil for the usual ones.
    package var radius: Double?

    /// Throws `invalidParameter` with the parameter.
    package init(
        _ network: NetworkPublished, _ parameters: any SolveForm, at position: Int64?
    ) throws(Failure) {
        self.network = network
        self.parameters = parameters
        terms = RouteTerms(network: network.name)
        terms.at = position
        if let departure = parameters.departure {
            terms.departure = departure
            terms.regardsTimes = false
        }
        terms.minSequence = try parameters.integer("minSequence", in: 0...Int.max).map(Int64.init)
        let modes = NetworkTravelMode.all(of: network)
        guard let usual = modes.first else {
            throw Failure(.corrupt, "network '\(network.name)' publishes no travel mode")
        }
        (mode, costs) = (usual, [])
        reference = try parameters.reference()
        try readTravelMode(modes)
        try readImpedance(modes)
        terms.travelMode = reference(to: mode)
        for name in restrictions where !name.isEqualIgnoringCase(mode.ownRestriction) {
            messages.append(
                (
                    50,
                    "Restriction '\(name)' changes nothing: the travel mode is "
                        + "'\(mode.ownRestriction)'."
                ))
        }
        try readOutput()
        try readBarriers()
        try readLocating()
        noteIgnored()
    }

    /// The name under which a router knows the travel mode.
    private func reference(to mode: NetworkTravelMode) -> String {
        let named = network.travelModes.first { $0.travelMode.name == mode.travelMode.name }
        return named?.mode == mode.index ? mode.travelMode.name : mode.mode.name
    }

    // MARK: Travel mode

    private mutating func readTravelMode(_ modes: [NetworkTravelMode]) throws(Failure) {
        try readRestrictUTurns(parameters["restrictUTurns"])
        if let text = parameters["restrictionAttributeNames"] {
            try readRestrictions(text.split(separator: ",").map(Self.trimmed))
        }
        if let text = parameters["attributeParameterValues"], text != "[]", text != "{}" {
            throw FormText.unexpected(
                "attributeParameterValues", text, "no values: attributes have none")
        }
        guard let text = parameters["travelMode"] else { return }
        guard text.utf8.first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: "{") else {
            mode = try Self.mode(Self.trimmed(text[...]), modes)
            return
        }
        do throws(Failure) {
            try readObject(try FormText.json(text), modes)
        } catch {
            throw Failure(error.code, "parameter 'travelMode': \(error.message)")
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    private static func mode(
        _ text: String, _ modes: [NetworkTravelMode]
    ) throws(Failure) -> NetworkTravelMode {
        let found =
            modes.first { $0.id == text.lowercased() }
            ?? modes.first { $0.travelMode.name.isEqualIgnoringCase(text) }
        guard let found else {
            throw FormText.unexpected(
                "travelMode", text,
                "an id or a name, one of "
                    + modes.map { "'\($0.travelMode.name)'" }
                    .joined(separator: ", "))
        }
        return found
    }

    private mutating func readObject(
        _ json: JSONTree, _ modes: [NetworkTravelMode]
    ) throws(Failure) {
        guard case .object(let members) = json else {
            throw Failure(.invalidParameter, "expected an object")
        }
        if members.isEmpty { return }
        func text(_ name: String) -> String? {
            if case .string(let text)? = json[name], !text.isEmpty { text } else { nil }
        }
        let impedance = text("impedanceAttributeName")
        let named =
            modes.first { $0.id == text("id")?.lowercased() }
            ?? modes.first { $0.travelMode.name.isEqualIgnoringCase(text("name") ?? "") }
            ?? modes.first { $0.impedance.name == impedance && $0.type == text("type") ?? $0.type }
        guard let named else {
            throw Failure(
                .invalidParameter,
                "neither its id, its name nor its impedance and type are those of a travel mode, "
                    + "which are " + modes.map { "'\($0.travelMode.name)'" }.joined(separator: ", ")
            )
        }
        mode = named
        if let impedance { try choose(impedance, modes) }
        if let type = text("type"), !type.isEqualIgnoringCase(mode.type) {
            throw Failure(
                .invalidParameter,
                "its type is '\(type.prefix(60))', that of '\(mode.travelMode.name)' is "
                    + "\(mode.type)")
        }
        for (name, cost) in [
            ("timeAttributeName", mode.costs[0]), ("distanceAttributeName", mode.costs[1]),
        ] {
            if let wanted = text(name),
                !mode.costs.contains(where: { $0.name == wanted && $0.kind == cost.kind })
            {
                throw Failure(
                    .invalidParameter, "'\(name)' is '\(wanted.prefix(60))': expected \(cost.name)")
            }
        }
        if case .array(let names)? = json["restrictionAttributeNames"] {
            try readRestrictions(
                names.compactMap { if case .string(let name) = $0 { name } else { nil } })
        }
        if case .array(let values)? = json["attributeParameterValues"], !values.isEmpty {
            throw Failure(
                .invalidParameter, "'attributeParameterValues': attributes have no values here")
        }
        if let policy = text("uturnAtJunctions") { try readRestrictUTurns(policy) }
        if json["useHierarchy"]?.isTrue == true {
            messages.append((0, "'useHierarchy' of the travel mode changes nothing."))
        }
        switch json["simplificationTolerance"] {
        case nil, .null?: break
        case let value?:
            guard let tolerance = value.number, tolerance >= 0 else {
                throw Failure(
                    .invalidParameter, "'simplificationTolerance': expected a number, 0 or more")
            }
            try generalise(tolerance, text("simplificationToleranceUnits"))
        }
    }

    private mutating func readRestrictUTurns(_ text: String?) throws(Failure) {
        guard let text else { return }
        guard
            let policy = NetworkTravelMode.uTurns.first(where: {
                $0.name.isEqualIgnoringCase(text)
            })?.policy
        else {
            throw FormText.unexpected(
                "restrictUTurns", text,
                NetworkTravelMode.uTurns.map(\.name).joined(separator: ", "))
        }
        terms.uTurns = policy == .everywhere ? nil : policy
    }

    private mutating func readRestrictions(_ names: [String]) throws(Failure) {
        let own = Set(
            NetworkTravelMode.all(of: network).map { $0.ownRestriction.lowercased() })
        var avoiding: [AvoidedRoads] = []
        restrictions = []
        for name in names where !name.isEmpty && name.lowercased() != "none" {
            if let roads = NetworkTravelMode.avoidances.first(where: {
                $0.name.isEqualIgnoringCase(name)
            })?.roads {
                avoiding.append(roads)
            } else if own.contains(name.lowercased()) {
                restrictions.append(name)
            } else {
                throw Failure(
                    .invalidParameter,
                    "restriction '\(name.prefix(60))' is not one of the network: expected "
                        + (NetworkTravelMode.avoidances.map(\.name)
                        + [mode.ownRestriction]).joined(separator: ", "))
            }
        }
        terms.avoiding = avoiding.isEmpty ? nil : avoiding
    }

    /// Minimises another cost of the same way of moving.
    private mutating func choose(
        _ impedance: String, _ modes: [NetworkTravelMode]
    ) throws(Failure) {
        if mode.impedance.name.isEqualIgnoringCase(impedance) { return }
        guard let cost = mode.costs.first(where: { $0.name.isEqualIgnoringCase(impedance) }),
            let other = modes.first(where: {
                $0.index == mode.index && $0.travelMode.minimises == cost.kind
            })
        else {
            throw FormText.unexpected(
                "impedanceAttributeName", impedance,
                mode.costs.map(\.name).joined(separator: ", "))
        }
        mode = other
    }

    private mutating func readImpedance(_ modes: [NetworkTravelMode]) throws(Failure) {
        // A travel mode overrides it.
        if let name = parameters["impedanceAttributeName"] {
            if parameters["travelMode"] == nil {
                try choose(name, modes)
            } else if !mode.impedance.name.isEqualIgnoringCase(name) {
                messages.append((0, "The travel mode overrides 'impedanceAttributeName'."))
            }
        }
        if let own = try parameters.costs(of: mode) {
            costs = own
            return
        }
        costs = [mode.impedance]
        guard let text = parameters["accumulateAttributeNames"] else {
            costs += mode.costs.prefix(2).filter { $0 != mode.impedance }
            return
        }
        for name in text.split(separator: ",").map(Self.trimmed)
        where name.lowercased() != "none" {
            guard let cost = mode.costs.first(where: { $0.name.isEqualIgnoringCase(name) }) else {
                throw FormText.unexpected(
                    "accumulateAttributeNames", name,
                    mode.costs.map(\.name).joined(separator: ", "))
            }
            if !costs.contains(cost) { costs.append(cost) }
        }
    }

    // MARK: Output

    private static let distanceUnits: [String: Double] = [
        "esrimeters": 1, "esrikilometers": 1000, "esrifeet": 0.3048, "esrimiles": 1609.344,
        "esriyards": 0.9144, "esrinauticalmiles": 1852, "esriinches": 0.0254,
        "esricentimeters": 0.01, "esridecimaldegrees": 111_195,
    ]

    /// Metres of a distance.
    func metres(_ distance: Double, _ unit: String?, _ name: String) throws(Failure) -> Double {
        guard let unit else { return distance }
        guard let metres = Self.distanceUnits[unit.lowercased()] else {
            throw FormText.unexpected(name, unit, "esriMeters, esriFeet or the like")
        }
        return distance * metres
    }

    private mutating func generalise(_ distance: Double, _ unit: String?) throws(Failure) {
        generalisation = try metres(distance, unit, "outputGeometryPrecisionUnits") / 111_195
    }

    private mutating func readOutput() throws(Failure) {
        if let precision = try parameters.number("outputGeometryPrecision") {
            guard precision >= 0 else {
                throw FormText.unexpected(
                    "outputGeometryPrecision", "\(precision)", "0 or more")
            }
            try generalise(precision, parameters["outputGeometryPrecisionUnits"])
        }
        decimals = try parameters.integer("geometryPrecision", in: 0...15)
    }

    /// `outputLines`, also as true and false, which arcgis-rest-js declares; nil when absent.
    package func lines() throws(Failure) -> NetworkLines? {
        switch parameters["outputLines"]?.lowercased() {
        case "true": .trueShape
        case "false": NetworkLines.none
        default: try parameters.word("outputLines", NetworkLines.self)
        }
    }

    /// Reads `startTime` or `timeOfDay`.
    package mutating func readStart(
        _ parameter: String, isUTC: String
    ) throws(Failure) {
        let isUTC = try parameters.flag(isUTC)
        guard let text = parameters[parameter] else { return }
        if text.lowercased() == "now" {
            start = Double(WallClock.microseconds() / 1000)
        } else {
            guard let number = FormText.number(text), abs(number) <= 1e14 else {
                throw FormText.unexpected(parameter, text, "milliseconds since 1970, or now")
            }
            guard number != -1 else { return }
            start = number
            if !isUTC {
                start = number - localShift
                messages.append(
                    (0, "'\(parameter)' is in local mean time of the network's middle."))
            }
        }
        terms.regardsTimes = nil
        terms.departure = start.map { Timestamp(microseconds: Int64($0) * 1000) }
    }

    /// Throws where places without a road are not to be left out.
    package func check(unlocated: [String]) throws(Failure) {
        guard !unlocated.isEmpty,
            try !parameters.flag("ignoreInvalidLocations", default: true)
        else { return }
        throw SolveFailure.unable(unlocated)
    }

    /// The most cost of a route, in seconds or metres; nil for any.
    package func cutoff() throws(Failure) -> Double? {
        guard let cutoff = try parameters.number("defaultCutoff") else { return nil }
        guard cutoff >= 0 else {
            throw FormText.unexpected("defaultCutoff", "\(cutoff)", "0 or more")
        }
        return cutoff * (try unit().unit)
    }

    /// The cost in whose unit cutoffs and breaks are.
    func unit() throws(Failure) -> NetworkCost {
        guard let (parameter, cost) = parameters.unit(of: mode) else { return mode.impedance }
        guard cost.kind == mode.impedance.kind else {
            throw Failure(
                .invalidParameter,
                "parameter '\(parameter)': expected a unit of \(mode.impedance.name), which "
                    + "the travel mode '\(mode.travelMode.name)' minimises")
        }
        return cost
    }

    // MARK: Messages

    /// Names the parameters that were sent and change nothing.
    private mutating func noteIgnored() {
        for name in parameters.ignored {
            messages.append((0, "Parameter '\(name.prefix(64))' changes nothing."))
        }
    }

    package mutating func note(_ context: RouteContext) {
        for message in context.messages
        where !messages.contains(where: { $0.text == message.text }) {
            messages.append((50, message.text))
        }
    }
}
