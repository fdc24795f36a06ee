// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation

/// A vector tile as a test writes it, and services and packages of such tiles.
struct TileBytes {
    enum Kind: UInt64 {
        case point = 1
        case line = 2
        case polygon = 3
    }

    enum Value {
        case text(String)
        case number(Double)
        case whole(Int64)
        case flag(Bool)
    }

    private(set) var data = Data()

    private static func varint(_ number: UInt64) -> [UInt8] {
        var (bytes, rest) = ([UInt8](), number)
        while rest > 127 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func field(_ number: UInt64, _ bytes: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt64(bytes.count)) + bytes
    }

    private static func field(_ number: UInt64, _ value: UInt64) -> [UInt8] {
        varint(number << 3) + varint(value)
    }

    struct Feature {
        var kind: Kind
        /// Rings without repetition of their first position.
        var parts: [[(Int, Int)]]
        var attributes: KeyValuePairs<String, Value> = [:]
        var id: UInt64?
    }

    /// Adds a layer.
    mutating func add(_ name: String, extent: UInt64 = 4096, _ features: [Feature]) {
        var keys: [String] = []
        var values: [[UInt8]] = []
        var bytes = Self.field(1, [UInt8](name.utf8))
        for feature in features {
            var own = feature.id.map { Self.field(1, $0) } ?? []
            var tags: [UInt8] = []
            for (key, value) in feature.attributes {
                let place = keys.firstIndex(of: key) ?? keys.count
                if place == keys.count { keys.append(key) }
                tags += Self.varint(UInt64(place)) + Self.varint(UInt64(values.count))
                switch value {
                case .text(let text): values.append(Self.field(1, [UInt8](text.utf8)))
                case .number(let number):
                    let bits = number.bitPattern
                    values.append(
                        [25] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
                case .whole(let number):
                    values.append(Self.field(4, UInt64(bitPattern: number)))
                case .flag(let flag): values.append(Self.field(7, flag ? 1 : 0))
                }
            }
            own += Self.field(2, tags) + Self.field(3, feature.kind.rawValue)
            bytes += Self.field(2, own + Self.field(4, Self.geometry(feature)))
        }
        for key in keys { bytes += Self.field(3, [UInt8](key.utf8)) }
        for value in values { bytes += Self.field(4, value) }
        data += Self.field(3, bytes + Self.field(5, extent) + Self.field(15, 2))
    }

    private static func geometry(_ feature: Feature) -> [UInt8] {
        var (x, y) = (0, 0)
        func step(_ to: (Int, Int)) -> [UInt8] {
            defer { (x, y) = to }
            return [to.0 - x, to.1 - y].flatMap {
                varint(UInt64(bitPattern: Int64($0 << 1) ^ Int64($0 >> 63)))
            }
        }
        var bytes: [UInt8] = []
        for part in feature.parts {
            if feature.kind == .point {
                bytes += varint(UInt64(part.count) << 3 | 1) + part.flatMap(step)
                continue
            }
            bytes += varint(1 << 3 | 1) + step(part[0])
            bytes += varint(UInt64(part.count - 1) << 3 | 2) + part.dropFirst().flatMap(step)
            if feature.kind == .polygon { bytes += varint(1 << 3 | 7) }
        }
        return bytes
    }

    /// A square, clockwise as outer rings are.
    static func square(_ least: (Int, Int), _ most: (Int, Int)) -> [(Int, Int)] {
        [least, (most.0, least.1), most, (least.0, most.1)]
    }
}

/// A service of vector tiles in Web Mercator, and views of it.
struct VectorService {
    let server = StubServer()
    let layer: ArcGISVectorTiledLayer

    static let resolution = 78271.516964020481

    static func description(levels: ClosedRange<Int>) -> String {
        let lods = levels.map { level in
            let resolution = resolution / Double(1 << level)
            return #"{"level":\#(level),"resolution":\#(resolution),"scale":0}"#
        }
        return #"""
            {"name":"Tiles","defaultStyles":"resources/styles","tiles":["tile/{z}/{y}/{x}.pbf"],
            "tileInfo":{"rows":512,"cols":512,"dpi":96,"origin":{"x":-20037508.342787,
            "y":20037508.342787},"spatialReference":{"wkid":102100},
            "lods":[\#(lods.joined(separator: ","))]},
            "fullExtent":{"xmin":-20037508,"ymin":-20037508,"xmax":20037508,"ymax":20037508,
            "spatialReference":{"wkid":102100}}}
            """#
    }

    /// A whole style around layers.
    static func style(_ layers: String) -> String {
        #"{"version":8,"sources":{"esri":{"type":"vector","url":"../../"}},"layers":[\#(layers)]}"#
    }

    /// A layer of a style, with the members that it has besides.
    static func layer(_ type: String, _ members: String, from source: String = "areas") -> String {
        let id = "\(type) of \(source)"
        return #"{"id":"\#(id)","type":"\#(type)","source":"esri","source-layer":"\#(source)","#
            + members + "}"
    }

    static let background =
        #"{"id":"ground","type":"background","paint":{"background-color":"white"}},"#

    init(levels: ClosedRange<Int> = 0...0, style layers: String) {
        server.on("/Tiles/VectorTileServer", json: Self.description(levels: levels))
        server.on(
            "/Tiles/VectorTileServer/resources/styles/root.json", json: Self.style(layers))
        layer = ArcGISVectorTiledLayer(url: server.url.appending(path: "Tiles/VectorTileServer"))
    }

    func path(_ level: Int, _ row: Int, _ column: Int) -> String {
        "/Tiles/VectorTileServer/tile/\(level)/\(row)/\(column).pbf"
    }

    func on(_ level: Int, _ row: Int, _ column: Int, _ tile: TileBytes) {
        server.on(
            path(level, row, column), .bytes(tile.data, type: "application/vnd.mapbox-vector-tile"))
    }

    /// A view of a layer at a zoom of its style.
    static func view(
        of layer: Layer, zoom: Double = 0, center: Point? = nil, rotation: Double = 0,
        size: Double = 512, dpi: Double = 96
    ) -> MapViewProxy {
        let map = Map(spatialReference: .webMercator)
        map.addOperationalLayer(layer)
        map.initialViewpoint = Viewpoint(
            center: center ?? Point(x: 0, y: 0, spatialReference: .webMercator),
            scale: resolution / exp2(zoom) * 96 / 0.0254, rotation: rotation)
        return MapViewProxy(map: map, size: CGSize(width: size, height: size), dpi: dpi)
    }

    /// The picture of this service at a zoom.
    func picture(
        zoom: Double = 0, rotation: Double = 0, size: Double = 512, dpi: Double = 96
    ) async throws -> Raster {
        try await Self.view(of: layer, zoom: zoom, rotation: rotation, size: size, dpi: dpi)
            .exportRaster()
    }
}
