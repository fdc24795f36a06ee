// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import TilePackages
internal import TileStyles

/// What the exports of tiles do alike: the plan of their runs, and the package of the chunks'
/// tiles.
enum TileExport {
    /// The work order of the last chunk.
    struct PackageInput: Codable, Hashable, Sendable {
        /// The sequence number as of which the map was read.
        var position: Int64
        /// Number of tiles planned.
        var tileCount: Int
        /// Statements of the package's origin, names and values by turns.
        var provenance: [String]
        /// Those of the package that is updated; nil for a whole package.
        var baseProvenance: [String]?
        /// Description of the map, for people; often empty.
        var description: String
        /// Layers of vector tiles, in drawing order.
        var layers: [PackageLayer]?
        /// The style of vector tiles.
        var style: String?
        /// The symbols of the style that are pictures.
        var symbols: [LayerSymbol]?
    }

    /// A layer of vector tiles, as metadata list it.
    struct PackageLayer: Codable, Hashable, Sendable {
        var name: String
        var minLevel: Int
        var maxLevel: Int
        /// Names and MVT types of fields, by turns.
        var fields: [String]
    }

    /// How an export draws its tiles.
    struct Plan {
        /// The blocks of all its tiles.
        var blocks: [TileBlocks]
        /// Blocks of a run.
        var blocksPerRun: Int
        /// The block of a tile, by the tile's row or column.
        var block: (_ place: Int, _ level: Int, TileBlocks) -> Int
        /// Whether layers on other servers are in the tiles.
        var drawsRemotes: Bool
        /// How far beyond a changed feature a tile of a level may differ, in metres of EPSG:3857.
        var margin: (LayerChanges, _ level: Int) -> Double
        var draw: JobOperation
        var package: JobOperation
    }

    /// Finds the map, and orders the runs and the package.
    static func outline(
        _ context: ChunkContext, _ maps: any JobMaps, _ settings: TileExportSettings,
        _ plan: Plan, _ complete: (inout PackageInput, MapDescription) throws(Failure) -> Void
    ) throws -> ChunkOutcome {
        let position = try maps.position(
            settings.asOf, of: settings.map, submitted: settings.submitted, context)
        let map = try context.patiently { () throws(Failure) -> MapDescription in
            try maps.map(named: settings.map, at: position)
        }
        try settings.check(map)
        let tileCount = settings.selection.tileCount
        var input = PackageInput(
            position: position, tileCount: tileCount,
            provenance: provenance(of: map, at: position, settings, context),
            description: map.properties?.description ?? "")
        try complete(&input, map)
        var blocks = plan.blocks
        var message = "\(tileCount) tiles of map '\(map.name)' as of sequence number \(position)"
        if let since = settings.since {
            guard since <= position else {
                throw ParameterTexts.fault(
                    "since", "a sequence number from 0 to \(position), that of 'at'")
            }
            let old = try maps.map(named: settings.map, at: since)
            do throws(Failure) {
                try settings.check(old)
                var unused = input
                try complete(&unused, old)
            } catch {
                throw Failure(
                    error.code,
                    "there is no such package as of sequence number \(since): \(error.message)")
            }
            input.baseProvenance = provenance(of: old, at: since, settings, context)
            let candidates = try candidates(
                context, maps, settings, to: position, in: map, drawsRemotes: plan.drawsRemotes,
                margin: plan.margin)
            blocks = blocks.compactMap { blocks in
                candidates.pick(from: blocks) {
                    settings.selection.levels.contains($0)
                        ? settings.selection.rectangle(at: $0) : nil
                } block: {
                    plan.block($0, $1, blocks)
                }
            }
            message = "what changed of " + message + " since \(since)"
            if case .anywhere(let reason) = candidates.changes {
                message += ": all are compared, because \(reason)"
            }
        }
        let runs = TileBlocks.runs(
            blocks, of: plan.blocksPerRun, position: position, since: settings.since)
        // The ledger skips stages without chunks, so a package without runs would gather the
        // blob of the outline, which has none.
        let package = try plan.package.chunk(
            input, weight: max(1, tileCount / 10), gathers: !runs.isEmpty)
        return ChunkOutcome(
            nextStage: try runs.map { try plan.draw.chunk($0, weight: max(1, $0.tileCount)) },
            laterStages: [[package]],
            messages: [JobMessage(.informative, message + ", in \(runs.count) runs")])
    }

