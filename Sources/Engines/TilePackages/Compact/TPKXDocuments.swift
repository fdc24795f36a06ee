// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform

/// The documents of a TPKX (https://github.com/Esri/tile-package-spec).
enum TPKXDocuments {
    static func members(
        _ metadata: TilePackageMetadata, content: String
    ) -> [(name: String, bytes: [UInt8])] {
        [
            ("cairn.json", metadata.json(content: content)),
            ("iteminfo.json", item(metadata, content: content)), ("root.json", root(metadata)),
        ]
    }

    private static func root(_ metadata: TilePackageMetadata) -> [UInt8] {
        let format = metadata.encoding == .jpg ? "JPEG" : "PNG"
        let (low, high) = (metadata.levels.lowerBound, metadata.levels.upperBound)
        var writer = JSONWriter()
        writer.object { json in
            json.member("name", metadata.name)
            json.key("version")
            json.json("1.0".utf8)
            json.member("serviceDescription", metadata.description)
            json.member("copyrightText", metadata.attribution)
            json.member("tileBundlesPath", "./tile")
            json.member("minLOD", low)
            json.member("maxLOD", high)
            json.member("minScale", ServiceDocument.scale(low, metadata))
            json.member("maxScale", ServiceDocument.scale(high, metadata))
            json.member("resampling", true)
            json.member("units", "esriMeters")
            json.webMercator()
            json.extent("initialExtent", metadata.extent)
            json.extent("fullExtent", metadata.extent)
            json.tileInfo(metadata, format: format)
            json.storageInfo()
            json.member("tileImageInfo") { json in
                json.member("format", format)
                json.member("compressionQuality", metadata.quality ?? 0)
            }
            json.member("layers", array: [metadata.name]) { json, name in
                json.object { json in
                    json.member("id", 0)
                    json.member("name", name)
                    json.member("parentLayerId", -1)
                    json.member("defaultVisibility", true)
                    json.nullMember("subLayerIds")
                    json.member("minScale", 0)
                    json.member("maxScale", 0)
                    json.member("legend", array: [] as [Int]) { $0.member("", $1) }
                }
            }
        }
        return writer.bytes
    }

    private static func item(_ metadata: TilePackageMetadata, content: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { json in
            json.member("name", metadata.name)
            json.member("guid", ServiceDocument.guid(metadata, content: content))
            json.key("version")
            json.json("1.0".utf8)
            json.member("created", Int(metadata.created.microseconds / 1_000))
            json.member("snippet", metadata.description)
            json.member("description", metadata.description)
            json.member("summary", metadata.description)
            json.member("title", metadata.name)
            json.member("tags", "")
            json.member("type", "Compact Tile Package")
            json.member(
                "typeKeywords", array: ["Compact Tile Package", "Tile Package", "tpkx"]
            ) { $0.string($1) }
            json.member("extent") { json in
                json.ordinates(metadata.degrees)
                json.member("spatialReference") { $0.member("wkid", 4_326) }
            }
        }
        return writer.bytes
    }
}
