// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import TilePackages

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
        /// Description of the map, for people; often empty.
        var description: String
        /// Layers of vector tiles, in drawing order.
        var layers: [PackageLayer]?
        /// The style of vector tiles.
        var style: String?
    }

    /// A layer of vector tiles, as metadata list it.
    struct PackageLayer: Codable, Hashable, Sendable {
        var name: String
        var minLevel: Int
        var maxLevel: Int
        /// Names and MVT types of fields, by turns.
        var fields: [String]
    }

    /// Finds the map, and orders the runs and the package.
    static func outline(
        _ context: ChunkContext, _ maps: any JobMaps, _ settings: TileExportSettings,
        blocks: [TileBlocks], blocksPerRun: Int, draw: JobOperation, package: JobOperation,
        _ complete: (inout PackageInput, MapDescription) throws(Failure) -> Void
    ) throws -> ChunkOutcome {
        let position = try maps.position(
            settings.asOf, of: settings.map, submitted: settings.submitted, context)
        let map = try context.patiently { () throws(Failure) -> MapDescription in
            try maps.map(named: settings.map, at: position)
        }
        try settings.check(map)
        let runs = TileBlocks.runs(blocks, of: blocksPerRun, position: position)
        let tileCount = settings.selection.tileCount
        var input = PackageInput(
            position: position, tileCount: tileCount,
            provenance: provenance(of: map, at: position, context),
            description: map.properties?.description ?? "")
        try complete(&input, map)
        return ChunkOutcome(
            nextStage: try runs.map { try draw.chunk($0, weight: max(1, $0.tileCount)) },
            laterStages: [
                [try package.chunk(input, weight: max(1, tileCount / 10), gathers: true)]
            ],
            messages: [
                JobMessage(
                    .informative,
                    "\(tileCount) tiles of map '\(map.name)' as of sequence number \(position), "
                        + "in \(runs.count) runs")
            ])
    }

    private static func provenance(
        of map: MapDescription, at position: Int64, _ context: ChunkContext
    ) -> [String] {
        var provenance = ["map", map.name.rawValue, "sequence", String(position)]
        for layer in map.layers {
            guard let dataset = layer.kind.dataset else { continue }
            provenance += ["dataset", "\(layer.id) \(dataset.rawValue)"]
        }
        for (name, value) in context.assignment.parameters.sorted(by: { $0.key < $1.key }) {
            provenance += ["parameter", "\(name)=\(value)"]
        }
        return provenance
    }

    /// Makes the package of the chunks' tiles, in ascending order.
    static func package(
        _ context: ChunkContext, _ settings: TileExportSettings, _ encoding: TileEncoding
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
        metadata.style = input.style
        metadata.vectorLayers = (input.layers ?? []).map(\.asMetadata)
        metadata.provenance = stride(from: 0, to: input.provenance.count - 1, by: 2).map {
            ProvenanceEntry(input.provenance[$0], input.provenance[$0 + 1])
        }
        let tiles = try GatheredTiles(context)
        let staging = try StagingDirectory(in: context.blobs.stagingDirectory)
        let path = staging.path + "/tiles" + settings.format.ending
        let writer = try TilePackage.writer(settings.format, at: path, metadata)
        try tiles.forEach { tile, bytes, number in
            try writer.add(tile, bytes)
            if number.isMultiple(of: 256) {
                try context.checkCancelled()
                context.report(Double(number) / Double(max(1, tiles.count)))
            }
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

/// The tiles of all gathered blobs in ascending order.
private struct GatheredTiles {
    private struct Place {
        var tile: TileAddress
        var file: Int32
        var offset: Int
        var count: Int32
    }

    private let files: [MappedFile]
    private var places: [Place] = []

    init(_ context: ChunkContext) throws {
        let parts = context.assignment.gathered.compactMap(\.self)
        guard parts.count == context.assignment.gathered.count else {
            throw Failure(.corrupt, "a chunk of tiles left no blob")
        }
        var files: [MappedFile] = []
        for part in parts {
            try context.checkCancelled()
            let file = try BatchGeocode.open(part, context)
            for place in try TileBlob.places(in: file) {
                places.append(
                    Place(
                        tile: place.tile, file: Int32(files.count), offset: place.bytes.lowerBound,
                        count: Int32(place.bytes.count)))
            }
            files.append(file)
            context.report(0)
        }
        self.files = files
        places.sort { $0.tile < $1.tile }
    }

    var count: Int { places.count }

    func forEach(_ body: (TileAddress, [UInt8], Int) throws -> Void) rethrows {
        for (number, place) in places.enumerated() {
            let file = files[Int(place.file)]
            try body(place.tile, file.copy(place.offset..<place.offset + Int(place.count)), number)
        }
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
