// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A place that may be the closest one.
public struct Facility: Sendable {
    /// The place.
    public let geometry: Point
    /// The name that routes have of it.
    public var name: String

    /// A place.
    public init(point: Point, name: String = "") {
        geometry = point
        self.name = name
    }
}

/// A place from which, or to which, the closest facilities are looked for.
public struct Incident: Sendable {
    /// The place.
    public let geometry: Point
    /// The name that routes have of it.
    public var name: String

    /// A place.
    public init(point: Point, name: String = "") {
        geometry = point
        self.name = name
    }
}

/// What a question for closest facilities takes.
public struct ClosestFacilityParameters: Sendable {
    /// Most facilities of each incident.
    public var defaultTargetFacilityCount = 1
    /// The cost beyond which no facility counts, in the unit of the travel mode's cost; nil for
    /// none.
    public var defaultImpedanceCutoff: Double?
    /// The direction; nil for the service's.
    public var travelDirection: TravelDirection?
    /// The travel mode; nil for the service's.
    public var travelMode: TravelMode?
    /// Whether routes have directions.
    public var returnsDirections = false
    /// Whether routes have lines.
    public var returnsRoutes = true
    /// The reference of the answer; nil for that of the incidents.
    public var outputSpatialReference: SpatialReference?
    /// When the travel begins; nil for no time.
    public var startDate: Date?
    /// Places that may not be passed.
    public var pointBarriers: [Point] = []
    /// The facilities.
    public private(set) var facilities: [Facility] = []
    /// The incidents.
    public private(set) var incidents: [Incident] = []

    /// Empty parameters; a service's own are ``ClosestFacilityTask/makeDefaultParameters()``'s.
    public init() {}

    /// Replaces the facilities.
    public mutating func setFacilities(_ facilities: [Facility]) { self.facilities = facilities }

    /// Replaces the incidents.
    public mutating func setIncidents(_ incidents: [Incident]) { self.incidents = incidents }
}

/// An answer to a question for closest facilities.
public struct ClosestFacilityResult: Sendable {
    /// What the service says about it.
    public let messages: [String]
    /// By incident, each with the places of its facilities and the routes to them, the closest
    /// first.
    private let ranked: [Int: [(facility: Int, route: Route)]]

    /// The facilities of an incident by their places in the parameters, the closest first.
    public func rankedIndexesOfFacilities(forIncidentAtIndex index: Int) -> [Int] {
        (ranked[index] ?? []).map(\.facility)
    }

    /// The route between a facility and an incident; nil where it is not among the closest.
    public func route(forFacilityAtIndex facility: Int, incidentAtIndex incident: Int) -> Route? {
        ranked[incident]?.first { $0.facility == facility }?.route
    }

    init(_ json: JSON, _ reference: SpatialReference) {
        let own = SpatialReference(json["routes"]?.member("spatialReference")) ?? reference
        let directions = json["directions"]?.elements ?? []
        var found: [Int: [(rank: Double, facility: Int, route: Route)]] = [:]
        for line in json["routes"]?["features"]?.elements ?? [] {
            let values = line["attributes"]
            guard let facility = values?["FacilityID"]?.number,
                let incident = values?["IncidentID"]?.number
            else { continue }
            let id = values?["ObjectID"]?.number
            let steps = directions.first { $0["routeId"]?.number == id && id != nil }
            found[Int(incident) - 1, default: []].append(
                (
                    values?["FacilityRank"]?.number ?? 0, Int(facility) - 1,
                    Route(line, directions: steps, stops: [], own)
                ))
        }
        ranked = found.mapValues { routes in
            routes.sorted { $0.rank < $1.rank }.map { ($0.facility, $0.route) }
        }
        messages = (json["messages"]?.elements ?? []).compactMap { $0.text("description") }
    }
}

/// Finds the closest of several facilities by a network analysis service.
public final class ClosestFacilityTask: NetworkTask, @unchecked Sendable {
    /// A task over a layer, `…/NAServer/ClosestFacility`; nothing is asked before it is loaded.
    public init(url: URL) { super.init(layer: url) }

    /// The service's own parameters, without facilities and incidents.
    public func makeDefaultParameters() async throws -> ClosestFacilityParameters {
        let layer = try await description()
        var parameters = ClosestFacilityParameters()
        parameters.travelMode = layer.defaultMode
        if let count = layer.json["defaultTargetFacilityCount"]?.number {
            parameters.defaultTargetFacilityCount = Int(count)
        }
        return parameters
    }

    /// Finds the closest facilities; throws ``CairnError`` (`invalidArgument`) without facilities
    /// or incidents and for places in several references, and ``ServiceError``.
    public func solveClosestFacility(
        using parameters: ClosestFacilityParameters
    ) async throws -> ClosestFacilityResult {
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
        func places(_ places: [(Point, String)]) -> String {
            NetworkDescription.features(
                places.map { point, name in
                    .object(of: [
                        "geometry": point.json,
                        "attributes": .object(of: ["Name": name.isEmpty ? nil : .string(name)]),
                    ])
                })
        }
        var question = Question(
            url.below("solveClosestFacility"),
            [
                "incidents": places(parameters.incidents.map { ($0.geometry, $0.name) }),
                "facilities": places(parameters.facilities.map { ($0.geometry, $0.name) }),
                "defaultTargetFacilityCount": String(parameters.defaultTargetFacilityCount),
                "defaultCutoff": parameters.defaultImpedanceCutoff.map { "\($0)" },
                "travelDirection": parameters.travelDirection?.parameter,
                "travelMode": parameters.travelMode?.parameter,
                "returnCFRoutes": String(parameters.returnsRoutes),
                "returnDirections": String(parameters.returnsDirections),
                "directionsLengthUnits": "esriNAUMeters",
                "timeOfDay": parameters.startDate.map { String($0.millisecondsSince1970) },
                "barriers": NetworkDescription.features(parameters.pointBarriers),
                "outSR": out.parameter,
            ])
        question.credential = credential
        return ClosestFacilityResult(try await Requester.json(question), out)
    }
}
