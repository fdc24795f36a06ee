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
    /// The service's word for its kind, as `AUTOMOBILE`, `TRUCK` or `WALK`.
    public let type: String
    /// The cost that is a time, as `Minutes`.
    public let timeAttributeName: String
    /// The cost that is a length, as `Meters`.
    public let distanceAttributeName: String
    /// What is least on the best route, by the name that Esri's SDK has for it.
    public var impedanceAttributeName: String { impedance }
    /// What is least on the best route, as `Minutes`.
    public let impedance: String
    private let source: String

    init?(_ json: JSON) {
        guard let name = json.text("name") else { return nil }
        self.name = name
        id = json.text("id") ?? json.text("itemId") ?? name
        impedance = json.text("impedanceAttributeName") ?? ""
        type = json.text("type") ?? ""
        timeAttributeName = json.text("timeAttributeName") ?? ""
        distanceAttributeName = json.text("distanceAttributeName") ?? ""
        source = json.jsonText
    }

    /// As requests have it.
    var parameter: String { source }
}

/// What a route takes.
public final class RouteParameters: BarrierParameters {
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
        var directionsDistanceUnits: UnitSystem?
        var accumulateAttributeNames: [String] = []
        var barriers = Barriers()
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

    /// Costs that are added up along the route besides the one that is least, by the service's
    /// names.
    public var accumulateAttributeNames: [String] {
        get { values.current.accumulateAttributeNames }
        set { values.withLock { $0.accumulateAttributeNames = newValue } }
    }

    /// The language of directions, as `de`; empty for the service's.
    public var directionsLanguage: String {
        get { values.current.directionsLanguage }
        set { values.withLock { $0.directionsLanguage = newValue } }
    }
    /// The units of distances in the texts of directions; nil for metres.
    ///
    /// Lengths are measurements, whatever the units of the texts.
    public var directionsDistanceUnits: UnitSystem? {
        get { values.current.directionsDistanceUnits }
        set { values.withLock { $0.directionsDistanceUnits = newValue } }
    }
    /// The stops.
    public var stops: [Stop] { values.current.stops }
    /// Sets the stops, in order.
    public func setStops(_ stops: [Stop]) { values.withLock { $0.stops = stops } }
    /// Removes all stops.
    public func clearStops() { setStops([]) }
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

/// Systems of units of length.
public enum UnitSystem: Sendable, Hashable {
    /// Miles.
    case imperial
    /// Kilometres.
    case metric

    /// The unit that services are asked for, and read in.
    var length: (parameter: String, metres: Double) {
        switch self {
        case .imperial: ("esriNAUMiles", 1_609.344)
        case .metric: ("esriNAUKilometers", 1_000)
        }
    }
}

/// One step of a route's directions.
public struct DirectionManeuver: Sendable {
    /// What is to be done.
    public let text: String
    /// Of the stretch after it.
    public let length: Measurement<UnitLength>
    /// Of the stretch after it, in seconds.
    public let duration: TimeInterval
    /// The stretch; nil where the service does not send it.
    public let geometry: Geometry?
    /// Its kind.
    public let maneuverKind: Kind
    /// Its kind, by the name that Esri's other SDKs have for it.
    public var maneuverType: Kind { maneuverKind }

    /// The kinds of maneuvers, by the service's names without `esriDMT`.
    public enum Kind: String, Sendable, CaseIterable {
        case unknown = "Unknown", stop = "Stop", straight = "Straight", bearLeft = "BearLeft"
        case bearRight = "BearRight", turnLeft = "TurnLeft", turnRight = "TurnRight"
        case sharpLeft = "SharpLeft", sharpRight = "SharpRight", uTurn = "UTurn", ferry = "Ferry"
        case roundabout = "Roundabout", highwayMerge = "HighwayMerge", highwayExit = "HighwayExit"
        case highwayChange = "HighwayChange", forkCenter = "ForkCenter", forkLeft = "ForkLeft"
        case forkRight = "ForkRight", depart = "Depart", tripItem = "TripItem"
        case endOfFerry = "EndOfFerry", rampRight = "RampRight", rampLeft = "RampLeft"
        case turnLeftRight = "TurnLeftRight", turnRightLeft = "TurnRightLeft"
        case turnRightRight = "TurnRightRight", turnLeftLeft = "TurnLeftLeft"
        case pedestrianRamp = "PedestrianRamp", elevator = "Elevator", escalator = "Escalator"
        case stairs = "Stairs", doorPassage = "DoorPassage"
    }

