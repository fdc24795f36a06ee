// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A place that may be the closest one.
public final class Facility: Sendable {
    private let text: Guarded<String>
    /// The place.
    public let geometry: Point

    /// A place.
    public convenience init(point: Point) { self.init(point: point, name: "") }

    /// A place with a name.
    public init(point: Point, name: String) {
        geometry = point
        text = Guarded(name)
    }

    /// The name that answers have of it.
    public var name: String {
        get { text.current }
        set { text.current = newValue }
    }
}

/// A place from which, or to which, the closest facilities are looked for.
public final class Incident: Sendable {
    private let text: Guarded<String>
    /// The place.
    public let geometry: Point

    /// A place.
    public convenience init(point: Point) { self.init(point: point, name: "") }

    /// A place with a name.
    public init(point: Point, name: String) {
        geometry = point
        text = Guarded(name)
    }

    /// The name that answers have of it.
    public var name: String {
        get { text.current }
        set { text.current = newValue }
    }
}

/// What a question for closest facilities takes.
public final class ClosestFacilityParameters: BarrierParameters {
    struct Values: Sendable {
        var defaultTargetFacilityCount = 1
        var defaultImpedanceCutoff: Double?
        var travelDirection: TravelDirection?
        var travelMode: TravelMode?
        var returnsDirections = false
        var returnsRoutes = true
        var outputSpatialReference: SpatialReference?
        var startDate: Date?
        var barriers = Barriers()
        var facilities: [Facility] = []
        var incidents: [Incident] = []
    }

    let values: Guarded<Values>

    /// Empty parameters; a service's own are ``ClosestFacilityTask/makeDefaultParameters()``'s.
    public init() { values = Guarded(Values()) }

    init(_ given: Values) { values = Guarded(given) }

    /// Most facilities of each incident.
    public var defaultTargetFacilityCount: Int {
        get { values.current.defaultTargetFacilityCount }
        set { values.withLock { $0.defaultTargetFacilityCount = newValue } }
    }
    /// The cost beyond which no facility counts, in the unit of the travel mode's cost; nil for
    /// none.
    public var defaultImpedanceCutoff: Double? {
        get { values.current.defaultImpedanceCutoff }
        set { values.withLock { $0.defaultImpedanceCutoff = newValue } }
    }
    /// The direction; nil for the service's.
    public var travelDirection: TravelDirection? {
        get { values.current.travelDirection }
        set { values.withLock { $0.travelDirection = newValue } }
    }
    /// The travel mode; nil for the service's.
    public var travelMode: TravelMode? {
        get { values.current.travelMode }
        set { values.withLock { $0.travelMode = newValue } }
    }
    /// Whether routes have directions.
    public var returnsDirections: Bool {
        get { values.current.returnsDirections }
        set { values.withLock { $0.returnsDirections = newValue } }
    }
    /// Whether routes have lines.
    public var returnsRoutes: Bool {
        get { values.current.returnsRoutes }
        set { values.withLock { $0.returnsRoutes = newValue } }
    }
    /// The reference of the answer; nil for that of the incidents.
    public var outputSpatialReference: SpatialReference? {
        get { values.current.outputSpatialReference }
        set { values.withLock { $0.outputSpatialReference = newValue } }
    }
    /// When the travel begins; nil for no time.
    public var startDate: Date? {
        get { values.current.startDate }
        set { values.withLock { $0.startDate = newValue } }
    }
    /// The facilities.
    public var facilities: [Facility] { values.current.facilities }
    /// The incidents.
    public var incidents: [Incident] { values.current.incidents }
    /// Replaces the facilities.
    public func setFacilities(_ facilities: [Facility]) {
        values.withLock { $0.facilities = facilities }
    }
    /// Removes the facilities.
    public func clearFacilities() { setFacilities([]) }
    /// Replaces the incidents.
    public func setIncidents(_ incidents: [Incident]) {
        values.withLock { $0.incidents = incidents }
    }
    /// Removes the incidents.
    public func clearIncidents() { setIncidents([]) }
    /// Replaces the places that no way goes through.
    public func setPointBarriers(_ barriers: [PointBarrier]) {
        values.withLock { $0.barriers.points = barriers }
    }
    /// Replaces the lines that no way crosses.
    public func setPolylineBarriers(_ barriers: [PolylineBarrier]) {
        values.withLock { $0.barriers.polylines = barriers }
    }
    /// Replaces the areas that no way enters.
    public func setPolygonBarriers(_ barriers: [PolygonBarrier]) {
        values.withLock { $0.barriers.polygons = barriers }
    }
}

/// A way between a facility and an incident.
public typealias ClosestFacilityRoute = Route

