// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import VectorTiles

/// Features that are not in the tiles that they touch, by layer.
struct LostFeatures {
    private var layers: [String: (vanished: Int, dropped: Int)] = [:]
    /// Object ids of features without a place.
    private var unplaceable: [String: Set<UInt64>] = [:]
    /// Object ids of features that pictures lack a part of.
    private var undrawn: [LayerID: Set<Int64>] = [:]
    /// Object ids that a message lists.
    private static let listedCount = 10

    mutating func add(_ contents: [VectorTiles.VectorTileLayer]) {
        for layer in contents where !layer.unplaceableIDs.isEmpty {
            unplaceable[layer.name, default: []].formUnion(layer.unplaceableIDs)
        }
    }

    mutating func add(_ report: VectorTileReport) {
        for layer in report.layers where layer.vanished + layer.dropped > 0 {
            let known = layers[layer.name] ?? (0, 0)
            layers[layer.name] = (known.vanished + layer.vanished, known.dropped + layer.dropped)
        }
    }

    mutating func add(_ picture: ExportedPicture) {
        undrawn.merge(picture.unplaceable) { $0.union($1) }
    }

    /// Those dropped for the size of their tiles, and those without a place; features smaller than
    /// a step of the grid are as every tile of that level shows them.
    var messages: [JobMessage] {
        layers.sorted { $0.key < $1.key }.filter { $0.value.dropped > 0 }.map { name, count in
            JobMessage(
                .warning,
                "layer '\(name)': \(count.dropped) features were dropped from tiles that would "
                    + "be too large")
        }
            + unplaceable.sorted { $0.key < $1.key }.map { name, ids in
                JobMessage(
                    .warning,
                    "layer '\(name)': \(ids.count) features have no place in EPSG:3857 or are "
                        + "damaged, and are in no tile: " + Self.list(ids.sorted()))
            }
    }

    /// Those that pictures lack, by the layers' names.
    func messages(of map: MapDescription) -> [JobMessage] {
        undrawn.sorted { $0.key < $1.key }.map { id, ids in
            JobMessage(
                .warning,
                "layer '\(map.layer(id)?.name ?? "\(id)")': \(ids.count) features have a position "
                    + "without a place in EPSG:3857, and are not or not wholly drawn: "
                    + Self.list(ids.sorted()))
        }
    }

    private static func list(_ ids: [some BinaryInteger]) -> String {
        ids.prefix(listedCount).map { "\($0)" }.joined(separator: ", ")
            + (ids.count > listedCount ? ", …" : "")
    }
}
