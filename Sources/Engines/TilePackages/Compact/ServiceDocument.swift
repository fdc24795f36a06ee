// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import Geometry
internal import Platform

/// What the documents of Esri's packages have alike.
enum ServiceDocument {
    /// Scale of level 0 for tiles of 256 pixels at 96 dots per inch.
    private static let scale = 591_657_527.591555

    /// The scale of a level.
    static func scale(_ level: Int, _ metadata: TilePackageMetadata) -> Double {
        scale * 256 / Double(metadata.tileSide) / Double(TileAddress.count(at: level))
    }

    /// Resolution of level 0 for tiles of 256 pixels, with Esri's rounding, as the origin has it:
    /// exact ones with that origin leave GDAL a pixel less than there are.
    private static let resolution = 156_543.03392800014

    /// Metres of a pixel of a level.
    static func resolution(_ level: Int, _ metadata: TilePackageMetadata) -> Double {
        resolution * 256 / Double(metadata.tileSide) / Double(TileAddress.count(at: level))
    }

    /// An id in the form of a UUID (version 8) from the package's content.
    static func guid(_ metadata: TilePackageMetadata, content: String) -> String {
        var digits = Array(
            SHA256.digest(Array("guid".utf8) + metadata.json(content: content)).hexadecimal
                .prefix(32))
        digits[12] = "8"
        digits[16] = "8"
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
            .joined(separator: "-")
    }
}

extension JSONWriter {
    mutating func webMercator() {
        member("spatialReference") { json in
            json.member("wkid", 102_100)
            json.member("latestWkid", 3_857)
        }
    }

    mutating func extent(_ name: String, _ extent: Envelope) {
        member(name) { json in
            json.ordinates(extent)
            json.webMercator()
        }
    }

    mutating func ordinates(_ extent: Envelope) {
        member("xmin", extent.minX)
        member("ymin", extent.minY)
        member("xmax", extent.maxX)
        member("ymax", extent.maxY)
    }

    /// Levels from 0 to the last one, so that a level's index is its number.
    mutating func tileInfo(_ metadata: TilePackageMetadata, format: String) {
        member("tileInfo") { json in
            json.member("rows", metadata.tileSide)
            json.member("cols", metadata.tileSide)
            json.member("dpi", 96)
            json.member("format", format)
            json.member("compressionQuality", 0)
            json.member("origin") { json in
                json.member("x", -20_037_508.342787)
                json.member("y", 20_037_508.342787)
            }
            json.webMercator()
            json.member("lods", array: 0...metadata.levels.upperBound) { json, level in
                json.object { json in
                    json.member("level", level)
                    json.member("resolution", ServiceDocument.resolution(level, metadata))
                    json.member("scale", ServiceDocument.scale(level, metadata))
                }
            }
        }
    }

    mutating func storageInfo() {
        member("storageInfo") { json in
            json.member("storageFormat", "esriMapCacheStorageModeCompactV2")
            json.member("packetSize", Bundle.side)
        }
    }
}
