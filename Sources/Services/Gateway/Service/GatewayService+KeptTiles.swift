// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

extension GatewayService {
    /// The answer to a request for a tile that is kept, with its route; nil for any other request,
    /// which needs the general path.
    ///
    /// The caller is admitted as there, and counts against the rate limit only where this answers.
    func keptTile(
        _ plain: FastTileRequest, _ client: RequestClient, by snapshot: AccessControl.Snapshot
    ) -> (response: GatewayResponse, route: Route)? {
        let match = RouteTable.shared.match(plain.path)
        guard let face = match.route.tile, let (parameters, block) = kept(plain, match, face)
        else { return nil }
        var response: GatewayResponse
        do throws(Failure) {
            let caller = try admit(
                match.requirement, isChange: false, parameters, client, by: snapshot)
            let request = GatewayRequest(
                path: [], acceptEncoding: plain.headers.acceptEncoding, client: client,
                noneMatch: plain.headers.noneMatch)
            response =
                switch face {
                case .pictures: Self.picture(block.tile, of: block.block)
                case .vectors: Self.response(block.block, VectorTileService.mediaType, request)
                }
            response.user = caller.user
            response = response.selected(by: request)
        } catch {
            response =
                match.route.style == .ogcBytes
                ? Self.ogcFailure(error.outside) : GatewayResponse(error.outside)
        }
        return (response, match.route)
    }

    /// What is kept of a tile, as it is now; nil too where the request could be refused.
    private func kept(
        _ plain: FastTileRequest, _ match: RouteMatch, _ face: TileFace
    ) -> (parameters: Parameters, block: (tile: TileCache.Tile, block: TileCache.Block))? {
        guard let parameters = try? Parameters(query: plain.query, form: []),
            !parameters.asksPast, parameters[Known.f] == nil,
            let least = try? parameters.minSequence() ?? 0,
            let name = MapName(rawValue: match.captures.name),
            let address = try? TileAddress.parsing(match.captures.tile),
            let map = try? backend.mapAtHand(named: name, minSequence: least)
        else { return nil }
        let pictures = PictureBlock(containing: address)
        let content: TileCache.Content =
            face == .pictures ? .pictures(pictures) : .vector(address)
        guard let block = tiles.kept(content, of: map) else { return nil }
        let index = face == .pictures ? pictures.index(of: address) : 0
        guard block.tiles.indices ~= index else { return nil }
        return (parameters, (block.tiles[index], block))
    }
}
