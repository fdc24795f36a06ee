// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import Expression
internal import Geometry
internal import Site
public import TilePackages
internal import TileStyles
internal import VectorTiles

extension JobKind {
    /// Writes the features of a map into a package of vector tiles.
    public static let exportVectorTiles = JobKind(rawValue: "ExportVectorTiles")
}

/// The job kind `ExportVectorTiles`: the features of a map's layers as Mapbox Vector Tiles, in a
/// package that programs of the field open.
///
/// The tiles are those of the vector tile service, byte for byte. Layers on other servers, rasters
/// and layers that may not be queried are not in them.
public enum ExportVectorTiles: JobKindDefinition {
    /// The formats of its packages, the usual one first.
    public static let formats: [TilePackageFormat] = [.mbtiles, .pmtiles, .vtpk]

    /// Published: the features of a map in tiles.
    public static let description = JobKindDescription(
        kind: .exportVectorTiles, summary: "Writes a map into a package of vector tiles.",
        input: nil, output: "A package of vector tiles",
        outputMediaType: MediaType(formats[0]).rawValue,
        parameters: TileExportSettings.parameters(formats: formats),
        reads: [.map(parameter: "map", moments: ["at", "since"])], inputNamesBlobs: false)

    /// The most bytes of a package's style, which is in an event.
    private static let styleByteBound = 1 << 20

    /// Levels that a chunk makes at once, from the same features.
    private static let levelsPerBlock = 5

