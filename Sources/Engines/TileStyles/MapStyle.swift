// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import Platform

/// The MapLibre style of a map's vector tiles: the symbols of its layers, and their labels above
/// all of them.
public struct MapStyle: Sendable {
    /// How a style names what it needs.
    public enum Addresses: Hashable, Sendable {
        /// By paths from the style's own address: Esri's clients.
        case relative
        /// Likewise, in a package, which has no symbols where there are none to show.
        case packaged
        /// By the addresses of tiles with `{z}`, `{y}` and `{x}`, of glyphs with `{fontstack}` and
        /// `{range}`, and of symbols without an ending: MapLibre.
        case absolute(tiles: String, glyphs: String, sprite: String)
    }

    /// Its pictures of symbols.
    public let sprites: SpriteSheet
    /// The fonts of its labels.
    public let fonts: Set<FontStack>
    /// What the texts of labels are made of, by the name of their layer.
    public let labels: [String: [LabelExpression]]
    /// Classes of labels that it leaves out: their clause has no filter in a style.
    public let labelClassesLeftOut: Int
    /// Symbols that are circles or solid fills for want of room among the pictures.
    public let symbolsLeftOut: Int
    private let title: String
    private let layers: [StyleLayer]

    /// The style of a map.
    ///
    /// - Parameter layers: Those that are in its tiles, bottom first.
    public init(title: String, _ layers: [TileLayer]) {
        self.title = title
        let symbols = layers.flatMap { StyleLayer.symbols(of: $0.layer) }
        let sprites = SpriteSheet(symbols)
        self.sprites = sprites
        symbolsLeftOut = Set(symbols).count {
            SpriteSheet.wants($0) && sprites.name(of: $0) == nil
        }
        let texts = layers.map { LabelLayers($0) }
        labelClassesLeftOut = texts.reduce(0) { $0 + $1.leftOut }
        fonts = texts.reduce(into: []) { $0.formUnion($1.fonts) }
        labels = Dictionary(zip(layers.map(\.layer.name), texts.map(\.expressions))) { $0 + $1 }
            .filter { !$0.value.isEmpty }
        let shapes = layers.map { StyleLayer.layers(of: $0, sprites) }
        let names = layers.map(\.layer.name)
        var taken: Set<String> = []
        func named(_ groups: [[StyleLayer]], _ suffix: String) -> [StyleLayer] {
            zip(names, groups).flatMap { name, group in
                group.enumerated().map { number, layer in
                    var layer = layer
                    layer.id =
                        name + suffix
                        + (number == 0 ? "" : "/\(number)")
                    while !taken.insert(layer.id).inserted { layer.id += "'" }
                    return layer
                }
            }
        }
        let below = named(shapes, "")
        self.layers = below + named(texts.map(\.layers), "/label")
    }

    /// The style as JSON, its sources named `esri`.
    public func json(_ addresses: Addresses) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("version", 8)
            json.member("name", title)
            json.member("metadata") { json in
                json.member("cairn:labelClassesLeftOut", labelClassesLeftOut)
                json.member("cairn:symbolsLeftOut", symbolsLeftOut)
            }
            switch addresses {
            case .relative, .packaged:
                if addresses == .relative || !sprites.symbols.isEmpty {
                    json.member("sprite", "../sprites/sprite")
                }
                json.member("glyphs", "../fonts/{fontstack}/{range}.pbf")
            case .absolute(_, let glyphs, let sprite):
                json.member("sprite", sprite)
                json.member("glyphs", glyphs)
            }
            json.member("sources") { json in
                json.member("esri") { json in
                    json.member("type", "vector")
                    switch addresses {
                    case .relative, .packaged: json.member("url", "../../")
                    case .absolute(let tiles, _, _):
                        json.member("tiles", array: [tiles]) { $0.string($1) }
                        json.member("minzoom", TileAddress.levels.lowerBound)
                        json.member("maxzoom", TileAddress.levels.upperBound)
                    }
                }
            }
            json.member("layers", array: layers) { json, layer in
                json.json(layer.tree.jsonText.utf8)
            }
        }
        return json.bytes
    }
}
