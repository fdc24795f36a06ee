// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// What of a map is taken offline.
public final class GenerateOfflineMapParameters: Sendable {
    struct Values: Sendable {
        var area: Geometry
        var minScale: Double?
        var maxScale: Double?
        var includesBasemap = true
        var continuesOnErrors = true
    }

    let values: Guarded<Values>

    /// An area, and a range of scales; nil for the map's.
    public init(areaOfInterest: Geometry, minScale: Double? = nil, maxScale: Double? = nil) {
        values = Guarded(Values(area: areaOfInterest, minScale: minScale, maxScale: maxScale))
    }

    /// The area.
    public var areaOfInterest: Geometry {
        get { values.current.area }
        set { values.withLock { $0.area = newValue } }
    }
    /// The smallest scale; nil for the map's.
    public var minScale: Double? {
        get { values.current.minScale }
        set { values.withLock { $0.minScale = newValue } }
    }
    /// The largest scale; nil for the map's.
    public var maxScale: Double? {
        get { values.current.maxScale }
        set { values.withLock { $0.maxScale = newValue } }
    }
    /// Whether the basemap is taken.
    public var includesBasemap: Bool {
        get { values.current.includesBasemap }
        set { values.withLock { $0.includesBasemap = newValue } }
    }
    /// Whether a layer that cannot be taken is left out, and not the end of the job.
    public var continuesOnErrors: Bool {
        get { values.current.continuesOnErrors }
        set { values.withLock { $0.continuesOnErrors = newValue } }
    }
}

/// Replacements of what a job takes of single layers.
public final class GenerateOfflineMapParameterOverrides: Sendable {
    private let left = Guarded<Set<String>>([])

    /// No replacements.
    public init() {}

    /// Leaves a layer out, by ``Layer/id``.
    public func leaveOut(_ layer: Layer) { left.withLock { _ = $0.insert(layer.id) } }

    var leftOut: Set<String> { left.current }
}

/// What of a map can be taken offline.
public struct OfflineMapCapabilities: Sendable {
    /// Layers, by ``Layer/id``, with why they cannot be taken; nil where they can.
    public let layerErrors: [String: any Error]
    /// Whether something cannot be taken.
    public var hasErrors: Bool { !layerErrors.isEmpty }
}

/// What a job took offline.
public struct GenerateOfflineMapResult: Sendable {
    /// The map, which asks no server.
    public let offlineMap: Map
    /// The package it is in.
    public let mobileMapPackage: MobileMapPackage
    /// Layers, by their name, that could not be taken.
    public let layerErrors: [String: any Error]
    /// Tables, by their name, that could not be taken.
    public let tableErrors: [String: any Error]
    /// Whether something could not be taken.
    public var hasErrors: Bool { !layerErrors.isEmpty || !tableErrors.isEmpty }
}

/// Takes a map with its data into a folder.
public final class OfflineMapTask: LoadableBase, @unchecked Sendable {
    /// The map.
    public let onlineMap: Map

    /// A task; nothing is asked before it is loaded.
    public init(onlineMap: Map) { self.onlineMap = onlineMap }

    override func performLoad() async throws { try await onlineMap.load() }

    /// Parameters for an area, with the map's range of scales.
    public func makeDefaultGenerateOfflineMapParameters(
        areaOfInterest: Geometry
    ) async throws -> GenerateOfflineMapParameters {
        try await load()
        return GenerateOfflineMapParameters(
            areaOfInterest: areaOfInterest, minScale: onlineMap.minScale,
            maxScale: onlineMap.maxScale)
    }

    /// Which layers can be taken: asks each service.
    public func offlineMapCapabilities(
        parameters: GenerateOfflineMapParameters
    ) async throws -> OfflineMapCapabilities {
        try await load()
        var errors: [String: any Error] = [:]
        for layer in onlineMap.operationalLayers {
            do { try await OfflineParts.check(layer) } catch { errors[layer.id] = error }
        }
        return OfflineMapCapabilities(layerErrors: errors)
    }

    /// A job that writes a package; asks nothing.
    public func makeGenerateOfflineMapJob(
        parameters: GenerateOfflineMapParameters, downloadDirectory: URL,
        overrides: GenerateOfflineMapParameterOverrides? = nil
    ) -> GenerateOfflineMapJob {
        let values = parameters.values.current
        let leftOut = overrides?.leftOut ?? []
        let parts = onlineMap.operationalLayers.filter { !leftOut.contains($0.id) }
            .map { OfflineParts.part(of: $0) }
        let base =
            values.includesBasemap
            ? (onlineMap.basemap?.baseLayers ?? []).map { OfflineParts.part(of: $0) } : []
        let service = (parts + base).lazy.compactMap { $0.text("url") }
            .compactMap { URL(string: $0) }.first
        var ticket = JobTicket(
            kind: GenerateOfflineMapJob.kind,
            url: service ?? URL(string: "http://localhost/") ?? downloadDirectory)
        ticket.details = .object(of: [
            "folder": .string(downloadDirectory.path(percentEncoded: false)),
            "area": values.area.json, "parts": .array(parts), "base": .array(base),
            "minScale": values.minScale.map { .real($0) },
            "maxScale": values.maxScale.map { .real($0) },
            "continuesOnErrors": .bool(values.continuesOnErrors),
            "map": WebMap.document(of: onlineMap),
        ])
        return GenerateOfflineMapJob(ticket: ticket, work: GenerateOfflineMapJob.work)
    }
}