    /// Checks the parameters; the layers are known to the maps alone.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws(Failure) {
        _ = try settings(texts, submitted: .max)
    }

    /// Plans blocks of levels, makes the tiles of each, and the package.
    public static let operations = [plan, outline, encode, package]

    private static let plan = JobOperation.files("plan") { context in
        _ = try settings(context)
        return ChunkOutcome(nextStage: [outline.chunk(weight: 1)])
    }
    private static let outline = JobOperation.maps("outline") { try outline($0, $1) }
    private static let encode = JobOperation.maps("encode") { try encode($0, $1) }
    private static let package = JobOperation.files("package") { context in
        try TileExport.package(context, try settings(context), .mvt)
    }

    static func settings(
        _ texts: ParameterTexts, submitted: Int64
    ) throws(Failure) -> TileExportSettings {
        try TileExportSettings(
            texts, formats: formats, rootScale: TileLayer.rootScale, submitted: submitted)
    }

    private static func settings(_ context: ChunkContext) throws(Failure) -> TileExportSettings {
        try settings(
            ParameterTexts(context.assignment.parameters, of: description),
            submitted: context.assignment.submission())
    }

    /// Levels in groups of ``levelsPerBlock``, the last one whole.
    static func groups(of levels: [Int]) -> [ClosedRange<Int>] {
        guard let first = levels.first, let last = levels.last else { return [] }
        return stride(from: last, through: first, by: -levelsPerBlock).reversed().map { end in
            max(first, end - levelsPerBlock + 1)...end
        }
    }

    private static func outline(
        _ context: ChunkContext, _ maps: any JobMaps
    ) throws -> ChunkOutcome {
        let settings = try settings(context)
        let blocks = groups(of: settings.selection.levels).compactMap { levels in
            settings.selection.rectangle(at: levels.lowerBound).map { tiles in
                let whole = levels.reduce(0) { $0 + 1 << (2 * ($1 - levels.lowerBound)) }
                return TileBlocks(
                    level: levels.lowerBound, levels: levels, rectangle: tiles,
                    tilesPerBlock: whole)
            }
        }
        var newest: MapStyle?
        return try TileExport.outline(
            context, maps, settings,
            TileExport.Plan(
                blocks: blocks, blocksPerRun: 1,
                block: { place, level, blocks in place >> (level - blocks.level) },
                drawsRemotes: false, margin: margin, draw: encode, package: package)
        ) { input, map throws(Failure) in
            let layers = map.tileLayers(settings.layers)
            guard !layers.isEmpty else {
                throw Failure(
                    .invalidParameter,
                    "map '\(map.name)' has no layer whose features vector tiles can have: "
                        + "expected one that is loaded, may be queried and is on this site")
            }
            input.layers = layers.flatMap {
                TileExport.PackageLayer.parts(of: $0, settings.selection.levels)
            }
            guard settings.format == .vtpk else { return }
            let style = try addStyle(to: &input, of: map, layers)
            if let newest, (newest.labels, newest.fonts) != (style.labels, style.fonts) {
                // The tiles that are as they were have other glyphs too.
                throw Failure(
                    .invalidParameter,
                    "its labels have other texts or fonts: expected a whole export, or format "
                        + "mbtiles or pmtiles")
            }
            newest = style
        }
    }

    /// Adds the style of a map, and the symbols that are pictures in it.
    private static func addStyle(
        to input: inout TileExport.PackageInput, of map: MapDescription, _ layers: [TileLayer]
    ) throws(Failure) -> MapStyle {
        let style = MapStyle(title: map.properties?.title ?? map.name.rawValue, layers)
        let text = style.json(.packaged)
        guard text.count <= styleByteBound else {
            throw Failure(
                .tooLarge,
                "the style of map '\(map.name)' has \(text.count) bytes; a package of format vtpk "
                    + "has at most \(styleByteBound): expected mbtiles or pmtiles, which have none")
        }
        input.style = String(decoding: text, as: UTF8.self)
        input.symbols = style.sprites.symbols
        return style
    }

    /// How far beyond a changed feature a tile may differ: as far as its geometry reaches over its
    /// sides, twice, because rectangles are rounded.
    private static func margin(_ changes: LayerChanges, _ level: Int) -> Double {
        let options = VectorTileOptions.standard
        return 2 * Double(options.buffer) * options.cellMeters(at: level)
    }

    /// Makes the tiles of a run into a blob, block after block.
    private static func encode(
        _ context: ChunkContext, _ maps: any JobMaps
    ) throws -> ChunkOutcome {
        let run = try context.input(TileRun.self)
        let settings = try settings(context)
        let blocks = try run.blocks()
        let map = try context.patiently { () throws(Failure) -> MapDescription in
            try maps.map(named: settings.map, at: run.position)
        }
        let tiles = EncodedTiles(settings, map, maps, context)
        let earlier = try run.since.map { since in
            EncodedTiles(settings, try maps.map(named: settings.map, at: since), maps, context)
        }
        let candidates = try run.since.map { _ in
            try TileExport.candidates(
                context, maps, settings, to: run.position, in: map, drawsRemotes: false,
                margin: margin)
        }
        var counts = LostFeatures()
        var done = 0
        let blob = try context.blobs.put(mediaType: MediaType.bytes.rawValue) { write in
            for block in blocks {
                try context.checkCancelled()
                guard
                    let root = TileAddress(
                        level: run.level, row: block.row, column: block.column)
                else { throw Failure(.corrupt, "tile \(run.level)/\(block.row)/\(block.column)") }
                let levels = run.level...run.lastLevel
                if let earlier, let candidates {
                    let wanted = settings.selection.tiles(below: root, levels, in: candidates)
                    let before = try earlier.tiles(wanted, below: root, levels) { _ in }
                    let after = try tiles.tiles(wanted, below: root, levels) { counts.add($0) }
                    for tile in Set(before.keys).union(after.keys).sorted() {
                        if let made = after[tile] { counts.add(made.report) }
                        let record = TileChangeRecord.record(
                            before: before[tile]?.bytes ?? [], after: after[tile]?.bytes ?? [])
                        if let record { try write(TileBlob.record(tile, record)) }
                    }
                } else {
                    try tiles.forEach(below: root, levels) {
                        counts.add($0)
                    } _: { tile, made in
                        counts.add(made.report)
                        guard let bytes = made.bytes else { return }
                        // Here on all workers; the package keeps it as it is.
                        try write(TileBlob.record(tile, Gzip.compress(bytes)))
                    }
                }
                done += 1
                context.report(Double(done) / Double(blocks.count))
            }
        }
        return ChunkOutcome(blob: blob, messages: counts.messages)
    }
}

extension TileExport.PackageLayer {
    /// The layers of the package's tiles that a map's layer is in, inside the package's levels.
    fileprivate static func parts(of tiles: TileLayer, _ levels: [Int]) -> [Self] {
        let shown = levels.filter { tiles.levels ~= $0 }
        return tiles.parts.map { part in
            Self(
                name: part.name, minLevel: shown.first ?? tiles.levels.lowerBound,
                maxLevel: shown.last ?? tiles.levels.upperBound,
                fields: part.fields.flatMap { [$0.name, $0.type.nameInTiles] })
        }
    }
}

extension FieldType {
    /// The type's name in the metadata of MBTiles and TileJSON.
    public var nameInTiles: String {
        switch self {
        case .objectID, .smallInteger, .integer, .bigInteger, .single, .double: "Number"
        case .string, .date: "String"
        }
    }
}
