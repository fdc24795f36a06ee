// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Takes a map with its data into a folder.
public final class OfflineMapTask: LoadableBase, @unchecked Sendable {
    /// The map.
    public let onlineMap: Map

    /// A task; nothing is asked before it is loaded.
    public init(onlineMap: Map) { self.onlineMap = onlineMap }

    /// A task for the map of an item.
    public convenience init(portalItem: PortalItem) { self.init(onlineMap: Map(item: portalItem)) }

    override func performLoad() async throws { try await onlineMap.load() }

    /// Parameters for an area, with the map's range of scales and the texts of its item.
    public func makeDefaultGenerateOfflineMapParameters(
        areaOfInterest: Geometry
    ) async throws -> GenerateOfflineMapParameters {
        try await load()
        let parameters = GenerateOfflineMapParameters(
            areaOfInterest: areaOfInterest, minScale: onlineMap.minScale,
            maxScale: onlineMap.maxScale)
        parameters.itemInfo = onlineMap.item.map { OfflineMapItemInfo($0) }
        return parameters
    }

    /// The layers that have data: of a group those in it.
    private func layers(
        _ values: GenerateOfflineMapParameters.Values, leavingOut ids: Set<String> = []
    ) -> [Layer] {
        (values.includesBasemap ? onlineMap.allLayers : onlineMap.operationalLayers)
            .flatMap { $0.leaves(leavingOut: ids) }
    }

    /// Which layers and tables can be taken: asks each service.
    public func offlineMapCapabilities(
        parameters: GenerateOfflineMapParameters
    ) async throws -> OfflineMapCapabilities {
        try await load()
        func capability(_ part: JSON) async throws -> OfflineCapability {
            do {
                try await OfflineParts.check(part)
                return OfflineCapability(error: nil)
            } catch {
                try Task.checkCancellation()
                return OfflineCapability(error: error)
            }
        }
        var layers: [OfflineLayer: OfflineCapability] = [:]
        for layer in self.layers(parameters.values.current) {
            layers[OfflineLayer(layer)] = try await capability(OfflineParts.part(of: layer))
        }
        var tables: [OfflineTable: OfflineCapability] = [:]
        for table in onlineMap.tables {
            tables[OfflineTable(table)] = try await capability(OfflineParts.part(of: table))
        }
        return OfflineMapCapabilities(layerCapabilities: layers, tableCapabilities: tables)
    }

    /// The parameters of each layer and table that can be taken, for an app to change: asks each
    /// service.
    public func makeGenerateOfflineMapParameterOverrides(
        parameters: GenerateOfflineMapParameters
    ) async throws -> GenerateOfflineMapParameterOverrides {
        try await load()
        let overrides = GenerateOfflineMapParameterOverrides()
        let values = parameters.values.current
        let keys =
            layers(values).map { (OfflineMapParametersKey(layer: $0), OfflineParts.part(of: $0)) }
            + onlineMap.tables.map {
                (OfflineMapParametersKey(featureTable: $0), OfflineParts.part(of: $0))
            }
        for (key, part) in keys {
            do {
                switch try await OfflineParts.parameters(
                    part, values.area, values.minScale, values.maxScale,
                    onlineMap.spatialReference)
                {
                case .features(let made):
                    if values.updateMode == .noUpdates { made.syncModel = .none }
                    overrides.generateGeodatabaseParameters[key] = made
                case .tiles(let made): overrides.exportTileCacheParameters[key] = made
                case .vectorTiles(let made): overrides.exportVectorTilesParameters[key] = made
                }
            } catch {
                // Of what cannot be taken there is nothing to change; the job says why.
                try Task.checkCancellation()
            }
        }
        return overrides
    }

    /// A job that writes a package into a folder, which it makes; asks nothing.
    public func makeGenerateOfflineMapJob(
        parameters: GenerateOfflineMapParameters, downloadDirectory: URL,
        overrides: GenerateOfflineMapParameterOverrides? = nil
    ) -> GenerateOfflineMapJob {
        let values = parameters.values.current
        let leftOut = overrides?.leftOut ?? []
        func entry(_ part: JSON, _ key: OfflineMapParametersKey) -> JSON {
            guard let form = overrides?.form(key) else { return part }
            return .object(part.members + [("form", form)])
        }
        let parts =
            layers(values, leavingOut: leftOut)
            .map { entry(OfflineParts.part(of: $0), OfflineMapParametersKey(layer: $0)) }
            + onlineMap.tables.map {
                entry(OfflineParts.part(of: $0), OfflineMapParametersKey(featureTable: $0))
            }
        let service = parts.lazy.compactMap { $0.text("url") }
            .compactMap { URL(string: $0) }.first
        var ticket = JobTicket(
            kind: GenerateOfflineMapJob.kind,
            url: service ?? URL(string: "http://localhost/") ?? downloadDirectory)
        ticket.details = .object(of: [
            "folder": .string(downloadDirectory.path(percentEncoded: false)),
            "area": values.area.json, "parts": .array(parts),
            "minScale": values.minScale.map { .real($0) },
            "maxScale": values.maxScale.map { .real($0) },
            "reference": onlineMap.spatialReference?.json,
            "continuesOnErrors": .bool(values.continuesOnErrors),
            "includesBasemap": .bool(values.includesBasemap),
            "updates": values.updateMode == .noUpdates ? .bool(false) : nil,
            "itemInfo": values.itemInfo?.json,
            "map": WebMap.document(of: onlineMap),
        ])
        let job = GenerateOfflineMapJob(ticket: ticket, work: GenerateOfflineMapJob.work)
        job.onlineMap.current = onlineMap
        return job
    }
}
