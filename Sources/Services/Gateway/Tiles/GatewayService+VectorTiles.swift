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
            body: service.style(isRelative: true), sequence: service.map.sequence)
    }

    func vectorTileResources(_ call: Call) async throws(Failure) -> GatewayResponse {
        let service = try await vectorService(call)
        return GatewayResponse(body: service.resources(), sequence: service.map.sequence)
    }

    func mapLibreStyle(_ call: Call) async throws(Failure) -> GatewayResponse {
        let service = try await vectorService(call)
        return GatewayResponse(
            body: service.style(isRelative: false), sequence: service.map.sequence)
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
        return Self.response(block, VectorTileService.mediaType, asked)
    }

    /// `VectorTileServer/resources/fonts/{fontstack}/{range}.pbf`: status 400 for another range, or
    /// for no name of fonts.
    func glyphs(_ call: Call) async throws(Failure) -> GatewayResponse {
        guard let range = GlyphRange(text: call.captures.text) else {
            let failure = Failure(
                .invalidParameter,
                "glyphs '\(call.captures.text.prefix(40))': expected 256 characters from a "
                    + "multiple of 256 on, 0-255 to 65280-65535")
            return GatewayResponse(status: 400, body: ErrorBody.json(failure))
        }
        guard let fonts = FontStack(name: call.captures.task) else {
            let failure = Failure(
                .invalidParameter,
                "fonts '\(call.captures.task.prefix(40))': expected names of at most "
                    + "\(FontStack.byteBound) bytes, with commas between them")
            return GatewayResponse(status: 400, body: ErrorBody.json(failure))
        }
        return try await styleResource(
            .glyphs(fonts: fonts.name, range: range), VectorTileService.glyphsType, call)
    }

    func spriteIndex(
        scale: Int
    ) -> @Sendable (Call) async throws(Failure) -> GatewayResponse {
        { [self] call throws(Failure) in
            let service = try await vectorService(call)
            return GatewayResponse(
                body: service.spriteIndex(scale: scale), sequence: service.map.sequence)
        }
    }

    func spritePicture(
        scale: Int
    ) -> @Sendable (Call) async throws(Failure) -> GatewayResponse {
        { [self] call throws(Failure) in
            try await styleResource(.sprite(scale: scale), "image/png", call)
        }
    }

    /// A file of the style with its entity tag, from the cache or drawn.
    private func styleResource(
        _ resource: StyleResource, _ contentType: String, _ call: Call
    ) async throws(Failure) -> GatewayResponse {
        let map = try await tiledMap(call)
        var request = StyleResourceRequest(map: map.name, resource)
        request.minSequence = map.sequence
        let block = try await tiles.block(.styleResource(resource), of: map) {
            [backend, request] () async throws(Failure) in
            TileCache.Block(
                try await backend.ask(.styleResource, request, within: Self.tilingTime))
        }
        return Self.response(block, contentType, call.request)
    }

    static func response(
        _ block: TileCache.Block, _ contentType: String, _ asked: GatewayRequest
    ) -> GatewayResponse {
        let tile = block.tiles[0]
        var response = GatewayResponse(
            status: tile.bytes.isEmpty ? 204 : 200, contentType: contentType,
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
