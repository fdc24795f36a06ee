// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// Makes a geodatabase: `createReplica`, and the file of what it answers.
final class GenerateReplicaWork: JobWork {
    private let service = ReplicaService("createReplica")

    func prepare(_ ticket: JobTicket) async throws -> [(name: String, value: String)] {
        let description = try await ServiceDescriptions.shared.description(of: ticket.url)
        // A service that makes GeoPackages itself says so by this word.
        let formats = (description.text("supportedExportFormats") ?? "").split(separator: ",")
        let capabilities = ReplicaCapabilities(description)
        let wanted = Self.attachments(ticket)
        guard wanted.direction != .bidirectional || wanted.areTaken else {
            throw CairnError(
                .invalidArgument,
                "attachmentSyncDirection is bidirectional without returnsAttachments: expected "
                    + "upload or none")
        }
        guard wanted.direction != .upload || capabilities.hasAttachmentDirections else {
            throw CairnError.unsupported(
                "attachmentSyncDirection (supportsAttachmentsSyncDirection)", by: ticket.url)
        }
        // The GeoPackages of services have no attachments.
        let isPackage =
            formats.contains("gpkg") && !wanted.areTaken && wanted.direction == .none
        return [
            ("dataFormat", isPackage ? "gpkg" : "json"),
            ("async", String(capabilities.isAsynchronous)),
        ]
    }

    /// What is wanted of attachments.
    private static func attachments(
        _ ticket: JobTicket
    ) -> (areTaken: Bool, direction: AttachmentSyncDirection) {
        func value(_ name: String) -> String? {
            ticket.parameters.first { $0.name == name }?.value
        }
        return (
            value("returnAttachments") == "true",
            value("attachmentsSyncDirection").flatMap { AttachmentSyncDirection(rawValue: $0) }
                ?? .none
        )
    }

