// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

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
