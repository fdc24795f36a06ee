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
                    PictureFormat.png.rawValue, of: ["png", "jpg"])
            ]), reads: [.map(parameter: "map", moment: "at")], inputNamesBlobs: false)

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
        let (settings, format) = try settings(context)
        return try TileExport.package(context, settings, format == .png ? .png : .jpg)
    }

    private static func settings(
        _ texts: ParameterTexts, submitted: Int64
    ) throws(Failure) -> (TileExportSettings, PictureFormat) {
        guard let format = texts["tileFormat"].flatMap({ PictureFormat(rawValue: $0.lowercased()) })
        else { throw ParameterTexts.fault("tileFormat", "png or jpg") }
        return (try TileExportSettings(texts, formats: formats, submitted: submitted), format)
    }

    private static func settings(
        _ context: ChunkContext
    ) throws(Failure) -> (TileExportSettings, PictureFormat) {
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
            context, maps, settings, blocks: blocks, blocksPerRun: blocksPerChunk, draw: draw,
            package: package
        ) { _, _ in }
    }

    /// Draws a run into a blob, block after block.
    private static func draw(
        _ context: ChunkContext, _ maps: any JobMaps
    ) throws -> ChunkOutcome {
        let run = try context.input(TileRun.self)
        let (settings, format) = try settings(context)
        let blocks = try run.rectangle
        guard let wanted = settings.selection.rectangle(at: run.level) else {
            throw Failure(.corrupt, "the run at level \(run.level) is outside the area")
        }
        let drawing = TileDrawing(settings, format, run, maps, context)
        var done = 0
        let blob = try context.blobs.put(mediaType: MediaType.bytes.rawValue) { write in
            let blank = format == .png ? try drawing.blank() : nil
            for row in blocks.rows {
                for column in blocks.columns {
                    try context.checkCancelled()
                    if let part = wanted.part(inBlock: row, column, of: PictureBlock.count) {
                        let tiles = part.tiles(at: run.level).filter(settings.selection.contains)
                        for (tile, bytes) in try drawing.pictures(of: tiles) where bytes != blank {
                            try write(TileBlob.record(tile, bytes))
                        }
                    }
                    done += 1
                    context.report(Double(done) / Double(blocks.count))
                }
            }
        }
        return ChunkOutcome(blob: blob)
    }
}

extension TileRectangle {
    /// Its tiles, rows from the top.
    fileprivate func tiles(at level: Int) -> [TileAddress] {
        rows.flatMap { row in
            columns.compactMap { TileAddress(level: level, row: row, column: $0) }
        }
    }
}
