// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A place that no way goes through.
public final class PointBarrier: Sendable {
    /// The place.
    public let geometry: Point
    private let text = Guarded("")

    /// A place.
    public init(point: Point) { geometry = point }

    /// A name for it, which no request has.
    public var name: String {
        get { text.current }
        set { text.current = newValue }
    }
}

/// A line that no way crosses.
public final class PolylineBarrier: Sendable {
    /// The line.
    public let geometry: Polyline
    private let text = Guarded("")

    /// A line.
    public init(polyline: Polyline) { geometry = polyline }

    /// A name for it, which no request has.
    public var name: String {
        get { text.current }
        set { text.current = newValue }
    }
}

/// An area that no way enters.
public final class PolygonBarrier: Sendable {
    /// The area.
    public let geometry: Polygon
    private let text = Guarded("")

    /// An area.
    public init(polygon: Polygon) { geometry = polygon }

    /// A name for it, which no request has.
    public var name: String {
        get { text.current }
        set { text.current = newValue }
    }
}

/// What may not be passed.
struct Barriers: Sendable {
    var points: [PointBarrier] = []
    var polylines: [PolylineBarrier] = []
    var polygons: [PolygonBarrier] = []

    /// As requests have them.
    func add(to question: inout Question) {
        question.set("barriers", NetworkDescription.features(points.map(\.geometry)))
        question.set("polylineBarriers", NetworkDescription.features(polylines.map(\.geometry)))
        question.set("polygonBarriers", NetworkDescription.features(polygons.map(\.geometry)))
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
