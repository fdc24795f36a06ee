// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

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

/// Number and size of tiles.
public struct EstimateTileCacheSizeResult: Sendable, Hashable {
    /// Number of tiles.
    public let tileCount: Int64
    /// Bytes.
    public let fileSize: Int64
}
