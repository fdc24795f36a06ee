// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A place of a route.
public final class Stop: Sendable {
    private struct State: Sendable {
        var name = ""
        var curbApproach: CurbApproach?
        var isWaypoint = false
    }

    /// How a stop is reached.
    public enum CurbApproach: Int, Sendable { case eitherSide, rightSide, leftSide, noUTurn }

    /// The place.
    public let geometry: Point
    private let state = Guarded(State())

    /// A place.
    public init(point: Point) { geometry = point }

    /// The name that directions have for it.
    public var name: String {
        get { state.current.name }
        set { state.withLock { $0.name = newValue } }
    }

    /// How it is reached; nil for any way.
    public var curbApproach: CurbApproach? {
        get { state.current.curbApproach }
        set { state.withLock { $0.curbApproach = newValue } }
    }

    /// Whether the route only leads through it.
    public var isWaypoint: Bool {
        get { state.current.isWaypoint }
        set { state.withLock { $0.isWaypoint = newValue } }
    }

    var json: JSON {
        let state = state.current
        return .object(of: [
            "geometry": geometry.json,
            "attributes": .object(of: [
                "Name": state.name.isEmpty ? nil : .string(state.name),
                "CurbApproach": state.curbApproach.map { .integer(Int64($0.rawValue)) },
                "LocationType": state.isWaypoint ? .integer(1) : nil,
            ]),
        ])
    }
}

/// How one travels, as a service names it.
public struct TravelMode: Sendable, Hashable {
    /// The name, as `Driving Time`.
    public let name: String
    /// The service's id of it.
    public let id: String
    /// What is least on the best route, as `Minutes`.
    public let impedance: String
    private let source: String

    init?(_ json: JSON) {
        guard let name = json.text("name") else { return nil }
        self.name = name
        id = json.text("id") ?? json.text("itemId") ?? name
        impedance = json.text("impedanceAttributeName") ?? ""
        source = json.jsonText
    }

    /// As requests have it.
    var parameter: String { source }
}

/// What a route takes.
public final class RouteParameters: Sendable {
    struct Values: Sendable {
        var stops: [Stop] = []
        var returnsDirections = false
        var returnsRoutes = true
        var returnsStops = false
        var outputSpatialReference: SpatialReference?
        var findsBestSequence = false
        var preservesFirstStop = true
        var preservesLastStop = true
        var travelMode: TravelMode?
        var startDate: Date?
        var directionsLanguage = ""
        var pointBarriers: [Point] = []
        var polylineBarriers: [Polyline] = []
        var polygonBarriers: [Polygon] = []
    }

    let values: Guarded<Values>

    /// Empty parameters; a service's own are ``RouteTask/makeDefaultParameters()``'s.
    public init() { values = Guarded(Values()) }

    init(_ given: Values) { values = Guarded(given) }

    /// Whether the answer has directions.
    public var returnsDirections: Bool {
        get { values.current.returnsDirections }
        set { values.withLock { $0.returnsDirections = newValue } }
    }
    /// Whether the answer has the lines of routes.
    public var returnsRoutes: Bool {
        get { values.current.returnsRoutes }
        set { values.withLock { $0.returnsRoutes = newValue } }
    }
    /// Whether the answer has the stops, in the order of the route.
    public var returnsStops: Bool {
        get { values.current.returnsStops }
        set { values.withLock { $0.returnsStops = newValue } }
    }
    /// The reference of geometries; nil for that of the stops.
    public var outputSpatialReference: SpatialReference? {
        get { values.current.outputSpatialReference }
        set { values.withLock { $0.outputSpatialReference = newValue } }
    }
    /// Whether the stops may be reached in another order.
    public var findsBestSequence: Bool {
        get { values.current.findsBestSequence }
        set { values.withLock { $0.findsBestSequence = newValue } }
    }
    /// Whether the first stop stays the first.
    public var preservesFirstStop: Bool {
        get { values.current.preservesFirstStop }
        set { values.withLock { $0.preservesFirstStop = newValue } }
    }
    /// Whether the last stop stays the last.
    public var preservesLastStop: Bool {
        get { values.current.preservesLastStop }
        set { values.withLock { $0.preservesLastStop = newValue } }
    }
    /// How one travels; nil for the service's default.
    public var travelMode: TravelMode? {
        get { values.current.travelMode }
        set { values.withLock { $0.travelMode = newValue } }
    }
    /// When the route begins; nil for any time.
    public var startDate: Date? {
        get { values.current.startDate }
        set { values.withLock { $0.startDate = newValue } }
    }
    /// The language of directions, as `de`; empty for the service's.
    public var directionsLanguage: String {
        get { values.current.directionsLanguage }
        set { values.withLock { $0.directionsLanguage = newValue } }
    }
    /// The stops.
    public var stops: [Stop] { values.current.stops }
    /// Sets the stops, in order.
    public func setStops(_ stops: [Stop]) { values.withLock { $0.stops = stops } }
    /// Removes all stops.
    public func clearStops() { setStops([]) }
    /// Places that no route goes through.
    public func setPointBarriers(_ barriers: [Point]) {
        values.withLock { $0.pointBarriers = barriers }
    }
    /// Lines that no route crosses.
    public func setPolylineBarriers(_ barriers: [Polyline]) {
        values.withLock { $0.polylineBarriers = barriers }
    }
    /// Areas that no route enters.
    public func setPolygonBarriers(_ barriers: [Polygon]) {
        values.withLock { $0.polygonBarriers = barriers }
    }
}

