// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform

/// Builds locator files from gazetteers.
///
/// The build is deterministic: equal sources give equal bytes, and so the same name. Sources are
/// tab-separated UTF-8, plain or gzip: GeoNames' dump layout (`cities15000.txt`),
/// `admin1CodesASCII.txt`, `admin2Codes.txt` and `countryInfo.txt`, or tables with column names in
/// their first line (`Docs/locator.md`). The first line identifies the layout. Tables of addresses
/// are delimited text in the layout of a file of columns.
public enum LocatorBuilder {
    /// Reads a vector file into the draft; `progress` is called with the number of features and may
    /// throw to stop.
    ///
    /// Injected by the caller, so that opening a locator does not link vector formats.
    public typealias VectorReader = (
        _ path: String, _ draft: inout LocatorDraft, _ progress: (Int) throws(Failure) -> Void
    ) throws(Failure) -> Void

    /// Limit of rejected lines kept with their reasons; all are counted.
    public static let longestRejectionList = 100

    /// Reads every source, builds the file next to its final place and moves it there as
    /// `<directory>/<sha256>/locator.bin`; an existing file of that name is kept.
    ///
    /// - Parameters:
    ///   - sources: Files, or directories whose `.tsv`, `.txt`, `.csv` and `.gz` files are read in
    ///     the order of their names. The first of two records with one id counts.
    ///   - columns: Files with the columns of further tables of addresses and vector layers, tried
    ///     before those that ship with the program.
    ///   - constants: `field=text` for fields of addresses that the sources lack.
    ///   - ranking: A file of the ranking model (`Docs/locator-ranking.md`), embedded in the
    ///     locator; nil for the default one.
    ///   - sourceNames: Names of sources in the file, by path, where they differ from the last
    ///     component of the path.
    ///   - vectors: Reads vector files; without it they are refused.
    ///   - directory: The directory of all locators; created when missing.
    ///   - progress: Called on the calling thread; throwing stops the build and leaves no file.
    /// - Throws: `unreadable` for a source that is missing or has no known layout,
    ///   `invalidParameter` when no place is left, `tooLarge`, `noSpace`.
    public static func build(
        sources: [String], columns: [String] = [], constants: [String] = [], ranking: String? = nil,
        sourceNames: [String: String] = [:], vectors: VectorReader? = nil, into directory: String,
        progress: (LocatorBuildProgress) throws(Failure) -> Void = { _ throws(Failure) in }
    ) throws(Failure) -> BuiltLocator {
        let files = try expand(sources, takesVectors: vectors != nil)
        let rankingText = try ranking.map(read(file:)) ?? Ranking.shippedText
        let model = try Ranking.reading(rankingText, source: ranking ?? "ranking.json")
        let names = try files.map { file throws(Failure) in
            try name(of: file, called: sourceNames[file])
        }
        var reader = GazetteerReader()
        let given = try columns.map(read(columns:))
        let layouts = try (given.compactMap(\.addresses) + AddressColumns.shipped).map {
            layout throws(Failure) in try layout.adding(constants: constants)
        }
        var table = AddressReader(columns: layouts, constants: constants)
        var draft = LocatorDraft(
            columns: layouts, areaColumns: given.compactMap(\.areas) + AreaColumns.shipped,
            namedColumns: given.compactMap(\.named), constants: constants)
        for (number, file) in files.enumerated() {
            let name = names[number]
            let source = UInt16(number)
            (reader.tally.source, table.tally.source, draft.tally.source) = (source, source, source)
            let share = 0.6 * Double(number) / Double(files.count)
            try progress(LocatorBuildProgress(step: "reading \(name)", share: share))
            if !isText(file) {
                guard let vectors else {
                    throw Failure(
                        .unreadable, "'\(file)' is not text; vector files are not supported")
                }
                try vectors(file, &draft) { features throws(Failure) in
                    try progress(
                        LocatorBuildProgress(
                            step: "reading \(name), feature \(features)", share: share))
                }
                continue
            }
            let line = { (line: Int) throws(Failure) in
                try progress(
                    LocatorBuildProgress(step: "reading \(name), line \(line)", share: share))
            }
            if try table.read(file, progress: line) { continue }
            do throws(Failure) {
                try reader.read(file, progress: line)
            } catch {
                guard error.code == .unreadable, let lack = table.lack else { throw error }
                throw Failure(.unreadable, "'\(file)': \(lack)")
            }
        }
        try reader.readWaiting { path, line throws(Failure) in
            let name = path.split(separator: "/").last ?? ""
            try progress(
                LocatorBuildProgress(step: "reading \(name), line \(line)", share: 0.6))
        }
        var addresses = table.addresses
        table.addresses = AddressGazetteer()
        let borders = try draft.settle(into: &addresses, near: &reader.gazetteer)
        let rejected = Array(
            (reader.rejected + table.rejected + draft.rejected).prefix(longestRejectionList))
        addresses.settle()
        addresses.settle(in: &reader.gazetteer)
        reader.gazetteer.settlePoints()
        guard !addresses.origins.isOverfull else {
            throw Failure(
                .tooLarge,
                "the addresses come from more than \(OriginSets.most) combinations of sources")
        }
        var tally = reader.tally
        tally.add(table.tally)
        tally.add(draft.tally)
        let tallied = tally.sources(named: names)
        guard !reader.gazetteer.settlements.isEmpty || !reader.gazetteer.points.isEmpty else {
            throw Failure(
                .invalidParameter, "the sources hold no place and no address with a position",
                details: rejected.prefix(5).map(\.description))
        }
        try progress(LocatorBuildProgress(step: "building the index", share: 0.6))
        let places = PlaceDrafting(reader.gazetteer, model).places
        let bytes = try LocatorWriter.bytes(
            for: places, addresses: addresses, borders: borders,
            categories: reader.gazetteer.orderedCategories, sources: tallied,
            ranking: rankingText)
        try progress(LocatorBuildProgress(step: "writing", share: 0.9))
        let id = try write(bytes, into: directory)
        try progress(LocatorBuildProgress(step: "done", share: 1))
        return BuiltLocator(
            id: id, placeCount: places.count, streetCount: addresses.streets.count,
            pointCount: reader.gazetteer.points.count,
            houseCount: addresses.houseCount, segmentCount: addresses.segmentCount,
            areaCount: borders.areas.count, sources: tallied,
            byteCount: bytes.count, rejected: rejected,
            rejectedCount: reader.rejectedCount + table.rejectedCount + draft.rejectedCount,
            ignoredCount: reader.gazetteer.ignoredCount,
            columns: (table.sourceColumns + draft.sourceColumns).map { columns in
                var columns = columns
                columns.source = Self.shown(columns.source, sourceNames)
                return columns
            })
    }

