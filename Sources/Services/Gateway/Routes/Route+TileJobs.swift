// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

// The exports of a map's tiles, from either of its tile services.
extension Route {
    static let tileJobs = TileFace.allCases.flatMap { tileJobs($0) }

    private static func tileJobs(_ face: TileFace) -> [Route] {
        let server = "arcgis/rest/services/{map}/" + face.service
        let (exports, estimates) = (server + "/exportTiles", server + "/estimateExportTilesSize")
        let job = "/jobs/{job}"
        let parameters =
            [
                Known.exportBy, Known.tileLevels, Known.exportExtent, Known.areaOfInterest,
                Known.exportPolygon, Known.tilePackage, Known.packageFormat, Known.exportedLayers,
                Known.optimizeTilesForSize, Known.compressionQuality, Known.exportedTileSize,
                Known.at, Known.minSequence,
            ] as [any DescribedParameter]
            + (face == .pictures
                ? [Known.storageFormatType, Known.storageFormat, Known.pictureFormat]
                : [Known.createItem])
        /// A resource of a job, below each address at which clients look for it.
        func jobRoute(
            _ part: String, _ summary: String, isChange: Bool = false,
            asks: [any DescribedParameter] = [], types: [String]? = nil,
            _ body: @escaping Work
        ) -> Route {
            Route(
                server + job + part, exports + job + part, estimates + job + part,
                label: "tilesJob", summary, requires: .mapJobs, isChange: isChange, asks: asks,
                mediaTypes: types, handler: handler(face, body))
        }
        return [
            Route(
                exports, label: "tilesExport", "Begins a job that packs tiles of the map.",
                requires: .mapJobs, isChange: true, asks: parameters + [Known.clientId],
                handler: handler(face, GatewayService.exportTiles)),
            Route(
                estimates, label: "tilesEstimate", "How large an export would be, as a job.",
                requires: .mapJobs, asks: parameters,
                handler: handler(face, GatewayService.estimateTiles)),
            jobRoute(
                "", "How far an export is.", asks: [Known.returnMessages],
                GatewayService.tileJobStatus),
            jobRoute(
                "/changes", "Each piece of news of an export as an event.",
                types: ["text/event-stream", OGCLinks.json], GatewayService.followTileJob),
            jobRoute(
                "/cancel", "Cancels an export.", isChange: true, GatewayService.cancelTileJob),
            jobRoute(
                "/results/{result}", "Where the package is, or what an estimate found.",
                GatewayService.tileJobResult),
            Route(
                server + job + "/files", label: "tilesJob", "The files of an export.",
                requires: .mapJobs, handler: handler(face, GatewayService.tileJobFiles)),
            Route(
                server + job + "/files/{result}", label: "tilesJob", "A file of an export.",
                requires: .mapJobs, style: .bytes, formats: [],
                mediaTypes: ["application/octet-stream"],
                handler: handler(face, GatewayService.tileJobFile)),
        ]
    }

    private typealias Work =
        @Sendable (GatewayService) ->
        @Sendable (Call, TileFace) async throws(Failure) ->
        GatewayResponse

    private static func handler(_ face: TileFace, _ work: @escaping Work) -> Handler {
        { service in { call async throws(Failure) in try await work(service)(call, face) } }
    }
}
