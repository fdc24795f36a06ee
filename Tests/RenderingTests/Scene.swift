// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Cairo
import Dataset
import Foundation
import Geometry
import Identify
import Rendering
import Synchronization

/// Datasets made from GeoJSON in a directory of their own, maps of them, and pictures of those.
final class Scene: Sendable {
    let directory: String
    private let opened = Mutex<[ContentID: Dataset]>([:])

    init() throws {
        directory = NSTemporaryDirectory() + "cairn-rendering-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: directory + "/datasets", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// A loaded layer of features from GeoJSON geometries.
    func layer(
        _ id: LayerID, _ geometries: [String], wkid: Int = 3857,
        _ change: (inout LayerDescription) -> Void = { _ in }
    ) throws -> LayerDescription {
        let path = directory + "/\(UUID().uuidString).geojson"
        let crs = #""crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::\#(wkid)"}}"#
        let features = geometries.enumerated().map { number, geometry in
            #"{"type":"Feature","id":\#(number + 1),"properties":{"RANK":\#(number + 1)},"geometry":\#(geometry)}"#
        }
        let text =
            #"{"type":"FeatureCollection",\#(crs),"features":["#
            + features.joined(separator: ",") + "]}"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let imported = try DatasetBuilder.importFile(path: path, into: directory + "/datasets")[0]
        var layer = LayerDescription(
            id: id, name: "layer \(id)", parent: nil, children: [],
            kind: .layer(source: LayerSource(dataset: imported.dataset)), isVisible: true,
            scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil, properties: imported.properties)
        change(&layer)
        return layer
    }

    func engine() -> IdentifyEngine {
        IdentifyEngine { [self] id throws(Failure) in
            if let known = opened.withLock({ $0[id] }) { return known }
            let dataset = try Dataset(path: directory + "/datasets/\(id)/layer.fgb")
            opened.withLock { $0[id] = dataset }
            return dataset
        }
    }

    /// The pixels of a picture.
    func draw(_ request: ExportRequest, _ map: MapDescription) throws -> Pixels {
        let picture = try MapPicture.draw(request, of: PreparedMap(map), by: engine())
        return try Pixels(Array(picture.bytes))
    }
}

let world: MapName = MapName(rawValue: "World") ?? { preconditionFailure("a valid name") }()

/// A map of layers, bottom first.
func makeMap(_ layers: [LayerDescription], wkid: Int? = 3857) -> MapDescription {
    MapDescription(
        name: world, sequence: 42, rootLayers: layers.filter { $0.parent == nil }.map(\.id),
        layers: layers, basemap: layers.first?.id,
        spatialReference: wkid.map { SpatialReference(wkid: $0) }, initialExtent: nil)
}

/// A picture of 0…100 in both directions, a unit to a pixel unless the size is another.
func makeRequest(
    size: Int = 100, _ change: (inout ExportRequest) -> Void = { _ in }
) -> ExportRequest {
    var request = ExportRequest(
        map: world, extent: Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100), width: size,
        height: size)
    change(&request)
    return request
}

/// A picture, decoded.
struct Pixels: Equatable {
    let width: Int
    let height: Int
    /// Red, green, blue, alpha, row by row from the top.
    let bytes: [UInt8]

    init(_ png: [UInt8]) throws {
        let canvas = try Canvas(png: png)
        (width, height, bytes) = (canvas.width, canvas.height, try canvas.rgba())
    }

    subscript(x: Int, y: Int) -> [UInt8] {
        let start = (y * width + x) * 4
        return Array(bytes[start..<start + 4])
    }

    /// The mean and the greatest difference of a byte, colours multiplied by alpha: what cannot be
    /// seen has any colour.
    func difference(from other: Pixels) -> (mean: Double, greatest: Int) {
        precondition(width == other.width && height == other.height)
        var (sum, greatest) = (0, 0)
        for (one, two) in zip(multiplied, other.multiplied) {
            let difference = abs(Int(one) - Int(two))
            sum += difference
            greatest = max(greatest, difference)
        }
        return (Double(sum) / Double(max(1, bytes.count)), greatest)
    }

    private var multiplied: [Int] {
        bytes.indices.map { index in
            let alpha = Int(bytes[index | 3])
            return index % 4 == 3 ? alpha : Int(bytes[index]) * alpha / 255
        }
    }

    /// Number of pixels that differ by more than `tolerance` in a channel.
    func differing(from other: Pixels, tolerance: Int) -> Int {
        (0..<width * height).count { pixel in
            (pixel * 4..<pixel * 4 + 4).contains {
                abs(Int(bytes[$0]) - Int(other.bytes[$0])) > tolerance
            }
        }
    }
}

let white: [UInt8] = [255, 255, 255, 255]

/// The colour of an area of a layer where so many of its features overlap on white.
func areaColor(_ layer: LayerID, times count: Int) -> [Double] {
    guard case .fill(let symbol) = LayerSymbol(standard: layer, .polygon).form else { return [] }
    let fill = symbol.color
    let alpha = Double(fill.alpha) / 255
    return [fill.red, fill.green, fill.blue].map { channel in
        (0..<count).reduce(255) { below, _ in below * (1 - alpha) + Double(channel) * alpha }
    }
}

/// Whether a pixel has that colour, but for rounding.
func isNear(_ pixel: [UInt8], _ color: [Double]) -> Bool {
    zip(pixel, color).allSatisfy { abs(Double($0) - $1) <= 3 }
}

func polygon(_ rings: [[(Double, Double)]]) -> String {
    #"{"type":"Polygon","coordinates":\#(text(rings))}"#
}

func text(_ rings: [[(Double, Double)]]) -> String {
    "[" + rings.map { text($0) }.joined(separator: ",") + "]"
}

func text(_ ring: [(Double, Double)]) -> String {
    "[" + ring.map { "[\($0.0),\($0.1)]" }.joined(separator: ",") + "]"
}

func square(_ low: Double, _ high: Double) -> [(Double, Double)] {
    [(low, low), (high, low), (high, high), (low, high), (low, low)]
}
