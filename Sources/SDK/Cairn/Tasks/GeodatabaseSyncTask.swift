// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Which way edits go.
public enum SyncDirection: String, Sendable, Hashable {
    case none
    case download
    case upload
    case bidirectional
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
        var syncModel = "perReplica"
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

    var form: [(name: String, value: String)] {
        let values = values.current
        let clauses = values.layerOptions.filter { !$0.whereClause.isEmpty }
        var form: [(name: String, value: String)] = [
            ("replicaName", "Cairn-\(UUID().uuidString.prefix(8))"),
            ("layers", values.layerOptions.map { String($0.layerID) }.joined(separator: ",")),
            ("returnAttachments", String(values.returnsAttachments)),
            ("syncModel", values.syncModel), ("dataFormat", "sqlite"), ("async", "true"),
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

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    /// What the service says; nil before it is loaded.
    public var featureServiceInfo: FeatureServiceInfo? { info.current }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url)
        let capabilities = json["syncCapabilities"]
        let isEnabled =
            json["syncEnabled"]?.flag ?? (json.text("capabilities") ?? "").contains("Sync")
        info.current = FeatureServiceInfo(
            serviceDescription: json.text("serviceDescription") ?? "",
            layerInfos: (json["layers"]?.elements ?? []).compactMap { layer in
                layer["id"]?.int.map { IDInfo(id: $0, name: layer.text("name") ?? "") }
            },
            isSyncEnabled: isEnabled,
            supportedSyncDirections: capabilities?["supportsSyncDirectionControl"]?.flag == false
                ? [.bidirectional] : [.download, .upload, .bidirectional],
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
            to: ["geodatabase": downloadFileURL], work: GenerateGeodatabaseJob.work)
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
            ("replicaID", geodatabase.syncID ?? ""),
            ("syncDirection", parameters.geodatabaseSyncDirection.rawValue),
            ("rollbackOnFailure", String(parameters.shouldRollbackOnFailure)),
            ("dataFormat", "json"), ("async", "true"),
            ("transportType", "esriTransportTypeUrl"),
        ]
        return SyncGeodatabaseJob(
            kind: SyncGeodatabaseJob.kind, url: url, form, to: ["geodatabase": geodatabase.fileURL],
            work: SyncGeodatabaseJob.work)
    }

    /// Ends the geodatabase's registration; it is not synchronised any more.
    public func unregisterGeodatabase(_ geodatabase: Geodatabase) async throws {
        guard let replica = geodatabase.syncID else {
            throw CairnError(.invalidArgument, "the geodatabase is registered with no service")
        }
        var question = Question(url.below("unRegisterReplica"), ["replicaID": replica])
        (question.isPost, question.isIdempotent) = (true, false)
        _ = try await Requester.json(question)
        geodatabase.forget()
    }
}

/// Replica operations of a feature service: a status URL instead of a job's.
struct ReplicaWork: JobWork {
    var operation: String
    var collect: ResultCollector
    var check: @Sendable (JobTicket) throws -> Void = { _ in }

    func submit(_ ticket: JobTicket) async throws -> String {
        try check(ticket)
        var question = Question(ticket.url.below(operation))
        question.parameters = ticket.parameters
        (question.isPost, question.isIdempotent) = (true, false)
        let json = try await Requester.json(question)
        guard let url = json.text("statusUrl") ?? json.text("statusURL") else {
            throw TransportError(
                .invalidAnswer,
                "\(ticket.url.withoutQuery.absoluteString)/\(operation): expected a statusUrl")
        }
        guard let target = URL(string: url, relativeTo: ticket.url)?.absoluteURL,
            target.origin == ticket.url.origin
        else {
            throw TransportError(
                .invalidAnswer,
                "\(ticket.url.withoutQuery.absoluteString)/\(operation): its statusUrl is on "
                    + "another server")
        }
        return target.absoluteString
    }

