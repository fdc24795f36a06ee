// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Site

struct ImportCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import files as layers of a map.",
        discussion: """
            Reads GeoPackage, shapefile, GeoJSON, file geodatabase, KML, GML, CSV and others \
            (Docs/maps.md), alone or in gzip, zip or tar, and no file but those named and what \
            belongs to them. Every layer becomes an immutable dataset of the site and a layer on \
            top of the map, which is made when it does not exist; a raster becomes an immutable \
            copy of its files. Works with the site up or down. JSON: one line per layer.
            """)
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @Argument(help: "Files, or directories that are data sources.", completion: .file())
    var paths: [String]
    @Option(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Option(help: "The group the layers go into; the top level otherwise.") var into: String?
    @Option(help: "The layer's name, when there is one layer to import.") var name: String?
    @Option(
        help: """
            NAME:TYPE, the type of a column: text, smallinteger, integer, biginteger, single, \
            double or date. May be given several times.
            """)
    var field: [String] = []

    /// The outcome of one layer.
    struct Line: Encodable {
        var path: String
        var name: String
        var map: MapName
        var layer: LayerID?
        var sequence: Int64
        var dataset: ContentID?
        var raster: ContentID?
        var geometryType: GeometryType?
        var featureCount: Int
        var rejectedCount: Int
        var rejected: [RejectedFeature]
        var notes: [String]
        var loadStatus: LoadStatus
        var loadError: Failure?
    }

    func perform(_ session: Session) async throws {
        let fields = try field.map { text throws(Failure) in try FieldStatement(text) }
        var imported: [(path: String, layer: ImportedSource)] = []
        var failures: [Failure] = []
        for path in paths {
            do throws(Failure) {
                let layers = try await Importing(
                    path: path, fields: fields, into: session.site
                ).run()
                imported += layers.map { (path, $0) }
            } catch {
                failures.append(error)
            }
        }
        if name != nil, imported.count > 1 {
            throw UsageFailure("--name names one layer; there are \(imported.count) to import")
        }
        if !imported.isEmpty {
            let lines = try await session.withProcesses([.log, .mapstate]) {
                try await add(imported, session)
            }
            failures += lines.compactMap { $0.loadError }
        }
        for failure in failures.dropFirst() { Output.diagnose(failure.description) }
        if let first = failures.first { throw first }
    }

    /// Adds the layers and waits until each is loaded or has failed.
    private func add(
        _ imported: [(path: String, layer: ImportedSource)], _ session: Session
    ) async throws -> [Line] {
        var present = try await session.maps().map(named: map)
        if present == nil {
            _ = try await session.client().command(map: map, .createMap, actor: Session.actor)
            present = try await session.map(map)
        }
        let parent = try into.map { try present?.layer(named: $0).id } ?? nil
        var names = LayerNames(taken: present?.layers.map(\.name) ?? [])
        var added: [(Int, MapCommandResult, String)] = []
        for (index, item) in imported.enumerated() {
            let free = names.take(name ?? item.layer.name)
            let result = try await session.client().command(
                map: map,
                .addLayer(
                    name: free, source: item.layer.source,
                    place: LayerPlace(parent: parent)), actor: Session.actor)
            added.append((index, result, free))
        }
        var lines: [Line] = []
        for (index, result, name) in added {
            let layer = try await session.loaded(result, map)
            let line = line(imported[index], name, result, layer)
            try show(line, session)
            lines.append(line)
        }
        return lines
    }

    private func line(
        _ item: (path: String, layer: ImportedSource), _ name: String, _ result: MapCommandResult,
        _ layer: LayerDescription
    ) -> Line {
        let features: ImportedLayer? =
            if case .features(let layer) = item.layer { layer } else { nil }
        let raster: ImportedRaster? =
            if case .raster(let raster) = item.layer { raster } else { nil }
        return Line(
            path: item.path, name: name, map: map, layer: result.layer, sequence: result.sequence,
            dataset: features?.dataset, raster: raster?.raster,
            geometryType: features?.properties.geometryType,
            featureCount: features?.featureCount ?? 0,
            rejectedCount: features?.rejectedCount ?? 0, rejected: features?.rejected ?? [],
            notes: item.layer.notes, loadStatus: layer.loadStatus, loadError: layer.loadError)
    }

    private func show(_ line: Line, _ session: Session) throws {
        if session.output.isJSON { return try session.output.record(line) }
        let content = line.geometryType.map { "\($0.rawValue) × \(line.featureCount)" } ?? "raster"
        var text =
            "\(line.map)/\(line.name): layer \(line.layer.map(String.init) ?? "?"), "
            + "\(content), \(line.loadStatus.rawValue)"
        if line.rejectedCount > 0 { text += ", \(line.rejectedCount) rejected" }
        var lines = [text]
        lines += line.rejected.prefix(5).map { "  rejected \($0.sourceID): \($0.reason)" }
        if line.rejectedCount > 5 { lines.append("  … (--json shows the first 100)") }
        lines += line.notes.map { "  \($0)" }
        try session.output.lines(lines)
    }
}