/// The parts of a map that is taken offline.
enum OfflineParts {
    /// What a job has to know of a layer.
    static func part(of layer: Layer) -> JSON {
        switch layer {
        case let layer as FeatureLayer:
            guard let table = layer.featureTable as? ServiceFeatureTable else { break }
            return .object(of: [
                "name": .string(layer.name), "type": .string("features"),
                "url": .string(table.url.above.absoluteString),
                "layer": .string(table.url.lastPathComponent),
                "where": .string(layer.definitionExpression),
            ])
        case let layer as ArcGISTiledLayer:
            return .object(of: [
                "name": .string(layer.name), "type": .string("tiles"),
                "url": .string(layer.url.absoluteString),
            ])
        case let layer as ArcGISMapImageLayer:
            return .object(of: [
                "name": .string(layer.name), "type": .string("tiles"),
                "url": .string(layer.url.absoluteString),
            ])
        default: break
        }
        return .object(of: [
            "name": .string(layer.name), "type": .string("other"),
            "kind": .string("\(type(of: layer))"),
        ])
    }

    /// Throws why a layer cannot be taken.
    static func check(_ layer: Layer) async throws {
        let part = part(of: layer)
        guard let url = part.text("url").flatMap({ URL(string: $0) }) else {
            throw CairnError(.unsupported, "a \(part.text("kind") ?? "layer") is not taken offline")
        }
        switch part.text("type") {
        case "features": try await GeodatabaseSyncTask(url: url).load()
        default: try await ExportTileCacheTask(url: url).load()
        }
    }
}

/// The work of taking a map offline, by the jobs of its parts.
private struct OfflineMapWork: JobWork {
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
        let parts =
            (ticket.details["parts"]?.elements ?? []) + (ticket.details["base"]?.elements ?? [])
        var errors: [(name: String, value: JSON)] = []
        for (number, part) in parts.enumerated() {
            let name = part.text("name") ?? ""
            do {
                let job = try await Self.job(part, number, ticket, folder)
                try await Self.run(job) { percent in
                    let whole = (Double(number) + Double(percent) / 100) / Double(parts.count)
                    deliver(
                        JobAnswer(
                            state: .working, percent: Int(whole * 100), firstMessage: Int.max / 2,
                            json: .object([])))
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch let error as TransportError where error.isOfNetwork {
                throw error
            } catch {
                guard ticket.details["continuesOnErrors"]?.flag ?? true else { throw error }
                errors.append((name, .string("\(error)")))
            }
        }
        return JobAnswer(
            state: .succeeded, percent: 100,
            json: .object([(name: "layerErrors", value: .object(errors))]))
    }

    private static func job(
        _ part: JSON, _ number: Int, _ ticket: JobTicket, _ folder: URL
    ) async throws -> Job {
        guard let url = part.text("url").flatMap({ URL(string: $0) }),
            let area = Geometry.make(ticket.details.member("area"), nil)
        else {
            throw CairnError(.unsupported, "a \(part.text("kind") ?? "layer") is not taken offline")
        }
        if part.text("type") == "features" {
            let task = GeodatabaseSyncTask(url: url)
            let parameters = try await task.makeDefaultGenerateGeodatabaseParameters(extent: area)
            parameters.removeAllLayerOptions()
            parameters.addLayerOption(
                GenerateLayerOption(
                    layerID: Int(part.text("layer") ?? "") ?? 0,
                    whereClause: part.text("where") ?? ""))
            return task.makeGenerateGeodatabaseJob(
                parameters: parameters, downloadFileURL: folder.appending(path: "\(number).gpkg"))
        }
        let task = ExportTileCacheTask(url: url)
        let parameters = try await task.makeDefaultExportTileCacheParameters(
            areaOfInterest: area, minScale: ticket.details["minScale"]?.number ?? 0,
            maxScale: ticket.details["maxScale"]?.number ?? 0)
        return task.makeExportTileCacheJob(
            parameters: parameters, downloadFileURL: folder.appending(path: "\(number).tpkx"))
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
        let document = ticket.details["map"] ?? .object([])
        do {
            try document.jsonText.write(
                to: folder.appending(path: "map.json"), atomically: true, encoding: .utf8)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be written: \(error)")
        }
        return .object(of: [
            "folder": .string(folder.path(percentEncoded: false)), "map": document,
            "layerErrors": answer.json["layerErrors"],
        ])
    }
}

/// Takes a map with its data into a folder.
public final class GenerateOfflineMapJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "GenerateOfflineMap"
    static let work: any JobWork = OfflineMapWork()

    /// The map and its package.
    public var output: GenerateOfflineMapResult {
        get async throws {
            let json = try await finalAnswer()
            let package = MobileMapPackage(fileURL: URL(filePath: json.text("folder") ?? ""))
            var errors: [String: any Error] = [:]
            for (name, text) in json["layerErrors"]?.members ?? [] {
                errors[name] = CairnError(.jobFailed, text.text ?? "")
            }
            return GenerateOfflineMapResult(
                offlineMap: try Map.fromJSON((json["map"] ?? .object([])).jsonText),
                mobileMapPackage: package, layerErrors: errors, tableErrors: [:])
        }
    }
}
