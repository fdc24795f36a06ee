// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Which tiles an export takes.
public final class ExportTileCacheParameters: Sendable {
    private struct Values: Sendable {
        var area: Geometry?
        var levels: [Int] = []
        var quality = 75.0
    }

    private let values: Guarded<Values>

    /// Parameters without levels.
    public init(areaOfInterest: Geometry? = nil) { values = Guarded(Values(area: areaOfInterest)) }

    /// The area; nil for everything.
    public var areaOfInterest: Geometry? {
        get { values.current.area }
        set { values.withLock { $0.area = newValue } }
    }
    /// Numbers of levels.
    public var levelIDs: [Int] { values.current.levels }
    /// Adds levels.
    public func addLevelIDs(_ levels: some Sequence<Int>) {
        values.withLock { $0.levels += Array(levels) }
    }
    /// Adds a level.
    public func addLevelID(_ level: Int) { addLevelIDs([level]) }
    /// Removes all levels: those that are added afterwards are taken.
    public func removeAllLevelIDs() { values.withLock { $0.levels = [] } }
    /// Quality of JPEG tiles, 0 to 100.
    public var compressionQuality: Double {
        get { values.current.quality }
        set { values.withLock { $0.quality = newValue } }
    }

    var form: [(name: String, value: String)] {
        let values = values.current
        return [
            ("exportBy", "levelId"),
            ("levels", values.levels.map(String.init).joined(separator: ",")),
            ("tilePackage", "true"), ("storageFormatType", "esriMapCacheStorageModeCompactV2"),
            ("optimizeTilesForSize", "false"), ("compressionQuality", values.quality.plainText),
        ] + (values.area.map { [("areaOfInterest", $0.json.jsonText)] } ?? [])
    }
}

/// Number and size of tiles.
public struct EstimateTileCacheSizeResult: Sendable, Hashable {
    /// Number of tiles.
    public let tileCount: Int64
    /// Bytes.
    public let fileSize: Int64
}

/// Takes picture tiles of a map service into a file.
public final class ExportTileCacheTask: LoadableBase, @unchecked Sendable {
    /// The URL, as `…/World/MapServer`.
    public let url: URL
    private let info = Guarded<TileInfo?>(nil)

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url)
        guard json["exportTilesAllowed"]?.flag == true else {
            throw CairnError.unsupported("exportTiles", by: url)
        }
        info.current = TileInfo(json.member("tileInfo"))
    }

    /// Parameters for an area and a range of scales, as 50000 of 1:50,000; 0 for no bound.
    ///
    /// Throws ``CairnError`` (`unsupported`) where the service exports no tiles, ``ServiceError``
    /// and others.
    public func makeDefaultExportTileCacheParameters(
        areaOfInterest: Geometry, minScale: Double, maxScale: Double
    ) async throws -> ExportTileCacheParameters {
        try await load()
        let parameters = ExportTileCacheParameters(areaOfInterest: areaOfInterest)
        let levels = (info.current?.levelsOfDetail ?? []).filter {
            Layer.isIn($0.scale, min: minScale, max: maxScale)
        }
        parameters.addLevelIDs(levels.map(\.level))
        return parameters
    }

    /// A job that writes a package; asks nothing.
    public func makeExportTileCacheJob(
        parameters: ExportTileCacheParameters, downloadFileURL: URL
    ) -> ExportTileCacheJob {
        ExportTileCacheJob(url: url, parameters.form, to: ["tiles": downloadFileURL])
    }

    /// A job that says how large a package would be; asks nothing.
    public func makeEstimateTileCacheSizeJob(
        parameters: ExportTileCacheParameters
    ) -> EstimateTileCacheSizeJob {
        EstimateTileCacheSizeJob(
            ticket: JobTicket(
                kind: EstimateTileCacheSizeJob.kind, url: url, parameters: parameters.form),
            work: EstimateTileCacheSizeJob.work)
    }
}

extension Job {
    /// A job whose results become files.
    convenience init(
        kind: String, url: URL, _ parameters: [(name: String, value: String)],
        to files: KeyValuePairs<String, URL>, work: any JobWork
    ) {
        var ticket = JobTicket(kind: kind, url: url, parameters: parameters)
        ticket.details = .object(
            files.map { ($0.key, .string($0.value.path(percentEncoded: false))) })
        self.init(ticket: ticket, work: work)
    }
}

