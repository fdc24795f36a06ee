// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

extension GatewayService {
    /// Time limit for drawing a block of tiles, independent of any client.
    private static let drawingTime = Duration.seconds(30)

    /// `MapServer/tile/{level}/{row}/{column}`: a PNG, transparent where the map is empty.
    ///
    /// Status 404 for a tile outside the scheme. Throws `Failure` for an unknown map, and the
    /// failures of drawing.
    func tile(_ call: Call) async throws(Failure) -> GatewayResponse {
        let map = try await tiledMap(call)
        let address: TileAddress
        do throws(Failure) {
            address = try .parsing(call.captures.tile)
        } catch {
            return GatewayResponse(status: 404, body: ErrorBody.json(error))
        }
        return try await tile(address, of: map, call.parameters)
    }

    /// The map of a tile as it is now; throws `invalidParameter` for one of the past.
    func tiledMap(_ call: Call) async throws(Failure) -> MapDescription {
        guard try call.parameters.past() == nil else {
            throw Failure(
                .invalidParameter, "tiles are of the map as it is now: export draws the past")
        }
        let map = try await backend.map(
            named: try Self.mapName(call.captures.name), past: nil,
            minSequence: try call.parameters.minSequence())
        guard let map else { throw Self.noMap(call.captures.name) }
        return map
    }

    /// A tile of a map as a PNG with its entity tag, from the cache or drawn.
    ///
    /// A tile that lacks layers of other servers names them, and has no entity tag.
    func tile(
        _ address: TileAddress, of map: MapDescription, _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let pictures = PictureBlock(containing: address)
        let request = pictures.request(map: map.name, minSequence: map.sequence)
        let block = try await tiles.block(.pictures(pictures), of: map) {
            [backend] () async throws(Failure) in
            try TileCache.Block(try await backend.ask(.export, request, within: Self.drawingTime))
        }
        let index = pictures.index(of: address)
        guard block.tiles.indices ~= index else {
            throw Failure(
                .corrupt, "a worker drew \(block.tiles.count) tiles, fewer than asked for")
        }
        let tile = block.tiles[index]
        guard block.missing.isEmpty else {
            return GatewayResponse(
                contentType: PictureFormat.png.mediaType, body: tile.bytes,
                sequence: block.sequence, isStale: block.isStale,
                missing: block.missing.shown(parameters))
        }
        return Self.picture(tile, of: block)
    }

    /// Clients cache it and revalidate each time: most answers then have no body.
    static func picture(_ tile: TileCache.Tile, of block: TileCache.Block) -> GatewayResponse {
        GatewayResponse(
            contentType: PictureFormat.png.mediaType, body: tile.bytes,
            headers: ["ETag": tile.entityTag, "Cache-Control": "no-cache"],
            sequence: block.sequence, isStale: block.isStale)
    }
}
