// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Foundation
internal import Platform

/// Brings a geodatabase and its service in step: `synchronizeReplica`, and its answer in the file.
final class SyncReplicaWork: JobWork {
    private let service = ReplicaService("synchronizeReplica")
    private let claim = Guarded<SyncClaim?>(nil)

    /// Names of ``JobTicket/prepared`` that are not sent.
    private enum Own {
        static let upload = "cairnUpload"
        static let moment = "cairnMoment"
    }

    deinit { ended() }

    func ended() {
        claim.withLock { claim in
            claim?.release()
            claim = nil
        }
    }

    private func open(_ ticket: JobTicket) throws -> GeoPackage {
        let file = URL(filePath: ticket.details.text("geodatabase") ?? "")
        try PackageFile.check(file)
        try claim.withLock { claim in if claim == nil { claim = try SyncClaim(file) } }
        return try GeoPackage(file)
    }

    private func value(_ name: String, _ ticket: JobTicket) -> String? {
        ((ticket.prepared ?? []) + ticket.parameters).first { $0.name == name }?.value
    }

    private func direction(_ ticket: JobTicket) -> SyncDirection {
        value("syncDirection", ticket).flatMap { SyncDirection(rawValue: $0) } ?? .bidirectional
    }

    func isSubmittedOnce(_ ticket: JobTicket) async throws -> Bool { true }

    func prepare(_ ticket: JobTicket) async throws -> [(name: String, value: String)] {
        let store = try open(ticket)
        defer { store.close() }
        let direction = direction(ticket)
        let description = try await ServiceDescriptions.shared.description(of: ticket.url)
        let capabilities = ReplicaCapabilities(description)
        guard direction != .none else {
            throw CairnError(
                .invalidArgument,
                "geodatabaseSyncDirection is none: expected download, upload or bidirectional")
        }
        guard direction == .bidirectional || capabilities.hasDirections else {
            throw CairnError.unsupported(
                "synchronisation by \(direction.rawValue) alone", by: ticket.url)
        }
        let rollsBack = value("rollbackOnFailure", ticket) == "true"
        guard !rollsBack || capabilities.rollsBack else {
            throw CairnError.unsupported("rollback of a synchronisation", by: ticket.url)
        }
        let file = URL(filePath: ticket.details.text("geodatabase") ?? "")
        if try store.replica() == nil, let known = Geodatabase.note(of: file) {
            throw CairnError(
                .invalidState,
                "'\(file.path(percentEncoded: false))' is registered as \(known) by an earlier "
                    + "release, which kept no moment of the service: generate it anew")
        }
        let upload = try store.prepareUpload(isUploading: direction != .download)
        let replica = upload.replica
        var form: [(name: String, value: String)] = [
            ("replicaID", replica.id), ("async", String(capabilities.isAsynchronous)),
            ("returnIdsForAdds", "true"), ("returnAttachmentsDataByUrl", "true"),
            (Own.moment, replica.moment),
        ]
        if let name = upload.name { form.append((Own.upload, name)) }
        if replica.isPerLayer {
            let layers = try replica.layers.map { layer in
                guard let moment = layer.generation else { throw unknown(file) }
                return JSON.object([
                    ("id", .integer(Int64(layer.id))), ("serverGen", .integer(moment)),
                    ("syncDirection", .string(direction.rawValue)),
                ])
            }
            form.append(("syncLayers", JSON.array(layers).jsonText))
        } else {
            guard let moment = replica.generation else { throw unknown(file) }
            form.append(("replicaServerGen", String(moment)))
        }
        return form
    }

    private func unknown(_ file: URL) -> CairnError {
        CairnError(
            .invalidState,
            "'\(file.path(percentEncoded: false))' has no moment of the service: generate it anew")
    }

    /// What is sent; the edits are those that were fixed in the file.
    private func form(_ ticket: JobTicket) throws -> [(name: String, value: String)] {
        var form = ticket.form.filter { ![Own.upload, Own.moment].contains($0.name) }
        if let upload = value(Own.upload, ticket) {
            let store = try open(ticket)
            defer { store.close() }
            form.append(("edits", try store.edits(ofUpload: upload)))
        }
        return form
    }

