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
public final class ServiceAreaFacility: Sendable {
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

/// What a service area takes.
public final class ServiceAreaParameters: BarrierParameters {
    /// Whether areas lie between two cutoffs or reach from the facility on.
    public enum GeometryAtCutoff: Sendable, Hashable { case rings, disks }

    /// What becomes of areas of several facilities where they overlap.
    public enum GeometryAtOverlap: Sendable, Hashable {
        /// Each stays whole.
        case overlap
        /// Those of equal cutoffs become one.
        case dissolve
        /// Each place is that of its closest facility.
        case split
    }

    /// How closely areas follow the roads.
    public enum PolygonDetail: Sendable, Hashable { case generalized, standard, high }

    struct Values: Sendable {
        var defaultImpedanceCutoffs: [Double] = []
        var travelDirection: TravelDirection?
        var travelMode: TravelMode?
        var geometryAtCutoff = GeometryAtCutoff.rings
        var geometryAtOverlap: GeometryAtOverlap?
        var polygonDetail = PolygonDetail.standard
        var returnsPolygons = true
        var returnsPolylines = false
        var outputSpatialReference: SpatialReference?
        var startDate: Date?
        var barriers = Barriers()
        var facilities: [ServiceAreaFacility] = []
        /// A table whose features are the facilities, and which of them.
        var source: (table: FeatureTable, query: QueryParameters)?
    }

    let values: Guarded<Values>

    /// Empty parameters; a service's own are ``ServiceAreaTask/makeDefaultParameters()``'s.
    public init() { values = Guarded(Values()) }

    init(_ given: Values) { values = Guarded(given) }