    /// The tiles that may differ between the two sequence numbers of an update.
    static func candidates(
        _ context: ChunkContext, _ maps: any JobMaps, _ settings: TileExportSettings,
        to position: Int64, in map: MapDescription, drawsRemotes: Bool,
        margin: @escaping (LayerChanges, _ level: Int) -> Double
    ) throws -> TileCandidates {
        guard let since = settings.since else {
            throw Failure(.corrupt, "an export without 'since' has no candidates")
        }
        if drawsRemotes, let layer = remote(in: map) {
            return TileCandidates(
                changes: .anywhere(
                    "layer \(layer.id) '\(layer.name)' is on another server"), margin: margin)
        }
        return TileCandidates(
            changes: try maps.changes(
                of: settings.map, from: since, to: position, isCancelled: context.isCancelled),
            margin: margin)
    }

    /// A layer on another server, whose pictures no sequence number bounds.
    static func remote(in map: MapDescription) -> LayerDescription? {
        map.layers.first { $0.kind.source?.isRemote == true }
    }

    private static func provenance(
        of map: MapDescription, at position: Int64, _ settings: TileExportSettings,
        _ context: ChunkContext
    ) -> [String] {
        var provenance = [
            "kind", context.assignment.kind.rawValue, "map", map.name.rawValue, "sequence",
            String(position),
        ]
        for layer in map.layers {
            guard let dataset = layer.kind.dataset else { continue }
            provenance += ["dataset", "\(layer.id) \(dataset.rawValue)"]
        }
        for (name, value) in settings.stated { provenance += ["parameter", "\(name)=\(value)"] }
        return provenance
    }

    /// Makes the package of the chunks' tiles, in ascending order.
    ///
    /// - Parameter quality: That of JPEG.
    static func package(
        _ context: ChunkContext, _ settings: TileExportSettings, _ encoding: TileEncoding,
        quality: Int? = nil
    ) throws -> ChunkOutcome {
        let input = try context.input(PackageInput.self)
        let levels = settings.selection.levels
        guard let first = levels.first, let last = levels.last else {
            throw Failure(.corrupt, "an export without levels")
        }
        var metadata = TilePackageMetadata(
            name: settings.map.rawValue, encoding: encoding, levels: first...last,
            extent: settings.selection.area?.envelope.withinWorld)
        metadata.description = input.description
        metadata.quality = quality
        metadata.style = input.style
        metadata.vectorLayers = (input.layers ?? []).map(\.asMetadata)
        metadata.provenance = entries(input.provenance)
        let tiles = try GatheredTiles(context)
        let staging = try StagingDirectory(in: context.blobs.stagingDirectory)
        if let base = input.baseProvenance {
            return try update(
                context, entries(base), metadata, input, tiles, staging.path + "/update")
        }
        let path = staging.path + "/tiles" + settings.format.ending
        let writer = try TilePackage.writer(settings.format, at: path, metadata)
        try tiles.forEach { tile, bytes, number in
            try writer.add(tile, bytes)
            if number.isMultiple(of: 256) {
                try context.checkCancelled()
                context.report(Double(number) / Double(max(1, tiles.count)))
            }
        }
        try addResources(input, writer.glyphNeeds, context) { path, bytes in
            try writer.add(resource: path, bytes)
        }
        let summary = try writer.finish()
        let blob = try context.blobs.put(
            file: path, mediaType: MediaType(settings.format).rawValue)
        return ChunkOutcome(
            blob: blob,
            messages: [
                JobMessage(
                    .informative,
                    "\(summary.tileCount) tiles of \(input.tileCount) have content; they are "
                        + "\(summary.byteCount) bytes in format \(settings.format.rawValue), "
                        + "content \(summary.content)")
            ])
    }
}

