// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Which way edits go: `download` takes those of the service over and leaves the file's where they
/// wait, `upload` sends the file's alone, `bidirectional` does both.
public enum SyncDirection: String, Sendable, Hashable {
    case none
    case download
    case upload
    case bidirectional
}

/// What a geodatabase is registered for.
public enum SyncModel: String, Sendable, Hashable {
    /// No synchronisation: an export.
    case none
    /// All layers together.
    case geodatabase = "perReplica"
    /// Each layer by itself.
    case layer = "perLayer"
}

/// A layer that a geodatabase takes.
public final class GenerateLayerOption: Sendable {
    private let clause: Guarded<String>
    /// The number of the layer.
    public let layerID: Int

    /// A layer with all features in the extent.
    public init(layerID: Int, whereClause: String = "") {
        self.layerID = layerID
        clause = Guarded(whereClause)
    }

    /// Limits its features; empty for all.
    public var whereClause: String {
        get { clause.current }
        set { clause.current = newValue }
    }
}

/// What a geodatabase takes of a service.
public final class GenerateGeodatabaseParameters: Sendable {
    struct Values: Sendable {
        var extent: Geometry?
        var layerOptions: [GenerateLayerOption] = []
        var outSpatialReference: SpatialReference?
        var returnsAttachments = false
        var syncModel = SyncModel.geodatabase
    }

    let values: Guarded<Values>

    /// Parameters without an extent or layers.
    public init() { values = Guarded(Values()) }
    init(_ given: Values) { values = Guarded(given) }

    /// The area.
    public var extent: Geometry? {
        get { values.current.extent }
        set { values.withLock { $0.extent = newValue } }
    }
    /// The layers.
    public var layerOptions: [GenerateLayerOption] { values.current.layerOptions }
    /// Adds a layer.
    public func addLayerOption(_ option: GenerateLayerOption) {
        values.withLock { $0.layerOptions.append(option) }
    }
    /// Removes all layers.
    public func removeAllLayerOptions() { values.withLock { $0.layerOptions = [] } }
    /// The reference of geometries; nil for the service's.
    public var outSpatialReference: SpatialReference? {
        get { values.current.outSpatialReference }
        set { values.withLock { $0.outSpatialReference = newValue } }
    }
    /// Whether attachments are taken.
    public var returnsAttachments: Bool {
        get { values.current.returnsAttachments }
        set { values.withLock { $0.returnsAttachments = newValue } }
    }

    /// What the geodatabase is registered for; all layers together unless set.
    public var syncModel: SyncModel {
        get { values.current.syncModel }
        set { values.withLock { $0.syncModel = newValue } }
    }

    var form: [(name: String, value: String)] {
        let values = values.current
        let clauses = values.layerOptions.filter { !$0.whereClause.isEmpty }
        var form: [(name: String, value: String)] = [
            ("replicaName", "Cairn-\(UUID().uuidString.prefix(8))"),
            ("layers", values.layerOptions.map { String($0.layerID) }.joined(separator: ",")),
            ("returnAttachments", String(values.returnsAttachments)),
            ("syncModel", values.syncModel.rawValue), ("dataFormat", "json"), ("async", "true"),
            ("transportType", "esriTransportTypeUrl"),
        ]
        if let extent = values.extent {
            form.append(("geometry", extent.json.jsonText))
            form.append(("geometryType", extent.typeName))
            if let reference = extent.spatialReference {
                form.append(("inSR", reference.parameter))
            }
        }
        if let reference = values.outSpatialReference {
            form.append(("replicaSR", reference.parameter))
        }
        if !clauses.isEmpty {
            let queries = JSON.object(
                clauses.map { option in
                    (
                        name: String(option.layerID),
                        value: .object([
                            ("queryOption", .string("useFilter")),
                            ("where", .string(option.whereClause)), ("useGeometry", .bool(true)),
                        ])
                    )
                })
            form.append(("layerQueries", queries.jsonText))
        }
        return form
    }
}

