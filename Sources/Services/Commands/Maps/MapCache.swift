// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import MapState
internal import Platform
internal import Site
internal import TilePackages

struct MapCache: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Keep the tiles of a map in a file, and the file fresh.",
        discussion: """
            Exports the map into a tile package, or brings the package that is there up to date, \
            then follows the log and does so after each change of the map, until it is stopped. \
            An update draws only the tiles that a change may touch. Each state of the file is \
            that of an export anew, byte for byte, and replaces the one before at once. JSON: one \
            line with sequence, isWhole, tileCount and byteCount for each.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The map.", completion: .maps, transform: Reading.mapName) var map: MapName
    @Option(help: "Levels of the tiles: numbers and ranges, 0-5,8.") var levels: String
    @Option(help: "The package's file.", completion: .file()) var output: String
    @Flag(help: "Vector tiles, not pictures.") var vector = false
    @Option(
        name: .customLong("param"), parsing: .singleValue,
        help: "A further parameter of the export, 'name=value'. May be repeated.")
    var parameters: [String] = []
    @Flag(help: "End when the file is up to date.") var once = false

    func perform(_ session: Session) async throws {
        var named = try Reading.parameters(parameters)
        for name in ["map", "levels", "scales", "at", "since"] where named[name] != nil {
            throw UsageFailure("--param '\(name)': the command states it itself")
        }
        named["map"] = map.rawValue
        named["levels"] = levels
        let cache = TileCacheFile(
            session: session, map: map, kind: vector ? .exportVectorTiles : .exportTiles,
            parameters: named, path: FileSystem.absolute(output))
        // A site that is down is not waited for at the start.
        _ = try session.client()
        var fresh = try await cache.refresh(from: nil)
        guard !once else { return }
        let (changes, feed) = AsyncStream.makeStream(
            of: Int64.self, bufferingPolicy: .bufferingNewest(1))
        let start = fresh
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [map] in
                defer { feed.finish() }
                try await session.follow(after: start, category: "map") { record in
                    if record.stream == .map(map) { feed.yield(record.globalPosition) }
                }
            }
            for await change in changes where change > fresh {
                fresh = try await cache.refresh(from: fresh)
            }
            try await group.waitForAll()
        }
    }
}

/// A tile package that is kept as its map is.
private struct TileCacheFile {
    let session: Session
    let map: MapName
    let kind: JobKind
    /// Of an export of the whole package.
    let parameters: [String: String]
    let path: String

    private struct Line: Encodable {
        var sequence: Int64
        var isWhole: Bool
        var tileCount: Int?
        var byteCount: Int64
    }

    /// Brings the file up to date, and returns the sequence number as of which it is.
    ///
    /// - Parameter known: The sequence number that the file has; nil where it is to be read.
    func refresh(from known: Int64?) async throws -> Int64 {
        guard FileSystem.kind(of: path) != nil else { return try await export() }
        let base = try PackageOrigin(path)
        guard base.map == map, let since = known ?? base.sequence else {
            throw Failure(
                .conflict,
                "'\(path)' is a package of \(base.map.map { "map '\($0)'" } ?? "another program"), "
                    + "not of map '\(map)': choose another file, or remove it")
        }
        let head = try await session.head()
        guard since <= head else {
            throw Failure(
                .conflict,
                "'\(path)' is as of sequence number \(since), but the site's log ends at \(head): "
                    + "it is of another site")
        }
        let last = try await session.maps(with: map, through: head).lastChange(of: map) ?? 0
        if last <= since {
            try show("\(path) is up to date: the map has not changed since \(since)", since, nil)
            return since
        }
        return try await update(since)
    }

    private func export() async throws -> Int64 {
        let job = try await run(parameters)
        guard let product = job.result else {
            throw Failure(.notFound, "job \(job.id) has made no product")
        }
        try ProductFile(path: path).write(product, of: session.site.blobs)
        let sequence = try PackageOrigin(path).sequence ?? 0
        try show(
            "\(sequence): \(product.byteCount) bytes, a whole export", sequence,
            Line(
                sequence: sequence, isWhole: true, tileCount: nil, byteCount: product.byteCount))
        return sequence
    }

    private func update(_ since: Int64) async throws -> Int64 {
        let job = try await run(parameters.merging(["since": String(since)]) { $1 })
        guard let product = job.result else {
            throw Failure(.notFound, "job \(job.id) has made no product")
        }
        let made: TilePackageSummary
        do throws(Failure) {
            made = try TilePackageUpdate.apply(
                session.site.blobs.path(product.id), to: try TilePackage.open(path), at: path)
        } catch {
            guard error.code == .conflict else { throw error }
            // Other parameters than those of the file: it is made anew.
            Output.diagnose("\(error.message); the map is exported as a whole")
            return try await export()
        }
        let sequence = try PackageOrigin(path).sequence ?? since
        let news = job.messages.last { $0.severity == .informative }?.text
        try show(
            "\(sequence): \(news ?? "updated"), the package \(made.byteCount)", sequence,
            Line(
                sequence: sequence, isWhole: false, tileCount: made.tileCount,
                byteCount: made.byteCount))
        return sequence
    }

    private func show(_ text: String, _ sequence: Int64, _ line: Line?) throws {
        if session.output.isJSON {
            if let line { try session.output.record(line) }
        } else {
            try session.output.line(text)
        }
    }

    /// Runs a job to its end; throws its failure.
    private func run(_ parameters: [String: String]) async throws -> JobDescription {
        try JobKinds.check(
            JobOrder(
                kind: kind, parameters: parameters, input: nil, blobs: session.site.blobs))
        let ticket = JobTicket(
            site: session.site.identity.siteID,
            submitting: JobSubmission(
                id: JobID(rawValue: .timeOrdered()), kind: kind, parameters: parameters,
                input: nil, actor: Session.actor, timeLimitSeconds: nil, stallLimitSeconds: nil))
        let job = try await session.patientClient().follow(ticket) { _ in true }
        guard job.status == .succeeded else {
            throw Failure(
                job.failure?.code ?? .cancelled,
                "job \(job.id) ended as \(job.status.rawValue)"
                    + (job.failure.map { ": \($0.message)" } ?? ""))
        }
        return job
    }
}
