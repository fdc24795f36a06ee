// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// How tiles lie: an origin, a size, and a resolution for each level.
public struct TileInfo: Sendable, Hashable {
    /// A level of tiles.
    public struct LevelOfDetail: Sendable, Hashable {
        /// Its number.
        public let level: Int
        /// Units of the reference for a pixel.
        public let resolution: Double
        /// The scale, at the tiles' dots per inch.
        public let scale: Double
    }

    /// Pixels of a tile.
    public let tileWidth, tileHeight: Int
    /// Dots per inch.
    public let dpi: Double
    /// The upper left corner of the first tile.
    public let originX, originY: Double
    /// The levels, the smallest scale first.
    public let levelsOfDetail: [LevelOfDetail]
    /// The reference.
    public let spatialReference: SpatialReference

    init?(_ json: JSON?) {
        guard let json, let width = json["cols"]?.int, let height = json["rows"]?.int, width > 0,
            height > 0, let x = json["origin"]?["x"]?.number, let y = json["origin"]?["y"]?.number,
            let reference = SpatialReference(json.member("spatialReference"))
        else { return nil }
        let levels = (json["lods"]?.elements ?? []).compactMap { level -> LevelOfDetail? in
            guard let number = level["level"]?.int, let resolution = level["resolution"]?.number,
                resolution > 0
            else { return nil }
            return LevelOfDetail(
                level: number, resolution: resolution, scale: level["scale"]?.number ?? 0)
        }
        guard !levels.isEmpty else { return nil }
        tileWidth = width
        tileHeight = height
        dpi = json["dpi"]?.number ?? 96
        (originX, originY) = (x, y)
        levelsOfDetail = levels.sorted { $0.resolution > $1.resolution }
        spatialReference = reference
    }

    /// Web Mercator as the web's maps have it: tiles of 256 pixels, levels 0 to 22.
    public static let webMercator = TileInfo()

    private init() {
        let half = 20_037_508.342_787
        tileWidth = 256
        tileHeight = 256
        dpi = 96
        (originX, originY) = (-half, half)
        levelsOfDetail = (0...22).map { level in
            let resolution = 2 * half / 256 / Double(1 << level)
            return LevelOfDetail(
                level: level, resolution: resolution, scale: resolution * 96 / 0.0254)
        }
        spatialReference = .webMercator
    }
}

/// A layer of pictures that are there in levels, in one reference; never identified.
public class TiledLayer: Layer, @unchecked Sendable {
    private let info = Guarded<TileInfo?>(nil)

    /// How its tiles lie; nil before it is loaded.
    public var tileInfo: TileInfo? { info.current }

    func set(_ tileInfo: TileInfo) {
        info.current = tileInfo
        facts.withLock { $0.spatialReference = tileInfo.spatialReference }
    }

    override func isCompatible(with reference: SpatialReference) -> Bool {
        spatialReference.map { $0 == reference } ?? true
    }

    /// A tile's picture; nil where there is none.
    func tile(level: Int, row: Int, column: Int) async throws -> Data? { nil }

