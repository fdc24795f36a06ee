// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Takes features of a service into a geodatabase, and keeps both in step.
public final class GeodatabaseSyncTask: LoadableBase, @unchecked Sendable {
    /// The URL, as `…/City/FeatureServer`.
    public let url: URL
    private let info = Guarded<FeatureServiceInfo?>(nil)
    /// Whether layers are synchronised each by itself alone.
    private let isPerLayer = Guarded(false)

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    /// What the service says; nil before it is loaded.
    public var featureServiceInfo: FeatureServiceInfo? { info.current }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url)
        let capabilities = ReplicaCapabilities(json)
        isPerLayer.current = !capabilities.isPerReplica && capabilities.isPerLayer
        let isEnabled =
            json["syncEnabled"]?.flag ?? (json.text("capabilities") ?? "").contains("Sync")
        info.current = FeatureServiceInfo(
            serviceDescription: json.text("serviceDescription") ?? "",
            layerInfos: (json["layers"]?.elements ?? []).compactMap { layer in
                layer["id"]?.int.map { IDInfo(id: $0, name: layer.text("name") ?? "") }
            },
            isSyncEnabled: isEnabled,
            supportedSyncDirections: capabilities.hasDirections
                ? [.download, .upload, .bidirectional] : [.bidirectional],
            fullExtent: Geometry.make(json.member("fullExtent"), nil) as? Envelope)
        guard isEnabled else { throw CairnError.unsupported("synchronisation", by: url) }
    }

    /// Parameters for all layers in an area.
    public func makeDefaultGenerateGeodatabaseParameters(
        extent: Geometry
    ) async throws -> GenerateGeodatabaseParameters {
        try await load()
        var values = GenerateGeodatabaseParameters.Values()
        values.extent = extent
        values.outSpatialReference = extent.spatialReference
        if isPerLayer.current { values.syncModel = .layer }
        values.layerOptions = (featureServiceInfo?.layerInfos ?? []).compactMap { info in
            info.id.map { GenerateLayerOption(layerID: $0) }
        }
        return GenerateGeodatabaseParameters(values)
    }

    /// A job that writes a geodatabase; asks nothing.
    public func makeGenerateGeodatabaseJob(
        parameters: GenerateGeodatabaseParameters, downloadFileURL: URL
    ) -> GenerateGeodatabaseJob {
        GenerateGeodatabaseJob(
            kind: GenerateGeodatabaseJob.kind, url: url, parameters.form,
            to: ["geodatabase": downloadFileURL], work: GenerateReplicaWork())
    }

    /// Parameters for both ways, as far as the service offers them.
    public func makeDefaultSyncGeodatabaseParameters(
        geodatabase: Geodatabase
    ) async throws -> SyncGeodatabaseParameters {
        try await load()
        return SyncGeodatabaseParameters()
    }

    /// A job that synchronises a geodatabase; asks nothing.
    public func makeSyncGeodatabaseJob(
        parameters: SyncGeodatabaseParameters, geodatabase: Geodatabase
    ) -> SyncGeodatabaseJob {
        let form: [(name: String, value: String)] = [
            ("syncDirection", parameters.geodatabaseSyncDirection.rawValue),
            ("rollbackOnFailure", String(parameters.shouldRollbackOnFailure)),
            ("dataFormat", "json"), ("transportType", "esriTransportTypeUrl"),
        ]
        return SyncGeodatabaseJob(
            kind: SyncGeodatabaseJob.kind, url: url, form, to: ["geodatabase": geodatabase.fileURL],
            work: SyncReplicaWork())
    }

    /// Ends the geodatabase's registration; it is not synchronised any more.
    public func unregisterGeodatabase(_ geodatabase: Geodatabase) async throws {
        guard let replica = geodatabase.syncID else {
            throw CairnError(.invalidArgument, "the geodatabase is registered with no service")
        }
        var question = Question(url.below("unRegisterReplica"), ["replicaID": replica])
        (question.isPost, question.isIdempotent) = (true, false)
        _ = try await Requester.json(question)
        try geodatabase.forget()
    }
}

/// What a feature service says of itself.
public struct FeatureServiceInfo: Sendable {
    /// Its description.
    public let serviceDescription: String
    /// Its layers.
    public let layerInfos: [IDInfo]
    /// Whether geodatabases can be made and synchronised.
    public let isSyncEnabled: Bool
    /// The directions that are offered.
    public let supportedSyncDirections: Set<SyncDirection>
    /// Around all features.
    public let fullExtent: Envelope?
}

/// Number and name of a layer of a service.
public struct IDInfo: Sendable, Hashable {
    /// The number.
    public let id: Int?
    /// The name.
    public let name: String
}
