// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expression
internal import Geometry
internal import JobKinds
internal import Platform

/// TileJSON 3.0.0 of a map's tiles.
enum TileJSON {
    /// - Parameters:
    ///   - template: URL of a tile with `{z}`, `{x}` and `{y}`, rows from the top.
    ///   - vectorLayers: Layers of vector tiles; nil for pictures.
    static func body(
        of map: TiledMap, template: String, vectorLayers: [TileLayer]? = nil
    ) -> [UInt8] {
        let extent = map.extent
        var json = JSONWriter()
        json.object { json in
            json.member("tilejson", "3.0.0")
            json.member("name", map.title)
            if !map.summary.isEmpty { json.member("description", map.summary) }
            json.member("attribution", map.attribution)
            json.member("version", "1.0.0")
            json.member("scheme", "xyz")
            json.member("tiles", array: [template]) { $0.string($1) }
            json.member("minzoom", TileAddress.levels.lowerBound)
            json.member("maxzoom", TileAddress.levels.upperBound)
            json.member(
                "bounds", array: [extent.minX, extent.minY, extent.maxX, extent.maxY]
            ) { $0.number($1) }
            if let vectorLayers { json.vectorLayers(vectorLayers) }
            let middle = [(extent.minX + extent.maxX) / 2, (extent.minY + extent.maxY) / 2]
            json.member("center", array: middle + [Double(map.overviewLevel)]) { $0.number($1) }
        }
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func vectorLayers(_ layers: [TileLayer]) {
        let parts = layers.flatMap { tiles in tiles.parts.map { (tiles.levels, $0) } }
        member("vector_layers", array: parts) { json, each in
            let (levels, part) = each
            json.object { json in
                json.member("id", part.name)
                json.member("minzoom", levels.lowerBound)
                json.member("maxzoom", levels.upperBound)
                json.member("fields") { json in
                    for field in part.fields { json.member(field.name, field.type.nameInTiles) }
                }
            }
        }
    }
}
