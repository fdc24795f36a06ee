// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Vector tiles of a service or a package, never identified.
///
/// Tiles and style are there for an app that draws them; ``MapViewProxy/exportImage()`` draws
/// pictures alone, and leaves the layer out with a warning.
public final class ArcGISVectorTiledLayer: TiledLayer, @unchecked Sendable {
    /// The URL, as `…/World/VectorTileServer`; of a package, its file.
    public let url: URL
    /// The package; nil for a service.
    public let vectorTileCache: VectorTileCache?
    /// The style of the package, with its glyphs and sprites; nil for none.
    public let itemResourceCache: ItemResourceCache?
    private let token = Guarded<(any ArcGISCredential)?>(nil)
    private let description = Guarded<JSON?>(nil)

    /// A layer of a service, or of a file of tiles (`.vtpk`); nothing is asked before it is loaded.
    public init(url: URL) {
        self.url = url
        vectorTileCache = url.isFileURL ? VectorTileCache(fileURL: url) : nil
        itemResourceCache = nil
    }

    /// A layer of tiles in a file, with the style in a folder where there is one.
    public init(vectorTileCache: VectorTileCache, itemResourceCache: ItemResourceCache? = nil) {
        url = vectorTileCache.fileURL
        self.vectorTileCache = vectorTileCache
        self.itemResourceCache = itemResourceCache
    }

    /// The credential for its requests; nil for the stored ones.
    public var credential: (any ArcGISCredential)? {
        get { token.current }
        set { token.current = newValue }
    }

    override func performLoad() async throws {
        let json: JSON
        if let vectorTileCache {
            try await vectorTileCache.load()
            json = try vectorTileCache.opened().root
        } else {
            json = try await ServiceDescriptions.shared.description(of: url, credential)
        }
        guard let info = TileInfo(json.member("tileInfo")) else {
            throw CairnError(
                .unsupported,
                "\(url.withoutQuery.absoluteString) has no vector tiles: its description has no "
                    + "tileInfo")
        }
        let extent = Geometry.make(json.member("fullExtent"), nil) as? Envelope
        facts.withLock { facts in
            facts.name = json.text("name") ?? url.above.lastPathComponent
            facts.fullExtent = extent
            facts.initialExtent =
                Geometry.make(json.member("initialExtent"), nil) as? Envelope ?? extent
        }
        description.current = json
        set(info)
    }

    /// The bytes of a tile (Mapbox Vector Tile 2.1); nil where there is none.
    ///
    /// Throws ``ServiceError``, ``TransportError``, ``CairnError`` for a layer that is not loaded.
    public func tileData(level: Int, row: Int, column: Int) async throws -> Data? {
        guard let description = description.current else {
            throw CairnError(.invalidState, "\(name): the layer is not loaded")
        }
        if let vectorTileCache {
            let tile = try vectorTileCache.opened().tile(level: level, row: row, column: column)
            return try tile.map { Data(try Inflate.gunzip([UInt8]($0))) }
        }
        var path = description["tiles"]?.elements.first?.text ?? "tile/{z}/{y}/{x}.pbf"
        for (part, value) in [("{z}", level), ("{y}", row), ("{x}", column)] {
            path = path.replacingOccurrences(of: part, with: String(value))
        }
        var question = Question(url.below(path))
        question.credential = credential
        do {
            let data = try await Requester.bytes(question).data
            return data.isEmpty ? nil : data
        } catch let error as ServiceError where error.code == 404 {
            return nil
        }
    }

    /// The style of a service or of the item resources, as MapLibre's specification has it.
    ///
    /// Throws ``ServiceError``, ``TransportError``; ``CairnError`` for a layer of a package
    /// without item resources.
    public func styleJSON() async throws -> String {
        if let itemResourceCache { return try itemResourceCache.styleJSON() }
        guard vectorTileCache == nil else {
            throw CairnError.unsupported("style that is read without a service", by: url)
        }
        let path = description.current?.text("defaultStyles") ?? "resources/styles"
        var question = Question(url.below(path).below("root.json"))
        question.credential = credential
        return try await Requester.json(question).jsonText
    }

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        throw CairnError.unsupported("drawing of vector tiles", by: url)
    }

    override var webMapLayer: JSON? {
        guard vectorTileCache == nil else { return nil }
        let style = url.below("resources/styles/root.json").absoluteString
        return .object(webMapMembers("VectorTileLayer", nil) + [("styleUrl", .string(style))])
    }
}