extension Session {
    /// Waits until an added layer is loaded or has failed; at most five minutes.
    func loaded(_ result: MapCommandResult, _ map: MapName) async throws -> LayerDescription {
        let start = ContinuousClock.now
        while true {
            let present = try await self.map(map)
            guard let layer = result.layer.flatMap({ present.layer($0) }) else {
                throw Failure(.notFound, "the layer was removed while it was loading")
            }
            switch layer.loadStatus {
            case .loaded, .failedToLoad: return layer
            case .notLoaded, .loading: break
            }
            guard ContinuousClock.now - start < .seconds(300) else {
                throw Failure(
                    .timedOut, "layer '\(layer.name)' is still not loaded after five minutes")
            }
            try await Task.sleep(for: .milliseconds(30))
        }
    }
}

/// An imported source, which can become a layer.
enum ImportedSource: Sendable {
    case features(ImportedLayer)
    case raster(ImportedRaster)

    var name: String {
        switch self {
        case .features(let layer): layer.name
        case .raster(let raster): raster.name
        }
    }

    var source: LayerSource {
        switch self {
        case .features(let layer): .dataset(layer.dataset)
        case .raster(let raster): .raster(raster.raster)
        }
    }

    var notes: [String] {
        switch self {
        case .features(let layer): layer.notes
        case .raster(let raster): raster.notes
        }
    }
}

/// An import on a thread of its own, with its progress on standard error if that is a terminal.
struct Importing {
    let path: String
    let fields: [FieldStatement]
    let site: Site

    init(path: String, fields: [FieldStatement] = [], into site: Site) {
        self.path = path
        self.fields = fields
        self.site = site
    }

    func run() async throws(Failure) -> [ImportedSource] {
        let (path, fields, site) = (path, fields, site)
        let result: Result<[ImportedSource], Failure> = await OwnThread.run("import") {
            () throws(Failure) in
            if RasterImport.recognises(path) {
                return [
                    .raster(try RasterImport.importFile(path: path, into: site.rastersDirectory))
                ]
            }
            var progress = ProgressLine()
            defer { progress.clear() }
            return try DatasetBuilder.importFile(
                path: path, into: site.datasetsDirectory, fields: fields
            ) {
                guard case .skipped(let layer, let reason) = $0 else {
                    return progress.show(Self.text($0))
                }
                progress.clear()
                Output.diagnose("'\(path)': layer '\(layer)' is left out: \(reason)")
            }.map { .features($0) }
        }
        return try result.get()
    }

    private static func text(_ progress: ImportProgress) -> String {
        switch progress {
        case .opened(let layers): "\(layers.count) layers"
        case .checking(let layer, let features, let announced):
            "\(layer): checking \(features)" + (announced.map { " of \($0)" } ?? "")
        case .writing(let layer, let features, let total):
            "\(layer): writing \(features) of \(total)"
        case .skipped(let layer, _): "\(layer) is left out"
        }
    }
}
