// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import Site
public import TilePackages

extension JobKind {
    /// Draws tiles of a map into a package.
    public static let exportTiles = JobKind(rawValue: "ExportTiles")
}

/// The job kind `ExportTiles`: pictures of a map in squares, as a package that programs of the
/// field open.
///
/// The tiles are those of the map service, byte for byte, as of the job's submission or of `at`;
/// tiles on which nothing is drawn are left out of packages of PNG. Nothing depends on when or
/// where its chunks run, so the package is the same after any interruption.
public enum ExportTiles: JobKindDefinition {
    /// The formats of its packages, the usual one first.
    public static let formats: [TilePackageFormat] = [.mbtiles, .gpkg, .pmtiles, .tpkx]

    /// Published: pictures of a map in squares.
    public static let description = JobKindDescription(
        kind: .exportTiles, summary: "Draws a map into a package of tiles.", input: nil,
        output: "A package of tiles", outputMediaType: MediaType(formats[0]).rawValue,
        parameters: TileExportSettings.parameters(
            formats: formats,
            [
                .text(
                    "tileFormat", "The form of the pictures; png is transparent.",
                    PictureFormat.png.rawValue, of: ["png", "jpg"]),
                .whole(
                    "quality",
                    "Of jpg, 1 to 100; that of the map service, "
                        + "\(ExportRequest.standardQuality), unless set."),
            ]), reads: [.map(parameter: "map", moments: ["at", "since"])], inputNamesBlobs: false)

    /// Blocks of 16 tiles that a chunk draws.
    private static let blocksPerChunk = 16

    /// Checks the parameters; the layers are known to the maps alone.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws(Failure) {
        _ = try settings(texts, submitted: .max)
    }

    /// Plans runs of blocks, draws each, and makes the package.
    public static let operations = [plan, outline, draw, package]

    private static let plan = JobOperation.files("plan") { context in
        _ = try settings(context)
        return ChunkOutcome(nextStage: [outline.chunk(weight: 1)])
    }
    private static let outline = JobOperation.maps("outline") { try outline($0, $1) }
    private static let draw = JobOperation.maps("draw") { try draw($0, $1) }
    private static let package = JobOperation.files("package") { context in
        let (settings, form) = try settings(context)
        guard form.format == .jpg else { return try TileExport.package(context, settings, .png) }
        return try TileExport.package(
            context, settings, .jpg, quality: form.quality ?? ExportRequest.standardQuality)
    }

    static func settings(
        _ texts: ParameterTexts, submitted: Int64
    ) throws(Failure) -> (TileExportSettings, PictureForm) {
        guard let format = texts["tileFormat"].flatMap({ PictureFormat(rawValue: $0.lowercased()) })
        else { throw ParameterTexts.fault("tileFormat", "png or jpg") }
        let quality = try texts.whole("quality")
        if let quality, format != .jpg || !(1...100 ~= quality) {
            throw ParameterTexts.fault("quality", "1 to 100, with tileFormat=jpg")
        }
        return (
            try TileExportSettings(
                texts, formats: formats, rootScale: PictureBlock.rootScale, submitted: submitted),
            PictureForm(format: format, quality: quality)
        )
    }

    private static func settings(
        _ context: ChunkContext
    ) throws(Failure) -> (TileExportSettings, PictureForm) {
        try settings(
            ParameterTexts(context.assignment.parameters, of: description),
            submitted: context.assignment.submission())
    }

    private static func outline(
        _ context: ChunkContext, _ maps: any JobMaps
    ) throws -> ChunkOutcome {
        let settings = try settings(context).0
        let blocks = settings.selection.levels.compactMap { level in
            settings.selection.rectangle(at: level).map { tiles in
                TileBlocks(
                    level: level, levels: level...level,
                    rectangle: tiles.blocks(of: PictureBlock.count),
                    tilesPerBlock: PictureBlock.count * PictureBlock.count)
            }
        }
        return try TileExport.outline(
            context, maps, settings,
            TileExport.Plan(
                blocks: blocks, blocksPerRun: blocksPerChunk,
                block: { place, _, _ in place / PictureBlock.count }, drawsRemotes: true,
                margin: margin, draw: draw, package: package)
        ) { _, _ in }
    }

    /// How far beyond a changed feature a block of pictures may differ: as far as symbols reach,
    /// and a pixel, because rectangles are rounded.
    private static func margin(_ changes: LayerChanges, _ level: Int) -> Double {
        (changes.reachPixels + 1) * TileAddress.side(at: level) / Double(PictureBlock.tileSide)
    }

    /// Draws a run into a blob, block after block.
    private static func draw(
        _ context: ChunkContext, _ maps: any JobMaps
    ) throws -> ChunkOutcome {
        let run = try context.input(TileRun.self)
        let (settings, form) = try settings(context)
        let blocks = try run.blocks()
        guard let wanted = settings.selection.rectangle(at: run.level) else {
            throw Failure(.corrupt, "the run at level \(run.level) is outside the area")
        }
        let drawing = TileDrawing(settings, form, run.level, at: run.position, maps, context)
        let earlier = try run.since.map { since in
            try EarlierTiles(settings, form, run.level, since, run.position, maps, context)
        }
        var done = 0
        var lost = LostFeatures()
        let blob = try context.blobs.put(mediaType: MediaType.bytes.rawValue) { write in
            let blank = form.format == .png ? try drawing.blank() : nil
            for block in blocks {
                try context.checkCancelled()
                let part = wanted.part(inBlock: block.row, block.column, of: PictureBlock.count)
                let tiles = part?.tiles(at: run.level).filter(settings.selection.contains) ?? []
                let drawn = try drawing.pictures(of: tiles, &lost).map { tile, bytes in
                    (tile, bytes == blank ? [] : bytes)
                }
                guard let earlier else {
                    for (tile, bytes) in drawn where !bytes.isEmpty {
                        try write(TileBlob.record(tile, bytes))
                    }
                    done += 1
                    context.report(Double(done) / Double(blocks.count))
                    continue
                }
                let before = try earlier.pictures(of: tiles, blank)
                for (index, (tile, bytes)) in drawn.enumerated() {
                    let record = TileChangeRecord.record(before: before?[index], after: bytes)
                    if let record { try write(TileBlob.record(tile, record)) }
                }
                done += 1
                context.report(Double(done) / Double(blocks.count))
            }
        }
        let messages = try lost.messages(of: maps.map(named: settings.map, at: run.position))
        return ChunkOutcome(blob: blob, messages: messages)
    }
}

/// The tiles as they were, with which those of an update are compared.
private struct EarlierTiles {
    /// Nil for a map with layers on other servers, whose past nothing draws.
    private let drawing: TileDrawing?

    init(
        _ settings: TileExportSettings, _ form: PictureForm, _ level: Int, _ since: Int64,
        _ position: Int64, _ maps: any JobMaps, _ context: ChunkContext
    ) throws {
        let states = try [since, position].map { try maps.map(named: settings.map, at: $0) }
        let hasRemote = states.contains { TileExport.remote(in: $0) != nil }
        drawing =
            hasRemote ? nil : TileDrawing(settings, form, level, at: since, maps, context)
    }

    /// The pictures in the order of the tiles, empty for a blank one; nil where they are not known.
    func pictures(of tiles: [TileAddress], _ blank: [UInt8]?) throws -> [[UInt8]]? {
        var lost = LostFeatures()
        return try drawing?.pictures(of: tiles, &lost).map { $0.1 == blank ? [] : $0.1 }
    }
}
