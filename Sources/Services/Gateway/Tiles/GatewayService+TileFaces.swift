// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Site

// The tiles of `MapServer/tile` under the addresses of WMTS, OGC API – Tiles and TileJSON.
extension GatewayService {
    /// A map as its tiles are described, with the extent of the features that are shown.
    private func described(
        _ map: MapDescription, _ parameters: Parameters
    ) async throws(Failure) -> TiledMap {
        TiledMap(try await withShownExtents(map, parameters))
    }

    /// `?token=…` with the token of a query, for the URLs of an answer, since programs that draw
    /// tiles send no header; empty without one.
    static func secret(_ parameters: Parameters) -> String {
        parameters[Known.token].map { "?token=" + Parameters.encode($0) } ?? ""
    }

    // MARK: WMTS

    /// `MapServer/WMTS` with parameters.
    func wmts(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await wmts(call) { layer throws(OWSException) in
            try WMTSRequest(call.parameters, layer: layer)
        }
    }

    /// `MapServer/WMTS/1.0.0/WMTSCapabilities.xml`.
    func wmtsCapabilities(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await wmts(call) { _ throws(OWSException) in .capabilities }
    }

    /// `MapServer/WMTS/tile/1.0.0/…`.
    func wmtsTile(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await wmts(call) { layer throws(OWSException) in
            try WMTSRequest(path: call.captures.text, layer: layer)
        }
    }

    /// - Parameter parse: Reads the request, given the identifier of the map's layer.
    private func wmts(
        _ call: Call, _ parse: (String) throws(OWSException) -> WMTSRequest
    ) async throws(Failure) -> GatewayResponse {
        let map = try await tiledMap(call)
        let request: WMTSRequest
        do throws(OWSException) {
            request = try parse(TiledMap(map).layerID)
        } catch {
            return GatewayResponse(error)
        }
        switch request {
        case .tile(let address): return try await tile(address, of: map, call.parameters)
        case .capabilities:
            let capabilities = WMTSCapabilities(
                try await described(map, call.parameters), origin: call.request.origin,
                secret: Self.secret(call.parameters))
            return GatewayResponse(
                contentType: Markup.xml, body: capabilities.body, sequence: map.sequence)
        }
    }

    // MARK: TileJSON

    /// `MapServer/tilejson.json`.
    func tileJSON(_ call: Call) async throws(Failure) -> GatewayResponse {
        let map = try await described(try await tiledMap(call), call.parameters)
        let template =
            map.mapServer(call.request.origin) + "/tile/{z}/{y}/{x}" + Self.secret(call.parameters)
        return GatewayResponse(body: TileJSON.body(of: map, template: template))
    }

    // MARK: OGC API – Tiles

    func tileMatrixSets(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: TileMatrixSet.list(OGCLinks(call.request, call.parameters)))
    }

    func tileMatrixSet(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: TileMatrixSet.body(OGCLinks(call.request, call.parameters)))
    }

    /// `/ogc/map/tiles`: a tileset of each map that the caller may read.
    func allTilesets(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await allTilesets(call) { _ in .pictures }
    }

    /// `/ogc/vector/tiles`, likewise.
    func allVectorTilesets(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await allTilesets(call) { .vectors($0.tileLayers()) }
    }

    private func allTilesets(
        _ call: Call, _ content: (MapDescription) -> OGCTileset.Content
    ) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        var (tilesets, sequence) = ([OGCTileset](), Int64(0))
        for name in try await backend.catalog().maps
        where call.caller.may(.query, on: .map(name.rawValue)) {
            let map = try await backend.map(
                named: name, past: nil, minSequence: try parameters.minSequence())
            guard let map else { continue }
            tilesets.append(tileset(TiledMap(map), content(map), call))
            sequence = max(sequence, map.sequence)
        }
        return GatewayResponse(
            body: OGCTileset.list(
                tilesets, call.route.patterns[0].text.dropFirst("ogc/".count).description,
                OGCLinks(call.request, parameters)),
            sequence: sequence)
    }

    func tileCollection(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await tileset(call, { _ in .pictures }, { $0.collectionBody() })
    }

    func vectorTileCollection(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await tileset(call, { .vectors($0.tileLayers()) }, { $0.collectionBody() })
    }

    func tilesets(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await tileset(call, { _ in .pictures }, { $0.listBody() })
    }

    func vectorTilesets(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await tileset(call, { .vectors($0.tileLayers()) }, { $0.listBody() })
    }

    func tileset(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await tileset(call, { _ in .pictures }, Self.form(call))
    }

    func vectorTileset(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await tileset(call, { .vectors($0.tileLayers()) }, Self.form(call))
    }

    private static func form(_ call: Call) -> (OGCTileset) -> [UInt8] {
        let isTileJSON = call.parameters[Known.tilesetFormat]?.lowercased() == "tilejson"
        let secret = secret(call.parameters)
        return { isTileJSON ? $0.tileJSONBody(secret: secret) : $0.body() }
    }

    private func tileset(
        _ call: Call, _ content: (MapDescription) -> OGCTileset.Content,
        _ body: (OGCTileset) -> [UInt8]
    ) async throws(Failure) -> GatewayResponse {
        let map = try await tiledMap(call)
        let tileset = tileset(try await described(map, call.parameters), content(map), call)
        return GatewayResponse(body: body(tileset), sequence: map.sequence)
    }

    private func tileset(
        _ map: TiledMap, _ content: OGCTileset.Content, _ call: Call
    ) -> OGCTileset {
        OGCTileset(
            map: map, content: content, links: OGCLinks(call.request, call.parameters))
    }

    /// `/ogc/{map}/map/tiles/WebMercatorQuad/{level}/{row}/{column}`.
    func ogcTile(_ call: Call) async throws(Failure) -> GatewayResponse {
        if let format = call.parameters[Known.tileFormat], !format.isEqualIgnoringCase("png") {
            throw Parameters.unexpected("f", format, "png")
        }
        let map = try await tiledMap(call)
        return try await tile(try .parsing(call.captures.tile), of: map, call.parameters)
    }

    /// `/ogc/{map}/vector/tiles/WebMercatorQuad/{level}/{row}/{column}`.
    func ogcVectorTile(_ call: Call) async throws(Failure) -> GatewayResponse {
        if let format = call.parameters[Known.vectorTileFormat], !format.isEqualIgnoringCase("mvt")
        {
            throw Parameters.unexpected("f", format, "mvt")
        }
        let map = try await tiledMap(call)
        return try await vectorTile(try .parsing(call.captures.tile), of: map, call.request)
    }
}