/// What a synchronisation does.
public final class SyncGeodatabaseParameters: Sendable {
    private struct Values: Sendable {
        var direction = SyncDirection.bidirectional
        var rollsBack = false
    }

    private let values = Guarded(Values())

    /// Both ways, keeping what went well.
    public init() {}

    /// Which way edits go.
    public var geodatabaseSyncDirection: SyncDirection {
        get { values.current.direction }
        set { values.withLock { $0.direction = newValue } }
    }
    /// Whether one failed edit undoes everything, on both sides.
    public var shouldRollbackOnFailure: Bool {
        get { values.current.rollsBack }
        set { values.withLock { $0.rollsBack = newValue } }
    }
}

/// The edits of a layer that a synchronisation could not take.
public struct SyncLayerResult: Sendable {
    /// The number of the layer.
    public let layerID: Int
    /// Its name; empty where the service names none.
    public let tableName: String
    /// The edits, with their errors.
    public let editResults: [FeatureEditResult]
}

/// Number and name of a layer of a service.
public struct IDInfo: Sendable, Hashable {
    /// The number.
    public let id: Int?
    /// The name.
    public let name: String
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

/// Writes features of a service into a geodatabase.
///
/// The file is a GeoPackage: that of the service, where it makes some, otherwise one that the job
/// writes of the service's JSON. It is there with its registration, or not at all. Throws what the
/// task's requests throw, and ``CairnError`` (`unsupported`) for a product that is Esri's mobile
/// geodatabase, and for a layer without a field of global ids.
public final class GenerateGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "GenerateGeodatabase"

    /// The geodatabase.
    public var output: Geodatabase {
        get async throws {
            Geodatabase(fileURL: URL(filePath: try await finalAnswer().text("geodatabase") ?? ""))
        }
    }
}

/// Brings a geodatabase and its service in step.
///
/// Edits that were made in the file since the last synchronisation are sent, and what was changed
/// on the service since then is taken over, all in one transaction of the file; edits that are made
/// meanwhile wait for the next one. Where the answer is lost, or the program ends before it is
/// taken over, the next synchronisation sends the same edits, and leads to the same features.
///
/// A feature that was changed on both sides becomes what was sent last: the file's. One that was
/// deleted on the service is deleted here too, and an edit of it that waited is among the results.
///
/// Fails with ``ServiceError`` where the service refuses, under
/// ``SyncGeodatabaseParameters/shouldRollbackOnFailure`` also a single edit: nothing is changed
/// then, on either side. Fails with ``CairnError``: `invalidState` for a geodatabase that is
/// registered with no service, or is being synchronised by another job; `unsupported` for a
/// direction, or a rollback, that the service does not offer.
public final class SyncGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "SyncGeodatabase"

    /// The edits that were not taken; empty when all went well.
    ///
    /// They stay noted in the geodatabase, except those of features that were deleted on the
    /// service.
    public var output: [SyncLayerResult] {
        get async throws {
            let json = try await finalAnswer()
            return (json["layerResults"]?.elements ?? []).compactMap { layer in
                let failed = (layer["editResults"]?.elements ?? []).map { edit in
                    FeatureEditResult(
                        operation: edit.text("operation").flatMap {
                            FeatureEditResult.Operation(rawValue: $0)
                        } ?? .update,
                        objectID: edit["objectId"]?.whole ?? -1,
                        globalID: edit.text("globalId").flatMap { UUID(globalID: $0) },
                        error: ServiceError(
                            code: edit["code"]?.int ?? 0, message: edit.text("reason") ?? "",
                            url: ticket.current.url))
                }
                guard !failed.isEmpty else { return nil }
                return SyncLayerResult(
                    layerID: layer["id"]?.int ?? -1, tableName: layer.text("name") ?? "",
                    editResults: failed)
            }
        }
    }
}