    init(_ step: JSON, _ reference: SpatialReference, _ metres: Double = 1) {
        let attributes = step["attributes"]
        text = attributes?.text("text") ?? ""
        length = Measurement(
            value: (attributes?["length"]?.number ?? 0) * metres, unit: .meters)
        duration = (attributes?["time"]?.number ?? 0) * 60
        let type = attributes?.text("maneuverType") ?? ""
        maneuverKind = Kind(rawValue: String(type.dropFirst("esriDMT".count))) ?? .unknown
        if let line = Geometry.make(step.member("geometry"), reference) {
            geometry = line
        } else if let text = step.text("compressedGeometry"),
            let places = CompressedLine.points(of: text)
        {
            geometry = Polyline(
                points: places.map { Point(x: $0.x, y: $0.y, spatialReference: reference) })
        } else {
            geometry = nil
        }
    }
}

/// Esri's text form of a line: signed numbers of base 32, a factor and the differences of ordinates
/// (Compressed geometry, Esri's documentation of network services).
enum CompressedLine {
    /// The positions, x and y; nil for other text.
    static func points(of text: String) -> [(x: Double, y: Double)]? {
        var numbers: [Int64] = []
        var digits = ""
        for letter in text + "+" {
            if letter == "+" || letter == "-", !digits.isEmpty {
                guard let number = Int64(digits, radix: 32) else { return nil }
                numbers.append(number)
                digits = ""
            }
            digits.append(letter)
        }
        guard let factor = numbers.first, factor != 0, numbers.count % 2 == 1 else { return nil }
        var (x, y): (Int64, Int64) = (0, 0)
        return stride(from: 1, to: numbers.count, by: 2).map { place in
            x &+= numbers[place]
            y &+= numbers[place + 1]
            return (Double(x) / Double(factor), Double(y) / Double(factor))
        }
    }
}

/// A way from stop to stop.
public struct Route: Sendable {
    /// Its name.
    public let name: String
    /// The line; nil where it was not asked for.
    public let geometry: Polyline?
    /// The steps; empty where they were not asked for.
    public let directionManeuvers: [DirectionManeuver]
    /// Its length; zero where the service says none.
    public let totalLength: Measurement<UnitLength>
    /// Seconds, those spent at stops included.
    public let totalTime: TimeInterval
    /// Seconds on the way, without those at stops; ``totalTime`` where the service does not part
    /// them.
    public let travelTime: TimeInterval
    /// The line, by the older of its two names.
    public var routeGeometry: Polyline? { geometry }
    /// The stops in the order of the route; empty where they were not asked for.
    public let stops: [Stop]
    /// Values by the service's names.
    public let attributes: [String: any Sendable]

    /// A route by its line's attributes and its directions, either of which may be missing.
    init(
        _ line: JSON?, directions: JSON?, stops: [Stop], _ reference: SpatialReference,
        _ metres: Double = 1
    ) {
        let values = line?["attributes"]
        func number(_ units: [(name: String, factor: Double)]) -> Double? {
            units.lazy.compactMap { unit in
                values?["Total_" + unit.name]?.number.map { $0 * unit.factor }
            }.first
        }
        let summary = directions?["summary"]
        let length = number([
            ("Meters", 1), ("Length", 1), ("Kilometers", 1_000), ("Miles", 1_609.344),
        ])
        let seconds = number([
            ("Seconds", 1), ("Minutes", 60), ("TravelTime", 60), ("WalkTime", 60),
            ("TruckTravelTime", 60), ("CycleTime", 60), ("Time", 60),
        ])
        name = values?.text("Name") ?? directions?.text("routeName") ?? ""
        geometry = Geometry.make(line?.member("geometry"), reference) as? Polyline
        directionManeuvers = (directions?["features"]?.elements ?? []).map {
            DirectionManeuver($0, reference, metres)
        }
        totalLength = Measurement(
            value: length ?? (summary?["totalLength"]?.number ?? 0) * metres, unit: .meters)
        totalTime = seconds ?? (summary?["totalTime"]?.number ?? 0) * 60
        travelTime = summary?["totalDriveTime"]?.number.map { $0 * 60 } ?? totalTime
        self.stops = stops
        attributes = AttributeReader([]).attributes(values)
    }
}

/// An answer to a question for a route.
public struct RouteResult: Sendable {
    /// The routes.
    public let routes: [Route]
    /// What the service says about it.
    public let messages: [String]
}

/// Finds routes by a network analysis service.
public final class RouteTask: NetworkTask, @unchecked Sendable {
    /// A task over a layer, `…/NAServer/Route`; nothing is asked before it is loaded.
    public init(url: URL) { super.init(layer: url) }

    /// The service's own parameters, without stops.
    public func makeDefaultParameters() async throws -> RouteParameters {
        let layer = try await description()
        let json = layer.json
        var values = RouteParameters.Values()
        values.returnsDirections = json.member("directionsLanguage") != nil
        values.directionsLanguage = json.text("directionsLanguage") ?? ""
        values.findsBestSequence = json["findBestSequence"]?.flag ?? false
        values.preservesFirstStop = json["preserveFirstStop"]?.flag ?? true
        values.preservesLastStop = json["preserveLastStop"]?.flag ?? true
        values.travelMode = layer.defaultMode
        values.accumulateAttributeNames =
            (json["accumulateAttributeNames"]?.elements ?? []).compactMap(\.text)
        return RouteParameters(values)
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
                // What the values of directions are read as.
                "directionsLengthUnits": values.directionsDistanceUnits?.length.parameter
                    ?? "esriNAUMeters",
                "accumulateAttributeNames":
                    values.accumulateAttributeNames.joined(separator: ",").orNil,
            ])
        values.barriers.add(to: &question)
        question.credential = credential
        return Self.result(
            try await NetworkDescription.solution(question, ["routes", "directions", "stops"]),
            values.outputSpatialReference ?? reference,
            values.directionsDistanceUnits?.length.metres ?? 1)
    }

    private static func result(
        _ json: JSON, _ reference: SpatialReference, _ metres: Double
    ) -> RouteResult {
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
        let routes = (0..<count).map { index in
            Route(
                index < lines.count ? lines[index] : nil,
                directions: index < directions.count ? directions[index] : nil, stops: stops, own,
                metres)
        }
        return RouteResult(
            routes: routes,
            messages: (json["messages"]?.elements ?? []).compactMap { $0.text("description") })
    }
}
