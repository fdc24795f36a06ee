// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// A request in the terms of its map: geometry, tolerance and scale.
struct Question {
    /// The map's spatial reference, that of the shape and the distance.
    let reference: SpatialReference
    /// The query geometry, in the map's spatial reference.
    let geometry: Shape
    /// The query geometry, prepared for exact tests.
    let shape: PreparedShape
    /// The tolerance, in map units.
    let distance: Double
    /// Map units per pixel; nil when the screen's size or extent is zero.
    let resolution: Double?
    /// The denominator of the map's scale; nil when the screen's size or extent is zero.
    let scale: Double?
    /// The centre of the query geometry, for layers that support single positions only.
    ///
    /// Nil where it is not finite.
    let middle: Coordinate?
    /// The bounding box of all possible hits.
    let searchEnvelope: Envelope

    /// Throws `invalidParameter` when the geometry cannot be projected to the map's spatial
    /// reference.
    init(
        _ request: IdentifyRequest, in reference: SpatialReference, _ transforms: Transforms
    ) throws(Failure) {
        self.reference = reference
        let screenReference = request.spatialReference ?? reference
        let source = request.geometrySpatialReference ?? screenReference
        // Checked even where neither screen nor output needs it.
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
    /// Prefixes failures of `body` with the name of the parameter.
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

/// The pixel size of a screen.
private struct Screen {
    /// Map units per pixel, from the widths of extent and image (Esri's rule); nil when either is
    /// empty.
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

    /// The pixel size at the geometry (`center`, in map units), for a screen that cannot be
    /// projected to the map's spatial reference as a whole.
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
    /// The rectangle enlarged by far more than the rounding error, and far less than any tolerance.
    var widened: Envelope {
        let magnitude = max(abs(minX), abs(minY), abs(maxX), abs(maxY))
        return expanded(by: magnitude * 0x1p-40)
    }
}

extension Shape {
    /// The centroid, for any winding of a polygon's rings; where that is outside the shape's
    /// envelope, as with a self-intersecting ring, a position on the shape.
    fileprivate var middle: Coordinate? {
        guard let centroid = turned.centroid, centroid.isFinite else { return pointOnSurface }
        let bounds = envelope
        if bounds.widened.contains(centroid) { return centroid }
        return pointOnSurface.flatMap { bounds.contains($0) ? $0 : nil }
            ?? (bounds.center.isFinite ? bounds.center : nil)
    }

    /// A polygon with its holes wound against their shells; unchanged beyond ``turnedRingLimit``
    /// rings.
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

    /// Limit of rings: their nesting costs the square of their number.
    private static let turnedRingLimit = 256

    /// An envelope as the polygon of its corners, for projection corner by corner.
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
