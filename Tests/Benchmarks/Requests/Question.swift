// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry

/// Points that are the same on every machine.
enum Points {
    static func seeded(_ count: Int, in box: Envelope) -> [Coordinate] {
        var state: UInt64 = 7
        func next() -> Double {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
        }
        return (0..<count).map { _ in
            let x = box.minX + next() * (box.maxX - box.minX)
            let y = box.minY + next() * (box.maxY - box.minY)
            // Six decimals, so that text and number are the same place.
            return Coordinate(x: (x * 1e6).rounded() / 1e6, y: (y * 1e6).rounded() / 1e6)
        }
    }
}

/// The question put to all contestants: which features of these layers are at each of these points.
struct Question {
    let map: String
    let layers: [String]
    /// Pixels.
    let tolerance: Double
    /// Map units a pixel.
    let resolution: Double
    let points: [Coordinate]
    /// As of which sequence number; nil: now.
    var moment: Int64?

    private static let pixels = 1_000.0

    func extent(_ point: Coordinate, pixels: Double = Question.pixels) -> Envelope {
        let half = resolution * pixels / 2
        return Envelope(
            minX: point.x - half, minY: point.y - half, maxX: point.x + half, maxY: point.y + half)
    }

    /// As Esri's REST operation.
    func path(_ point: Coordinate) -> String {
        let extent = extent(point)
        return "/arcgis/rest/services/\(map)/MapServer/identify?geometry=\(point.x),\(point.y)"
            + "&geometryType=esriGeometryPoint&layers=all&tolerance=\(tolerance)"
            + "&mapExtent=\(extent.minX),\(extent.minY),\(extent.maxX),\(extent.maxY)"
            + "&imageDisplay=1000,1000,96&returnGeometry=false&f=json"
            + (moment.map { "&at=\($0)" } ?? "")
    }

    /// As WMS GetFeatureInfo: the point is the middle of the middle one of 101 pixels.
    func featureInfoPath(_ point: Coordinate) -> String {
        let extent = extent(point, pixels: 101)
        let names = layers.joined(separator: ",")
        return "/?map=\(map)&SERVICE=WMS&VERSION=1.1.1&REQUEST=GetFeatureInfo&SRS=EPSG:4326"
            + "&LAYERS=\(names)&QUERY_LAYERS=\(names)&STYLES="
            + "&BBOX=\(extent.minX),\(extent.minY),\(extent.maxX),\(extent.maxY)"
            + "&WIDTH=101&HEIGHT=101&X=50&Y=50&INFO_FORMAT=text/plain&FEATURE_COUNT=1000"
    }

    func request(_ geometry: Shape, at point: Coordinate) throws(Failure) -> IdentifyRequest {
        IdentifyRequest(
            map: try MapName(parsing: map), geometry: geometry, layers: LayerSelection(.all),
            tolerance: tolerance, mapExtent: extent(point),
            imageDisplay: ImageDisplay(width: Self.pixels, height: Self.pixels),
            returnGeometry: false)
    }

    /// Each point as a click.
    func clicks() throws(Failure) -> [IdentifyRequest] {
        try points.map { point throws(Failure) in try request(.point(point), at: point) }
    }
}
