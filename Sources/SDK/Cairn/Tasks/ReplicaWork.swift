// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The replica operations of a feature service: an answer at once, or a status URL.
struct ReplicaService: Sendable {
    let operation: String
    /// An answer that came with the submission; of this process alone.
    private let immediate = Guarded<JSON?>(nil)
    /// A status URL that came with a repetition.
    private let repeated = Guarded<URL?>(nil)

    init(_ operation: String) { self.operation = operation }

    /// The id of a job that the server answered at once.
    private static let answered = "answered"

    func fault(_ ticket: JobTicket, _ what: String) -> TransportError {
        TransportError(
            .invalidAnswer, "\(ticket.url.withoutQuery.absoluteString)/\(operation): \(what)")
    }

    /// Asks for the operation; the id of the job: its status URL, or a word for an answer that is
    /// here.
    func submit(
        _ ticket: JobTicket, _ parameters: [(name: String, value: String)]
    ) async throws -> String {
        var question = Question(ticket.url.below(operation))
        question.parameters = parameters
        (question.isPost, question.isIdempotent) = (true, false)
        let json = try await Requester.json(question)
        guard let text = json.text("statusUrl") ?? json.text("statusURL") else {
            immediate.current = json
            return Self.answered
        }
        guard let target = URL(string: text, relativeTo: ticket.url)?.absoluteURL,
            target.origin == ticket.url.origin
        else { throw fault(ticket, "its statusUrl is on another server") }
        return target.absoluteString
    }

    /// Asks again, for a job whose answer went with another process.
    func repeats(_ ticket: JobTicket, _ parameters: [(name: String, value: String)]) async throws {
        let id = try await submit(ticket, parameters)
        repeated.current = id == Self.answered ? nil : URL(string: id)
    }

    /// Whether the answer came at once, in another process.
    func isLost(_ ticket: JobTicket) -> Bool {
        ticket.serverJobID == Self.answered && immediate.current == nil && repeated.current == nil
    }

    /// Nil for an answer that came at once.
    private func statusURL(_ ticket: JobTicket) throws -> URL? {
        if ticket.serverJobID == Self.answered { return repeated.current }
        guard let url = URL(string: ticket.serverJobID ?? ""), url.origin == ticket.url.origin
        else {
            throw CairnError(.invalidDocument, "the job's status URL is on another server")
        }
        return url
    }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        guard let url = try statusURL(ticket) else {
            return JobAnswer(state: .succeeded, json: immediate.current ?? .object([]))
        }
        let json = try await Requester.json(Question(url))
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
                Self.place(json) != nil && word.isEmpty ? .succeeded : .working
            default: .unknown(word)
            }
        return JobAnswer(
            state: state, percent: json["percentComplete"]?.int, json: json)
    }

    func news(_ ticket: JobTicket) async throws -> JobAnswer {
        var rest = CairnEnvironment.settings.current.jobPolling.first
        var patience = UnknownStatusPatience()
        while true {
            let answer = try await poll(ticket)
            try patience.note(answer, ticket)
            if answer.state.isEnded || (answer.percent ?? 0) > ticket.percent { return answer }
            try await SDKTime.sleep(for: rest)
            rest = min(rest * 2, CairnEnvironment.settings.current.jobPolling.longest)
        }
    }

    func cancel(_ ticket: JobTicket) async throws {
        // What was answered at once has ended there.
        guard let url = try statusURL(ticket) else { return }
        var question = Question(url.below("cancel"))
        question.isPost = true
        _ = try await Requester.json(question)
    }

    private static func place(_ json: JSON) -> String? {
        ["resultUrl", "responseUrl", "URL", "url"].lazy.compactMap { json.text($0) }
            .first { !$0.isEmpty }
    }

    /// Where the product is; nil where the answer is the product.
    func productURL(_ ticket: JobTicket, _ json: JSON) -> URL? {
        Self.place(json).flatMap { URL(string: $0, relativeTo: ticket.url)?.absoluteURL }
    }
}

/// Makes a geodatabase: `createReplica`, and the file of what it answers.
final class GenerateReplicaWork: JobWork {
    private let service = ReplicaService("createReplica")

    func prepare(_ ticket: JobTicket) async throws -> [(name: String, value: String)] {
        let description = try await ServiceDescriptions.shared.description(of: ticket.url)
        // A service that makes GeoPackages itself says so by this word.
        let formats = (description.text("supportedExportFormats") ?? "").split(separator: ",")
        let isAsynchronous = ReplicaCapabilities(description).isAsynchronous
        return [
            ("dataFormat", formats.contains("gpkg") ? "gpkg" : "json"),
            ("async", String(isAsynchronous)),
        ]
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
        for layer in json["layers"]?.elements ?? [] {
            guard let id = layer["id"]?.int else {
                throw service.fault(ticket, "a layer has no id")
            }
            answered[id, default: []] += layer["features"]?.elements ?? []
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
        try GeoPackage.write(layers, replica, to: target)
    }
}

/// What a feature service says of synchronisation.
struct ReplicaCapabilities {
    private let json: JSON?

    init(_ description: JSON) { json = description["syncCapabilities"] }

    var isAsynchronous: Bool {
        (json?["supportsAsync"] ?? json?["supportsASync"])?.flag ?? true
    }
    var hasDirections: Bool { json?["supportsSyncDirectionControl"]?.flag ?? true }
    var rollsBack: Bool { json?["supportsRollbackOnFailure"]?.flag ?? true }
    var isPerReplica: Bool { json?["supportsPerReplicaSync"]?.flag ?? true }
    var isPerLayer: Bool { json?["supportsPerLayerSync"]?.flag ?? false }
}