    func submit(_ ticket: JobTicket) async throws -> String {
        let form = try form(ticket)
        do {
            return try await service.submit(ticket, form)
        } catch let error as ServiceError {
            try dropUpload(ticket, error)
            throw error
        }
    }

    /// Lets go of edits that the service has refused as a whole; those whose fate is not known are
    /// sent again as they are.
    private func dropUpload(_ ticket: JobTicket, _ error: ServiceError?) throws {
        guard let upload = value(Own.upload, ticket), !(error?.isOpen ?? false) else { return }
        let store = try open(ticket)
        defer { store.close() }
        try store.dropUpload(upload)
    }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer { try await service.poll(ticket) }

    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer {
        try open(ticket).close()
        if service.isLost(ticket) {
            let form = try form(ticket)
            do {
                try await service.repeats(ticket, form)
            } catch let error as ServiceError {
                try dropUpload(ticket, error)
                throw error
            }
        }
        do {
            let answer = try await service.news(ticket)
            if case .failed = answer.state { try dropUpload(ticket, nil) }
            return answer
        } catch let error as ServiceError {
            // A job that failed may say so by an error in the place of its status.
            try dropUpload(ticket, error)
            throw error
        }
    }

    func cancel(_ ticket: JobTicket) async throws { try await service.cancel(ticket) }

    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON {
        var json = answer.json
        if let url = service.productURL(ticket, json) {
            var question = Question(url)
            question.isIdempotent = true
            do {
                let product = try await Requester.json(question, hasShapes: true)
                // The moments may stand beside the file alone.
                let names = Set(product.members.map(\.name))
                let beside = json.members.filter {
                    ["replicaServerGen", "layerServerGens"].contains($0.name)
                        && !names.contains($0.name)
                }
                json = .object(product.members + beside)
            } catch let error as ServiceError {
                try dropUpload(ticket, error)
                throw error
            }
        }
        let downloads = direction(ticket) != .upload
        let answer = json
        return try await ReplicaAttachments.of(
            downloads ? GeoPackage.SyncAnswer.attachments(json) : [], from: ticket.url
        ) { attachments in
            try self.take(answer, attachments, ticket)
        }
    }

    private func take(
        _ json: JSON, _ attachments: ReplicaAttachments, _ ticket: JobTicket
    ) throws -> JSON {
        let store = try open(ticket)
        defer { store.close() }
        let rollsBack = value("rollbackOnFailure", ticket) == "true"
        do {
            return try store.apply(
                GeoPackage.SyncAnswer(
                    json: json, moment: value(Own.moment, ticket) ?? "",
                    upload: value(Own.upload, ticket), downloads: direction(ticket) != .upload,
                    rollsBack: rollsBack, attachments: attachments))
        } catch let error as CairnError where error.kind == .jobFailed {
            // Rolled back there, too.
            try dropUpload(ticket, nil)
            throw error
        }
    }
}

/// A geodatabase that is being synchronised in this process.
package final class SyncClaim: Sendable {
    private static let taken = Guarded<Set<String>>([])
    private let path: String

    /// Throws ``CairnError`` (`invalidState`) for one that is being synchronised already.
    init(_ file: URL) throws {
        path = Self.path(of: file)
        let isFree = Self.taken.withLock { [path] in $0.insert(path).inserted }
        guard isFree else {
            throw CairnError(
                .invalidState, "'\(path)' is being synchronised: one at a time is taken")
        }
    }

    private static func path(of file: URL) -> String {
        file.resolvingSymlinksInPath().standardizedFileURL.path(percentEncoded: false)
    }

    package static func isTaken(_ file: URL) -> Bool {
        taken.withLock { $0.contains(path(of: file)) }
    }

    func release() { Self.taken.withLock { [path] in _ = $0.remove(path) } }
}