    private func statusURL(_ ticket: JobTicket) throws -> URL {
        guard let url = URL(string: ticket.serverJobID ?? ""), url.origin == ticket.url.origin
        else {
            throw CairnError(.invalidDocument, "the job's status URL is on another server")
        }
        return url
    }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        let json = try await Requester.json(Question(try statusURL(ticket)))
        let word = json.text("status") ?? json.text("responseType") ?? ""
        let state: JobAnswer.State =
            switch word {
            case "Completed", "CompletedWithErrors": .succeeded
            case "Failed", "UnRegistered":
                .failed(
                    json["error"]?.text("description") ?? json["error"]?.text("message")
                        ?? "the server's job failed")
            case "Cancelled": .cancelled
            case "Pending", "InProgress", "ImportChanges", "ExportChanges", "ExportingData",
                "ExportingSnapshot", "ImportAttachments", "ExportAttachments",
                "ProvisioningReplica", "UnRegisteringReplica", "":
                (json.member("resultUrl") ?? json.member("URL")) != nil && word.isEmpty
                    ? .succeeded : .working
            default: .unknown(word)
            }
        return JobAnswer(
            state: state, percent: json["percentComplete"]?.int, json: json)
    }

    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer {
        var rest = CairnEnvironment.settings.current.jobPolling.first
        var patience = UnknownStatusPatience()
        while true {
            let answer = try await poll(ticket)
            try patience.note(answer, ticket)
            if answer.state.isEnded || (answer.percent ?? 0) > ticket.percent { return answer }
            try await Task.sleep(for: rest)
            rest = min(rest * 2, CairnEnvironment.settings.current.jobPolling.longest)
        }
    }

    func cancel(_ ticket: JobTicket) async throws {
        var question = Question(try statusURL(ticket).below("cancel"))
        question.isPost = true
        _ = try await Requester.json(question)
    }

    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON { try await collect(ticket, answer, say) }
}

/// Writes features of a service into a geodatabase.
public final class GenerateGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "GenerateGeodatabase"
    static let work: any JobWork = ReplicaWork(
        operation: "createReplica",
        collect: { ticket, answer, _ in
            guard let path = ticket.details.text("geodatabase"),
                let text = answer.json.text("resultUrl") ?? answer.json.text("URL"),
                let url = URL(string: text, relativeTo: ticket.url)?.absoluteURL
            else {
                throw TransportError(
                    .invalidAnswer,
                    "\(ticket.url.withoutQuery.absoluteString)/createReplica: expected a resultUrl")
            }
            let target = URL(filePath: path)
            try await Download.fetch(Question(url), to: target)
            if let replica = answer.json.text("replicaID") {
                try Geodatabase.keep(replica, for: target)
            }
            return ticket.details
        })

    /// The geodatabase.
    public var output: Geodatabase {
        get async throws {
            Geodatabase(fileURL: URL(filePath: try await finalAnswer().text("geodatabase") ?? ""))
        }
    }
}

/// Brings a geodatabase and its service in step.
public final class SyncGeodatabaseJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "SyncGeodatabase"
    static let work: any JobWork = ReplicaWork(
        operation: "synchronizeReplica",
        collect: { ticket, answer, _ in answer.json },
        check: { ticket in
            let replica = ticket.parameters.first { $0.name == "replicaID" }?.value ?? ""
            guard !replica.isEmpty else {
                throw CairnError(
                    .invalidState, "the geodatabase is registered with no service")
            }
        })

    /// The edits that were not taken; empty when all went well.
    public var output: [SyncLayerResult] {
        get async throws {
            let json = try await finalAnswer()
            return (json["layerResults"]?.elements ?? []).compactMap { layer in
                let failed = (layer["editResults"]?.elements ?? []).compactMap { edit in
                    edit.member("error").map { error in
                        FeatureEditResult(
                            operation: .update, objectID: edit["objectId"]?.whole ?? -1,
                            globalID: nil,
                            error: ServiceError(
                                code: error["code"]?.int ?? 0,
                                message: error.text("description") ?? ""))
                    }
                }
                guard !failed.isEmpty else { return nil }
                return SyncLayerResult(
                    layerID: layer["id"]?.int ?? -1, tableName: layer.text("name") ?? "",
                    editResults: failed)
            }
        }
    }
}
