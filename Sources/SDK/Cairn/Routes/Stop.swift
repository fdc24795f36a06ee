// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A place of a route.
public final class Stop: Sendable {
    private struct State: Sendable {
        var name = ""
        var routeName = ""
        var curbApproach: CurbApproach?
        var isWaypoint = false
        var timeWindows: [TimeWindow] = []
        var locationStatus = LocationStatus.notLocated
    }

    /// How a stop is reached.
    public enum CurbApproach: Int, Sendable { case eitherSide, rightSide, leftSide, noUTurn }

    /// How a service found a stop on its roads.
    public enum LocationStatus: Sendable, Hashable {
        /// No road is near by, or no service was asked.
        case notLocated
        /// On the closest road.
        case onClosest
        /// On the closest road that may be used, not the closest.
        case onClosestNotRestricted
        /// On a road, which no route reaches.
        case notReached

        init(_ number: Double?) {
            self =
                switch number {
                case 0, 6: .onClosest
                case 5: .notReached
                case 7: .onClosestNotRestricted
                default: .notLocated
                }
        }
    }

    /// The place.
    public let geometry: Point
    private let state = Guarded(State())

    /// A place.
    public init(point: Point) { geometry = point }

    /// A stop of an answer.
    convenience init(_ point: Point, _ attributes: JSON?) {
        self.init(point: point)
        state.withLock {
            $0.name = attributes?.text("Name") ?? ""
            $0.routeName = attributes?.text("RouteName") ?? ""
            $0.locationStatus = LocationStatus(attributes?["Status"]?.number)
        }
    }

    /// How the service found it; `notLocated` before it was asked.
    public var locationStatus: LocationStatus { state.current.locationStatus }
    /// The route that it belongs to: there is one for each name.
    public var routeName: String {
        get { state.current.routeName }
        set { state.withLock { $0.routeName = newValue } }
    }
    /// When it can be visited, at most one; empty for any time.
    ///
    /// The request needs ``RouteParameters/startDate``.
    public var timeWindows: [TimeWindow] {
        get { state.current.timeWindows }
        set { state.withLock { $0.timeWindows = newValue } }
    }

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
                "RouteName": state.routeName.isEmpty ? nil : .string(state.routeName),
                "LocationType": state.isWaypoint ? .integer(1) : nil,
                "TimeWindowStart": state.timeWindows.first.map {
                    .integer($0.startDate.millisecondsSince1970)
                },
                "TimeWindowEnd": state.timeWindows.first.map {
                    .integer($0.endDate.millisecondsSince1970)
                },
            ]),
        ])
    }
}

/// When a stop can be visited.
public struct TimeWindow: Sendable, Hashable {
    /// From when.
    public var startDate: Date
    /// Until when.
    public var endDate: Date

    /// A window of time.
    public init(startDate: Date, endDate: Date) {
        (self.startDate, self.endDate) = (startDate, endDate)
    }
}
