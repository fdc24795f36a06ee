// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Dataset
public import Geometry
internal import PROJ

/// The extent of a picture of a map, border to border, and its pixel size.
public struct PictureFrame: Hashable, Sendable {
    /// The rectangle shown, in ``spatialReference``, with the aspect ratio of the picture.
    public let extent: Envelope
    /// The spatial reference of the picture.
    public let spatialReference: SpatialReference
    /// The side of a pixel, in units of ``spatialReference``.
    public let unitsPerPixel: Double
    /// The denominator of the map's scale, as identify computes it for this screen; nil without
    /// one.
    public let scale: Double?

    init(
        _ request: ExportRequest, _ map: MapDescription, _ transforms: Transforms
    ) throws(Failure) {
        try request.check()
        let given = request.extent.ordered
        let own = map.spatialReference
        let source = request.extentReference ?? own ?? request.imageReference ?? .wgs84
        let target = request.imageReference ?? own ?? source
        let meters = try Failure.naming("imageSR") { () throws(Failure) in
            try transforms.metersPerUnit(target)
        }
        let transform = try Failure.naming("bboxSR or imageSR") { () throws(Failure) in
            try transforms.transform(from: source, to: target)
        }
        let wanted = transform.map { Self.project(given, $0) } ?? given
        guard wanted.isFinite, wanted.width > 0, wanted.height > 0 else {
            throw Failure(
                .invalidParameter,
                "bbox: the rectangle cannot be projected to the picture's spatial reference")
        }
        let (width, height) = (Double(request.width), Double(request.height))
        let unitsPerPixel =
            request.mapScale.map { $0 / (request.dpi * 39.37 * meters) }
            ?? max(wanted.width / width, wanted.height / height)
        let extent = Self.around(wanted.center, width, height, unitsPerPixel)
        let reach = [extent.minX, extent.minY, extent.maxX, extent.maxY].reduce(0) {
            max($0, abs($1))
        }
        guard extent.isFinite, unitsPerPixel > reach * 0x1p-44 else {
            throw Failure(
                .invalidParameter,
                "bbox, size or mapScale: a pixel would be \(unitsPerPixel) wide, below the "
                    + "resolution of coordinates there")
        }
        self.extent = extent
        self.unitsPerPixel = unitsPerPixel
        spatialReference = target
        scale = try Self.scale(request, extent, target, own ?? target, transforms)
    }

    private static func around(
        _ center: Coordinate, _ width: Double, _ height: Double, _ unitsPerPixel: Double
    ) -> Envelope {
        let (dx, dy) = (width * unitsPerPixel / 2, height * unitsPerPixel / 2)
        return Envelope(
            minX: center.x - dx, minY: center.y - dy, maxX: center.x + dx, maxY: center.y + dy)
    }

    /// Number of samples projected along each side of a rectangle.
    private static let sampleCount = 17

    /// The bounding box of the projected rectangle, as far as it can be projected: its sides become
    /// curves, and a pole may be inside.
    private static func project(_ envelope: Envelope, _ transform: CoordinateTransform) -> Envelope
    {
        var result = Envelope.empty
        let steps = Double(sampleCount - 1)
        for row in 0..<sampleCount {
            for column in 0..<sampleCount {
                let place = Coordinate(
                    x: envelope.minX + envelope.width * Double(column) / steps,
                    y: envelope.minY + envelope.height * Double(row) / steps)
                if let there = try? transform.forward(place) { result.extend(to: there) }
            }
        }
        return result
    }

    /// By the rule of identify, so that layers have the same scale ranges for drawing and identify.
    private static func scale(
        _ request: ExportRequest, _ extent: Envelope, _ reference: SpatialReference,
        _ map: SpatialReference, _ transforms: Transforms
    ) throws(Failure) -> Double? {
        let toMap = try transforms.transform(from: reference, to: map)
        let center = toMap.map { try? $0.forward(extent.center) } ?? extent.center
        let question = IdentifyRequest(
            map: request.map, geometry: .point(center ?? Coordinate(x: 0, y: 0)),
            geometrySpatialReference: map, tolerance: 0, mapExtent: extent,
            imageDisplay: ImageDisplay(
                width: Double(request.width), height: Double(request.height), dpi: request.dpi),
            spatialReference: reference)
        return try Question(question, in: map, transforms).scale
    }
}

extension ExportRequest {
    /// Throws `invalidParameter` or `tooLarge`, naming the parameter, for values out of range.
    func check() throws(Failure) {
        let box = extent.ordered
        try check(
            box.isFinite && IdentifyLimits.ordinate >= box.reach, "bbox",
            "four numbers up to \(IdentifyLimits.ordinate)")
        try check(
            box.width > 0 && box.height > 0, "bbox", "a rectangle with a width and a height")
        let bound = Self.sizeBound
        try check(
            1...bound ~= width && 1...bound ~= height, "size \(width),\(height)",
            "a width and a height from 1 to \(bound) pixels")
        if let division {
            try check(
                1...16 ~= division && width.isMultiple(of: division)
                    && height.isMultiple(of: division), "division \(division)",
                "1 to 16, a divisor of width and height")
        }
        try check(1...2_400 ~= dpi, "dpi \(dpi)", "1 to 2400 dots per inch")
        if let mapScale {
            try check(
                mapScale > 0 && mapScale <= 1e12, "mapScale \(mapScale)", "a scale up to 1e12")
        }
        try check(at == nil || atTime == nil, "at and atTime", "at most one of them")
        let most = IdentifyLimits.layerIDs
        for (name, count) in [
            ("layers", layers.ids.count), ("layerDefs", layerDefinitions.count),
            ("layerTimeOptions", layerTimeOptions.count),
        ] where count > most {
            throw Failure(.tooLarge, "\(name): \(count) layers, expected at most \(most)")
        }
        for reference in [extentReference, imageReference] {
            let count = reference?.wkt?.utf8.count ?? 0
            guard count <= IdentifyLimits.wktBytes else {
                throw Failure(
                    .tooLarge,
                    "bboxSR or imageSR: \(count) bytes of WKT, expected at most "
                        + "\(IdentifyLimits.wktBytes)")
            }
        }
    }

    private func check(
        _ condition: Bool, _ parameter: String, _ expected: String
    ) throws(Failure) {
        guard condition else {
            throw Failure(.invalidParameter, "\(parameter): expected \(expected)")
        }
    }
}

extension Envelope {
    /// The largest magnitude of a bound.
    fileprivate var reach: Double { max(abs(minX), abs(minY), abs(maxX), abs(maxY)) }
}
