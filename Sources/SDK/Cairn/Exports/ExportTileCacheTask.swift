// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

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
