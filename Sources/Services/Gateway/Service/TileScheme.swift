// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

extension TileAddress {
    /// Throws `notFound` for a tile outside the scheme.
    static func parsing(_ place: Captures.TilePlace) throws(Failure) -> TileAddress {
        let (level, row, column) = (place.level, place.row, place.column)
        if let tile = TileAddress(level: level, row: row, column: column) { return tile }
        guard levels ~= level else {
            throw Failure(.notFound, "tile level \(level): expected 0 to \(levels.upperBound)")
        }
        throw Failure(
            .notFound,
            "tile row \(row), column \(column): at level \(level) expected 0 to "
                + "\(count(at: level) - 1)")
    }
}

extension JSONWriter {
    /// Writes Esri's `tileInfo` of the scheme, with Esri's rounding.
    mutating func tileInfo() {
        member("tileInfo") { json in
            json.member("rows", PictureBlock.tileSide)
            json.member("cols", PictureBlock.tileSide)
            json.member("dpi", 96)
            json.member("format", "PNG32")
            json.member("compressionQuality", 0)
            json.member("origin") { json in
                json.member("x", -20_037_508.342787)
                json.member("y", 20_037_508.342787)
            }
            json.spatialReference(.webMercator)
            json.member("lods", array: TileAddress.levels) { json, level in
                json.object { json in
                    json.member("level", level)
                    json.member("resolution", 156_543.03392800014 / Double(1 << level))
                    json.member("scale", 591_657_527.591555 / Double(1 << level))
                }
            }
        }
    }
}