/// A step of directions.
public struct DirectionManeuver: Sendable {
    /// The sentence.
    public let text: String
    /// Metres.
    public let length: Double
    /// Minutes.
    public let duration: Double
    /// Its part of the route; nil where the service gives none.
    public let geometry: Geometry?
    /// The service's word for the turn, as `esriDMTTurnLeft`.
    public let maneuverType: String
}

/// A way from stop to stop.
public struct Route: Sendable {
    /// Its name.
    public let name: String
    /// The line; nil where it was not asked for.
    public let geometry: Polyline?
    /// The steps; empty where they were not asked for.
    public let directionManeuvers: [DirectionManeuver]
    /// Metres.
    public let totalLength: Double
    /// Minutes.
    public let totalTime: Double
    /// The stops in the order of the route; empty where they were not asked for.
    public let stops: [Stop]
    /// Values by the service's names.
    public let attributes: [String: any Sendable]
}

/// An answer to a question for a route.
public struct RouteResult: Sendable {
    /// The routes.
    public let routes: [Route]
    /// What the service says about it.
    public let messages: [String]
}

/// Finds routes by a network analysis service.
public final class RouteTask: LoadableBase, @unchecked Sendable {
    private struct Description: Sendable {
        var modes: [TravelMode] = []
        var defaultMode: String?
        var values = RouteParameters.Values()
        var maxStops: Int?
    }

    /// The URL, as `…/NAServer/Route`.
    public let url: URL
    private let described = Guarded(Description())
    private let token = Guarded<(any ArcGISCredential)?>(nil)

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    /// The credential for its requests; nil for the stored ones.
    public var credential: (any ArcGISCredential)? {
        get { token.current }
        set { token.current = newValue }
    }