    /// The name of a source for people: that of its path, where it has another.
    private static func shown(_ source: String, _ names: [String: String]) -> String {
        guard let known = names.first(where: { source.hasPrefix($0.key) }) else { return source }
        return known.value + source.dropFirst(known.key.count)
    }

    /// The name of a source in the file, independent of the machine.
    private static func name(
        of path: String, called other: String?
    ) throws(Failure) -> String {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        // A compressed file is the same source.
        let name = other ?? (last.hasSuffix(".gz") ? String(last.dropLast(3)) : last)
        guard name.utf8.count <= 255 else {
            throw Failure(
                .invalidParameter, "the name of source '\(name.prefix(80))…' is over 255 bytes")
        }
        return name
    }

    /// Parses a file of columns: for addresses, or for areas.
    private static func read(
        columns path: String
    ) throws(Failure) -> (addresses: AddressColumns?, areas: AreaColumns?, named: NamedColumns?) {
        let json = try read(file: path)
        if AreaColumns.isOne(json) { return (nil, try AreaColumns(json: json, source: path), nil) }
        if NamedColumns.isOne(json) {
            return (nil, nil, try NamedColumns(json: json, source: path))
        }
        return (try AddressColumns(json: json, source: path), nil, nil)
    }

    private static func read(file path: String) throws(Failure) -> [UInt8] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw Failure(.unreadable, "'\(path)': cannot be read")
        }
        return Array(data)
    }

    /// Whether a file is text that is neither JSON nor XML, by its first bytes.
    private static func isText(_ path: String) -> Bool {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory
        else { return false }
        let start = GzipFile.beginning(of: path, count: 32)
        let first = start.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        return !start.contains(0) && ![UInt8](#"{[<"#.utf8).contains(first ?? 0x41)
    }

    private static let textSuffixes = [".tsv", ".txt", ".csv"]
    private static let vectorSuffixes = [
        ".geojson", ".json", ".gpkg", ".shp", ".fgb", ".gml", ".kml", ".pbf",
    ]

    private static func expand(
        _ sources: [String], takesVectors: Bool
    ) throws(Failure) -> [String] {
        var files: [String] = []
        for source in sources {
            var isDirectory = false
            guard FileManager.default.fileExists(atPath: source, isDirectory: &isDirectory) else {
                throw Failure(.unreadable, "'\(source)': no such file or directory")
            }
            guard isDirectory, !(takesVectors && source.hasSuffix(".gdb")) else {
                files.append(source)
                continue
            }
            let names = (try? FileManager.default.contentsOfDirectory(atPath: source)) ?? []
            let suffixes = textSuffixes + (takesVectors ? vectorSuffixes : [])
            let wanted = names.filter { name in
                suffixes.contains { name.hasSuffix($0) || name.hasSuffix($0 + ".gz") }
            }
            guard !wanted.isEmpty else {
                throw Failure(
                    .unreadable,
                    "'\(source)' holds no file of these kinds, plain or .gz: "
                        + suffixes.joined(separator: ", "))
            }
            files += wanted.sorted().map { source + "/" + $0 }
        }
        guard !files.isEmpty else { throw Failure(.invalidParameter, "the source list is empty") }
        guard files.count <= LocatorSource.most else {
            throw Failure(
                .tooLarge, "\(files.count) sources; expected at most \(LocatorSource.most)")
        }
        return files
    }

    private static func write(_ bytes: [UInt8], into directory: String) throws(Failure) -> ContentID
    {
        let digest = SHA256.digest(bytes).hexadecimal
        guard let id = ContentID(rawValue: digest) else {
            throw Failure(.internal, "'\(digest)' is not a SHA-256")
        }
        let folder = directory + "/" + digest
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            var file = try StagedFile(inDirectory: folder)
            try file.write(bytes)
            try file.publish(as: folder + "/locator.bin", replacing: false)
            try StagedFile.syncDirectory(directory)
            return id
        } catch let error as PlatformError {
            throw Failure(error.isNoSpace ? .noSpace : .unreadable, error.description)
        } catch {
            throw Failure(.unreadable, "cannot make '\(folder)'")
        }
    }
}

