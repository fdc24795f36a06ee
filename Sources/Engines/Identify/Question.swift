// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// A request put in the terms of its map: what is searched around what, how far, at which scale.
struct Question {
    /// The map's spatial reference; the shape and the distance are in it.
    let reference: SpatialReference
    /// The query geometry as it is, in the map's spatial reference.
    let geometry: Shape
    /// The query geometry, ready for exact questions.
    let shape: PreparedShape
    /// How far from it a feature still counts, in map units.
    let distance: Double
    /// Map units per pixel; nil when the screen's size or extent is zero.
    let resolution: Double?
    /// The denominator of the map's scale; nil when the screen's size or extent is zero.
    let scale: Double?
    /// The middle of the query geometry, where layers are asked that know single positions only.
    ///
    /// Nil where that has no finite place.
    let middle: Coordinate?
    /// Everything that can be near enough lies in this rectangle.
    let searchEnvelope: Envelope

    /// Throws `invalidParameter` when the geometry has no place in the map's spatial reference.
    init(
        _ request: IdentifyRequest, in reference: SpatialReference, _ transforms: Transforms
    ) throws(Failure) {
        self.reference = reference
        let screenReference = request.spatialReference ?? reference
        let source = request.geometrySpatialReference ?? screenReference
        // Also where neither screen nor output would ask for it.
        _ = try Failure.naming("sr") { () throws(Failure) in
            try transforms.transform(from: screenReference, to: reference)
        }
        let toMap = try Failure.naming("geometry") { () throws(Failure) in
            try transforms.transform(from: source, to: reference)
        }
        let geometry = request.geometry.withoutEnvelope
        let projected = try Failure.naming("geometry") { () throws(Failure) in
            try toMap?.forward(geometry) ?? geometry
        }
        self.geometry = projected
        shape = PreparedShape(projected)
        middle = projected.middle
        let screen = try Screen(request, screenReference, reference, projected, transforms)
        resolution = screen.resolution
        distance = request.tolerance * (screen.resolution ?? 0)
        guard distance.isFinite else {
            throw Failure(
                .invalidParameter,
                "tolerance \(request.tolerance): expected a distance on the map, not one beyond it")
        }
        scale =
            try screen.resolution.map { resolution throws(Failure) in
                resolution * (try transforms.metersPerUnit(reference)) * request.imageDisplay.dpi
                    * 39.37
            }
        searchEnvelope = shape.envelope.expanded(by: distance).widened
    }
}

extension Failure {
    /// Puts the name of the parameter at fault before what `body` throws.
    static func naming<Value>(
        _ parameter: String, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw Failure(error.code, parameter + ": " + error.message, details: error.details)
        }
    }
}

/// How large a pixel is.
private struct Screen {
    /// Map units per pixel, from the widths of extent and image (Esri's rule); nil when either has
    /// no size.
    let resolution: Double?

    init(
        _ request: IdentifyRequest, _ source: SpatialReference, _ target: SpatialReference,
        _ geometry: Shape, _ transforms: Transforms
    ) throws(Failure) {
        let extent = request.mapExtent.ordered
        let (width, height) = (request.imageDisplay.width, request.imageDisplay.height)
        guard extent.width > 0, extent.height > 0, width > 0, height > 0 else {
            resolution = nil
            return
        }
        guard let transform = try transforms.transform(from: source, to: target) else {
            resolution = extent.width / width
            return
        }
        if case .envelope(let projected)? = try? transform.forward(.envelope(extent)),
            projected.width > 0
        {
            resolution = projected.width / width
        } else {
            resolution = Self.local(
                transform, geometry.envelope.center, pixel: extent.width / width)
        }
    }

    /// Where the whole screen has no place in the map's spatial reference: the size of the pixel at
    /// the geometry (`center`, in map units).
    private static func local(
        _ transform: CoordinateTransform, _ center: Coordinate, pixel: Double
    ) -> Double? {
        guard let here = try? transform.inverse(center),
            let there = try? transform.forward(Coordinate(x: here.x + pixel, y: here.y))
        else { return nil }
        let (dx, dy) = (there.x - center.x, there.y - center.y)
        let size = (dx * dx + dy * dy).squareRoot()
        return size > 0 && size.isFinite ? size : nil
    }
}

extension Envelope {
    /// The rectangle grown by far more than rounding can have cost, and far less than matters.
    var widened: Envelope {
        let magnitude = max(abs(minX), abs(minY), abs(maxX), abs(maxY))
        return expanded(by: magnitude * 0x1p-40)
    }
}

extension Shape {
    /// The centroid, of a polygon whatever the winding of its rings is; where that is outside the
    /// shape's envelope, as a ring that crosses itself may have it, a place on the shape.
    fileprivate var middle: Coordinate? {
        guard let centroid = turned.centroid, centroid.isFinite else { return pointOnSurface }
        let bounds = envelope
        if bounds.widened.contains(centroid) { return centroid }
        return pointOnSurface.flatMap { bounds.contains($0) ? $0 : nil }
            ?? (bounds.center.isFinite ? bounds.center : nil)
    }

    /// A polygon with its holes wound against their shells; one of more rings than
    /// ``turnedRingLimit`` is taken as it is.
    private var turned: Shape {
        guard case .polygon(let rings) = self, 2...Self.turnedRingLimit ~= rings.count else {
            return self
        }
        let nesting = RingNesting(rings)
        return .polygon(
            rings: rings.indices.map { ring in
                Ring.isClockwise(rings[ring]) == nesting.isHole(ring)
                    ? rings[ring].reversed() : rings[ring]
            })
    }

    /// The nesting of rings costs the square of their number.
    private static let turnedRingLimit = 256

    /// An envelope as the polygon of its corners, so that it can be projected corner by corner.
    fileprivate var withoutEnvelope: Shape {
        guard case .envelope(let given) = self else { return self }
        let box = given.ordered
        let first = Coordinate(x: box.minX, y: box.minY)
        return .polygon(rings: [
            [
                first, Coordinate(x: box.maxX, y: box.minY), Coordinate(x: box.maxX, y: box.maxY),
                Coordinate(x: box.minX, y: box.maxY), first,
            ]
        ])
    }
}
