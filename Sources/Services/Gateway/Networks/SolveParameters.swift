// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// Failures in the words that clients of ArcGIS compare.
enum SolveFailure {
    static let title = "Unable to complete operation."
    private static let invalid = "Invalid or missing input parameters."

    static func unable(_ details: [String]) -> Failure {
        Failure(.invalidParameter, title, details: details)
    }

    static func unlocated(_ name: String, in list: String) -> String {
        "Location \"\(name)\" in \"\(list)\" is unlocated."
    }

    static func noRoute(_ from: String, _ to: String) -> String {
        "No route from location \"\(from)\" to location \"\(to)\"."
    }

    static let noSolution = "No solution found."

    /// Runs what reads parameters; what is wrong with one is a detail of Esri's sentence.
    static func reading<Value>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do throws(Failure) { return try body() } catch {
            guard error.code == .invalidParameter, error.message != title else { throw error }
            throw Failure(.invalidParameter, invalid, details: [error.message] + error.details)
        }
    }
}

/// `outputLines` of routes.
enum NetworkLines: String, CaseIterable {
    case trueShape = "esriNAOutputLineTrueShape"
    case measured = "esriNAOutputLineTrueShapeWithMeasure"
    case straight = "esriNAOutputLineStraight"
    case none = "esriNAOutputLineNone"
}

/// `travelDirection`.
enum TravelDirection: String, CaseIterable {
    case to = "esriNATravelDirectionToFacility"
    case from = "esriNATravelDirectionFromFacility"
}

/// The parameters that all analyses of a network have.
struct SolveParameters {
    /// In units of the impedance.
    static let usualBreaks = [5.0, 10, 15]

    let network: NetworkPublished
    let parameters: Parameters
    var terms: RouteTerms
    var mode: NetworkTravelMode
    /// The impedance, then the accumulated attributes.
    var costs: [NetworkCost]
    var reference: PlaceReference
    /// Degrees of latitude within which lines are generalised; 0 for none.
    var generalisation = 0.0
    /// Decimals of coordinates; nil for all.
    var decimals: Int?
    /// Milliseconds since 1970 at the start; nil without one.
    var start: Double?
    /// Type and text of the answer's messages.
    var messages: [(type: Int, text: String)] = []
    /// Restrictions of the request that are a way of moving.
    private var restrictions: [String] = []
    /// Barriers by list, as they came.
    var barriers: [String: [NetworkFeature]] = [:]
    /// Metres within which places are located; nil for the usual ones.
    var radius: Double?

    /// Throws `invalidParameter` with the parameter.
    init(
        _ network: NetworkPublished, _ call: Call, at position: Int64?
    ) throws(Failure) {
        self.network = network
        parameters = call.parameters
        terms = RouteTerms(network: network.name)
        terms.at = position
        terms.minSequence = try parameters.minSequence()
        let modes = NetworkTravelMode.all(of: network)
        guard let usual = modes.first else {
            throw Failure(.corrupt, "network '\(network.name)' publishes no travel mode")
        }
        (mode, costs) = (usual, [])
        reference = try PlaceReference(parameters)
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
        noteIgnored(call.route)
    }

    /// The name under which a router knows the travel mode.
    private func reference(to mode: NetworkTravelMode) -> String {
        let named = network.travelModes.first { $0.travelMode.name == mode.travelMode.name }
        return named?.mode == mode.index ? mode.travelMode.name : mode.mode.name
    }

    // MARK: Travel mode