/// The progress of a build.
public struct LocatorBuildProgress: Hashable, Sendable {
    /// The present step, for display: `reading cities15000.txt, line 10000`.
    public var step: String
    /// Estimated fraction done, 0…1; never falls.
    public var share: Double
}

/// The result of a build.
public struct BuiltLocator: Hashable, Sendable {
    /// The SHA-256 of the file.
    public var id: ContentID
    /// Number of settlements, points of interest, regions and countries together.
    public var placeCount: Int
    /// Number of streets, counted per postcode of every town.
    public var streetCount: Int
    /// Number of points of interest among the places.
    public var pointCount: Int
    /// Number of house numbers in the sources.
    public var houseCount: Int
    /// Number of lines of streets, counted per postcode along them.
    public var segmentCount: Int
    /// Number of countries and first-level divisions with borders.
    public var areaCount: Int
    /// Its sources, in the order of the build.
    public var sources: [LocatorSource]
    /// The size of the file.
    public var byteCount: Int
    /// The first ``LocatorBuilder/longestRejectionList`` unusable lines.
    public var rejected: [RejectedLine]
    /// Number of unusable lines.
    public var rejectedCount: Int
    /// Number of records of unsupported kinds (mountains, lakes).
    public var ignoredCount: Int
    /// The columns of its tables and layers of addresses.
    public var columns: [SourceColumns]
}

/// An unusable line of a source.
public struct RejectedLine: Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public var source: String
    /// Line number, from 1.
    public var line: Int
    /// Why it is unusable.
    public var reason: String

    /// The line with its reason: `cities.txt:17: the name is empty`.
    public var description: String { "\(source):\(line): \(reason)" }
}
