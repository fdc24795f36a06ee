// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// A rectangle along the axes.
public final class Envelope: Geometry, @unchecked Sendable {
    /// Its sides.
    public let xMin, yMin, xMax, yMax: Double

    /// A rectangle; sides in the wrong order are exchanged.
    public init(
        xMin: Double, yMin: Double, xMax: Double, yMax: Double,
        spatialReference: SpatialReference? = nil
    ) {
        self.xMin = min(xMin, xMax)
        self.yMin = min(yMin, yMax)
        self.xMax = max(xMin, xMax)
        self.yMax = max(yMin, yMax)
        super.init(spatialReference: spatialReference)
    }

    /// A rectangle by ranges.
    public convenience init(
        xRange: ClosedRange<Double>, yRange: ClosedRange<Double>,
        spatialReference: SpatialReference? = nil
    ) {
        self.init(
            xMin: xRange.lowerBound, yMin: yRange.lowerBound, xMax: xRange.upperBound,
            yMax: yRange.upperBound, spatialReference: spatialReference)
    }

    /// A rectangle by two corners.
    public convenience init(min: Point, max: Point) {
        self.init(
            xMin: min.x, yMin: min.y, xMax: max.x, yMax: max.y,
            spatialReference: min.spatialReference ?? max.spatialReference)
    }

    /// A rectangle around a point.
    public convenience init(center: Point, width: Double, height: Double) {
        self.init(
            xMin: center.x - width / 2, yMin: center.y - height / 2, xMax: center.x + width / 2,
            yMax: center.y + height / 2, spatialReference: center.spatialReference)
    }

    /// From west to east, in units of the reference.
    public var width: Double { xMax - xMin }
    /// From south to north, in units of the reference.
    public var height: Double { yMax - yMin }
    /// The middle.
    public var center: Point {
        Point(x: (xMin + xMax) / 2, y: (yMin + yMax) / 2, spatialReference: spatialReference)
    }

    /// Itself.
    public override var extent: Envelope { self }

    /// `xmin,ymin,xmax,ymax`.
    var sides: String { [xMin, yMin, xMax, yMax].map(\.plainText).joined(separator: ",") }

    override var places: [Place] { [Place(xMin, yMin), Place(xMax, yMax)] }
    override var typeName: String { "esriGeometryEnvelope" }
    override var json: JSON {
        .object(of: [
            "xmin": .real(xMin), "ymin": .real(yMin), "xmax": .real(xMax), "ymax": .real(yMax),
            "spatialReference": spatialReference?.json,
        ])
    }

    /// The square of the web's tiles, in Web Mercator.
    static let webMercatorWorld: Envelope = {
        let half = 20_037_508.342_787
        return Envelope(
            xMin: -half, yMin: -half, xMax: half, yMax: half, spatialReference: .webMercator)
    }()

    /// The four corners as an area.
    var polygon: Polygon {
        Polygon(
            places: [
                [
                    Place(xMin, yMin), Place(xMin, yMax), Place(xMax, yMax), Place(xMax, yMin),
                    Place(xMin, yMin),
                ]
            ], spatialReference: spatialReference)
    }

    override func mapped(
        into spatialReference: SpatialReference?, _ change: (Place) -> Place
    ) -> Geometry {
        let corners = polygon.places.map(change)
        return Multipoint(places: corners, spatialReference: spatialReference).extent
    }

    func union(_ other: Envelope) -> Envelope {
        Envelope(
            xMin: min(xMin, other.xMin), yMin: min(yMin, other.yMin), xMax: max(xMax, other.xMax),
            yMax: max(yMax, other.yMax), spatialReference: spatialReference)
    }

    func expanded(by factor: Double) -> Envelope {
        Envelope(center: center, width: width * factor, height: height * factor)
    }
}
