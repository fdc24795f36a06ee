// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// The scheme of tiles as OGC describes it: `WebMercatorQuad` (17-083r4, annex D.1), which
/// WMTS 1.0.0 calls `GoogleMapsCompatible` (07-057r7, annex E.4).
enum TileMatrixSet {
    /// The name in OGC API – Tiles.
    static let name = "WebMercatorQuad"
    static let uri = "http://www.opengis.net/def/tilematrixset/OGC/1.0/" + name
    static let crs = "http://www.opengis.net/def/crs/EPSG/0/3857"
    static let wellKnownScaleSet = "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible"

    /// A level of the scheme.
    struct Matrix {
        let level: Int

        /// Name of the level.
        var id: String { "\(level)" }
        /// Number of rows, and of columns.
        var count: Int { TileAddress.count(at: level) }
        /// Scale for pixels of 0.28 mm; Esri's of the same level is for 96 pixels an inch.
        var scaleDenominator: Double { 559_082_264.028_717_8 / Double(count) }
        /// Side of a pixel in metres.
        var cellSize: Double { 156_543.033_928_040_97 / Double(count) }
    }

    static let matrices = TileAddress.levels.map { Matrix(level: $0) }

    /// North-west corner of every level in metres: x, then y.
    static let corner = (x: -TileAddress.halfWorldMeters, y: TileAddress.halfWorldMeters)

    /// `/ogc/tileMatrixSets/WebMercatorQuad`, by version 2 of the standard and by version 1.
    static func body(_ links: OGCLinks) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("id", name)
            json.member("title", "Google Maps Compatible for the World")
            json.member("uri", uri)
            json.member("crs", crs)
            json.member("orderedAxes", array: ["X", "Y"]) { $0.string($1) }
            json.member("wellKnownScaleSet", wellKnownScaleSet)
            json.member("tileMatrices", array: matrices) { json, matrix in
                json.object { json in
                    json.member("id", matrix.id)
                    json.member("scaleDenominator", matrix.scaleDenominator)
                    json.member("cellSize", matrix.cellSize)
                    json.member("cornerOfOrigin", "topLeft")
                    json.member("pointOfOrigin", array: [corner.x, corner.y]) { $0.number($1) }
                    writeSize(matrix, to: &json)
                }
            }
            writeVersion1(to: &json)
            json.key("links")
            json.array { links.writeSelf("tileMatrixSets/" + name, name, &$0) }
        }
        return json.bytes
    }

    private static func writeSize(_ matrix: Matrix, to json: inout JSONWriter) {
        json.member("tileWidth", PictureBlock.tileSide)
        json.member("tileHeight", PictureBlock.tileSide)
        json.member("matrixWidth", matrix.count)
        json.member("matrixHeight", matrix.count)
    }

    /// The scheme as OGC 17-083r2, clause 7.2, has it, the only form that GDAL 3.6 reads.
    ///
    /// Members of the two versions that have one name have one meaning.
    private static func writeVersion1(to json: inout JSONWriter) {
        json.member("type", "TileMatrixSetType")
        json.member("identifier", name)
        json.member("supportedCRS", crs)
        json.member("tileMatrix", array: matrices) { json, matrix in
            json.object { json in
                json.member("type", "TileMatrixType")
                json.member("identifier", matrix.id)
                json.member("scaleDenominator", matrix.scaleDenominator)
                json.member("topLeftCorner", array: [corner.x, corner.y]) { $0.number($1) }
                writeSize(matrix, to: &json)
            }
        }
    }

    /// `/ogc/tileMatrixSets`.
    static func list(_ links: OGCLinks) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.key("tileMatrixSets")
            json.array { json in
                json.object { json in
                    json.member("id", name)
                    json.member("title", "Google Maps Compatible for the World")
                    json.member("uri", uri)
                    json.member("crs", crs)
                    json.key("links")
                    json.array { json in
                        links.write("self", "tileMatrixSets/" + name, OGCLinks.json, name, &json)
                    }
                }
            }
            json.key("links")
            json.array { links.writeSelf("tileMatrixSets", "Tile matrix sets", &$0) }
        }
        return json.bytes
    }
}
