// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import PROJ

/// The coordinates that have a place in a spatial reference.
///
/// Of a geographic one the degrees of the globe; of Web Mercator its square; of any other projected
/// one the area that it is made for, with a margin, as data commonly reach beyond it.
public struct ReferenceDomain: Hashable, Sendable {
    /// The rectangle around them.
    public let bounds: Envelope
    /// `EPSG:4326`, or `WKT`.
    public let name: String

    /// Width of the margin in metres.
    public static let margin = 1_000_000.0
    /// Relative rounding of coordinates at the very edge.
    private static let rounding = 1e-9

    /// Nil where PROJ knows neither unit nor area.
    public init?(of reference: SpatialReference) {
        guard let unit = try? reference.coordinateSystem.unit() else { return nil }
        name = reference.latestWkid.map { "EPSG:\($0)" } ?? "WKT"
        if unit.isAngular {
            let degree = Double.pi / 180 / unit.factor
            // Exactly 180 for degrees.
            let half = (180 * degree * 1e9).rounded() / 1e9
            bounds = Envelope(minX: -half, minY: -half / 2, maxX: half, maxY: half / 2)
            return
        }
        if reference.latestWkid == 3857 {
            let half = Double.pi * PROJ.WebMercator.radius * (1 + Self.rounding)
            bounds = Envelope(minX: -half, minY: -half, maxX: half, maxY: half)
            return
        }
        guard let area = SystemExamination.area(of: reference.coordinateSystem),
            let transform = try? CoordinateTransform(from: .wgs84, to: reference)
        else { return nil }
        // An area over the 180th meridian ends east of where it begins.
        let east = area.east < area.west ? area.east + 360 : area.east
        var extent = Envelope.empty
        let steps = 16
        for column in 0...steps {
            for row in 0...steps {
                let place = Coordinate(
                    x: area.west + (east - area.west) * Double(column) / Double(steps),
                    y: area.south + (area.north - area.south) * Double(row) / Double(steps))
                guard let projected = try? transform.forward(place), projected.isFinite else {
                    continue
                }
                extent.extend(to: projected)
            }
        }
        guard !extent.isEmpty else { return nil }
        bounds = extent.expanded(by: Self.margin / unit.factor)
    }

    /// Checks that a shape lies in it, or as far as other features reach.
    ///
    /// Throws `invalidParameter` with the first coordinate outside, and what was expected.
    public func check(_ shape: Shape, orIn extent: Envelope?) throws(Failure) {
        let found = shape.envelope
        guard !found.isEmpty else { return }
        var allowed = bounds
        if let extent, extent.isFinite, !extent.isEmpty { allowed = allowed.union(extent) }
        for (axis, values, expected) in [
            ("x", [found.minX, found.maxX], allowed.minX...allowed.maxX),
            ("y", [found.minY, found.maxY], allowed.minY...allowed.maxY),
        ] {
            guard let outside = values.first(where: { !expected.contains($0) }) else { continue }
            throw Failure(
                .invalidParameter,
                "geometry: \(axis) is \(outside), outside the layer's spatial reference \(name): "
                    + "expected \(expected.lowerBound) to \(expected.upperBound)")
        }
    }
}