extension TileExport {
    /// Draws what the style refers to: the glyphs of the labels in the tiles, and symbols.
    private static func addResources(
        _ input: PackageInput, _ needs: [GlyphNeed], _ context: ChunkContext,
        _ add: (_ path: String, _ bytes: [UInt8]) throws -> Void
    ) throws {
        for need in needs {
            guard let fonts = FontStack(name: need.fonts), let range = GlyphRange(first: need.first)
            else { throw Failure(.corrupt, "the style has fonts '\(need.fonts.prefix(80))'") }
            try context.checkCancelled()
            context.report(1)
            try add(
                need.path, GlyphSheet.bytes(of: fonts, range, isCancelled: context.isCancelled))
        }
        guard let symbols = input.symbols, !symbols.isEmpty else { return }
        let sheet = SpriteSheet(symbols)
        for scale in StyleResource.scales {
            let name = "sprites/sprite" + (scale == 1 ? "" : "@\(scale)x")
            try add(name + ".json", sheet.index(scale: scale))
            try add(name + ".png", sheet.picture(scale: scale))
        }
    }

    private static func entries(_ texts: [String]) -> [ProvenanceEntry] {
        stride(from: 0, to: texts.count - 1, by: 2).map {
            ProvenanceEntry(texts[$0], texts[$0 + 1])
        }
    }

    /// Makes the update of the chunks' changed tiles, in ascending order.
    private static func update(
        _ context: ChunkContext, _ base: [ProvenanceEntry], _ metadata: TilePackageMetadata,
        _ input: PackageInput, _ tiles: GatheredTiles, _ path: String
    ) throws -> ChunkOutcome {
        let writer = try TileChangeWriter(at: path, base: base, metadata: metadata)
        try tiles.forEach { tile, bytes, number in
            let (before, after) = try TileChangeRecord.read(bytes)
            try writer.put(tile, after, before: before)
            if number.isMultiple(of: 256) {
                try context.checkCancelled()
                context.report(Double(number) / Double(max(1, tiles.count)))
            }
        }
        try addResources(input, writer.glyphNeeds, context) { path, bytes in
            try writer.add(resource: path, bytes)
        }
        let summary = try writer.finish()
        let blob = try context.blobs.put(
            file: path, mediaType: MediaType.tileUpdate.rawValue)
        return ChunkOutcome(
            blob: blob,
            messages: [
                JobMessage(
                    .informative,
                    "\(summary.changedCount) tiles are new or have other bytes, "
                        + "\(summary.removedCount) are no more; the update has "
                        + "\(summary.byteCount) bytes")
            ])
    }
}

extension TileExport.PackageLayer {
    fileprivate var asMetadata: TilePackages.VectorTileLayer {
        TilePackages.VectorTileLayer(
            id: name,
            fields: stride(from: 0, to: fields.count - 1, by: 2).map {
                .init(name: fields[$0], type: fields[$0 + 1])
            }, levels: max(0, minLevel)...max(minLevel, maxLevel))
    }
}

extension MediaType {
    /// Of the packages of a format.
    init(_ format: TilePackageFormat) {
        switch format {
        case .mbtiles: self = .mbtiles
        case .pmtiles: self = .pmtiles
        case .gpkg: self = .geoPackage
        case .tpkx: self = .tpkx
        case .vtpk: self = .vtpk
        }
    }
}

extension Envelope {
    /// The part on the map's square.
    fileprivate var withinWorld: Envelope {
        let half = TileAddress.halfWorldMeters
        return Envelope(
            minX: max(minX, -half), minY: max(minY, -half), maxX: min(maxX, half),
            maxY: min(maxY, half))
    }
}