    /// The travel modes that the service names; empty before it is loaded.
    public var travelModes: [TravelMode] { described.current.modes }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url, credential)
        var modes = (json["supportedTravelModes"]?.elements ?? []).compactMap { TravelMode($0) }
        if modes.isEmpty {
            let asked = try? await Requester.json(
                {
                    var question = Question(url.below("retrieveTravelModes"))
                    question.credential = credential
                    return question
                }())
            modes = (asked?["supportedTravelModes"]?.elements ?? []).compactMap { TravelMode($0) }
        }
        var values = RouteParameters.Values()
        values.returnsDirections = json.member("directionsLanguage") != nil
        values.directionsLanguage = json.text("directionsLanguage") ?? ""
        values.findsBestSequence = json["findBestSequence"]?.flag ?? false
        values.preservesFirstStop = json["preserveFirstStop"]?.flag ?? true
        values.preservesLastStop = json["preserveLastStop"]?.flag ?? true
        let wanted = json.text("defaultTravelMode")
        values.travelMode = modes.first { $0.id == wanted || $0.name == wanted } ?? modes.first
        described.current = Description(modes: modes, defaultMode: wanted, values: values)
    }

    /// The service's own parameters, without stops.
    public func makeDefaultParameters() async throws -> RouteParameters {
        try await load()
        return RouteParameters(described.current.values)
    }

    /// Solves a route; throws ``CairnError`` (`invalidArgument`) for fewer than two stops or stops
    /// in several references, and ``ServiceError``.
    public func solveRoute(using parameters: RouteParameters) async throws -> RouteResult {
        let values = parameters.values.current
        guard values.stops.count >= 2 else {
            throw CairnError(
                .invalidArgument, "stops: expected two or more, found \(values.stops.count)")
        }
        let references = Set(values.stops.map { $0.geometry.spatialReference })
        guard references.count == 1, let reference = references.first ?? nil else {
            throw CairnError(
                .invalidArgument, "stops: expected all in one spatial reference")
        }
        try await load()
        func set(_ geometries: [Geometry]) -> String? {
            guard !geometries.isEmpty else { return nil }
            return JSON.object([
                (
                    name: "features",
                    value: .array(geometries.map { .object([(name: "geometry", value: $0.json)]) })
                )
            ]).jsonText
        }
        var question = Question(
            url.below("solve"),
            [
                "stops": JSON.object([
                    (name: "features", value: .array(values.stops.map(\.json)))
                ]).jsonText,
                "returnDirections": String(values.returnsDirections),
                "returnRoutes": String(values.returnsRoutes),
                "returnStops": String(values.returnsStops),
                "outSR": (values.outputSpatialReference ?? reference).parameter,
                "findBestSequence": String(values.findsBestSequence),
                "preserveFirstStop": String(values.preservesFirstStop),
                "preserveLastStop": String(values.preservesLastStop),
                "travelMode": values.travelMode?.parameter,
                "startTime": values.startDate.map { String($0.millisecondsSince1970) },
                "directionsLanguage": values.directionsLanguage.orNil,
                "barriers": set(values.pointBarriers),
                "polylineBarriers": set(values.polylineBarriers),
                "polygonBarriers": set(values.polygonBarriers),
            ])
        question.credential = credential
        return Self.result(
            try await Requester.json(question), values.outputSpatialReference ?? reference)
    }

    private static func result(_ json: JSON, _ reference: SpatialReference) -> RouteResult {
        let lines = json["routes"]?["features"]?.elements ?? []
        let own = SpatialReference(json["routes"]?.member("spatialReference")) ?? reference
        let directions = json["directions"]?.elements ?? []
        let stops = (json["stops"]?["features"]?.elements ?? []).compactMap { element -> Stop? in
            guard let point = Geometry.make(element.member("geometry"), own) as? Point else {
                return nil
            }
            let stop = Stop(point: point)
            stop.name = element["attributes"]?.text("Name") ?? ""
            return stop
        }
        let count = max(lines.count, directions.count)
        let routes = (0..<count).map { index -> Route in
            let line = index < lines.count ? lines[index] : nil
            let steps = index < directions.count ? directions[index] : nil
            let attributes = AttributeReader([]).attributes(line?["attributes"])
            func number(_ names: [String]) -> Double? {
                names.lazy.compactMap { line?["attributes"]?[$0]?.number }.first
            }
            let summary = steps?["summary"]
            let kilometres = number(["Total_Kilometers"]).map { $0 * 1_000 }
            let miles = number(["Total_Miles"]).map { $0 * 1_609.344 }
            return Route(
                name: line?["attributes"]?.text("Name") ?? steps?.text("routeName") ?? "",
                geometry: Geometry.make(line?.member("geometry"), own) as? Polyline,
                directionManeuvers: (steps?["features"]?.elements ?? []).map { step in
                    DirectionManeuver(
                        text: step["attributes"]?.text("text") ?? "",
                        length: step["attributes"]?["length"]?.number ?? 0,
                        duration: step["attributes"]?["time"]?.number ?? 0,
                        geometry: Geometry.make(step.member("geometry"), own),
                        maneuverType: step["attributes"]?.text("maneuverType") ?? "")
                },
                totalLength: number(["Total_Meters"]) ?? kilometres ?? miles
                    ?? summary?["totalLength"]?.number ?? 0,
                totalTime: number(["Total_Minutes", "Total_TravelTime", "Total_Time"])
                    ?? number(["Total_Seconds"]).map { $0 / 60 }
                    ?? summary?["totalTime"]?.number ?? 0,
                stops: stops, attributes: attributes)
        }
        return RouteResult(
            routes: routes,
            messages: (json["messages"]?.elements ?? []).compactMap { $0.text("description") })
    }
}
