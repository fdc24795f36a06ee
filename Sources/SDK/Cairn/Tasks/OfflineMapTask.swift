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
        var itemInfo: OfflineMapItemInfo?
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
    /// What the package says of itself; nil for nothing.
    public var itemInfo: OfflineMapItemInfo? {
        get { values.current.itemInfo }
        set { values.withLock { $0.itemInfo = newValue } }
    }
}

/// What a package says of itself.
public final class OfflineMapItemInfo: Sendable {
    private struct Values: Sendable {
        var title = ""
        var snippet = ""
        var description = ""
        var tags: [String] = []
        var accessInformation = ""
        var termsOfUse = ""
    }

    private let values: Guarded<Values>

    /// Nothing.
    public init() { values = Guarded(Values()) }

    init(_ item: PortalItem) {
        values = Guarded(
            Values(
                title: item.title, snippet: item.snippet, description: item.description,
                tags: item.tags))
    }

    init(_ json: JSON) {
        values = Guarded(
            Values(
                title: json.text("title") ?? "", snippet: json.text("snippet") ?? "",
                description: json.text("description") ?? "",
                tags: (json["tags"]?.elements ?? []).compactMap(\.text),
                accessInformation: json.text("accessInformation") ?? "",
                termsOfUse: json.text("licenseInfo") ?? ""))
    }

    var json: JSON {
        let values = values.current
        return .object(of: [
            "title": .string(values.title), "snippet": .string(values.snippet),
            "description": .string(values.description),
            "tags": .array(values.tags.map { .string($0) }),
            "accessInformation": .string(values.accessInformation),
            "licenseInfo": .string(values.termsOfUse),
        ])
    }

    /// Its title.
    public var title: String {
        get { values.current.title }
        set { values.withLock { $0.title = newValue } }
    }
    /// One sentence about it.
    public var snippet: String {
        get { values.current.snippet }
        set { values.withLock { $0.snippet = newValue } }
    }
    /// A longer text about it.
    public var description: String {
        get { values.current.description }
        set { values.withLock { $0.description = newValue } }
    }
    /// Words by which it is found.
    public var tags: [String] { values.current.tags }
    /// Adds a word by which it is found.
    public func addTag(_ tag: String) { values.withLock { $0.tags.append(tag) } }
    /// Whom its data is owed to.
    public var accessInformation: String {
        get { values.current.accessInformation }
        set { values.withLock { $0.accessInformation = newValue } }
    }
    /// What its data may be used for.
    public var termsOfUse: String {
        get { values.current.termsOfUse }
        set { values.withLock { $0.termsOfUse = newValue } }
    }
}

/// A layer or a table of a map, as a key of a dictionary: two are equal that have the same one.
public struct OfflineMapParametersKey: Hashable, Sendable {
    /// The layer; nil for a table.
    public let layer: Layer?
    /// The table; nil for a layer.
    public let featureTable: FeatureTable?

    /// A layer.
    public init(layer: Layer) { (self.layer, featureTable) = (layer, nil) }
    /// A table that is no layer.
    public init(featureTable: FeatureTable) { (layer, self.featureTable) = (nil, featureTable) }

    private var object: ObjectIdentifier? {
        layer.map { ObjectIdentifier($0) } ?? featureTable.map { ObjectIdentifier($0) }
    }
    /// Equal objects.
    public static func == (left: Self, right: Self) -> Bool { left.object == right.object }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(object) }
}

/// What a job takes of single layers, by them: parameters that an app may change before it makes
/// the job.
///
/// A layer without an entry is taken with the parameters that its service gives. A feature layer is
/// taken with the layer options that its entry has.
public final class GenerateOfflineMapParameterOverrides: Sendable {
    private struct Values: Sendable {
        var left: Set<String> = []
        var tiles: [OfflineMapParametersKey: ExportTileCacheParameters] = [:]
        var vectorTiles: [OfflineMapParametersKey: ExportVectorTilesParameters] = [:]
        var features: [OfflineMapParametersKey: GenerateGeodatabaseParameters] = [:]
    }

    private let values = Guarded(Values())

    /// No replacements.
    public init() {}

    /// Leaves a layer out.
    public func leaveOut(_ layer: Layer) { values.withLock { _ = $0.left.insert(layer.id) } }

    var leftOut: Set<String> { values.current.left }

    /// Of layers of pictures.
    public var exportTileCacheParameters: [OfflineMapParametersKey: ExportTileCacheParameters] {
        get { values.current.tiles }
        set { values.withLock { $0.tiles = newValue } }
    }
    /// Of layers of vector tiles.
    public var exportVectorTilesParameters: [OfflineMapParametersKey: ExportVectorTilesParameters] {
        get { values.current.vectorTiles }
        set { values.withLock { $0.vectorTiles = newValue } }
    }
    /// Of feature layers and of tables.
    public var generateGeodatabaseParameters:
        [OfflineMapParametersKey: GenerateGeodatabaseParameters]
    {
        get { values.current.features }
        set { values.withLock { $0.features = newValue } }
    }

