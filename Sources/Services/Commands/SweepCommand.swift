// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Jobs
internal import Platform
internal import Replay
internal import Site
internal import Terminal

struct SweepCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Remove datasets, rasters and locator files that nothing refers to.",
        discussion: """
            Removes data that no map and no locator ever used, an hour after they were \
            written. With --past-before also those that were last used before a time: requests \
            as of the past that need them are then answered without these layers, and undos \
            that need them refused. Data of maps and locators as they are, of deleted maps \
            without --past-before, and of jobs that have not ended stay. --keep-in copies what \
            goes to a folder first, by the same names: copied back into the site, the past is \
            whole again. The sweep is recorded before the first file is removed. 'cairn job \
            sweep' does the same for files of jobs. JSON: one \
            {"kind","id","byteCount","verdict","uses":[…]} for each, and a last line \
            {"removedCount","removedBytes","keptCount","keptBytes","isDone"}.
            """)

    @OptionGroup var common: CommonOptions
    @Option(
        help: "Also remove data that were last used before this time.", transform: Reading.time)
    var pastBefore: Timestamp?
    @Option(help: "A folder that gets a copy of what is removed.", completion: .directory)
    var keepIn: String?
    @Flag(help: "Only show what would be removed, and what keeps the rest.") var dryRun = false

    private struct Entry {
        var kind: String
        var id: ContentID
        var path: String
        var byteCount: Int64
        var writtenAt: Timestamp
    }

    private struct Line: Encodable {
        var kind: String
        var id: String
        var byteCount: Int64
        /// `removed` (or to be removed), `kept`.
        var verdict: String
        /// What keeps it, or the past that needed it.
        var uses: [String]
    }

    private struct Sum: Encodable {
        var removedCount = 0
        var removedBytes: Int64 = 0
        var keptCount = 0
        var keptBytes: Int64 = 0
        var isDone: Bool
    }

    func perform(_ session: Session) async throws {
        // Files are listed before references are collected: one that is added meanwhile is not on
        // the list.
        let entries = Self.entries(of: session.site)
        let grace = Timestamp(
            microseconds: WallClock.microseconds() - Int64(BlobStore.graceSeconds) * 1_000_000)
        var use = DataUse()
        var jobs = JobTable()
        try await session.forEachEvent { record in
            try use.apply(record)
            if record.stream.category == "job" { try jobs.apply(record) }
        }
        let open = jobs.descriptions.filter { !$0.status.isTerminal }.map(\.submittedAt).min()
        var sum = Sum(isDone: !dryRun)
        var doomed: [Entry] = []
        for entry in entries {
            let uses = use.uses[entry.id] ?? []
            let keeping = uses.filter { keeps($0, open) }
            let isDoomed = keeping.isEmpty && entry.writtenAt < grace
            if isDoomed { doomed.append(entry) }
            sum.removedCount += isDoomed ? 1 : 0
            sum.removedBytes += isDoomed ? entry.byteCount : 0
            sum.keptCount += isDoomed ? 0 : 1
            sum.keptBytes += isDoomed ? 0 : entry.byteCount
            try show(entry, isDoomed, isDoomed ? uses : keeping, session.output)
        }
        if !dryRun, !doomed.isEmpty {
            if let keepIn { try Self.copy(doomed, from: session.site, to: keepIn) }
            // Before it happens.
            try await session.record(
                SiteDataSwept(data: doomed.map(\.id), byteCount: sum.removedBytes), in: .siteBlobs)
            for entry in doomed { try Self.remove(entry) }
        }
        if session.output.isJSON { return try session.output.record(sum) }
        let go = dryRun ? "would go" : "are gone"
        try session.output.line(
            "\(sum.removedCount) of \(sum.removedBytes.byteText) \(go); "
                + "\(sum.keptCount) of \(sum.keptBytes.byteText) stay")
    }

    /// Whether a use keeps its data.
    private func keeps(_ use: DataUse.Use, _ firstOpenJob: Timestamp?) -> Bool {
        guard let ended = use.endedAt else { return true }
        if let firstOpenJob, firstOpenJob <= ended { return true }
        guard let pastBefore else { return true }
        return ended >= pastBefore
    }

    private func show(
        _ entry: Entry, _ isDoomed: Bool, _ uses: [DataUse.Use], _ output: Output
    ) throws {
        let verdict = isDoomed ? (dryRun ? "would go" : "removed") : "kept"
        let texts = uses.map { use in
            "\(use.holder), "
                + (use.to.map { "\(use.from) to \($0)" } ?? "since \(use.from)")
                + (use.isOfDeletedMap ? ", deleted" : "")
        }
        if output.isJSON {
            return try output.record(
                Line(
                    kind: entry.kind, id: entry.id.rawValue, byteCount: entry.byteCount,
                    verdict: isDoomed ? "removed" : "kept", uses: texts))
        }
        // What stays because it is in use is listed by a dry run alone.
        guard isDoomed || dryRun else { return }
        let reason =
            isDoomed
            ? texts.isEmpty ? "never used" : "time travel lost: " + texts.joined(separator: "; ")
            : texts.isEmpty ? "written within the last hour" : texts.joined(separator: "; ")
        try output.line(
            "\(verdict) \(entry.kind) \(entry.id.rawValue.prefix(12))… "
                + "\(entry.byteCount.byteText): "
                + reason)
    }

    // MARK: Files

    private static func entries(of site: Site) -> [Entry] {
        let files = FileManager.default
        var entries: [Entry] = []
        for (kind, directory) in [
            ("dataset", site.datasetsDirectory), ("raster", site.rastersDirectory),
            ("locator", site.locatorsDirectory), ("network", site.networksDirectory),
        ] {
            for name in (try? files.contentsOfDirectory(atPath: directory))?.sorted() ?? [] {
                guard let id = ContentID(rawValue: name) else { continue }
                let path = directory + "/" + name
                let inside = (try? files.contentsOfDirectory(atPath: path)) ?? []
                let byteCount = inside.reduce(Int64(0)) { sum, file in
                    let attributes = try? files.attributesOfItem(atPath: path + "/" + file)
                    let size = attributes?[.size] as? any BinaryInteger
                    return sum + (size.map { Int64(clamping: $0) } ?? 0)
                }
                let written =
                    try? files.attributesOfItem(atPath: path)[.modificationDate] as? Date
                entries.append(
                    Entry(
                        kind: kind, id: id, path: path, byteCount: byteCount,
                        writtenAt: Timestamp(
                            microseconds: Int64((written ?? .now).timeIntervalSince1970 * 1e6))))
            }
        }
        return entries
    }

    /// Copies folders to the same places of another one, each file durable and whole.
    private static func copy(
        _ entries: [Entry], from site: Site, to folder: String
    ) throws(Failure) {
        let target = URL(filePath: folder).standardizedFileURL.path
        guard target != site.path else {
            throw Failure(
                .invalidParameter, "--keep-in '\(folder)': expected another folder than the site")
        }
        var copies = FileCopies(from: site.path, to: target)
        defer { copies.end() }
        for entry in entries {
            let place = String(entry.path.dropFirst(site.path.utf8.count + 1))
            for file in try copies.files(below: place) { _ = try copies.copy(file) }
        }
    }

    /// Removes a folder, which is gone under its name at once.
    private static func remove(_ entry: Entry) throws(Failure) {
        let folder = entry.path.dropLast(entry.id.rawValue.count)
        let aside = folder + ".swept-" + entry.id.rawValue
        do {
            try? FileManager.default.removeItem(atPath: aside)
            try FileManager.default.moveItem(atPath: entry.path, toPath: aside)
            try FileManager.default.removeItem(atPath: aside)
        } catch {
            throw Failure(
                .unreadable,
                "'\(entry.path)' cannot be removed: \(error)")
        }
    }
}

extension Int64 {
    /// Bytes as people read them: `12.3 MB`.
    var byteText: String {
        var (value, unit) = (Double(self), 0)
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        while value >= 1_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
        return unit == 0
            ? "\(self) bytes" : "\((value * 10).rounded() / 10) \(units[unit])"
    }
}
