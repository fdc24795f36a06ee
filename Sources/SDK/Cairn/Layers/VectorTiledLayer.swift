// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// Vector tiles of a service or a package, never identified.
///
/// ``MapViewProxy/exportImage()`` draws them by their style: layers of the types `background`,
/// `fill`, `line`, `circle` and `symbol`, whose texts have this SDK's one face. Pictures of the
/// style (icons, patterns), other types of layers, and what is not understood are left out;
/// ``undrawnStyleParts`` names them.
public final class ArcGISVectorTiledLayer: TiledLayer, @unchecked Sendable {
    /// The URL, as `…/World/VectorTileServer`; of a package, its file.
    public let url: URL
    /// The package; nil for a service.
    public let vectorTileCache: VectorTileCache?
    /// The style of the package, with its glyphs and sprites; nil for the one that it has inside.
    public let itemResourceCache: ItemResourceCache?
    private let token = Guarded<(any ArcGISCredential)?>(nil)
    private let description = Guarded<JSON?>(nil)
    private let store = VectorTileStore()

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
        set {
            token.current = newValue
            store.removeAll()
        }
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

    /// The style of a service, of the item resources or of the package, as MapLibre's specification
    /// has it.
    ///
    /// Throws ``ServiceError``, ``TransportError``; ``CairnError`` for a package without a style or
    /// that is not loaded.
    public func styleJSON() async throws -> String {
        if let itemResourceCache { return try itemResourceCache.styleJSON() }
        if let vectorTileCache { return try vectorTileCache.opened().styleJSON() }
        return try await serviceStyle().jsonText
    }

    private func serviceStyle() async throws -> JSON {
        let path = description.current?.text("defaultStyles") ?? "resources/styles"
        var question = Question(url.below(path).below("root.json"))
        question.credential = credential
        return try await Requester.json(question)
    }

    // MARK: Pictures

    /// What of its style was not drawn in the latest picture: `Roads: line-pattern`, and for icons
    /// the number of features in the picture, `Places: icon-image (12 features)`.
    public var undrawnStyleParts: [String] { store.undrawn }

    /// About the most bytes of memory that the tiles of a picture may take.
    private static let memoryLimit = 1 << 30

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        guard let info = tileInfo, let description = description.current else { return nil }
        // A package does not change while it is open.
        let age = vectorTileCache == nil ? CairnEnvironment.settings.current.descriptionAge : nil
        let style = try await store.style(age) { try await readStyle() }
        let deepest = [
            description["maxzoom"]?.int, description["maxLOD"]?.int, style.deepestLevel,
        ].compactMap { $0 }.min()
        guard let grid = try TileGrid(frame, info, deepest: deepest) else { return nil }
        var tiles: [(column: Int, row: Int, tile: VectorTile)] = []
        var weight = 0
        try await withThrowingTaskGroup(of: (Int, Int, VectorTile?).self) { group in
            for row in grid.rows {
                for column in grid.columns {
                    group.addTask {
                        let place = VectorTileStore.Place(
                            level: grid.level, row: row, column: column)
                        let tile = try await self.store.tile(place, age) {
                            try await self.tileData(level: grid.level, row: row, column: column)
                        }
                        return (column, row, tile)
                    }
                }
            }
            for try await (column, row, tile) in group {
                guard let tile else { continue }
                weight += tile.weight
                guard weight <= Self.memoryLimit else {
                    throw CairnError(
                        .invalidState,
                        "\(name): the tiles of the view need more than \(Self.memoryLimit) bytes "
                            + "of memory")
                }
                tiles.append((column, row, tile))
            }
        }
        let drawing = TileDrawing(
            style, grid, tiles, width: max(1, Int(frame.width)), height: max(1, Int(frame.height)))
        let (raster, leftOut) = try drawing.draw()
        let counted = leftOut.sorted { $0.key < $1.key }.map { name, count in
            "\(name) (\(count) \(count == 1 ? "feature" : "features"))"
        }
        store.note(style.notDrawn + counted, of: name)
        return LayerPicture(raster: raster)
    }

    private func readStyle() async throws -> TileStyle {
        guard vectorTileCache != nil || itemResourceCache != nil else {
            return try TileStyle(try await serviceStyle())
        }
        guard let json = JSON(Array(try await styleJSON().utf8)) else {
            throw CairnError(
                .invalidDocument, "the style of '\(url.path(percentEncoded: false))' is no JSON")
        }
        return try TileStyle(json)
    }

    override var webMapLayer: JSON? {
        guard vectorTileCache == nil else { return nil }
        let style = url.below("resources/styles/root.json").absoluteString
        return .object(webMapMembers("VectorTileLayer", nil) + [("styleUrl", .string(style))])
    }
}