    /// The costs up to which areas reach, in the unit of the travel mode's cost.
    public var defaultImpedanceCutoffs: [Double] { values.current.defaultImpedanceCutoffs }
    /// Adds a cost up to which areas reach.
    public func addDefaultImpedanceCutoff(_ cutoff: Double) { addDefaultImpedanceCutoffs([cutoff]) }
    /// Adds costs up to which areas reach.
    public func addDefaultImpedanceCutoffs(_ cutoffs: [Double]) {
        values.withLock { $0.defaultImpedanceCutoffs += cutoffs }
    }
    /// Removes all costs up to which areas reach.
    public func removeAllDefaultImpedanceCutoffs() {
        values.withLock { $0.defaultImpedanceCutoffs = [] }
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
    /// Whether areas lie between two cutoffs; rings.
    public var geometryAtCutoff: GeometryAtCutoff {
        get { values.current.geometryAtCutoff }
        set { values.withLock { $0.geometryAtCutoff = newValue } }
    }
    /// What becomes of areas where they overlap; nil for the service's.
    public var geometryAtOverlap: GeometryAtOverlap? {
        get { values.current.geometryAtOverlap }
        set { values.withLock { $0.geometryAtOverlap = newValue } }
    }
    /// How closely areas follow the roads.
    public var polygonDetail: PolygonDetail {
        get { values.current.polygonDetail }
        set { values.withLock { $0.polygonDetail = newValue } }
    }
    /// Whether areas are wanted.
    public var returnsPolygons: Bool {
        get { values.current.returnsPolygons }
        set { values.withLock { $0.returnsPolygons = newValue } }
    }
    /// Whether the reached roads are wanted.
    public var returnsPolylines: Bool {
        get { values.current.returnsPolylines }
        set { values.withLock { $0.returnsPolylines = newValue } }
    }
    /// The reference of the answer; nil for that of the facilities.
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
    public var facilities: [ServiceAreaFacility] { values.current.facilities }
    /// Replaces the facilities.
    public func setFacilities(_ facilities: [ServiceAreaFacility]) {
        values.withLock { ($0.facilities, $0.source) = (facilities, nil) }
    }
    /// Replaces the facilities by the points of a table, which is asked when the area is solved.
    public func setFacilities(
        fromFeaturesIn featureTable: FeatureTable, queryParameters: QueryParameters
    ) {
        values.withLock { ($0.facilities, $0.source) = ([], (featureTable, queryParameters)) }
    }
    /// Removes the facilities.
    public func clearFacilities() { setFacilities([]) }
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

extension ServiceAreaParameters.Values {
    /// The facilities given, else the points of the table.
    func foundFacilities() async throws -> [ServiceAreaFacility] {
        guard let source else { return facilities }
        return try await source.table.queryFeatures(using: source.query).features().compactMap {
            ($0.geometry as? Point).map { ServiceAreaFacility(point: $0) }
        }
    }

    /// The word of the REST for ``geometryAtOverlap``, as its two parameters.
    var overlap: (overlaps: String, merges: String?)? {
        switch geometryAtOverlap {
        case nil: nil
        case .overlap: ("true", "false")
        case .dissolve: ("true", "true")
        case .split: ("false", "false")
        }
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

    /// The facilities of the question, in the order of their numbers.
    public let facilities: [ServiceAreaFacility]

    init(
        _ json: JSON, _ reference: SpatialReference, _ facilities: [ServiceAreaFacility]
    ) {
        self.facilities = facilities
        func areas(_ name: String) -> [Int: [ServiceArea]] {
            let own = SpatialReference(json[name]?.member("spatialReference")) ?? reference
            var areas: [Int: [ServiceArea]] = [:]
            for feature in json[name]?["features"]?.elements ?? [] {
                let values = feature["attributes"]
                guard let geometry = Geometry.make(feature.member("geometry"), own),
                    let facility = values?["FacilityID"]?.place
                else { continue }
                areas[facility, default: []].append(
                    ServiceArea(
                        geometry: geometry,
                        fromImpedanceCutoff: values?["FromBreak"]?.number ?? 0,
                        toImpedanceCutoff: values?["ToBreak"]?.number ?? 0))
            }
            return areas
        }
        polygons = areas("saPolygons")
        polylines = areas("saPolylines")
        messages = NetworkDescription.messages(json)
    }
}

/// Finds what is reached from facilities by a network analysis service.
public final class ServiceAreaTask: NetworkTask, @unchecked Sendable {
    /// A task over a layer, `…/NAServer/ServiceArea`; nothing is asked before it is loaded.
    public init(url: URL) { super.init(layer: url) }

    /// The service's own parameters, without facilities.
    public func makeDefaultParameters() async throws -> ServiceAreaParameters {
        let layer = try await description()
        var parameters = ServiceAreaParameters.Values()
        parameters.travelMode = layer.defaultMode
        parameters.defaultImpedanceCutoffs =
            (layer.json["defaultBreaks"]?.elements ?? []).compactMap(\.number)
        return ServiceAreaParameters(parameters)
    }

    /// Finds areas; throws ``CairnError`` (`invalidArgument`) without facilities or for facilities
    /// in several references, and ``ServiceError``.
    public func solveServiceArea(
        using parameters: ServiceAreaParameters
    ) async throws -> ServiceAreaResult {
        let parameters = parameters.values.current
        let facilities = try await parameters.foundFacilities()
        let reference = try NetworkDescription.reference(
            of: facilities.map(\.geometry), "facilities")
        try await load()
        let out = parameters.outputSpatialReference ?? reference
        var question = Question(
            url.below("solveServiceArea"),
            [
                "facilities": NetworkDescription.places(
                    facilities.map { ($0.geometry, $0.name) }),
                "defaultBreaks":
                    parameters.defaultImpedanceCutoffs.map { "\($0)" }.joined(separator: ",").orNil,
                "travelDirection": parameters.travelDirection?.parameter,
                "travelMode": parameters.travelMode?.parameter,
                "splitPolygonsAtBreaks": String(parameters.geometryAtCutoff == .rings),
                "outputPolygons": parameters.returnsPolygons
                    ? parameters.polygonDetail == .high
                        ? "esriNAOutputPolygonDetailed" : "esriNAOutputPolygonSimplified"
                    : "esriNAOutputPolygonNone",
                "overlapPolygons": parameters.overlap?.overlaps,
                // One facility has nothing to merge with, and some services refuse to merge.
                "mergeSimilarPolygonRanges": facilities.count > 1
                    ? parameters.overlap?.merges : parameters.overlap.map { _ in "false" },
                "outputLines": parameters.returnsPolylines
                    ? "esriNAOutputLineTrueShape" : "esriNAOutputLineNone",
                "timeOfDay": parameters.startDate.map { String($0.millisecondsSince1970) },
                "timeOfDayIsUTC": parameters.startDate.map { _ in "true" },
                "outSR": out.parameter,
            ])
        parameters.barriers.add(to: &question)
        question.credential = credential
        let answer = try await NetworkDescription.solution(
            question, ["saPolygons", "saPolylines"])
        return ServiceAreaResult(answer, out, facilities)
    }
}
