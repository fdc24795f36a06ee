// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

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
