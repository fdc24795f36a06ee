// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

// `VectorTileServer`: the vector tiles of a map, and what their clients read besides.
extension GatewayService {
    /// Time limit for a tile, independent of any client.
    private static let tilingTime = Duration.seconds(30)

    private func vectorService(_ call: Call) async throws(Failure) -> VectorTileService {
        let map = try await withShownExtents(try await tiledMap(call), call.parameters)
        return VectorTileService(
            map: map, origin: call.request.origin, secret: Self.secret(call.parameters),
            exportsTiles: exportsTiles(call.caller))
    }

    func vectorTileService(_ call: Call) async throws(Failure) -> GatewayResponse {
        let service = try await vectorService(call)
        return GatewayResponse(body: service.root(), sequence: service.map.sequence)
    }

    func vectorTileStyle(_ call: Call) async throws(Failure) -> GatewayResponse {
        let service = try await vectorService(call)
        return GatewayResponse(
            body: service.style(source: .relative), sequence: service.map.sequence)
    }

    func mapLibreStyle(_ call: Call) async throws(Failure) -> GatewayResponse {
        let service = try await vectorService(call)
        return GatewayResponse(
            body: service.style(source: .absolute), sequence: service.map.sequence)
    }

    func vectorTileJSON(_ call: Call) async throws(Failure) -> GatewayResponse {
        let service = try await vectorService(call)
        return GatewayResponse(body: service.tileJSON(), sequence: service.map.sequence)
    }

    /// `VectorTileServer/tile/{level}/{row}/{column}.pbf`: status 204 where no feature touches the
    /// tile, 404 outside the scheme.
    func vectorTile(_ call: Call) async throws(Failure) -> GatewayResponse {
        let map = try await tiledMap(call)
        let address: TileAddress
        do throws(Failure) {
            address = try .parsing(call.captures.tile)
        } catch {
            return GatewayResponse(status: 404, body: ErrorBody.json(error))
        }
        return try await vectorTile(address, of: map, call.request)
    }

    /// A tile with its entity tag, from the cache or made; with gzip for clients that take it.
    func vectorTile(
        _ address: TileAddress, of map: MapDescription, _ asked: GatewayRequest
    ) async throws(Failure) -> GatewayResponse {
        var request = VectorTileRequest(map: map.name, address)
        request.minSequence = map.sequence
        let block = try await tiles.block(.vector(address), of: map) {
            [backend, request] () async throws(Failure) in
            TileCache.Block(
                try await backend.ask(.vectorTile, request, within: Self.tilingTime))
        }
        let tile = block.tiles[0]
        var response = GatewayResponse(
            status: tile.bytes.isEmpty ? 204 : 200, contentType: VectorTileService.mediaType,
            body: tile.bytes,
            headers: [
                "ETag": tile.entityTag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding",
            ], sequence: block.sequence, isStale: block.isStale)
        if let zipped = tile.zipped, AcceptedEncodings.takeGzip(asked.acceptEncoding) {
            response.body = zipped
            // The tag of other bytes: no cache takes the one form for the other.
            response.headers["ETag"] = tile.zippedTag
            response.headers["Content-Encoding"] = "gzip"
        }
        return response
    }
}
