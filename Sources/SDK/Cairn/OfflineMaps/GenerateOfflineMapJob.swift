// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Takes a map with its data into a folder.
public final class GenerateOfflineMapJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "GenerateOfflineMap"
    static let work: any JobWork = OfflineMapWork()

    /// The map that it takes; nil of a job that was read back.
    let onlineMap = Guarded<Map?>(nil)
    private let made = Guarded<MobileMapPackage?>(nil)

    /// The map and its package: throws also where the package cannot be read.
    public var output: GenerateOfflineMapResult {
        get async throws {
            let json = try await finalAnswer()
            let fresh = MobileMapPackage(fileURL: URL(filePath: json.text("folder") ?? ""))
            let package = made.withLock { made in
                made = made ?? fresh
                return made ?? fresh
            }
            try await package.load()
            guard let map = package.maps.first else {
                throw CairnError(.invalidState, "the package of the map is closed")
            }
            let parts = ticket.current.details["parts"]?.elements ?? []
            var layers: [OfflineLayer: any Error] = [:]
            var tables: [OfflineTable: any Error] = [:]
            for entry in json["errors"]?.elements ?? [] {
                guard let number = entry["part"]?.int, parts.indices.contains(number) else {
                    continue
                }
                let part = parts[number]
                let error = CairnError(.jobFailed, entry.text("text") ?? "")
                if part["isTable"]?.flag == true {
                    tables[OfflineTable(table(part))] = error
                } else {
                    layers[OfflineLayer(layer(part))] = error
                }
            }
            return GenerateOfflineMapResult(
                offlineMap: map, mobileMapPackage: package, layerErrors: layers,
                tableErrors: tables)
        }
    }

    private func layer(_ part: JSON) -> Layer {
        let all = onlineMap.current?.allLayers.flatMap { $0.leaves() } ?? []
        if let known = all.first(where: { $0.id == part.text("id") }) {
            return known
        }
        let layer = Layer()
        layer.name = part.text("name") ?? ""
        if let id = part.text("id") { layer.id = id }
        return layer
    }

    private func table(_ part: JSON) -> FeatureTable {
        let url = part.text("url").flatMap { URL(string: $0) }?.below(part.text("layer") ?? "")
        let known = onlineMap.current?.tables.first { table in
            (table as? ServiceFeatureTable)?.url == url
        }
        return known ?? url.map { ServiceFeatureTable(url: $0) } ?? FeatureTable()
    }
}

/// What a job took offline.
public struct GenerateOfflineMapResult: Sendable {
    /// The map, which asks no server.
    public let offlineMap: Map
    /// The package it is in.
    public let mobileMapPackage: MobileMapPackage
    /// Layers that could not be taken: layers of the map that the job was made for, or, of a job
    /// that was read back, with their names alone.
    public let layerErrors: [OfflineLayer: any Error]
    /// Tables that could not be taken.
    public let tableErrors: [OfflineTable: any Error]
    /// Whether something could not be taken.
    public var hasErrors: Bool { !layerErrors.isEmpty || !tableErrors.isEmpty }
}
