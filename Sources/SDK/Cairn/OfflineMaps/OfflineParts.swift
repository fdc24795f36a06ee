// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The parts of a map that is taken offline.
enum OfflineParts {
    /// What a part is asked for with.
    enum Parameters {
        case features(GenerateGeodatabaseParameters)
        case tiles(ExportTileCacheParameters)
        case vectorTiles(ExportVectorTilesParameters)
    }

    /// What a job has to know of a layer.
    static func part(of layer: Layer) -> JSON {
        func entry(_ type: String, _ url: URL) -> JSON {
            .object(of: [
                "id": .string(layer.id), "name": .string(layer.name), "type": .string(type),
                "url": .string(url.absoluteString),
            ])
        }
        switch layer {
        case let layer as FeatureLayer:
            guard let table = layer.featureTable as? ServiceFeatureTable else { break }
            let clauses = [table.definitionExpression, layer.definitionExpression]
                .filter { !$0.isEmpty }
            let part = entry("features", table.url.above)
            return .object(
                part.members + [
                    ("layer", .string(table.url.lastPathComponent)),
                    (
                        "where",
                        .string(
                            clauses.map { clauses.count > 1 ? "(\($0))" : $0 }
                                .joined(separator: " AND "))
                    ),
                ])
        case let layer as ArcGISTiledLayer where !layer.place.isFileURL:
            return entry("tiles", layer.place)
        case let layer as ArcGISMapImageLayer: return entry("tiles", layer.url)
        case let layer as ArcGISVectorTiledLayer where !layer.url.isFileURL:
            return entry("vectorTiles", layer.url)
        default: break
        }
        return .object(of: [
            "id": .string(layer.id), "name": .string(layer.name), "type": .string("other"),
            "kind": .string("\(type(of: layer))"),
        ])
    }

    /// What a job has to know of a table.
    static func part(of table: FeatureTable) -> JSON {
        guard let service = table as? ServiceFeatureTable else {
            return .object(of: [
                "name": .string(table.displayName), "isTable": .bool(true),
                "type": .string("other"), "kind": .string("\(type(of: table))"),
            ])
        }
        return .object(of: [
            "name": .string(table.displayName), "isTable": .bool(true),
            "type": .string("features"), "url": .string(service.url.above.absoluteString),
            "layer": .string(service.url.lastPathComponent),
            "where": .string(service.definitionExpression),
        ])
    }

    private static func url(_ part: JSON) throws -> URL {
        guard let url = part.text("url").flatMap({ URL(string: $0) }) else {
            throw CairnError(.unsupported, "a \(part.text("kind") ?? "layer") is not taken offline")
        }
        return url
    }

    /// Throws why a part cannot be taken.
    static func check(_ part: JSON) async throws {
        let url = try url(part)
        switch part.text("type") {
        case "features": try await GeodatabaseSyncTask(url: url).load()
        case "vectorTiles": try await ExportVectorTilesTask(url: url).load()
        default: try await ExportTileCacheTask(url: url).load()
        }
    }

    /// The parameters of a part as its service gives them.
    static func parameters(
        _ part: JSON, _ area: Geometry, _ minScale: Double?, _ maxScale: Double?,
        _ reference: SpatialReference?
    ) async throws -> Parameters {
        let url = try url(part)
        switch part.text("type") {
        case "features":
            let parameters = try await GeodatabaseSyncTask(url: url)
                .makeDefaultGenerateGeodatabaseParameters(extent: area)
            parameters.outSpatialReference = reference ?? area.spatialReference
            parameters.removeAllLayerOptions()
            parameters.addLayerOption(
                GenerateLayerOption(
                    layerID: Int(part.text("layer") ?? "") ?? 0,
                    whereClause: part.text("where") ?? ""))
            return .features(parameters)
        case "vectorTiles":
            return .vectorTiles(
                try await ExportVectorTilesTask(url: url).makeDefaultExportVectorTilesParameters(
                    areaOfInterest: area, maxScale: maxScale ?? 0))
        default:
            return .tiles(
                try await ExportTileCacheTask(url: url).makeDefaultExportTileCacheParameters(
                    areaOfInterest: area, minScale: minScale ?? 0, maxScale: maxScale ?? 0))
        }
    }
}