/// An answer to a question for closest facilities.
public struct ClosestFacilityResult: Sendable {
    /// What the service says about it.
    public let messages: [String]
    /// The facilities of the question.
    public let facilities: [Facility]
    /// The incidents of the question.
    public let incidents: [Incident]
    /// By incident, each with the places of its facilities and the routes to them, the closest
    /// first.
    private let ranked: [Int: [(facility: Int, route: Route)]]

    /// The facilities of an incident by their places in the parameters, the closest first.
    public func rankedIndexesOfFacilities(forIncidentAtIndex index: Int) -> [Int] {
        (ranked[index] ?? []).map(\.facility)
    }

    /// The route between a facility and an incident; nil where it is not among the closest.
    public func route(
        toFacilityAtIndex facility: Int, fromIncidentAtIndex incident: Int
    ) -> ClosestFacilityRoute? {
        ranked[incident]?.first { $0.facility == facility }?.route
    }

    init(
        _ json: JSON, _ reference: SpatialReference, _ values: ClosestFacilityParameters.Values
    ) {
        (facilities, incidents) = (values.facilities, values.incidents)
        let own = SpatialReference(json["routes"]?.member("spatialReference")) ?? reference
        let directions = json["directions"]?.elements ?? []
        var found: [Int: [(rank: Double, facility: Int, route: Route)]] = [:]
        for line in json["routes"]?["features"]?.elements ?? [] {
            let values = line["attributes"]
            guard let facility = values?["FacilityID"]?.place,
                let incident = values?["IncidentID"]?.place
            else { continue }
            let id = values?["ObjectID"]?.number
            let steps = directions.first { $0["routeId"]?.number == id && id != nil }
            found[incident, default: []].append(
                (
                    values?["FacilityRank"]?.number ?? 0, facility,
                    Route(line, directions: steps, stops: [], own)
                ))
        }
        ranked = found.mapValues { routes in
            routes.sorted { $0.rank < $1.rank }.map { ($0.facility, $0.route) }
        }
        messages = NetworkDescription.messages(json)
    }
}

/// Finds the closest of several facilities by a network analysis service.
public final class ClosestFacilityTask: NetworkTask, @unchecked Sendable {
    /// A task over a layer, `…/NAServer/ClosestFacility`; nothing is asked before it is loaded.
    public init(url: URL) { super.init(layer: url) }

    /// The service's own parameters, without facilities and incidents.
    public func makeDefaultParameters() async throws -> ClosestFacilityParameters {
        let layer = try await description()
        var parameters = ClosestFacilityParameters.Values()
        parameters.travelMode = layer.defaultMode
        if let count = layer.json["defaultTargetFacilityCount"]?.number {
            parameters.defaultTargetFacilityCount = Int(exactly: count.rounded()) ?? 1
        }
        return ClosestFacilityParameters(parameters)
    }

    /// Finds the closest facilities; throws ``CairnError`` (`invalidArgument`) without facilities
    /// or incidents and for places in several references, and ``ServiceError``.
    public func solveClosestFacility(
        using parameters: ClosestFacilityParameters
    ) async throws -> ClosestFacilityResult {
        let parameters = parameters.values.current
        let incidents = try NetworkDescription.reference(
            of: parameters.incidents.map(\.geometry), "incidents")
        let facilities = try NetworkDescription.reference(
            of: parameters.facilities.map(\.geometry), "facilities")
        guard incidents == facilities else {
            throw CairnError(
                .invalidArgument, "places: expected incidents and facilities in one reference")
        }
        try await load()
        let out = parameters.outputSpatialReference ?? incidents
        var question = Question(
            url.below("solveClosestFacility"),
            [
                "incidents": NetworkDescription.places(
                    parameters.incidents.map { ($0.geometry, $0.name) }),
                "facilities": NetworkDescription.places(
                    parameters.facilities.map { ($0.geometry, $0.name) }),
                "defaultTargetFacilityCount": String(parameters.defaultTargetFacilityCount),
                "defaultCutoff": parameters.defaultImpedanceCutoff.map { "\($0)" },
                "travelDirection": parameters.travelDirection?.parameter,
                "travelMode": parameters.travelMode?.parameter,
                "returnCFRoutes": String(parameters.returnsRoutes),
                "returnDirections": String(parameters.returnsDirections),
                "directionsLengthUnits": "esriNAUMeters",
                "timeOfDay": parameters.startDate.map { String($0.millisecondsSince1970) },
                "timeOfDayIsUTC": parameters.startDate.map { _ in "true" },
                "outSR": out.parameter,
            ])
        parameters.barriers.add(to: &question)
        question.credential = credential
        let answer = try await NetworkDescription.solution(question, ["routes", "directions"])
        return ClosestFacilityResult(answer, out, parameters)
    }
}