    /// The form of what is asked for a layer; nil for none of its own.
    func form(_ key: OfflineMapParametersKey) -> JSON? {
        let values = values.current
        let form =
            values.tiles[key]?.form ?? values.vectorTiles[key]?.form ?? values.features[key]?.form
        return form.map { .object($0.map { ($0.name, .string($0.value)) }) }
    }
}

/// Whether a layer or a table can be taken offline.
public struct OfflineCapability: Sendable {
    /// Whether it can.
    public var supportsOffline: Bool { error == nil }
    /// Why it cannot; nil where it can.
    public let error: (any Error)?
}

/// A layer as a key of a dictionary: two are equal that have the same layer.
public struct OfflineLayer: Hashable, Sendable {
    /// The layer.
    public let layer: Layer
    /// Its name.
    public var name: String { layer.name }
    /// Its ``Layer/id``.
    public var id: String { layer.id }

    init(_ layer: Layer) { self.layer = layer }

    /// Equal objects.
    public static func == (left: Self, right: Self) -> Bool { left.layer === right.layer }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(layer)) }
}

/// A table as a key of a dictionary: two are equal that have the same table.
public struct OfflineTable: Hashable, Sendable {
    /// The table.
    public let featureTable: FeatureTable
    /// Its name.
    public var tableName: String { featureTable.tableName }
    /// The name that an app shows.
    public var displayName: String { featureTable.displayName }

    init(_ table: FeatureTable) { featureTable = table }

    /// Equal objects.
    public static func == (left: Self, right: Self) -> Bool {
        left.featureTable === right.featureTable
    }
    /// By the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(featureTable)) }
}

/// What of a map can be taken offline.
public struct OfflineMapCapabilities: Sendable {
    /// The layers over the basemap and, where it is asked for, those of the basemap.
    public let layerCapabilities: [OfflineLayer: OfflineCapability]
    /// The tables.
    public let tableCapabilities: [OfflineTable: OfflineCapability]
    /// Layers, by ``Layer/id``, with why they cannot be taken.
    public var layerErrors: [String: any Error] {
        Dictionary(
            layerCapabilities.compactMap { layer, capability in
                capability.error.map { (layer.id, $0) }
            }, uniquingKeysWith: { first, _ in first })
    }
    /// Whether something cannot be taken.
    public var hasErrors: Bool {
        layerCapabilities.values.contains { !$0.supportsOffline }
            || tableCapabilities.values.contains { !$0.supportsOffline }
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

/// Takes a map with its data into a folder.
public final class OfflineMapTask: LoadableBase, @unchecked Sendable {
    /// The map.
    public let onlineMap: Map

    /// A task; nothing is asked before it is loaded.
    public init(onlineMap: Map) { self.onlineMap = onlineMap }

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

    private func layers(_ values: GenerateOfflineMapParameters.Values) -> [Layer] {
        values.includesBasemap ? onlineMap.allLayers : onlineMap.operationalLayers
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
                case .features(let made): overrides.generateGeodatabaseParameters[key] = made
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

    /// A job that writes a package; asks nothing.
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
            layers(values).filter { !leftOut.contains($0.id) }
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
            "itemInfo": values.itemInfo?.json,
            "map": WebMap.document(of: onlineMap),
        ])
        let job = GenerateOfflineMapJob(ticket: ticket, work: GenerateOfflineMapJob.work)
        job.onlineMap.current = onlineMap
        return job
    }
}

/// The parts of a map that is taken offline.
enum OfflineParts {
    /// What a part is asked for with.
    enum Parameters {
        case features(GenerateGeodatabaseParameters)
        case tiles(ExportTileCacheParameters)
        case vectorTiles(ExportVectorTilesParameters)
    }

    /// What a job has to know of a layer.
    static func part(of layer: Layer) -> JSON {
        func entry(_ type: String, _ url: URL) -> JSON {
            .object(of: [
                "id": .string(layer.id), "name": .string(layer.name), "type": .string(type),
                "url": .string(url.absoluteString),
            ])
        }
        switch layer {
        case let layer as FeatureLayer:
            guard let table = layer.featureTable as? ServiceFeatureTable else { break }
            let clauses = [table.definitionExpression, layer.definitionExpression]
                .filter { !$0.isEmpty }
            let part = entry("features", table.url.above)
            return .object(
                part.members + [
                    ("layer", .string(table.url.lastPathComponent)),
                    (
                        "where",
                        .string(
                            clauses.map { clauses.count > 1 ? "(\($0))" : $0 }
                                .joined(separator: " AND "))
                    ),
                ])
        case let layer as ArcGISTiledLayer where !layer.place.isFileURL:
            return entry("tiles", layer.place)
        case let layer as ArcGISMapImageLayer: return entry("tiles", layer.url)
        case let layer as ArcGISVectorTiledLayer where !layer.url.isFileURL:
            return entry("vectorTiles", layer.url)
        default: break
        }
        return .object(of: [
            "id": .string(layer.id), "name": .string(layer.name), "type": .string("other"),
            "kind": .string("\(type(of: layer))"),
        ])
    }

