// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

extension IdentifyRequest {
    /// Throws `invalidParameter` or `tooLarge`, naming the parameter, for values out of range.
    ///
    /// `mapExtent` and `imageDisplay` of size zero are accepted.
    func check() throws(Failure) {
        try checkGeometry()
        try check(
            tolerance >= 0 && tolerance.isFinite, "tolerance \(tolerance)", "0 or more pixels")
        try check(
            mapExtent.isFinite && mapExtent.magnitude <= IdentifyLimits.ordinate, "mapExtent",
            "four numbers up to \(IdentifyLimits.ordinate)")
        for (name, size) in [("width", imageDisplay.width), ("height", imageDisplay.height)] {
            try check(
                size >= 0 && size.isFinite, "imageDisplay \(name) \(size)", "0 or more pixels")
        }
        try check(
            imageDisplay.dpi > 0 && imageDisplay.dpi.isFinite,
            "imageDisplay dpi \(imageDisplay.dpi)", "a number above 0")
        if let offset = maxAllowableOffset {
            try check(offset >= 0 && offset.isFinite, "maxAllowableOffset \(offset)", "0 or more")
        }
        if let decimals = geometryPrecision {
            try check(decimals >= 0, "geometryPrecision \(decimals)", "0 or more decimals")
        }
        if let most = maximumResultsPerLayer {
            try check(most >= 0, "maximumResultsPerLayer \(most)", "0 or more")
        }
        try check(at == nil || atTime == nil, "at and atTime", "at most one of them")
        try checkTime()
        let most = IdentifyLimits.layerIDs
        try checkSize(layerTimeOptions.count, most, "layerTimeOptions", "layers")
        try checkSize(layers.ids?.count ?? 0, most, "layers", "ids")
        try checkSize(layerDefinitions.count, most, "layerDefs", "definitions")
        for reference in [spatialReference, geometrySpatialReference] {
            try checkSize(
                reference?.wkt?.utf8.count ?? 0, IdentifyLimits.wktBytes, "spatial reference",
                "bytes of WKT")
        }
    }

    private func checkTime() throws(Failure) {
        for bound in [time?.start, time?.end] {
            guard let bound else { continue }
            try check(
                bound.magnitude <= TimeExtent.limit.magnitude, "time \(bound)",
                "milliseconds since 1970, at most \(TimeExtent.limit) either way")
        }
        if let start = time?.start, let end = time?.end {
            try check(start <= end, "time \(start),\(end)", "a start that is not after the end")
        }
        for (layer, options) in layerTimeOptions {
            try check(
                options.timeOffset.isFinite,
                "layerTimeOptions of layer \(layer): timeOffset \(options.timeOffset)",
                "a finite number")
        }
    }

    private func checkGeometry() throws(Failure) {
        try checkSize(
            geometry.coordinateCount, IdentifyLimits.queryCoordinates, "geometry", "coordinates")
        try check(geometry.coordinateCount > 0, "geometry without coordinates", "one or more")
        try check(
            geometry.ordinates.allSatisfy { abs($0) <= IdentifyLimits.ordinate }, "geometry",
            "numbers between -\(IdentifyLimits.ordinate) and \(IdentifyLimits.ordinate)")
    }

    private func check(
        _ condition: Bool, _ parameter: @autoclosure () -> String,
        _ expected: @autoclosure () -> String
    ) throws(Failure) {
        guard condition else {
            throw Failure(.invalidParameter, "\(parameter()): expected \(expected())")
        }
    }

    private func checkSize(
        _ count: Int, _ most: Int, _ parameter: String, _ unit: String
    ) throws(Failure) {
        guard count <= most else {
            throw Failure(.tooLarge, "\(parameter): \(count) \(unit), expected at most \(most)")
        }
    }
}

extension Envelope {
    fileprivate var magnitude: Double { max(abs(minX), abs(minY), abs(maxX), abs(maxY)) }
}

extension Shape {
    /// Every number in it; NaN fails any comparison.
    fileprivate var ordinates: [Double] {
        switch self {
        case .point(let coordinate): [coordinate.x, coordinate.y]
        case .multipoint(let coordinates): coordinates.flatMap { [$0.x, $0.y] }
        case .polyline(let parts), .polygon(let parts):
            parts.flatMap { $0.flatMap { [$0.x, $0.y] } }
        case .envelope(let box): [box.minX, box.minY, box.maxX, box.maxY]
        }
    }
}
