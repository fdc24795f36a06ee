// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// What stands in the way of the routes of one request: a ``PointBarrier``, ``PolylineBarrier`` or
/// ``PolygonBarrier``.
public class Barrier: @unchecked Sendable {
    /// What a barrier does.
    public enum Kind: Sendable, Hashable {
        /// No way goes through.
        case restriction
        /// A way through costs more.
        case costAdjustment
    }

    /// The base of points' and areas' costs, and of points' sides.
    struct State: Sendable {
        var name = ""
        var kind = Kind.restriction
        var costs: [String: Double] = [:]
        var curbApproach = Stop.CurbApproach.eitherSide
    }

    let state = Guarded(State())
    let shape: Geometry

    init(_ shape: Geometry) { self.shape = shape }

    /// The name that messages have for it.
    public final var name: String {
        get { state.current.name }
        set { state.withLock { $0.name = newValue } }
    }

    /// The barrier as requests have it, with the number that its cost adjustment has there.
    func json(adjustment: Int64) -> JSON {
        let state = state.current
        let adjusts = state.kind == .costAdjustment
        var attributes: [(name: String, value: JSON)] = []
        if !state.name.isEmpty { attributes.append(("Name", .string(state.name))) }
        if adjusts {
            attributes.append(("BarrierType", .integer(adjustment)))
            for (name, cost) in state.costs.sorted(by: { $0.key < $1.key }) {
                attributes.append(("Attr_" + name, .real(cost)))
            }
        }
        if state.curbApproach != .eitherSide {
            attributes.append(("CurbApproach", .integer(Int64(state.curbApproach.rawValue))))
        }
        return .object(of: [
            "geometry": shape.json,
            "attributes": attributes.isEmpty ? nil : .object(attributes),
        ])
    }
}

/// A place that no way goes through, or only at a cost.
///
/// A restriction is of the place alone: stops on either side of it on the same road are reached.
public final class PointBarrier: Barrier, @unchecked Sendable {
    /// The place.
    public let geometry: Point

    /// A place.
    public init(point: Point) {
        geometry = point
        super.init(point)
    }

    /// What it does; ``Barrier/Kind/restriction`` unless set.
    public var kind: Kind {
        get { state.current.kind }
        set { state.withLock { $0.kind = newValue } }
    }

    /// What a way through costs more, where it adjusts costs: by the names of the service's cost
    /// attributes in their units, as `["TravelTime": 5]` for five minutes.
    public var addedCosts: [String: Double] {
        get { state.current.costs }
        set { state.withLock { $0.costs = newValue } }
    }

    /// On which side of the vehicles it stands that it is about; those of the other direction pass.
    ///
    /// ``Stop/CurbApproach/noUTurn`` is refused by services.
    public var curbApproach: Stop.CurbApproach {
        get { state.current.curbApproach }
        set { state.withLock { $0.curbApproach = newValue } }
    }
}

/// A line that no way crosses.
public final class PolylineBarrier: Barrier, @unchecked Sendable {
    /// The line.
    public let geometry: Polyline

    /// A line.
    public init(polyline: Polyline) {
        geometry = polyline
        super.init(polyline)
    }
}

/// An area that no way enters, or only at a cost.
public final class PolygonBarrier: Barrier, @unchecked Sendable {
    /// The area.
    public let geometry: Polygon

    /// An area.
    public init(polygon: Polygon) {
        geometry = polygon
        super.init(polygon)
    }

    /// What it does; ``Barrier/Kind/restriction`` unless set.
    public var kind: Kind {
        get { state.current.kind }
        set { state.withLock { $0.kind = newValue } }
    }

    /// By what costs within it are multiplied, where it adjusts them: by the names of the service's
    /// cost attributes, as `["TravelTime": 1.5]`.
    public var scaleFactors: [String: Double] {
        get { state.current.costs }
        set { state.withLock { $0.costs = newValue } }
    }
}

/// What may not be passed.
struct Barriers: Sendable {
    var points: [PointBarrier] = []
    var polylines: [PolylineBarrier] = []
    var polygons: [PolygonBarrier] = []

    /// As requests have them.
    func add(to question: inout Question) {
        func set(_ name: String, _ barriers: [Barrier], adjustment: Int64) {
            guard !barriers.isEmpty else { return }
            question.set(
                name,
                NetworkDescription.features(barriers.map { $0.json(adjustment: adjustment) }))
        }
        set("barriers", points, adjustment: 2)
        set("polylineBarriers", polylines, adjustment: 0)
        set("polygonBarriers", polygons, adjustment: 1)
    }
}

/// Parameters with what may not be passed.
public protocol BarrierParameters: AnyObject, Sendable {
    /// Replaces the places that no way goes through.
    func setPointBarriers(_ barriers: [PointBarrier])
    /// Replaces the lines that no way crosses.
    func setPolylineBarriers(_ barriers: [PolylineBarrier])
    /// Replaces the areas that no way enters.
    func setPolygonBarriers(_ barriers: [PolygonBarrier])
}

extension BarrierParameters {
    /// Removes the places that no way goes through.
    public func clearPointBarriers() { setPointBarriers([]) }
    /// Removes the lines that no way crosses.
    public func clearPolylineBarriers() { setPolylineBarriers([]) }
    /// Removes the areas that no way enters.
    public func clearPolygonBarriers() { setPolygonBarriers([]) }
}
