// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Platform
internal import Site

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

    /// The place in a map: pictures lowest, then polygons, the large ones below, lines, points.
    private var rank: (level: Int, area: Double) {
        guard case .features(let layer) = self else { return (0, 0) }
        return switch layer.properties.geometryType {
        case .polygon: (1, -(layer.provenance.meanArea ?? .infinity))
        case .polyline: (2, 0)
        case .point, .multipoint, nil: (3, 0)
        }
    }

    /// The places in a list of sources, from the lowest layer to the top one; equal ones in order.
    static func fromBelow(_ sources: [ImportedSource]) -> [Int] {
        sources.indices.sorted { one, other in
            let (first, second) = (sources[one].rank, sources[other].rank)
            return (first.level, first.area, one) < (second.level, second.area, other)
        }
    }
}

/// An import on a thread of its own, with its progress on standard error if that is a terminal.
struct Importing {
    let path: String
    let options: ImportOptions
    /// Permission to fetch a source from another server; nil for none.
    let access: RemoteSource.Access?
    let site: Site

    init(
        path: String, options: ImportOptions = ImportOptions(),
        access: RemoteSource.Access? = nil, into site: Site
    ) {
        self.path = path
        self.options = options
        self.access = access
        self.site = site
    }

    /// The layers of a file, of all data sets and rasters in a directory, of a file on another
    /// server, or of a database.
    func run() async throws(Failure) -> [ImportedSource] {
        let (path, options, access, site) = (path, options, access, site)
        let result: Result<[ImportedSource], Failure> = await OwnThread.run("import") {
            () throws(Failure) in
            guard let remote = RemoteSource(path) else {
                return try Self.sources(path, path, options, site)
            }
            let staging = try StagingDirectory(in: site.datasetsDirectory)
            let fetched = try remote.fetch(access, options, site, into: staging.path)
            let file = fetched.path
            do throws(Failure) {
                return try Self.sources(file, path, fetched.options, site).map { source in
                    guard case .features(var layer) = source, layer.provenance.part == file else {
                        return source
                    }
                    layer.provenance.part = path
                    if fetched.isDatabase {
                        layer.provenance.driver = "PostgreSQL"
                        let basis = layer.provenance.referenceBasis
                        layer.provenance.referenceBasis = basis.replacing("gpkg_", with: "")
                    }
                    layer.notes = (fetched.notes[layer.provenance.layer] ?? []) + layer.notes
                    return .features(layer)
                }
            } catch {
                throw Failure(
                    error.code, error.message.replacing(file, with: path), details: error.details)
            }
        }
        return try result.get()
    }

    /// - Parameter name: The source's name in messages.
    private static func sources(
        _ path: String, _ name: String, _ options: ImportOptions, _ site: Site
    ) throws(Failure) -> [ImportedSource] {
        if RasterImport.recognises(path) {
            return [
                .raster(try RasterImport.importFile(path: path, into: site.rastersDirectory))
            ]
        }
        let rasters = try RasterFiles(below: path).paths
        var found: [ImportedSource] = []
        do throws(Failure) {
            found = try Self.features(path, name, options, site)
        } catch {
            let isEmpty = [.invalidParameter, .unreadable].contains(error.code)
            guard !rasters.isEmpty, options == ImportOptions(), isEmpty else { throw error }
        }
        for raster in rasters {
            do throws(Failure) {
                found.append(
                    .raster(
                        try RasterImport.importFile(
                            path: raster, into: site.rastersDirectory)))
            } catch {
                guard error.code == .unreadable else { throw error }
                Output.diagnose("'\(raster)' is left out: \(error.message)")
            }
        }
        return found
    }

    private static func features(
        _ path: String, _ name: String, _ options: ImportOptions, _ site: Site
    ) throws(Failure) -> [ImportedSource] {
        var progress = ProgressLine()
        defer { progress.clear() }
        return try DatasetBuilder.importFile(
            path: path, into: site.datasetsDirectory, options: options
        ) {
            guard case .skipped(let layer, let reason) = $0 else {
                return progress.show(Self.text($0))
            }
            progress.clear()
            Output.diagnose("'\(name)': layer '\(layer)' is left out: \(reason)")
        }.map { .features($0) }
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

/// The rasters in a directory and those in it, within the bounds of an import.
struct RasterFiles {
    private(set) var paths: [String] = []

    /// The paths in order; none for a path that is no directory.
    init(below root: String) throws(Failure) {
        guard FileSystem.kind(of: root) == .directory else { return }
        var (waiting, count) = ([(path: root, depth: 0)], 0)
        while let (directory, depth) = waiting.popLast() {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for name in names where !name.hasPrefix(".") && name != "__MACOSX" {
                count += 1
                guard count <= ImportBounds.entryCount, depth < ImportBounds.depth else {
                    throw Failure(
                        .tooLarge,
                        "'\(root)' holds more than \(ImportBounds.entryCount) files, or "
                            + "directories deeper than \(ImportBounds.depth)")
                }
                let path = directory + "/" + name
                switch FileSystem.kind(of: path, followingLinks: false) {
                case .directory where !name.lowercased().hasSuffix(".gdb"):
                    waiting.append((path, depth + 1))
                case .file where Self.isTIFF(name) && RasterImport.recognises(path):
                    paths.append(path)
                default: break
                }
            }
        }
        paths.sort()
    }

    /// Photographs beside data sets are no layers: only formats that state their place count.
    private static func isTIFF(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasSuffix(".tif") || name.hasSuffix(".tiff")
    }
}
