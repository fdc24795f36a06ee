// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The work of taking a map offline, by the jobs of its parts.
struct OfflineMapWork: JobWork {
    func submit(_ ticket: JobTicket) async throws -> String { "local" }
    func isSubmittedOnce(_ ticket: JobTicket) async -> Bool { true }

    func poll(_ ticket: JobTicket) async throws -> JobAnswer {
        JobAnswer(state: .working, json: .object([]))
    }

    func cancel(_ ticket: JobTicket) async throws {}

    func news(
        _ ticket: JobTicket, deliver: @escaping @Sendable (JobAnswer) -> Void
    ) async throws -> JobAnswer {
        let folder = URL(filePath: ticket.details.text("folder") ?? "")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be made: \(error)")
        }
        let parts = ticket.details["parts"]?.elements ?? []
        var errors: [JSON] = []
        var files: [(name: String, value: JSON)] = []
        for (number, part) in parts.enumerated() {
            do {
                let taken = try await Self.take(part, number, ticket, folder) { percent in
                    let whole = (Double(number) + Double(percent) / 100) / Double(parts.count)
                    deliver(
                        JobAnswer(
                            state: .working, percent: Int(whole * 100), firstMessage: Int.max / 2,
                            json: .object([])))
                }
                files.append((String(number), taken))
            } catch is CancellationError {
                throw CancellationError()
            } catch let error as TransportError where error.isOfNetwork {
                throw error
            } catch {
                guard ticket.details["continuesOnErrors"]?.flag ?? true else { throw error }
                errors.append(
                    .object(of: [
                        "part": .integer(Int64(number)), "text": .string("\(error)"),
                    ]))
            }
        }
        return JobAnswer(
            state: .succeeded, percent: 100,
            json: .object([("errors", .array(errors)), ("files", .object(files))]))
    }

    /// Takes a part into the folder; what the map's document says of it.
    private static func take(
        _ part: JSON, _ number: Int, _ ticket: JobTicket, _ folder: URL,
        _ report: @escaping @Sendable (Int) -> Void
    ) async throws -> JSON {
        let details = ticket.details
        guard let area = Geometry.make(details.member("area"), nil) else {
            throw CairnError(.invalidDocument, "the job has no area")
        }
        var form = part.member("form").map { form in
            form.members.map { (name: $0.name, value: $0.value.text ?? "") }
        }
        if form == nil {
            let parameters = try await OfflineParts.parameters(
                part, area, details["minScale"]?.number, details["maxScale"]?.number,
                SpatialReference(details.member("reference")))
            if case .features(let made) = parameters, details["updates"]?.flag == false {
                made.syncModel = .none
            }
            form =
                switch parameters {
                case .features(let made): made.form
                case .tiles(let made): made.form
                case .vectorTiles(let made): made.form
                }
        } else {
            try await OfflineParts.check(part)
        }
        guard let form, let url = part.text("url").flatMap({ URL(string: $0) }) else {
            throw CairnError(.unsupported, "a \(part.text("kind") ?? "layer") is not taken offline")
        }
        switch part.text("type") {
        case "features":
            let file = folder.appending(path: "\(number).gpkg")
            try await run(
                GenerateGeodatabaseJob(
                    kind: GenerateGeodatabaseJob.kind, url: url, form, to: ["geodatabase": file],
                    work: GenerateReplicaWork()), report)
            return try await features(part, url, file)
        case "vectorTiles":
            let job = ExportVectorTilesTask(url: url).makeExportVectorTilesJob(
                parameters: ExportVectorTilesParameters(),
                vectorTileCacheURL: folder.appending(path: "\(number).vtpk"),
                itemResourceCacheURL: folder.appending(path: "\(number).style"))
            job.ticket.withLock { $0.parameters = form }
            try await run(job, report)
            return .object(of: [
                "url": .string("\(number).vtpk"), "layerType": .string("VectorTileLayer"),
                "itemResources": .string("\(number).style"),
            ])
        default:
            try await run(
                ExportTileCacheJob(
                    url: url, form, to: ["tiles": folder.appending(path: "\(number).tpkx")]),
                report)
            return .object(of: [
                "url": .string("\(number).tpkx"),
                "layerType": .string("ArcGISTiledMapServiceLayer"),
            ])
        }
    }

    /// What the map's document says of a layer of features: its table in the file, how it is drawn,
    /// and its popup, as the service describes them now.
    private static func features(_ part: JSON, _ service: URL, _ file: URL) async throws -> JSON {
        let description = try await ServiceDescriptions.shared.description(
            of: service.below(part.text("layer") ?? ""))
        let geodatabase = Geodatabase(fileURL: file)
        defer { geodatabase.close() }
        try await geodatabase.load()
        let table = geodatabase.table(ofLayer: description.text("name") ?? "")
        let allowed = CharacterSet.urlFragmentAllowed
        guard let name = table?.name.addingPercentEncoding(withAllowedCharacters: allowed) else {
            throw CairnError(.invalidDocument, "the geodatabase of the layer has no table")
        }
        return .object(of: [
            "url": .string("\(file.lastPathComponent)#\(name)"),
            "layerType": .string("ArcGISFeatureLayer"),
            "drawingInfo": description.member("drawingInfo"),
            "minScale": description.member("minScale"),
            "maxScale": description.member("maxScale"),
            "popupInfo": description.member("popupInfo"),
        ])
    }

    /// Runs a job of a part to its end; a cancelled task cancels it on the server.
    private static func run(_ job: Job, _ report: @escaping @Sendable (Int) -> Void) async throws {
        job.start()
        try await withTaskCancellationHandler {
            for await status in job.$status {
                report(Int(job.progress.completedUnitCount))
                if status.isEnded { break }
            }
            try Task.checkCancellation()
            if let error = job.error { throw error }
        } onCancel: {
            Task { await job.cancel() }
        }
    }

    func finish(
        _ ticket: JobTicket, _ answer: JobAnswer, say: @escaping @Sendable (String) -> Void
    ) async throws -> JSON {
        let folder = URL(filePath: ticket.details.text("folder") ?? "")
        let document = OfflineDocument.document(ticket.details, answer.json["files"])
        do {
            try document.jsonText.write(
                to: folder.appending(path: "map.json"), atomically: true, encoding: .utf8)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be written: \(error)")
        }
        return .object(of: [
            "folder": .string(folder.path(percentEncoded: false)),
            "errors": answer.json["errors"],
        ])
    }
}
