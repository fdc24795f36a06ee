// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// The tiles of a map service.
public final class ArcGISTiledLayer: TiledLayer, @unchecked Sendable {
    /// The URL, as `…/World/MapServer`; of a cache, its file; never nil here.
    public var url: URL? { place }
    let place: URL
    private let token = Guarded<(any ArcGISCredential)?>(nil)
    private let cache: TileCache?

    /// A layer of a service, or of a file of tiles (`.tpkx`); nothing is asked before it is loaded.
    public init(url: URL) {
        place = url
        cache = url.isFileURL ? TileCache(fileURL: url) : nil
    }

    /// A layer of tiles in a file.
    public init(tileCache: TileCache) {
        place = tileCache.fileURL
        cache = tileCache
    }

    /// The credential for its requests; nil for the stored ones.
    public var credential: (any ArcGISCredential)? {
        get { token.current }
        set { token.current = newValue }
    }

    override func performLoad() async throws {
        let json: JSON
        if let cache {
            try await cache.load()
            json = try cache.opened().root
        } else {
            json = try await ServiceDescriptions.shared.description(of: place, credential)
        }
        guard let info = TileInfo(json.member("tileInfo")) else {
            throw CairnError(
                .unsupported,
                "\(place.withoutQuery.absoluteString) has no tiles: its description has no tileInfo"
            )
        }
        let extent = Geometry.make(json.member("fullExtent"), nil) as? Envelope
        let name = json.text("mapName") ?? json.text("name") ?? ""
        facts.withLock { facts in
            facts.name = name.isEmpty || name == "Layers" ? place.above.lastPathComponent : name
            facts.fullExtent = extent
            facts.initialExtent =
                Geometry.make(json.member("initialExtent"), nil) as? Envelope ?? extent
            facts.attribution = json.text("copyrightText") ?? ""
        }
        set(info)
    }

    override func tile(level: Int, row: Int, column: Int) async throws -> Data? {
        if let cache { return try cache.opened().tile(level: level, row: row, column: column) }
        var question = Question(place.below("tile/\(level)/\(row)/\(column)"))
        question.credential = credential
        do {
            return try await Requester.bytes(question).data
        } catch let error as ServiceError where error.code == 404 {
            return nil
        }
    }

    override var webMapLayer: JSON? {
        cache == nil ? .object(webMapMembers("ArcGISTiledMapServiceLayer", place)) : nil
    }
}
