// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The kinds of jobs, by the names that their JSON has.
enum JobKinds {
    private static let makers: [String: @Sendable (JobTicket) -> Job] = [
        GeoprocessingJob.kind: {
            GeoprocessingJob(restored: $0, work: GeoprocessingJob.work($0))
        },
        GenerateGeodatabaseJob.kind: {
            GenerateGeodatabaseJob(restored: $0, work: GenerateReplicaWork())
        },
        SyncGeodatabaseJob.kind: {
            SyncGeodatabaseJob(restored: $0, work: SyncReplicaWork())
        },
        ExportTileCacheJob.kind: {
            ExportTileCacheJob(restored: $0, work: ExportTileCacheJob.work)
        },
        EstimateTileCacheSizeJob.kind: {
            EstimateTileCacheSizeJob(restored: $0, work: EstimateTileCacheSizeJob.work)
        },
        ExportVectorTilesJob.kind: {
            ExportVectorTilesJob(restored: $0, work: ExportVectorTilesJob.work)
        },
        GenerateOfflineMapJob.kind: {
            GenerateOfflineMapJob(restored: $0, work: GenerateOfflineMapJob.work)
        },
    ]

    /// A job from JSON text; throws ``CairnError`` (`invalidDocument`).
    static func read(_ text: String) throws -> Job {
        guard text.utf8.count <= 16 << 20, let json = JSON(Array(text.utf8)) else {
            throw CairnError(.invalidDocument, "the text is no JSON of a job")
        }
        let ticket = try JobTicket(json)
        guard let make = makers[ticket.kind] else {
            throw CairnError(
                .invalidDocument,
                "'\(ticket.kind.prefix(80))' is no kind of job of this release; expected one of "
                    + makers.keys.sorted().joined(separator: ", "))
        }
        return make(ticket)
    }
}
