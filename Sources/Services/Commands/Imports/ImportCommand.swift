// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Dataset
internal import MapState

struct ImportCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import files as layers of a map.",
        discussion: """
            Reads GeoPackage, shapefile, GeoJSON, file geodatabase, KML, GML, CSV and others \
            (Docs/maps.md), alone or in gzip, zip or tar, and no file but those named and what \
            belongs to them. Every layer becomes an immutable dataset of the site and a layer on \
            top of the map, which is made when it does not exist; a raster becomes an immutable \
            copy of its files. Of the new layers pictures are lowest, then polygons, the large \
            ones below, lines, and points on top. With --replace a layer keeps its number, name, \
            properties and edits, and gets the source's data as one event, which 'cairn undo' \
            undoes; edits that conflict with the data are listed, and it is refused. Works with \
            the site up or down. JSON: one line per layer.
            """)
    static let makesSite = true

    @OptionGroup var common: CommonOptions
    @OptionGroup var choices: ImportChoiceOptions
    @OptionGroup var network: NetworkOptions
    @Argument(
        help: """
            Files, directories (every data set below them), or with --allow-network URLs and \
            PostGIS databases (postgresql://USER@HOST/DATABASE).
            """,
        completion: .file())
    var paths: [String]
    @Option(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName?
    @Option(help: "The group the layers go into; the top level otherwise.") var into: String?
    @Option(help: "The layer's name, when there is one layer to import.") var name: String?
    @Flag(help: "Leave styles that come with the source.") var noStyle = false
    @Option(help: "MAP/LAYER, the layer that gets the source's data.") var replace: String?
    @Option(
        help: "With --replace: the column by which rows keep the object ids of features.")
    var key: String?
    @Flag(help: "With --replace: edits that conflict with the new data give way to it.")
    var dropEdits = false
    @Flag(help: "With --replace: only show the difference.") var dryRun = false

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
        /// Where it came from; absent for a raster.
        var source: LayerProvenance?
        /// The style that came with it; absent for none.
        var style: ImportedStyle?
        var loadStatus: LoadStatus
        var loadError: Failure?
    }

    func validate() throws {
        guard (map == nil) != (replace == nil) else {
            throw ValidationError("Give --map MAP, or --replace MAP/LAYER.")
        }
        if replace != nil {
            guard into == nil, name == nil, paths.count == 1 else {
                throw ValidationError("--replace takes one source, without --into and --name.")
            }
        } else if key != nil || dropEdits || dryRun {
            throw ValidationError("--key, --drop-edits and --dry-run belong to --replace.")
        }
    }

    func perform(_ session: Session) async throws {
        var options = try choices.options()
        options.takesStyles = !noStyle && replace == nil
        if let replace {
            let replacing = LayerReplacing(
                target: replace, path: paths[0], options: options, key: key,
                access: network.access, dropsEdits: dropEdits, isDryRun: dryRun)
            try await session.withProcesses([.log, .mapstate]) {
                _ = try await replacing.run(session) { outcome in
                    if session.output.isJSON { return try session.output.record(outcome) }
                    try session.output.lines(outcome.lines)
                }
            }
            return
        }
        guard let map else { return }
        var imported: [(path: String, layer: ImportedSource)] = []
        var failures: [Failure] = []
        for path in paths {
            do throws(Failure) {
                let layers = try await Importing(
                    path: path, options: options, access: network.access, into: session.site
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
                try await add(imported, to: map, session)
            }
            failures += lines.compactMap { $0.loadError }
        }
        for failure in failures.dropFirst() { Output.diagnose(failure.description) }
        if let first = failures.first { throw first }
    }

    /// Adds the layers and waits until each is loaded or has failed.
    private func add(
        _ imported: [(path: String, layer: ImportedSource)], to map: MapName, _ session: Session
    ) async throws -> [Line] {
        var present = try await session.maps().map(named: map)
        if present == nil {
            _ = try await session.client().command(map: map, .createMap, actor: Session.actor)
            present = try await session.map(map)
        }
        let parent = try into.map { try present?.layer(named: $0).id } ?? nil
        var names = LayerNames(taken: present?.layers.map(\.name) ?? [])
        // Names are given in the order of the sources.
        let free = imported.map { names.take(name ?? $0.layer.name) }
        var added: [(Int, MapCommandResult)] = []
        for index in ImportedSource.fromBelow(imported.map(\.layer)) {
            let result = try await session.client().command(
                map: map,
                .addLayer(
                    name: free[index], source: imported[index].layer.source,
                    place: LayerPlace(parent: parent)), actor: Session.actor)
            added.append((index, result))
        }
        var lines: [Line] = []
        for (index, result) in added.sorted(by: { $0.0 < $1.0 }) {
            let layer = try await session.loaded(result, map)
            if case .features(let features) = imported[index].layer,
                let drawing = features.style?.drawing, let id = result.layer
            {
                _ = try await session.client().command(
                    map: map, .setDrawing(layer: id, drawing: drawing), actor: Session.actor)
            }
            let line = line(imported[index], map, free[index], result, layer)
            try show(line, session)
            lines.append(line)
        }
        return lines
    }

    private func line(
        _ item: (path: String, layer: ImportedSource), _ map: MapName, _ name: String,
        _ result: MapCommandResult, _ layer: LayerDescription
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
            notes: item.layer.notes, source: features?.provenance,
            style: features?.style, loadStatus: layer.loadStatus,
            loadError: layer.loadError)
    }

    private func show(_ line: Line, _ session: Session) throws {
        if session.output.isJSON { return try session.output.record(line) }
        let content = line.geometryType.map { "\($0.rawValue) × \(line.featureCount)" } ?? "raster"
        var text =
            "\(line.map)/\(line.name): layer \(line.layer.map(String.init) ?? "?"), "
            + "\(content), \(line.loadStatus.rawValue)"
        if line.rejectedCount > 0 { text += ", \(line.rejectedCount) rejected" }
        var lines = [text]
        if let source = line.source { lines.append("  \(source.text)") }
        if let style = line.style {
            let outcome = style.drawing == nil ? "nothing is understood" : "drawn by it"
            lines.append("  style from '\(style.origin)': \(outcome)")
            lines += style.notes.map { "  style: \($0)" }
        }
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
