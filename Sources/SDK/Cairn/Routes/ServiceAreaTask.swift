// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Whether travel is towards facilities or away from them.
public enum TravelDirection: Sendable, Hashable {
    case fromFacility
    case toFacility

    var parameter: String {
        switch self {
        case .fromFacility: "esriNATravelDirectionFromFacility"
        case .toFacility: "esriNATravelDirectionToFacility"
        }
    }
}

/// A place around which an area is looked for.
public struct ServiceAreaFacility: Sendable {
    /// The place.
    public let geometry: Point
    /// The name that areas have of it.
    public var name: String

    /// A place.
    public init(point: Point, name: String = "") {
        geometry = point
        self.name = name
    }
}

/// What a service area takes.
public struct ServiceAreaParameters: Sendable {
    /// Whether areas lie between two cutoffs or reach from the facility on.
    public enum GeometryAtCutoff: Sendable, Hashable { case rings, disks }

    /// The costs up to which areas reach, in the unit of the travel mode's cost.
    public var defaultImpedanceCutoffs: [Double] = []
    /// The direction; nil for the service's.
    public var travelDirection: TravelDirection?
    /// The travel mode; nil for the service's.
    public var travelMode: TravelMode?
    /// Whether areas lie between two cutoffs; rings.
    public var geometryAtCutoff = GeometryAtCutoff.rings
    /// Whether areas are wanted.
    public var returnsPolygons = true
    /// Whether the reached roads are wanted.
    public var returnsPolylines = false
    /// The reference of the answer; nil for that of the facilities.
    public var outputSpatialReference: SpatialReference?
    /// When the travel begins; nil for no time.
    public var startDate: Date?
    /// Places that may not be passed.
    public var pointBarriers: [Point] = []
    /// The facilities.
    public private(set) var facilities: [ServiceAreaFacility] = []

    /// Empty parameters; a service's own are ``ServiceAreaTask/makeDefaultParameters()``'s.
    public init() {}

    /// Replaces the facilities.
    public mutating func setFacilities(_ facilities: [ServiceAreaFacility]) {
        self.facilities = facilities
    }
}

/// An area, or the roads of one.
public struct ServiceArea: Sendable {
    /// Polygon or polyline.
    public let geometry: Geometry
    /// The lower cost, in the unit of the travel mode's cost.
    public let fromImpedanceCutoff: Double
    /// The upper cost.
    public let toImpedanceCutoff: Double
}

/// An answer to a question for service areas.
public struct ServiceAreaResult: Sendable {
    /// What the service says about it.
    public let messages: [String]
    private let polygons: [Int: [ServiceArea]]
    private let polylines: [Int: [ServiceArea]]

    /// The areas of a facility, by its place in the parameters.
    public func resultPolygons(forFacilityAtIndex index: Int) -> [ServiceArea] {
        polygons[index] ?? []
    }

    /// The reached roads of a facility, by its place in the parameters.
    public func resultPolylines(forFacilityAtIndex index: Int) -> [ServiceArea] {
        polylines[index] ?? []
    }

    init(_ json: JSON, _ reference: SpatialReference) {
        func areas(_ name: String, _ from: String, _ to: String) -> [Int: [ServiceArea]] {
            let own = SpatialReference(json[name]?.member("spatialReference")) ?? reference
            var areas: [Int: [ServiceArea]] = [:]
            for feature in json[name]?["features"]?.elements ?? [] {
                let values = feature["attributes"]
                guard let geometry = Geometry.make(feature.member("geometry"), own),
                    let facility = values?["FacilityID"]?.number
                else { continue }
                areas[Int(facility) - 1, default: []].append(
                    ServiceArea(
                        geometry: geometry,
                        fromImpedanceCutoff: values?[from]?.number ?? 0,
                        toImpedanceCutoff: values?[to]?.number ?? 0))
            }
            return areas
        }
        polygons = areas("saPolygons", "FromBreak", "ToBreak")
        polylines = areas("saPolylines", "FromBreak", "ToBreak")
        messages = (json["messages"]?.elements ?? []).compactMap { $0.text("description") }
    }
}

/// Finds what is reached from facilities by a network analysis service.
public final class ServiceAreaTask: NetworkTask, @unchecked Sendable {
    /// A task over a layer, `…/NAServer/ServiceArea`; nothing is asked before it is loaded.
    public init(url: URL) { super.init(layer: url) }

    /// The service's own parameters, without facilities.
    public func makeDefaultParameters() async throws -> ServiceAreaParameters {
        let layer = try await description()
        var parameters = ServiceAreaParameters()
        parameters.travelMode = layer.defaultMode
        parameters.defaultImpedanceCutoffs =
            (layer.json["defaultBreaks"]?.elements ?? []).compactMap(\.number)
        return parameters
    }

    /// Finds areas; throws ``CairnError`` (`invalidArgument`) without facilities or for facilities
    /// in several references, and ``ServiceError``.
    public func solveServiceArea(
        using parameters: ServiceAreaParameters
    ) async throws -> ServiceAreaResult {
        let reference = try NetworkDescription.reference(
            of: parameters.facilities.map(\.geometry), "facilities")
        try await load()
        let out = parameters.outputSpatialReference ?? reference
        var question = Question(
            url.below("solveServiceArea"),
            [
                "facilities": NetworkDescription.features(
                    parameters.facilities.map { facility in
                        .object(of: [
                            "geometry": facility.geometry.json,
                            "attributes": .object(of: [
                                "Name": facility.name.isEmpty ? nil : .string(facility.name)
                            ]),
                        ])
                    }),
                "defaultBreaks":
                    parameters.defaultImpedanceCutoffs.map { "\($0)" }.joined(separator: ",").orNil,
                "travelDirection": parameters.travelDirection?.parameter,
                "travelMode": parameters.travelMode?.parameter,
                "splitPolygonsAtBreaks": String(parameters.geometryAtCutoff == .rings),
                "outputPolygons": parameters.returnsPolygons
                    ? "esriNAOutputPolygonSimplified" : "esriNAOutputPolygonNone",
                "outputLines": parameters.returnsPolylines
                    ? "esriNAOutputLineTrueShape" : "esriNAOutputLineNone",
                "timeOfDay": parameters.startDate.map { String($0.millisecondsSince1970) },
                "barriers": NetworkDescription.features(parameters.pointBarriers),
                "outSR": out.parameter,
            ])
        question.credential = credential
        return ServiceAreaResult(try await Requester.json(question), out)
    }
}