/// Fetches the files that results name, each to its place.
enum ResultFiles {
    /// Where a result's value is a file: its URL, also of a list or folder with one file.
    private static func url(_ json: JSON?, _ base: URL) async throws -> URL? {
        guard let json else { return nil }
        let text =
            json.text ?? json.text("url") ?? json.elements.first?.text
            ?? json.elements.first?.text("url")
        guard let text, let url = URL(string: text, relativeTo: base)?.absoluteURL else {
            return nil
        }
        guard url.pathExtension.isEmpty, !url.absoluteString.hasSuffix("/file") else { return url }
        // A folder of the server's output: its description lists files.
        guard let listed = try? await Requester.json(Question(url)),
            let file = listed["files"]?.elements.first?.text("url")
        else { return url }
        return URL(string: file, relativeTo: url)?.absoluteURL
    }

    /// `names` are those of a result, the first that the server has is taken, and of the ticket's
    /// member with its place.
    static func collect(
        _ names: [(result: [String], file: String)]
    ) -> ResultCollector {
        { ticket, answer, _ in
            let place = ticket.url.below("jobs/\(ticket.serverJobID ?? "")")
            for (names, file) in names {
                guard let path = ticket.details.text(file) else { continue }
                let results = answer.json["results"]
                var value: JSON?
                for name in names where value == nil {
                    guard let entry = results?[name] else { continue }
                    value = entry.member("value")
                    if value == nil {
                        let part = entry.text("paramUrl") ?? "results/\(name)"
                        value = try await Requester.json(Question(place.below(part)))
                            .member("value")
                    }
                }
                guard let url = try await url(value ?? answer.json.member("output"), place) else {
                    throw TransportError(
                        .invalidAnswer,
                        "\(place.withoutQuery.absoluteString): expected the result \(names[0])")
                }
                try await Download.fetch(Question(url), to: URL(filePath: path))
            }
            return ticket.details
        }
    }
}

/// Writes picture tiles into a file.
public final class ExportTileCacheJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "ExportTileCache"
    static let work: any JobWork = GeoprocessingWork(
        operation: "exportTiles",
        collect: ResultFiles.collect([(["out_service_url", "output"], "tiles")]))

    convenience init(
        url: URL, _ parameters: [(name: String, value: String)],
        to files: KeyValuePairs<String, URL>
    ) { self.init(kind: Self.kind, url: url, parameters, to: files, work: Self.work) }

    /// Where the tiles go.
    public var downloadFileURL: URL { URL(filePath: ticket.current.details.text("tiles") ?? "") }

    /// The package.
    public var output: TileCache {
        get async throws {
            TileCache(fileURL: URL(filePath: try await finalAnswer().text("tiles") ?? ""))
        }
    }
}

/// Says how large a package of tiles would be.
public final class EstimateTileCacheSizeJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "EstimateTileCacheSize"
    static let work: any JobWork = GeoprocessingWork(
        operation: "estimateExportTilesSize",
        collect: { ticket, answer, _ in
            let place = ticket.url.below("jobs/\(ticket.serverJobID ?? "")")
            guard let entry = answer.json["results"]?.member("out_service_url") else {
                return answer.json
            }
            if let value = entry.member("value") { return value }
            let result = try await Requester.json(
                Question(place.below(entry.text("paramUrl") ?? "results/out_service_url")))
            return result.member("value") ?? result
        })

    /// Number and size of the tiles.
    public var output: EstimateTileCacheSizeResult {
        get async throws {
            let json = try await finalAnswer()
            return EstimateTileCacheSizeResult(
                tileCount: json["totalTilesToExport"]?.whole ?? json["tileCount"]?.whole ?? 0,
                fileSize: json["totalSize"]?.whole ?? json["fileSize"]?.whole ?? 0)
        }
    }
}

/// Which vector tiles an export takes.
public final class ExportVectorTilesParameters: Sendable {
    private struct Values: Sendable {
        var area: Geometry?
        var maxLevel = 14
    }

    private let values: Guarded<Values>

    /// Parameters for an area; nil for everything.
    public init(areaOfInterest: Geometry? = nil, maxLevel: Int = 14) {
        values = Guarded(Values(area: areaOfInterest, maxLevel: maxLevel))
    }

    /// The area; nil for everything.
    public var areaOfInterest: Geometry? {
        get { values.current.area }
        set { values.withLock { $0.area = newValue } }
    }
    /// The greatest level.
    public var maxLevel: Int {
        get { values.current.maxLevel }
        set { values.withLock { $0.maxLevel = newValue } }
    }

