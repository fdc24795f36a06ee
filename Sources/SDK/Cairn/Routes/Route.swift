// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

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
    /// Seconds of waiting at stops that are reached before their time windows.
    public let waitTime: TimeInterval
    /// Seconds by which stops are reached after their time windows, added up.
    public let violationTime: TimeInterval
    /// When it begins; nil where no start was asked for.
    public let startTime: Date?
    /// When it ends; nil where no start was asked for.
    public let endTime: Date?
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
        func number(
            _ units: [(name: String, factor: Double)], _ prefix: String = "Total_"
        ) -> Double? {
            units.lazy.compactMap { unit in
                values?[prefix + unit.name]?.number.map { $0 * unit.factor }
            }.first
        }
        let times = [
            ("Seconds", 1.0), ("Minutes", 60), ("TravelTime", 60), ("WalkTime", 60),
            ("TruckTravelTime", 60), ("CycleTime", 60), ("Time", 60),
        ]
        let summary = directions?["summary"]
        let length = number([
            ("Meters", 1), ("Length", 1), ("Kilometers", 1_000), ("Miles", 1_609.344),
        ])
        let seconds = number(times)
        waitTime = number(times, "TotalWait_") ?? 0
        violationTime = number(times, "TotalViolation_") ?? 0
        startTime = (values?["StartTimeUTC"]?.number).map(Date.init(millisecondsSince1970:))
        endTime = (values?["EndTimeUTC"]?.number).map(Date.init(millisecondsSince1970:))
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