    override func picture(_ frame: ViewFrame) async throws -> LayerPicture? {
        guard let info = tileInfo else { return nil }
        let wanted = frame.resolution
        // The level whose pixels are not larger than the view's, or the last.
        let level =
            info.levelsOfDetail.first { $0.resolution <= wanted * 1.001 }
            ?? info.levelsOfDetail[info.levelsOfDetail.count - 1]
        let area = frame.pictureExtent
        let size = (
            x: level.resolution * Double(info.tileWidth),
            y: level.resolution * Double(info.tileHeight)
        )
        func index(_ value: Double) -> Int { Int(max(-1e9, min(1e9, value.rounded(.down)))) }
        let columns =
            index((area.xMin - info.originX) / size.x)...index((area.xMax - info.originX) / size.x)
        let rows =
            index((info.originY - area.yMax) / size.y)...index((info.originY - area.yMin) / size.y)
        guard columns.count * rows.count <= 1_024 else {
            throw CairnError(
                .invalidState,
                "\(name): the view needs more than 1024 tiles of level \(level.level)")
        }
        var parts: [LayerPicture] = []
        try await withThrowingTaskGroup(of: LayerPicture?.self) { group in
            for row in rows where row >= 0 {
                for column in columns where column >= 0 {
                    let box = Envelope(
                        xMin: info.originX + Double(column) * size.x,
                        yMin: info.originY - Double(row + 1) * size.y,
                        xMax: info.originX + Double(column + 1) * size.x,
                        yMax: info.originY - Double(row) * size.y,
                        spatialReference: info.spatialReference)
                    group.addTask {
                        let picture = try await self.tile(
                            level: level.level, row: row, column: column)
                        return picture.map { LayerPicture(png: $0, extent: box) }
                    }
                }
            }
            for try await part in group { if let part { parts.append(part) } }
        }
        return parts.isEmpty ? nil : LayerPicture(parts: parts)
    }
}

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

/// Tiles by a template of URLs, in Web Mercator: `https://tiles/{level}/{col}/{row}.png`, also
/// `{z}`, `{x}`, `{y}`, and `{subDomain}`.
public final class WebTiledLayer: TiledLayer, @unchecked Sendable {
    /// The template.
    public let urlTemplate: String
    /// What `{subDomain}` stands for, in turns.
    public let subDomains: [String]

    /// A layer; nothing is asked before it is drawn.
    public init(urlTemplate: String, subDomains: [String] = []) {
        self.urlTemplate = urlTemplate
        self.subDomains = subDomains
    }

    /// The same, by the other spelling of the label.
    public convenience init(urlTemplate: String, subdomains: [String]) {
        self.init(urlTemplate: urlTemplate, subDomains: subdomains)
    }

    /// Says whose the data are, for ``Layer/attribution``.
    public func setAttribution(_ attribution: String) {
        facts.withLock { $0.attribution = attribution }
    }

    override func performLoad() async throws {
        guard url(0, 0, 0) != nil else {
            throw CairnError(
                .invalidArgument,
                "'\(urlTemplate)': expected a URL with {level}, {col} and {row} in it")
        }
        facts.withLock { $0.name = URL(string: urlTemplate)?.host() ?? "tiles" }
        set(.webMercator)
        let half = 20_037_508.342_787
        facts.withLock {
            $0.fullExtent = Envelope(
                xMin: -half, yMin: -half, xMax: half, yMax: half, spatialReference: .webMercator)
        }
    }

    private func url(_ level: Int, _ row: Int, _ column: Int) -> URL? {
        var text = urlTemplate
        var isComplete = true
        for (names, value) in [
            (["level", "z"], level), (["row", "y"], row), (["col", "x"], column),
        ] {
            guard let name = names.first(where: { text.contains("{\($0)}") }) else {
                isComplete = false
                continue
            }
            text = text.replacingOccurrences(of: "{\(name)}", with: String(value))
        }
        if !subDomains.isEmpty {
            text = text.replacingOccurrences(
                of: "{subDomain}", with: subDomains[(row + column) % subDomains.count])
        }
        guard isComplete, let url = URL(string: text), url.origin != nil else { return nil }
        return url
    }

    override func tile(level: Int, row: Int, column: Int) async throws -> Data? {
        guard let url = url(level, row, column) else { return nil }
        do {
            return try await Requester.bytes(Question(url)).data
        } catch let error as ServiceError where error.code == 404 {
            return nil
        }
    }

    override var webMapLayer: JSON? {
        .object(
            webMapMembers("WebTiledLayer", nil) + [("templateUrl", .string(urlTemplate))]
                + (attribution.isEmpty ? [] : [("copyright", .string(attribution))])
                + (subDomains.isEmpty
                    ? [] : [("subDomains", .array(subDomains.map { .string($0) }))]))
    }

    override func apply(webMap json: JSON) {
        super.apply(webMap: json)
        if let text = json.text("copyright") { setAttribution(text) }
    }
}
