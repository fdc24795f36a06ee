// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// The documents above features and tiles: landing page, conformance, the description of the API,
/// collections.
enum OGCDocument {
    private static let title = "Cairn"
    private static let summary = "The layers of this site's maps as features, the maps as tiles."

    static func landing(_ links: OGCLinks) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("title", title)
            json.member("description", summary)
            json.key("links")
            json.array { json in
                links.write("self", "", OGCLinks.json, "This document", &json)
                links.write("alternate", "?f=html", OGCLinks.html, "As a page", &json)
                links.write("service-desc", "api", OGCLinks.openAPI, "The API", &json)
                links.write("service-doc", "api?f=html", OGCLinks.html, "The API", &json)
                links.write(
                    "conformance", "conformance", OGCLinks.json, "What is implemented", &json)
                links.write("data", "collections", OGCLinks.json, "Collections", &json)
                links.write(
                    OGCTileset.relation + "tilesets-map", "map/tiles", OGCLinks.json,
                    "Tilesets of maps", &json)
                links.write(
                    OGCTileset.relation + "tilesets-vector", "vector/tiles", OGCLinks.json,
                    "Vector tilesets of maps", &json)
                links.write(
                    OGCTileset.relation + "tiling-schemes", "tileMatrixSets", OGCLinks.json,
                    "Tile matrix sets", &json)
            }
        }
        return json.bytes
    }

    private static let classes = [
        "ogcapi-features-1/1.0/conf/core", "ogcapi-features-1/1.0/conf/oas30",
        "ogcapi-features-1/1.0/conf/html", "ogcapi-features-1/1.0/conf/geojson",
        "ogcapi-features-2/1.0/conf/crs", "ogcapi-tiles-1/1.0/conf/core",
        "ogcapi-tiles-1/1.0/conf/tileset", "ogcapi-tiles-1/1.0/conf/tilesets-list",
        "ogcapi-tiles-1/1.0/conf/dataset-tilesets", "ogcapi-tiles-1/1.0/conf/png",
        "ogcapi-tiles-1/1.0/conf/mvt",
        "ogcapi-tiles-1/1.0/conf/oas30", "tms/2.0/conf/tilematrixset",
        "tms/2.0/conf/json-tilematrixset",
    ]

    static func conformance() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("conformsTo", array: classes) {
                $0.string("http://www.opengis.net/spec/" + $1)
            }
        }
        return json.bytes
    }

    static func collections(_ collections: [OGCCollection], _ links: OGCLinks) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.key("links")
            json.array { json in
                links.write("self", "collections", OGCLinks.json, "This document", &json)
                links.write("alternate", "collections?f=html", OGCLinks.html, "As a page", &json)
            }
            json.member("collections", array: collections) { json, collection in
                json.object { collection.write(to: &$0, links) }
            }
        }
        return json.bytes
    }

    // MARK: OpenAPI

    /// OpenAPI 3.0.
    ///
    /// - Parameter hasTokens: Whether some resources require a token.
    static func api(_ links: OGCLinks, hasTokens: Bool) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("openapi", "3.0.3")
            json.member("info") { json in
                json.member("title", title)
                json.member("description", summary)
                json.member("version", "1.0.0")
            }
            json.member("servers", array: [links.root]) { json, url in
                json.object { $0.member("url", url) }
            }
            if hasTokens {
                // Either scheme, or none for public resources.
                json.member("security", array: securitySchemes.map(\.name) + [nil]) { json, name in
                    json.object { json in
                        if let name { json.member(name, array: [Int]()) { $0.integer(Int64($1)) } }
                    }
                }
            }
            json.member("paths") { json in
                for path in paths { write(path, &json) }
            }
            json.member("components") { json in
                json.member("parameters") { json in
                    for parameter in parameters { write(parameter, &json) }
                }
                if hasTokens {
                    json.member("securitySchemes") { json in
                        for scheme in securitySchemes {
                            json.member(scheme.name) { json in
                                for (name, value) in scheme.members { json.member(name, value) }
                            }
                        }
                    }
                }
                json.member("schemas") { json in
                    json.member("exception") { json in
                        json.member("type", "object")
                        json.member("required", array: ["code"]) { $0.string($1) }
                        json.member("properties") { json in
                            for name in ["code", "description"] {
                                json.member(name) { $0.member("type", "string") }
                            }
                        }
                    }
                }
            }
        }
        return json.bytes
    }

    /// Ways to present a token.
    private static let securitySchemes: [(name: String, members: [(String, String)])] = [
        ("bearer", [("type", "http"), ("scheme", "bearer")]),
        ("token", [("type", "apiKey"), ("in", "query"), ("name", "token")]),
    ]

    private struct Path {
        var path: String
        var operation: String
        var summary: String
        var mediaType = OGCLinks.json
        var parameters: [String] = []

        /// Tiles have no page.
        var mediaTypes: [String] {
            path.hasSuffix("{tileCol}") ? [mediaType] : [mediaType, OGCLinks.html]
        }
    }

    private static let past = ["at", "f"]
    private static let paths = [
        Path(path: "/", operation: "getLandingPage", summary: "Landing page", parameters: ["f"]),
        Path(
            path: "/conformance", operation: "getConformance", summary: "What is implemented",
            parameters: ["f"]),
        Path(
            path: "/collections", operation: "getCollections",
            summary: "Layers of maps that can be read", parameters: past),
        Path(
            path: "/collections/{collectionId}", operation: "describeCollection",
            summary: "One of them", parameters: ["collectionId"] + past),
        Path(
            path: "/collections/{collectionId}/items", operation: "getFeatures",
            summary: "Features. Further parameters are values that properties must have",
            mediaType: OGCLinks.geoJSON,
            parameters: [
                "collectionId", "bbox", "bbox-crs", "crs", "datetime", "limit", "offset",
            ] + past),
        Path(
            path: "/collections/{collectionId}/items/{featureId}", operation: "getFeature",
            summary: "One feature", mediaType: OGCLinks.geoJSON,
            parameters: ["collectionId", "featureId", "crs"] + past),
        Path(
            path: "/tileMatrixSets", operation: "getTileMatrixSetsList",
            summary: "Schemes of tiles", parameters: ["f"]),
        Path(
            path: "/tileMatrixSets/" + TileMatrixSet.name, operation: "getTileMatrixSet",
            summary: "The scheme of tiles", parameters: ["f"]),
        Path(
            path: "/map/tiles", operation: "dataset.map.getTileSetsList",
            summary: "Tilesets of maps that can be read", parameters: ["f"]),
        Path(
            path: "/{mapId}/map", operation: "map.describe",
            summary: "A map as a collection of tiles", parameters: ["mapId", "f"]),
        Path(
            path: "/{mapId}/map/tiles", operation: "map.getTileSetsList",
            summary: "Tilesets of a map", parameters: ["mapId", "f"]),
        Path(
            path: "/{mapId}/map/tiles/" + TileMatrixSet.name, operation: "map.getTileSet",
            summary: "A tileset of a map", parameters: ["mapId", "f"]),
        Path(
            path: "/{mapId}/map/tiles/" + TileMatrixSet.name
                + "/{tileMatrix}/{tileRow}/{tileCol}",
            operation: "map.getTile", summary: "A tile of a map as it is now",
            mediaType: "image/png", parameters: ["mapId", "tileMatrix", "tileRow", "tileCol"]),
        Path(
            path: "/vector/tiles", operation: "dataset.vector.getTileSetsList",
            summary: "Vector tilesets of maps that can be read", parameters: ["f"]),
        Path(
            path: "/{mapId}/vector", operation: "vector.describe",
            summary: "A map as a collection of vector tiles", parameters: ["mapId", "f"]),
        Path(
            path: "/{mapId}/vector/tiles", operation: "vector.getTileSetsList",
            summary: "Vector tilesets of a map", parameters: ["mapId", "f"]),
        Path(
            path: "/{mapId}/vector/tiles/" + TileMatrixSet.name, operation: "vector.getTileSet",
            summary: "A vector tileset of a map", parameters: ["mapId", "f"]),
        Path(
            path: "/{mapId}/vector/tiles/" + TileMatrixSet.name
                + "/{tileMatrix}/{tileRow}/{tileCol}",
            operation: "vector.getTile", summary: "A vector tile of a map as it is now",
            mediaType: VectorTileService.mediaType,
            parameters: ["mapId", "tileMatrix", "tileRow", "tileCol"]),
    ]

    private static func failures(of path: Path) -> [(status: String, reason: String)] {
        let missing = ("404", "There is no such map, collection, feature or tile")
        return [("400", "A parameter is unknown, or its value is invalid")]
            + (path.path.contains("{") ? [missing] : [])
            + [
                ("406", "Accept names neither JSON nor HTML"),
                ("default", "Why there is no answer otherwise"),
            ]
    }

    private static func write(_ path: Path, _ json: inout JSONWriter) {
        json.member(path.path) { json in
            json.member("get") { json in
                json.member("operationId", path.operation)
                json.member("summary", path.summary)
                json.member("parameters", array: path.parameters) { json, name in
                    json.object { $0.member("$ref", "#/components/parameters/" + name) }
                }
                json.member("responses") { json in
                    json.member("200") { json in
                        json.member("description", path.summary)
                        json.member("content") { json in
                            for type in path.mediaTypes {
                                json.member(type) { json in
                                    json.member("schema") { json in
                                        json.member(
                                            "type", type.hasSuffix("json") ? "object" : "string")
                                    }
                                }
                            }
                        }
                    }
                    for (status, reason) in failures(of: path) {
                        json.member(status) { json in
                            json.member("description", reason)
                            json.member("content") { json in
                                json.member(OGCLinks.json) { json in
                                    json.member("schema") {
                                        $0.member("$ref", "#/components/schemas/exception")
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private struct Parameter {
        var name: String
        var description: String
        var isInPath = false
        /// Writes the members of its schema.
        var schema: (inout JSONWriter) -> Void = { $0.member("type", "string") }
    }

    private static var parameters: [Parameter] {
        func uri(_ json: inout JSONWriter) {
            json.member("type", "string")
            json.member("format", "uri")
            json.member("default", OGCReference.crs84.uri)
        }
        func whole(_ least: Int, _ most: Int?, _ standard: Int) -> (inout JSONWriter) -> Void {
            { json in
                json.member("type", "integer")
                json.member("minimum", least)
                if let most { json.member("maximum", most) }
                json.member("default", standard)
            }
        }
        return [
            Parameter(name: "collectionId", description: "map.layer", isInPath: true),
            Parameter(name: "mapId", description: "the map; folder.map", isInPath: true),
            Parameter(
                name: "tileMatrix", description: "level", isInPath: true,
                schema: whole(0, TileAddress.levels.upperBound, 0)),
            Parameter(
                name: "tileRow", description: "row from the top", isInPath: true,
                schema: whole(0, nil, 0)),
            Parameter(
                name: "tileCol", description: "column from the left", isInPath: true,
                schema: whole(0, nil, 0)),
            Parameter(
                name: "featureId", description: "the object id", isInPath: true,
                schema: { $0.member("type", "integer") }),
            Parameter(
                name: "bbox", description: "minimum and maximum of both axes",
                schema: { json in
                    json.member("type", "array")
                    json.member("minItems", 4)
                    json.member("maxItems", 6)
                    json.member("items") { $0.member("type", "number") }
                }),
            Parameter(name: "bbox-crs", description: "reference of bbox", schema: uri),
            Parameter(name: "crs", description: "reference of the answer", schema: uri),
            Parameter(
                name: "datetime", description: "a moment, or from/to with '..' for an open end"),
            Parameter(
                name: "limit", description: "the most features",
                schema: whole(1, QueryRequest.recordBound, OGCItems.standardLimit)),
            Parameter(
                name: "offset", description: "features passed over", schema: whole(0, nil, 0)),
            Parameter(
                name: "at", description: "the past: a sequence number or an ISO 8601 time"),
            Parameter(
                name: "f", description: "the form of the answer",
                schema: { json in
                    json.member("type", "string")
                    json.member("enum", array: ["json", "html"]) { $0.string($1) }
                }),
        ]
    }

    private static func write(_ parameter: Parameter, _ json: inout JSONWriter) {
        json.member(parameter.name) { json in
            json.member("name", parameter.name)
            json.member("in", parameter.isInPath ? "path" : "query")
            json.member("description", parameter.description)
            json.member("required", parameter.isInPath)
            // As Part 1 defines them, requirements 20, 22 and 24.
            if ["bbox", "datetime", "limit"].contains(parameter.name) {
                json.member("style", "form")
                json.member("explode", false)
            }
            json.member("schema", parameter.schema)
        }
    }
}