    var form: [(name: String, value: String)] {
        let values = values.current
        return [
            ("exportBy", "levelId"), ("levels", "0-\(values.maxLevel)"), ("tilePackage", "true"),
        ]
            + (values.area.map {
                [("polygon", $0.json.jsonText), ("exportExtent", $0.extent.json.jsonText)]
            } ?? [])
    }
}

/// What an export of vector tiles made.
public struct ExportVectorTilesResult: Sendable {
    /// The tiles.
    public let vectorTileCache: VectorTileCache?
    /// Glyphs and sprites; nil where they were not asked for.
    public let itemResourceCache: ItemResourceCache?
}

/// Takes vector tiles of a service into a file.
public final class ExportVectorTilesTask: LoadableBase, @unchecked Sendable {
    /// The URL, as `…/World/VectorTileServer`.
    public let url: URL
    private let info = Guarded<TileInfo?>(nil)

    /// A task; nothing is asked before it is loaded.
    public init(url: URL) { self.url = url }

    override func performLoad() async throws {
        let json = try await ServiceDescriptions.shared.description(of: url)
        guard json["exportTilesAllowed"]?.flag == true else {
            throw CairnError.unsupported("exportTiles", by: url)
        }
        info.current = TileInfo(json.member("tileInfo"))
    }

    /// Parameters for an area, down to a scale, as 5000 of 1:5,000; 0 for all levels.
    ///
    /// Throws ``CairnError`` (`unsupported`) where the service exports no tiles, ``ServiceError``
    /// and others.
    public func makeDefaultExportVectorTilesParameters(
        areaOfInterest: Geometry, maxScale: Double
    ) async throws -> ExportVectorTilesParameters {
        try await load()
        let levels = info.current?.levelsOfDetail ?? []
        let level = levels.last { $0.scale >= maxScale }?.level ?? levels.last?.level ?? 14
        return ExportVectorTilesParameters(areaOfInterest: areaOfInterest, maxLevel: level)
    }

    /// A job that writes a package; asks nothing.
    public func makeExportVectorTilesJob(
        parameters: ExportVectorTilesParameters, vectorTileCacheURL: URL,
        itemResourceCacheURL: URL? = nil
    ) -> ExportVectorTilesJob {
        let job = ExportVectorTilesJob(
            kind: ExportVectorTilesJob.kind, url: url, parameters.form,
            to: ["tiles": vectorTileCacheURL], work: ExportVectorTilesJob.work)
        if let folder = itemResourceCacheURL {
            job.ticket.withLock { ticket in
                ticket.details = .object(
                    ticket.details.members
                        + [("resources", .string(folder.path(percentEncoded: false)))])
            }
        }
        return job
    }
}

/// Writes vector tiles into a file.
public final class ExportVectorTilesJob: Job, JobProtocol, @unchecked Sendable {
    static let kind = "ExportVectorTiles"
    static let work: any JobWork = GeoprocessingWork(
        operation: "exportTiles",
        collect: { ticket, answer, say in
            let tiles = try await ResultFiles.collect([(["out_service_url", "output"], "tiles")])(
                ticket, answer, say)
            guard let folder = ticket.details.text("resources") else { return tiles }
            try await StyleResources.fetch(of: ticket.url, into: URL(filePath: folder))
            return tiles
        })

    /// The caches.
    public var output: ExportVectorTilesResult {
        get async throws {
            let json = try await finalAnswer()
            return ExportVectorTilesResult(
                vectorTileCache: VectorTileCache(
                    fileURL: URL(filePath: json.text("tiles") ?? "")),
                itemResourceCache: json.text("resources").map {
                    ItemResourceCache(fileURL: URL(filePath: $0))
                })
        }
    }
}

/// Style and sprites of a vector tile service.
enum StyleResources {
    static func fetch(of service: URL, into folder: URL) async throws {
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be made: \(error)")
        }
        let style = try await Requester.json(Question(service.below("resources/styles/root.json")))
        do {
            try style.jsonText.write(
                to: folder.appending(path: "root.json"), atomically: true, encoding: .utf8)
        } catch {
            throw TransportError(
                .file, "'\(folder.path(percentEncoded: false))' cannot be written: \(error)")
        }
        guard style.member("sprite") != nil else { return }
        for name in ["sprite.json", "sprite.png", "sprite@2x.json", "sprite@2x.png"] {
            let question = Question(service.below("resources/sprites/\(name)"))
            guard let bytes = try? await Requester.stream(question).body.collect(atMost: 64 << 20)
            else { continue }
            try? Data(bytes).write(to: folder.appending(path: name))
        }
    }
}