    /// What a job has to know of a table.
    static func part(of table: FeatureTable) -> JSON {
        guard let service = table as? ServiceFeatureTable else {
            return .object(of: [
                "name": .string(table.displayName), "isTable": .bool(true),
                "type": .string("other"), "kind": .string("\(type(of: table))"),
            ])
        }
        return .object(of: [
            "name": .string(table.displayName), "isTable": .bool(true),
            "type": .string("features"), "url": .string(service.url.above.absoluteString),
            "layer": .string(service.url.lastPathComponent),
            "where": .string(service.definitionExpression),
        ])
    }

    private static func url(_ part: JSON) throws -> URL {
        guard let url = part.text("url").flatMap({ URL(string: $0) }) else {
            throw CairnError(.unsupported, "a \(part.text("kind") ?? "layer") is not taken offline")
        }
        return url
    }

    /// Throws why a part cannot be taken.
    static func check(_ part: JSON) async throws {
        let url = try url(part)
        switch part.text("type") {
        case "features": try await GeodatabaseSyncTask(url: url).load()
        case "vectorTiles": try await ExportVectorTilesTask(url: url).load()
        default: try await ExportTileCacheTask(url: url).load()
        }
    }

    /// The parameters of a part as its service gives them.
    static func parameters(
        _ part: JSON, _ area: Geometry, _ minScale: Double?, _ maxScale: Double?,
        _ reference: SpatialReference?
    ) async throws -> Parameters {
        let url = try url(part)
        switch part.text("type") {
        case "features":
            let parameters = try await GeodatabaseSyncTask(url: url)
                .makeDefaultGenerateGeodatabaseParameters(extent: area)
            parameters.outSpatialReference = reference ?? area.spatialReference
            parameters.removeAllLayerOptions()
            parameters.addLayerOption(
                GenerateLayerOption(
                    layerID: Int(part.text("layer") ?? "") ?? 0,
                    whereClause: part.text("where") ?? ""))
            return .features(parameters)
        case "vectorTiles":
            return .vectorTiles(
                try await ExportVectorTilesTask(url: url).makeDefaultExportVectorTilesParameters(
                    areaOfInterest: area, maxScale: maxScale ?? 0))
        default:
            return .tiles(
                try await ExportTileCacheTask(url: url).makeDefaultExportTileCacheParameters(
                    areaOfInterest: area, minScale: minScale ?? 0, maxScale: maxScale ?? 0))
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

/// The document of a map that was taken offline.
private enum OfflineDocument {
    /// The online map's with the package's files in the place of services; what was not taken is
    /// left out.
    static func document(_ details: JSON, _ files: JSON?) -> JSON {
        var taken: [String: JSON] = [:]
        var tables: [JSON] = []
        for (number, part) in (details["parts"]?.elements ?? []).enumerated() {
            guard let file = files?.member(String(number)) else { continue }
            if part["isTable"]?.flag == true {
                tables.append(
                    .object(of: [
                        "url": file.member("url"), "title": part.member("name"),
                    ]))
            } else if let id = part.text("id") {
                taken[id] = file
            }
        }
        func layers(_ list: JSON?) -> JSON {
            .array(
                (list?.elements ?? []).compactMap { layer in
                    layer.text("id").flatMap { taken[$0] }.map { changed(layer, $0) }
                })
        }
        let map = details["map"] ?? .object([])
        let base = map.member("baseMap").flatMap { base -> JSON? in
            guard details["includesBasemap"]?.flag ?? true else { return nil }
            let kept = layers(base["baseMapLayers"])
            return kept.elements.isEmpty
                ? nil
                : .object(of: ["title": base.member("title"), "baseMapLayers": kept])
        }
        let area = details.member("area").flatMap { Geometry.make($0, nil) }
        return .object(of: [
            "operationalLayers": layers(map["operationalLayers"]), "baseMap": base,
            "tables": tables.isEmpty ? nil : .array(tables),
            "spatialReference": details.member("reference") ?? map.member("spatialReference"),
            "initialState": map.member("initialState")
                ?? area.map { area in
                    .object(of: [
                        "viewpoint": .object(of: ["targetGeometry": area.extent.json])
                    ])
                },
            "bookmarks": map.member("bookmarks"), "itemInfo": details.member("itemInfo"),
            "authoringApp": .string("Cairn"), "version": .string("2.31"),
        ])
    }

    private static func changed(_ layer: JSON, _ file: JSON) -> JSON {
        let replaced = ["url", "styleUrl", "layerType", "itemResources", "layerDefinition"]
        var members = layer.members.filter { !replaced.contains($0.name) }
        for name in ["url", "layerType", "itemResources"] {
            if let value = file.member(name) { members.append((name, value)) }
        }
        for name in ["minScale", "maxScale", "popupInfo"] where layer.member(name) == nil {
            if let value = file.member(name) { members.append((name, value)) }
        }
        var definition = layer["layerDefinition"]?.members ?? []
        if let info = file.member("drawingInfo"),
            !definition.contains(where: { $0.name == "drawingInfo" })
        {
            definition.append(("drawingInfo", info))
        }
        if !definition.isEmpty { members.append(("layerDefinition", .object(definition))) }
        return .object(members)
    }
}

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
        if let known = onlineMap.current?.allLayers.first(where: { $0.id == part.text("id") }) {
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
