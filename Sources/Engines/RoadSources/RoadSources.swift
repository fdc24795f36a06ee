// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import Platform
public import RoadNetwork

/// Reads roads: extracts of OpenStreetMap in PBF or XML, several and overlapping, or line layers.
///
/// The roads are the same whatever the order of the files.
public enum RoadSources {
    /// Progress of the reading: what is read, and the share that is done, 0…1.
    public typealias Progress = (NetworkBuilder.Progress) throws(Failure) -> Void

    /// The attribution of extracts.
    public static let openStreetMap = "© OpenStreetMap contributors, ODbL 1.0"

    /// Reads files as roads for some modes.
    ///
    /// Memory is some 60 bytes for each node of a road; extracts are read twice and never kept.
    /// Once the roads are counted, and before the larger part of it is taken, `reserve` gets what
    /// the reading and the building take.
    ///
    /// - Parameters:
    ///   - paths: The files: all extracts, or all vector files with line layers.
    ///   - profiles: The rules of the modes, at most ``RoadNetwork/RoadDraft/modeLimit``; the
    ///     network's modes have their order.
    ///   - lines: How line layers are read; nil for the usual way.
    ///   - directory: Where compressed vector files are expanded.
    ///   - reserve: Called once for extracts, on the calling thread, with the memory that reading
    ///     and building take at most, in bytes; throwing stops the reading.
    ///   - progress: Called on the calling thread; throwing stops the reading.
    /// - Returns: The roads, and what was left out.
    /// - Throws: `invalidParameter` for no file, no profile, extracts beside line layers or with
    ///   options of these, and a column that no layer has; `unreadable` with the path; `tooLarge`.
    public static func read(
        _ paths: [String], profiles: [RoadProfile], lines: LineOptions? = nil,
        expandingIn directory: String,
        reserve: (Int64) throws(Failure) -> Void = { _ throws(Failure) in },
        progress: Progress = { _ throws(Failure) in }
    ) throws(Failure) -> (roads: RoadDraft, report: RoadReport) {
        guard !paths.isEmpty, 1...RoadDraft.modeLimit ~= profiles.count else {
            throw Failure(
                .invalidParameter,
                "\(paths.count) sources, \(profiles.count) profiles: expected at least one source "
                    + "and 1 to \(RoadDraft.modeLimit) profiles")
        }
        guard Set(profiles.map(\.name)).count == profiles.count else {
            throw Failure(.invalidParameter, "two profiles have the same name")
        }
        let forms = try paths.map { path throws(Failure) in try Form(ofFile: path) }
        var result: (roads: RoadDraft, report: RoadReport)
        if !forms.contains(.lines) {
            guard lines == nil else {
                throw Failure(
                    .invalidParameter,
                    "columns, tolerances, units and vertices are stated of line layers: the "
                        + "sources are extracts of OpenStreetMap")
            }
            result = try readExtracts(Array(zip(paths, forms)), profiles, reserve, progress)
            result.roads.sources = [openStreetMap]
        } else if forms.allSatisfy({ $0 == .lines }) {
            let options: LineOptions
            if let lines { options = lines } else { options = try LineOptions() }
            result = try readLines(paths, profiles, options, directory, progress)
        } else {
            throw Failure(
                .invalidParameter,
                "extracts of OpenStreetMap beside line layers: expected one or the other")
        }
        result.roads.sources += Set(paths.map(Self.name)).sorted()
        return result
    }

    /// The form of a file.
    enum Form: Hashable {
        case pbf
        case xml
        case lines

        /// By the first bytes; throws `unreadable` for a file that is not there.
        init(ofFile path: String) throws(Failure) {
            guard FileSystem.kind(of: path) != nil else {
                throw Failure(.unreadable, "'\(path)': no such file or directory")
            }
            let start = GzipFile.beginning(of: path, count: 512)
            let text = String(decoding: start, as: UTF8.self)
            let isExtract = text.contains("OSMHeader") || text.contains("<osm")
            guard !isExtract || !GzipFile.isGzip(path) else {
                throw Failure(
                    .unreadable, "'\(path)' is compressed: expected an .osm or .osm.pbf file")
            }
            self = text.contains("OSMHeader") ? .pbf : isExtract ? .xml : .lines
        }
    }

    private static func name(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    private static func readExtracts(
        _ files: [(path: String, form: Form)], _ profiles: [RoadProfile],
        _ reserve: (Int64) throws(Failure) -> Void, _ progress: Progress
    ) throws(Failure) -> (RoadDraft, RoadReport) {
        var roads = ExtractRoads(profiles, isMerging: files.count > 1)
        let total = files.reduce(Int64(1)) { $0 + (FileSystem.byteCount(of: $1.path) ?? 0) }
        for pass in 0...1 {
            if pass == 1 {
                try reserve(roads.memory)
                roads.beginNodes()
            }
            var before: Int64 = 0
            for file in files {
                let step = "reading \(pass == 0 ? "roads" : "nodes") of \(name(file.path))"
                let report = { (count: Int64) throws(Failure) in
                    let share = (Double(before + count) / Double(total) + Double(pass)) / 2
                    try progress(NetworkBuilder.Progress(step: step, share: min(1, share)))
                }
                if file.form == .pbf {
                    try PBFFile.read(file.path, into: &roads, progress: report)
                } else {
                    try OSMXMLFile.read(file.path, into: &roads, progress: report)
                }
                before += FileSystem.byteCount(of: file.path) ?? 0
            }
        }
        let draft = roads.draft()
        return (draft, roads.report)
    }

    private static func readLines(
        _ paths: [String], _ profiles: [RoadProfile], _ options: LineOptions, _ directory: String,
        _ progress: Progress
    ) throws(Failure) -> (RoadDraft, RoadReport) {
        try options.check()
        // By content, so that the order in which they are given does not matter.
        var files: [(digest: String, path: String)] = []
        for path in paths {
            let digest = (try? MappedFile.sha256(path))?.hexadecimal ?? path
            files.append((digest, path))
        }
        files.sort { $0 < $1 }
        var roads = LineRoads(profiles, options)
        for (number, file) in files.enumerated() {
            let share = Double(number) / Double(files.count)
            let step = "reading lines of \(name(file.path))"
            try roads.read(file.path, number: number, expandingIn: directory) {
                count throws(Failure) in
                try progress(
                    NetworkBuilder.Progress(step: "\(step), feature \(count)", share: share))
            }
        }
        try roads.checkColumns()
        let draft = roads.draft()
        return (draft, roads.report)
    }
}
