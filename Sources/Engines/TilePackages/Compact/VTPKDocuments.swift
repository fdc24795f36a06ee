// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import Platform

/// The documents of a VTPK, as Esri's programs and QGIS read them; sorted by name.
///
/// Every tile that is not empty is in the package, so there is no map of tiles that would say which
/// parents stand for their children.
enum VTPKDocuments {
    static func members(
        _ metadata: TilePackageMetadata, content: String,
        _ resources: [(name: String, bytes: [UInt8])]
    ) -> [(name: String, bytes: [UInt8])] {
        let guid = ServiceDocument.guid(metadata, content: content)
        let info = item(metadata, guid: guid)
        let own: [(name: String, bytes: [UInt8])] = [
            ("cairn.json", metadata.json(content: content)),
            ("esriinfo/item.pkinfo", package(metadata, guid: guid)),
            ("esriinfo/iteminfo.xml", info), ("p12/metadata.json", layers(metadata)),
            ("p12/resources/info/root.json", list(resources.map(\.name))),
            ("p12/resources/styles/root.json", Array((metadata.style ?? style(metadata)).utf8)),
            ("p12/root.json", root(metadata)),
        ]
        let all = own + resources.map { ("p12/resources/" + $0.name, $0.bytes) }
        return all.sorted { $0.name < $1.name }
    }

    private static func root(_ metadata: TilePackageMetadata) -> [UInt8] {
        let (low, high) = (metadata.levels.lowerBound, metadata.levels.upperBound)
        var writer = JSONWriter()
        writer.object { json in
            json.member("currentVersion", 10.91)
            json.member("name", metadata.name)
            json.member("copyrightText", metadata.attribution)
            json.member("capabilities", "TilesOnly")
            json.member("type", "indexedVector")
            json.member("defaultStyles", "resources/styles")
            json.member("tiles", array: ["tile/{z}/{y}/{x}.pbf"]) { $0.string($1) }
            json.member("exportTilesAllowed", false)
            json.extent("initialExtent", metadata.extent)
            json.extent("fullExtent", metadata.extent)
            json.member("minScale", ServiceDocument.scale(low, metadata))
            json.member("maxScale", ServiceDocument.scale(high, metadata))
            json.member("minLOD", low)
            json.member("maxLOD", high)
            json.tileInfo(metadata, format: "pbf")
            json.member("maxzoom", high)
            json.member("resourceInfo") { json in
                json.member("styleVersion", 8)
                json.member("tileCompression", "gzip")
                json.member("cacheInfo") { json in
                    json.member("storageInfo") { json in
                        json.member("packetSize", Bundle.side)
                        json.member("storageFormat", "compactV2")
                    }
                }
            }
        }
        return writer.bytes
    }

    private static func layers(_ metadata: TilePackageMetadata) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.vectorLayers(metadata.vectorLayers) }
        return writer.bytes
    }

    /// The files below `resources`.
    private static func list(_ names: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { json in
            json.member(
                "resourceInfo",
                array: ["styles/root.json", "info/root.json"] + names.sorted()
            ) { $0.string("resources/" + $1) }
        }
        return writer.bytes
    }

    /// A style of thin lines, since every reader asks for one.
    private static func style(_ metadata: TilePackageMetadata) -> String {
        var writer = JSONWriter()
        writer.object { json in
            json.member("version", 8)
            json.member("sources") { json in
                json.member("esri") { json in
                    json.member("type", "vector")
                    json.member("url", "../../")
                }
            }
            json.member("layers", array: metadata.vectorLayers) { json, layer in
                json.object { json in
                    json.member("id", layer.id)
                    json.member("type", "line")
                    json.member("source", "esri")
                    json.member("source-layer", layer.id)
                    json.member("paint") { $0.member("line-color", "#666666") }
                }
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func item(_ metadata: TilePackageMetadata, guid: String) -> [UInt8] {
        let degrees = metadata.degrees
        func number(_ value: Double) -> String {
            var text: [UInt8] = []
            DecimalText.append(value, to: &text)
            return String(decoding: text, as: UTF8.self)
        }
        let text =
            #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
            + #"<ESRI_ItemInformation Culture="en-US">"# + "<guid>\(guid)</guid>"
            + "<name>\(escaped(metadata.name))</name><version>1.0</version>"
            + "<title>\(escaped(metadata.name))</title>"
            + "<snippet>\(escaped(metadata.description))</snippet>"
            + "<description>\(escaped(metadata.description))</description>"
            + "<accessinformation>\(escaped(metadata.attribution))</accessinformation><extent>"
            + "<xmin>\(number(degrees.minX))</xmin><ymin>\(number(degrees.minY))</ymin>"
            + "<xmax>\(number(degrees.maxX))</xmax><ymax>\(number(degrees.maxY))</ymax></extent>"
            + "<type>Vector Tile Package</type><typekeywords><typekeyword>vtpk</typekeyword>"
            + "</typekeywords></ESRI_ItemInformation>\n"
        return Array(text.utf8)
    }

    private static func package(_ metadata: TilePackageMetadata, guid: String) -> [UInt8] {
        let text =
            #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n"
            + #"<ESRI_PackageInformation Version="1.0"><ID>"# + guid
            + "</ID><Name>\(escaped(metadata.name))</Name><Type>Vector Tile Package</Type>"
            + "</ESRI_PackageInformation>\n"
        return Array(text.utf8)
    }

    /// Text of XML; characters that XML does not have are left out.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\t", "\n", "\r", "\u{20}"..."\u{fffd}", "\u{10000}"...:
                result.unicodeScalars.append(scalar)
            default: break
            }
        }
        return result
    }
}
