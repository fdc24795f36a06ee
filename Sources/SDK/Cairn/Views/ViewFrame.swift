// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// What a view shows, as numbers: a rectangle of pixels around a center.
struct ViewFrame: Sendable, Hashable {
    var center: Place
    var scale: Double
    /// Degrees counterclockwise that the map is turned in the view.
    var rotation: Double
    var width: Double
    var height: Double
    var dpi: Double
    var spatialReference: SpatialReference

    /// Metres of a degree, as the server has it.
    static let metresPerDegree = 111_319.490_793_273_57

    /// Units of the reference for a pixel.
    var resolution: Double {
        scale * 0.0254 / dpi / (spatialReference.isGeographic ? Self.metresPerDegree : 1)
    }

    static func scale(resolution: Double, dpi: Double, _ reference: SpatialReference) -> Double {
        resolution * dpi / 0.0254 * (reference.isGeographic ? metresPerDegree : 1)
    }

    /// What the view would show if it were not turned.
    var unrotatedExtent: Envelope {
        Envelope(
            center: Point(center, spatialReference), width: width * resolution,
            height: height * resolution)
    }

    /// Around the four corners of the view.
    var visibleExtent: Envelope { visibleArea.extent }

    var visibleArea: Polygon {
        let corners = [(0.0, 0.0), (width, 0), (width, height), (0, height)]
        return Polygon(
            places: [corners.map { location($0.0, $0.1) }], spatialReference: spatialReference)
    }

    /// The area of the pictures that layers are asked for: of a turned view, around its corners,
    /// in whole pixels.
    var pictureExtent: Envelope {
        guard rotation.truncatingRemainder(dividingBy: 360) != 0 else { return unrotatedExtent }
        return Envelope(
            center: Point(center, spatialReference), width: Double(pictureWidth) * resolution,
            height: Double(pictureHeight) * resolution)
    }

    var pictureWidth: Int { pictureSize.width }
    var pictureHeight: Int { pictureSize.height }

    private var pictureSize: (width: Int, height: Int) {
        guard rotation.truncatingRemainder(dividingBy: 360) != 0 else {
            return (max(1, Int(width)), max(1, Int(height)))
        }
        let (sine, cosine) = (abs(sin(angle)), abs(cos(angle)))
        return (
            Int((width * cosine + height * sine).rounded(.up)),
            Int((width * sine + height * cosine).rounded(.up))
        )
    }

    private var angle: Double { rotation * .pi / 180 }

    /// The place of a pixel; y counts downwards.
    func location(_ x: Double, _ y: Double) -> Place {
        let (right, up) = (x - width / 2, height / 2 - y)
        let (sine, cosine) = (sin(angle), cos(angle))
        return Place(
            center.x + (right * cosine + up * sine) * resolution,
            center.y + (up * cosine - right * sine) * resolution)
    }

    /// The pixel of a place.
    func pixel(_ place: Place) -> (x: Double, y: Double) {
        let (dx, dy) = ((place.x - center.x) / resolution, (place.y - center.y) / resolution)
        let (sine, cosine) = (sin(angle), cos(angle))
        return (width / 2 + dx * cosine - dy * sine, height / 2 - dx * sine - dy * cosine)
    }

    /// The geometry in the view's reference; one without a reference is in it already.
    func placed<Shape: Geometry>(_ shape: Shape) throws -> Shape {
        shape.spatialReference == nil
            ? shape : try GeometryEngine.projected(shape, into: spatialReference)
    }

    /// The whole pixel of a place in the view as it would be if it were not turned.
    func unrotatedPixel(of point: Point) -> (column: Int, row: Int) {
        let extent = unrotatedExtent
        func whole(_ value: Double, _ count: Double) -> Int {
            Int(min(max(value.rounded(.down), 0), max(count - 1, 0)))
        }
        return (
            whole((point.x - extent.xMin) / resolution, width),
            whole((extent.yMax - point.y) / resolution, height)
        )
    }
}

/// A question of a view to a layer.
struct IdentifyQuestion: Sendable {
    var frame: ViewFrame
    /// In the map's reference.
    var point: Point
    /// Radius in pixels of the view.
    var tolerance: Double
    /// Most features of a layer; nil for all.
    var limit: Int?
    var returnsPopupsOnly: Bool

    /// Radius in units of the reference.
    var radius: Double { tolerance * frame.resolution }
}