    private mutating func readTravelMode(_ modes: [NetworkTravelMode]) throws(Failure) {
        try readRestrictUTurns(parameters[Known.restrictUTurns])
        if let text = parameters[Known.restrictionAttributeNames] {
            try readRestrictions(text.split(separator: ",").map(Self.trimmed))
        }
        if let text = parameters[Known.attributeParameterValues], text != "[]", text != "{}" {
            throw Parameters.unexpected(
                Known.attributeParameterValues.name, text, "no values: attributes have none")
        }
        guard let text = parameters[Known.travelMode] else { return }
        guard text.utf8.first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: "{") else {
            mode = try Self.mode(Self.trimmed(text[...]), modes)
            return
        }
        do throws(Failure) {
            try readObject(try RelaxedJSON.parse(text), modes)
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
            throw Parameters.unexpected(
                "travelMode", text,
                "an id or a name, one of "
                    + modes.map { "'\($0.travelMode.name)'" }
                    .joined(separator: ", "))
        }
        return found
    }

    private mutating func readObject(
        _ json: RelaxedValue, _ modes: [NetworkTravelMode]
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
        if json["useHierarchy"] == .bool(true) {
            messages.append((0, "'useHierarchy' of the travel mode changes nothing."))
        }
        switch json["simplificationTolerance"] {
        case nil, .null?: break
        case .number(let tolerance)? where tolerance >= 0:
            try generalise(tolerance, text("simplificationToleranceUnits"))
        default:
            throw Failure(
                .invalidParameter, "'simplificationTolerance': expected a number, 0 or more")
        }
    }

    private mutating func readRestrictUTurns(_ text: String?) throws(Failure) {
        guard let text else { return }
        guard
            let policy = NetworkTravelMode.uTurns.first(where: {
                $0.name.isEqualIgnoringCase(text)
            })?.policy
        else {
            throw Parameters.unexpected(
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
            throw Parameters.unexpected(
                "impedanceAttributeName", impedance,
                mode.costs.map(\.name).joined(separator: ", "))
        }
        mode = other
    }

    private mutating func readImpedance(_ modes: [NetworkTravelMode]) throws(Failure) {
        // A travel mode overrides it.
        if let name = parameters[Known.impedanceAttributeName] {
            if parameters[Known.travelMode] == nil {
                try choose(name, modes)
            } else if !mode.impedance.name.isEqualIgnoringCase(name) {
                messages.append((0, "The travel mode overrides 'impedanceAttributeName'."))
            }
        }
        costs = [mode.impedance]
        guard let text = parameters[Known.accumulateAttributeNames] else {
            costs += mode.costs.prefix(2).filter { $0 != mode.impedance }
            return
        }
        for name in text.split(separator: ",").map(Self.trimmed)
        where name.lowercased() != "none" {
            guard let cost = mode.costs.first(where: { $0.name.isEqualIgnoringCase(name) }) else {
                throw Parameters.unexpected(
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
            throw Parameters.unexpected(name, unit, "esriMeters, esriFeet or the like")
        }
        return distance * metres
    }

    private mutating func generalise(_ distance: Double, _ unit: String?) throws(Failure) {
        generalisation = try metres(distance, unit, "outputGeometryPrecisionUnits") / 111_195
    }

    private mutating func readOutput() throws(Failure) {
        if let precision = try parameters.number(Known.outputGeometryPrecision) {
            guard precision >= 0 else {
                throw Parameters.unexpected(
                    "outputGeometryPrecision", "\(precision)", "0 or more")
            }
            try generalise(precision, parameters[Known.outputGeometryPrecisionUnits])
        }
        decimals = try parameters.integer(Known.geometryPrecision)
    }

    /// `outputLines`, also as true and false, which arcgis-rest-js declares; nil when absent.
    func lines() throws(Failure) -> NetworkLines? {
        switch parameters[Known.outputLines]?.lowercased() {
        case "true": .trueShape
        case "false": NetworkLines.none
        default: try parameters.word(Known.outputLines, NetworkLines.self)
        }
    }

    /// Reads `startTime` or `timeOfDay`.
    mutating func readStart(
        _ parameter: Parameter<String?>, isUTC: Parameter<Bool>
    ) throws(Failure) {
        let isUTC = try parameters.flag(isUTC)
        guard let text = parameters[parameter] else { return }
        if text.lowercased() == "now" {
            start = Double(WallClock.microseconds() / 1000)
        } else {
            guard let number = Parameters.number(text), abs(number) <= 1e14 else {
                throw Parameters.unexpected(parameter.name, text, "milliseconds since 1970, or now")
            }
            guard number != -1 else { return }
            start = number
            if !isUTC {
                start = number - localShift
                messages.append(
                    (0, "'\(parameter.name)' is in local mean time of the network's middle."))
            }
        }
        terms.departure = start.map { Timestamp(microseconds: Int64($0) * 1000) }
    }

    /// Throws where places without a road are not to be left out.
    func check(unlocated: [String]) throws(Failure) {
        guard !unlocated.isEmpty,
            try !parameters.flag(Known.ignoreInvalidLocations.name, default: true)
        else { return }
        throw SolveFailure.unable(unlocated)
    }

    /// The most cost of a route, in seconds or metres; nil for any.
    func cutoff() throws(Failure) -> Double? {
        guard let cutoff = try parameters.number(Known.defaultCutoff) else { return nil }
        guard cutoff >= 0 else {
            throw Parameters.unexpected(Known.defaultCutoff.name, "\(cutoff)", "0 or more")
        }
        return cutoff * mode.impedance.unit
    }

    // MARK: Barriers

    private mutating func readBarriers() throws(Failure) {
        var all: [RouteBarrier] = []
        for (parameter, list) in [
            (Known.barriers, "Barriers"), (Known.polylineBarriers, "PolylineBarriers"),
            (Known.polygonBarriers, "PolygonBarriers"),
        ] {
            let features = try NetworkFeatures.read(parameter, list, atMost: 1_000, parameters)
            barriers[list] = features
            for feature in features {
                guard let shape = feature.shape else { continue }
                do throws(Failure) {
                    var barrier = RouteBarrier(
                        shape: shape, effect: try effect(of: feature, list), name: feature.name)
                    try readExtent(of: feature, list, into: &barrier)
                    all.append(barrier)
                } catch {
                    throw Failure(
                        error.code, "parameter '\(parameter.name)': \(error.message)")
                }
            }
        }
        if !all.isEmpty { terms.barriers = all }
    }

    /// Reads how much of a road a barrier is about.
    ///
    /// A closing point is about itself alone unless it says `FullEdge`, a point with a
    /// `CurbApproach` about the vehicles that have it on that side. Lines and areas are about whole
    /// edges in both directions; what they state otherwise is named.
    private mutating func readExtent(
        of feature: NetworkFeature, _ list: String, into barrier: inout RouteBarrier
    ) throws(Failure) {
        let approach = try feature.whole("CurbApproach", in: 0...2) ?? 0
        var isFull: Bool?
        switch feature.attributes["fulledge"] {
        case nil, .null?: break
        case .bool(let value)?: isFull = value
        case .number(0)?: isFull = false
        case .number(1)?: isFull = true
        case .some:
            throw Failure(
                .invalidParameter,
                "feature \(feature.number): FullEdge is no truth value: expected true or false")
        }
        var unused: [String] = []
        if list == "Barriers" {
            barrier.side = LocatedPlace.Side(rawValue: approach)
        } else if approach != 0 {
            unused.append("CurbApproach")
        }
        if list == "Barriers", barrier.effect == .closed {
            barrier.isAtPoint = isFull == true ? nil : true
        } else if isFull == false {
            unused.append("FullEdge")
        }
        for name in unused {
            messages.append((50, "'\(name)' of barrier \"\(feature.name)\" changes nothing."))
        }
    }

    private func effect(
        of feature: NetworkFeature, _ list: String
    ) throws(Failure) -> RoadChange.Effect {
        let type = try feature.whole("BarrierType", in: 0...2) ?? 0
        let time = mode.costs[0]
        var value = try feature.number("Attr_" + time.name)
        if value == nil { value = try feature.number("Attr_" + mode.impedance.name) }
        switch (list, type) {
        case (_, 0): return .closed
        case ("Barriers", 2):
            guard let value, value >= 0 else {
                throw Failure(
                    .invalidParameter,
                    "feature \(feature.number): an added cost needs Attr_\(time.name), 0 or more")
            }
            return .delay(value * time.unit)
        case ("PolygonBarriers", 1):
            guard let value, value > 0 else {
                throw Failure(
                    .invalidParameter,
                    "feature \(feature.number): a scaled cost needs Attr_\(time.name), above 0")
            }
            return .factor(value)
        default:
            throw Failure(
                .invalidParameter,
                "feature \(feature.number): BarrierType \(type) is none of \(list)")
        }
    }

    // MARK: Places

    private mutating func readLocating() throws(Failure) {
        guard let text = parameters[Known.locateSettings] else { return }
        let json = try RelaxedJSON.parse(text)
        let settings = json["default"] ?? json
        if let tolerance = settings["tolerance"]?.number {
            guard tolerance > 0 else {
                throw Failure(
                    .invalidParameter,
                    "'tolerance' of 'locateSettings' is \(tolerance): expected more than 0")
            }
            var unit: String?
            if case .string(let text)? = settings["toleranceUnits"] { unit = text }
            radius = min(
                try metres(tolerance, unit, "locateSettings"), RoutePlace.usualRadius)
        }
        if let sources = settings["sources"], sources != .null, sources != .array([]) {
            messages.append((50, "'sources' of 'locateSettings' changes nothing."))
        }
        if let overrides = json["overrides"], overrides != .null, overrides != .object([:]) {
            messages.append((50, "'overrides' of 'locateSettings' changes nothing."))
        }
    }

    /// Milliseconds by which the local mean time of the network's middle is ahead of UTC.
    var localShift: Double {
        let middle = (network.extent.minX + network.extent.maxX) / 2
        return middle.isFinite ? (middle / 15 * 3_600_000).rounded() : 0
    }

    /// The places of features; those without a point stay unlocated, in the sea of nowhere.
    func place(_ feature: NetworkFeature, in list: String) throws(Failure) -> RoutePlace? {
        guard let point = feature.point, point.isFinite, -180...180 ~= point.x,
            -90...90 ~= point.y
        else { return nil }
        var place = RoutePlace(point, name: feature.name)
        place.radius = radius
        if let approach = try feature.whole("CurbApproach", in: 0...3), approach > 0 {
            place.approach = CurbApproach(rawValue: approach)
        }
        if let bearing = try feature.number("Bearing") {
            guard 0...360 ~= bearing else {
                throw Failure(
                    .invalidParameter,
                    "'Bearing' of feature \(feature.number) is \(bearing): expected 0 to 360")
            }
            place.bearing = bearing
            let tolerance = try feature.number("BearingTol") ?? 30
            guard 0...180 ~= tolerance else {
                throw Failure(
                    .invalidParameter,
                    "'BearingTol' of feature \(feature.number) is \(tolerance): expected 0 to 180")
            }
            place.bearingTolerance = tolerance
        }
        switch try feature.whole("LocationType", in: 0...2) ?? 0 {
        case 1: place.isWaypoint = true
        case 2:
            throw Failure(
                .invalidParameter,
                "'LocationType' of feature \(feature.number) is 2: there are no breaks in \(list)"
            )
        default: break
        }
        if let service = try feature.number("Attr_" + mode.costs[0].name) {
            guard 0...1e6 ~= service else {
                throw Failure(
                    .invalidParameter,
                    "'Attr_\(mode.costs[0].name)' of feature \(feature.number) is \(service): "
                        + "expected 0 to 1000000")
            }
            place.service = service * mode.costs[0].unit
        }
        return place
    }

    /// When a stop can be visited, by its `TimeWindowStart` and `TimeWindowEnd`; nil for always.
    func window(_ feature: NetworkFeature, isUTC: Bool) throws(Failure) -> VisitWindow? {
        func moment(_ name: String) throws(Failure) -> Timestamp? {
            guard var value = try feature.number(name) else { return nil }
            guard abs(value) <= 1e14 else {
                throw Failure(
                    .invalidParameter,
                    "'\(name)' of feature \(feature.number) is \(value): expected milliseconds "
                        + "since 1970")
            }
            if !isUTC { value -= localShift }
            return Timestamp(microseconds: Int64(value.rounded()) * 1000)
        }
        let window = VisitWindow(
            start: try moment("TimeWindowStart"), end: try moment("TimeWindowEnd"))
        guard window.start != nil || window.end != nil else { return nil }
        if let start = window.start, let end = window.end, end < start {
            throw Failure(
                .invalidParameter,
                "'TimeWindowEnd' of feature \(feature.number) is before its 'TimeWindowStart'")
        }
        return window
    }

    // MARK: Messages

    /// Names the parameters that were sent and change nothing.
    private mutating func noteIgnored(_ route: Route) {
        let ignored = Set(Known.ignoredBySolve.map { $0.lowercased() })
        for name in parameters.names {
            let lowered = name.lowercased()
            let isKnown = route.declaredNames?.contains(lowered) ?? true
            guard ignored.contains(lowered) || !isKnown else { continue }
            guard let value = isKnown ? parameters[name] : "?", value.lowercased() != "false" else {
                continue
            }
            messages.append((0, "Parameter '\(name.prefix(64))' changes nothing."))
        }
    }

    mutating func note(_ context: RouteContext) {
        for message in context.messages
        where !messages.contains(where: { $0.text == message.text }) {
            messages.append((50, message.text))
        }
    }
}
