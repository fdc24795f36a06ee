// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

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
        var directionsStyle: DirectionsStyle?
        var routeShapeType = RouteShapeType.trueShape
        var accumulateAttributeNames: [String] = []
        /// The service's own, which belong to its usual travel mode: they are not sent.
        var defaultAccumulateNames: [String] = []
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
    /// The words of directions; nil for the service's.
    public var directionsStyle: DirectionsStyle? {
        get { values.current.directionsStyle }
        set { values.withLock { $0.directionsStyle = newValue } }
    }
    /// The form of the lines of routes.
    public var routeShapeType: RouteShapeType {
        get { values.current.routeShapeType }
        set { values.withLock { $0.routeShapeType = newValue } }
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

/// The form of a route's line, by the service's words.
public enum RouteShapeType: String, Sendable, CaseIterable {
    /// No line.
    case none = "esriNAOutputLineNone"
    /// From stop to stop.
    case straightLine = "esriNAOutputLineStraight"
    /// Along the roads.
    case trueShape = "esriNAOutputLineTrueShape"
    /// Along the roads, with measures where the service has them.
    case trueShapeWithMeasures = "esriNAOutputLineTrueShapeWithMeasure"
}

/// Words of directions, by the service's names.
public enum DirectionsStyle: String, Sendable, CaseIterable {
    /// For reading.
    case desktop = "NA Desktop"
    /// For listening on the way.
    case navigation = "NA Navigation"
    /// For walking in buildings.
    case campus = "NA Campus"
}