    func submit(_ ticket: JobTicket) async throws -> String {
        try await service.submit(ticket, ticket.form)
    }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        try check(ticket)
        return try await service.poll(ticket)
    }

    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer {
        try check(ticket)
        return try await service.news(ticket)
    }

    private func check(_ ticket: JobTicket) throws {
        guard !service.isLost(ticket) else {
            throw CairnError(
                .jobFailed,
                "the answer to createReplica came to another process, and is not given again")
        }
    }

    func cancel(_ ticket: JobTicket) async throws { try await service.cancel(ticket) }

    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON {
        guard let path = ticket.details.text("geodatabase") else {
            throw CairnError(.invalidDocument, "the JSON of a job: expected a geodatabase")
        }
        let target = URL(filePath: path)
        // Of an earlier geodatabase in this place.
        defer { Geodatabase.removeNote(of: target) }
        guard let url = service.productURL(ticket, answer.json) else {
            guard answer.json.member("layers") != nil else {
                throw service.fault(ticket, "expected a resultUrl or layers")
            }
            try await write(answer.json, ticket, to: target)
            return ticket.details
        }
        let product = target.appendingPathExtension("answer")
        defer { try? FileManager.default.removeItem(at: product) }
        try await Download.fetch(Question(url), to: product)
        if try Self.isSQLite(product) {
            try await take(product, answer.json, ticket, to: target)
        } else {
            try await write(Self.json(product, service, ticket), ticket, to: target)
        }
        return ticket.details
    }

    private static func isSQLite(_ file: URL) throws -> Bool {
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            return try handle.read(upToCount: 16) == Data("SQLite format 3\0".utf8)
        } catch {
            throw TransportError(
                .file, "'\(file.path(percentEncoded: false))' cannot be read: \(error)")
        }
    }

    private static func json(
        _ file: URL, _ service: ReplicaService, _ ticket: JobTicket
    ) throws -> JSON {
        let path = file.path(percentEncoded: false)
        let size =
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)
            .flatMap { $0?.intValue } ?? 0
        let limit = CairnEnvironment.settings.current.memoryLimit
        guard size <= limit else {
            throw TransportError(
                .tooLarge, "the replica has \(size) bytes, CairnEnvironment.memoryLimit is \(limit)"
            )
        }
        let bytes: Data
        do { bytes = try Data(contentsOf: file) } catch {
            throw TransportError(.file, "'\(path)' cannot be read: \(error)")
        }
        guard let json = JSON([UInt8](bytes), packsPositions: true), !json.members.isEmpty else {
            throw service.fault(ticket, "its product is neither a GeoPackage nor JSON")
        }
        return json
    }

    // MARK: Products

    /// The registration that an answer states; without an id where none was asked for.
    private static func replica(
        _ json: JSON, _ ticket: JobTicket, _ layers: [Replica.Layer]
    ) -> Replica {
        let model =
            json.text("syncModel") ?? ticket.parameters.first { $0.name == "syncModel" }?.value
        var layers = layers
        for stated in json["layerServerGens"]?.elements ?? [] {
            guard let place = layers.firstIndex(where: { $0.id == stated["id"]?.int }) else {
                continue
            }
            layers[place].generation = stated["serverGen"]?.whole
        }
        return Replica(
            id: model == "none" ? "" : json.text("replicaID") ?? "",
            isPerLayer: model == "perLayer", generation: json["replicaServerGen"]?.whole,
            layers: layers)
    }

    /// Takes a GeoPackage of the service as it is, with its registration.
    private func take(
        _ product: URL, _ json: JSON, _ ticket: JobTicket, to target: URL
    ) async throws {
        let store: GeoPackage
        do { store = try GeoPackage(product) } catch {
            throw CairnError.unsupported(
                "GeoPackage: its product is SQLite of another kind, as Esri's mobile geodatabase "
                    + "(dataFormat=sqlite), which is not read; dataFormat is json or gpkg,",
                by: ticket.url)
        }
        defer { store.close() }
        let tables = try store.tables()
        guard !tables.isEmpty else {
            throw service.fault(ticket, "its GeoPackage has no tables")
        }
        if try store.replica() == nil {
            let description = try await ServiceDescriptions.shared.description(of: ticket.url)
            let numbers = Self.layers(ticket)
            let all =
                (description["layers"]?.elements ?? []) + (description["tables"]?.elements ?? [])
            let layers = all.compactMap { layer -> Replica.Layer? in
                guard let id = layer["id"]?.int, numbers.isEmpty || numbers.contains(id),
                    let name = layer.text("name")?.lowercased()
                else { return nil }
                let table =
                    tables.first { $0.name.lowercased() == name }
                    ?? tables.first { $0.title.lowercased() == name }
                    ?? (numbers.count == 1 && tables.count == 1 ? tables[0] : nil)
                return table.map { Replica.Layer(id: id, table: $0.name) }
            }
            var replica = Self.replica(json, ticket, layers)
            if !replica.id.isEmpty, replica.generation == nil,
                replica.layers.allSatisfy({ $0.generation == nil })
            {
                // Asked now: later it may be the moment of another synchronisation.
                // A service that does not say it makes a file that is edited and not synchronised.
                if let stated = try await moments(of: replica.id, ticket) {
                    replica = Self.replica(
                        .object(stated.members + [("replicaID", .string(replica.id))]), ticket,
                        layers)
                }
            }
            try store.register(replica)
        }
        store.close()
        try GeoPackage.replace(target, by: product)
    }

    private func moments(of replica: String, _ ticket: JobTicket) async throws -> JSON? {
        do {
            return try await Requester.json(Question(ticket.url.below("replicas/\(replica)")))
        } catch is ServiceError {
            return nil
        }
    }

    private static func layers(_ ticket: JobTicket) -> [Int] {
        (ticket.parameters.first { $0.name == "layers" }?.value ?? "").split(separator: ",")
            .compactMap { Int($0) }
    }

    /// Makes a GeoPackage of the answer's features; a layer that it lacks is empty.
    private func write(_ json: JSON, _ ticket: JobTicket, to target: URL) async throws {
        var answered: [Int: [JSON]] = [:]
        var attached: [Int: [JSON]] = [:]
        for layer in json["layers"]?.elements ?? [] {
            guard let id = layer["id"]?.int else {
                throw service.fault(ticket, "a layer has no id")
            }
            answered[id, default: []] += layer["features"]?.elements ?? []
            attached[id, default: []] += layer["attachments"]?.elements ?? []
        }
        let root = try await ServiceDescriptions.shared.description(of: ticket.url)
        let asked = ticket.parameters.first { $0.name == "replicaSR" }?.value
        let wanted = asked.flatMap { text in
            Int(text).flatMap { WKID($0) }.map { SpatialReference(wkid: $0) }
                ?? JSON(Array(text.utf8)).flatMap { SpatialReference($0) }
        }
        var layers: [GeoPackage.NewLayer] = []
        for id in Set(answered.keys).union(Self.layers(ticket)).sorted() {
            let description = try await ServiceDescriptions.shared.description(
                of: ticket.url.below(String(id)))
            let features = answered[id] ?? []
            let stated = features.lazy.compactMap {
                $0["geometry"]?.member("spatialReference").flatMap { SpatialReference($0) }
            }.first
            let own =
                SpatialReference(description["extent"]?.member("spatialReference"))
                ?? SpatialReference(root.member("spatialReference"))
            layers.append(
                GeoPackage.NewLayer(
                    id: id, description: description, spatialReference: wanted ?? stated ?? own,
                    features: features))
        }
        let replica = Self.replica(
            json, ticket, layers.map { Replica.Layer(id: $0.id, table: "") })
        let attachments = Self.attachments(ticket)
        let keeping = layers.filter { $0.description["hasAttachments"]?.flag ?? false }
        guard attachments.areTaken || attachments.direction != .none, !keeping.isEmpty else {
            return try GeoPackage.write(layers, replica, to: target)
        }
        // In the place of the target once the attachments are in it.
        let whole = target.appendingPathExtension("whole")
        defer { try? FileManager.default.removeItem(at: whole) }
        try GeoPackage.write(layers, replica, to: whole)
        let lists = attachments.areTaken ? attached : [:]
        // What is registered nowhere goes nowhere.
        let direction = replica.id.isEmpty ? AttachmentSyncDirection.none : attachments.direction
        try await ReplicaAttachments.of(keeping.flatMap { lists[$0.id] ?? [] }, from: ticket.url) {
            attachments in
            let store = try GeoPackage(whole)
            defer { store.close() }
            let tables = try store.tables()
            let places = try store.layerTables()
            let kept = keeping.compactMap { layer -> (table: GeoPackage.Table, list: [JSON])? in
                tables.first { $0.name == places[layer.id] && $0.globalIDField != nil }
                    .map { ($0, lists[layer.id] ?? []) }
            }
            try store.keepAttachments(kept.map { ($0.table.name, direction) })
            try attachments.write(kept.map { ($0.table, $0.list) }, to: store)
        }
        try GeoPackage.replace(target, by: whole)
    }
}
