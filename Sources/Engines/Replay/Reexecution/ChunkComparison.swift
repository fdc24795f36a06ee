// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FeatureQuery
internal import FoundationEssentials
internal import Geometry
public import JobKinds
internal import Jobs
internal import Locator
internal import MapState
internal import Platform
internal import Routing
public import Site
internal import VectorTiles

/// A completed chunk with all that its re-execution requires.
public struct RecordedChunk: Hashable, Sendable {
    /// The sequence number of its completion.
    public var sequence: Int64
    /// Its worker's assignment.
    public var assignment: ChunkAssignment
    /// Its output.
    public var blob: BlobReference?
    /// The build that executed it, where that is recorded.
    public var build: String?
    /// The locator files by name, as of its lease.
    public var locators: [String: ContentID]
}

/// Finds the completed chunks in a log's records, in order.
public struct ChunkFinder: Sendable {
    private var state = SiteState()
    private var leased: [UUID: (assignment: ChunkAssignment, locators: [String: ContentID])] = [:]

    /// Creates a finder before the first record.
    public init() {}

    /// Processes the next record; returns the chunk that it completes.
    ///
    /// Throws `Failure` (`corrupt`, `newerVersion`) for an invalid one.
    public mutating func next(_ record: RecordedEvent) throws(Failure) -> RecordedChunk? {
        try state.apply(record)
        switch record.event.type {
        case JobChunkLeased.eventType:
            let event = try JobChunkLeased.decode(record.event)
            guard let job = JobID(String(record.stream.rawValue.dropFirst(4))),
                let assignment = state.jobs[job]?.assignment(chunk: event.attempt.chunk)
            else { return nil }
            var locators: [String: ContentID] = [:]
            for name in state.maps.locatorNames {
                locators[name] = state.maps.locator(named: name)?.locator
            }
            leased[event.attempt.lease] = (assignment, locators)
            return nil
        case JobChunkCompleted.eventType:
            let event = try JobChunkCompleted.decode(record.event)
            return leased.removeValue(forKey: event.attempt.lease).map {
                RecordedChunk(
                    sequence: record.globalPosition, assignment: $0.assignment, blob: event.blob,
                    build: event.build, locators: $0.locators)
            }
        case JobChunkFailed.eventType, JobChunkReleased.eventType, JobChunkLost.eventType:
            struct Ended: Decodable { var attempt: ChunkAttempt }
            let event = try CairnJSON.decode(Ended.self, from: record.event.data)
            leased[event.attempt.lease] = nil
            return nil
        default: return nil
        }
    }
}

/// Re-executes chunks of jobs and compares their outputs.
public struct ChunkComparison: Sendable {
    private let engine: SiteEngine
    private let blobs: BlobStore
    private let scratch: BlobStore
    private let tolerance: Double
    private let build: @Sendable (_ process: String) -> String?
    private let operations: @Sendable (RecordedChunk) -> [String: ChunkOperation]

    /// Limit of differing lines reported of one chunk.
    private static let lineLimit = 20

    /// - Parameters:
    ///   - site: The source of blobs; nothing is written there.
    ///   - engine: Answers identify requests and lends locators.
    ///   - scratch: A directory for the chunks' outputs, which the caller removes.
    ///   - tolerance: Tolerance of numbers, absolutely or relative to the greater one.
    ///   - build: The build of a process's program here; nil where this build has no such program.
    ///   - altered: Replacements of operations, to compare another implementation.
    public init(
        site: Site, engine: SiteEngine, scratch: String, tolerance: Double,
        build: @escaping @Sendable (_ process: String) -> String?,
        altered: @escaping @Sendable (RecordedChunk) -> [String: ChunkOperation] = { _ in [:] }
    ) throws(Failure) {
        self.engine = engine
        self.tolerance = tolerance
        self.build = build
        blobs = site.blobs
        try Site.makePrivateDirectory(scratch)
        self.scratch = BlobStore(directory: scratch)
        operations = { chunk in
            let capabilities = JobCapabilities(
                maps: AtlasMaps(engine: engine), routers: FileRouters(engine: engine)
            ) { name in
                guard let id = chunk.locators[name] else {
                    throw Failure(.notFound, "there was no locator '\(name)'")
                }
                let locator = try engine.locator(id)
                return { row in
                    try locator.bestCandidate(
                        for: row.singleLine, fields: row.fields, in: row.countryCodes, asking: name)
                }
            }
            return JobKinds.operations(with: capabilities)
                .merging(altered(chunk)) { _, altered in altered }
        }
    }

    /// Re-executes a chunk; nil for an equal output.
    public func compare(_ chunk: RecordedChunk) -> Difference? {
        let name = chunk.assignment.operation
        guard let operation = operations(chunk)[name] else {
            return difference(chunk, .failed, "this build has no operation '\(name)'")
        }
        do {
            try lendBlobs(chunk.assignment)
            let outcome = try operation(
                ChunkContext(assignment: chunk.assignment, blobs: scratch))
            return try compare(chunk, outcome.blob)
        } catch {
            let failure = error as? Failure ?? Failure(.internal, "\(error)")
            let isMissing = [.notFound, .unreadable, .corrupt].contains(failure.code)
            return difference(chunk, isMissing ? .dataMissing : .failed, failure.description)
        }
    }

    /// Links the blobs that the chunk reads into the scratch directory.
    private func lendBlobs(_ assignment: ChunkAssignment) throws {
        for blob in assignment.gathered + [assignment.jobInput] {
            guard let blob, !scratch.contains(blob.id) else { continue }
            guard blobs.contains(blob.id) else {
                throw Failure(.notFound, "blob \(blob.id) is gone")
            }
            try FileManager.default.createSymbolicLink(
                atPath: scratch.path(blob.id), withDestinationPath: blobs.path(blob.id))
        }
    }

    private func compare(_ chunk: RecordedChunk, _ made: BlobReference?) throws -> Difference? {
        guard chunk.blob?.id != made?.id else { return nil }
        guard let before = chunk.blob, let made else {
            return difference(
                chunk, nil,
                made == nil
                    ? "this build makes no product" : "the recorded build made no product")
        }
        guard blobs.contains(before.id) else {
            return difference(chunk, .dataMissing, "blob \(before.id) is gone")
        }
        try blobs.check(before)
        guard MediaType(rawValue: made.mediaType)?.hasLines ?? true else {
            return difference(chunk, nil, "the product differs")
        }
        let changes = try lines(blobs.path(before.id), scratch.path(made.id))
        guard let first = changes.first else { return nil }
        var found = difference(
            chunk, nil,
            "the product differs, first at line \((Int(first.path.first ?? "") ?? 0) + 1)")
        found.changes = changes
        return found
    }

    /// The differing fields, line by line; the first name of a path is the line's index.
    private func lines(_ before: String, _ after: String) throws -> [FieldChange] {
        var old = try TextLines(path: before)
        var new = try TextLines(path: after)
        var changes: [FieldChange] = []
        var index = 0
        while changes.count < Self.lineLimit {
            let (one, two) = (try old.next(), try new.next())
            if one == nil, two == nil { break }
            if one != two {
                changes += FieldChange.between(
                    one.map(Self.value), two.map(Self.value), tolerance: tolerance
                ).map {
                    FieldChange(path: ["\(index)"] + $0.path, before: $0.before, after: $0.after)
                }
            }
            index += 1
        }
        return changes
    }

    /// A line as JSON, or else its comma-separated fields, numbers as such.
    private static func value(_ line: [UInt8]) -> JSONValue {
        if line.first == UInt8(ascii: "{"),
            let value = try? CairnJSON.decode(JSONValue.self, from: Data(line))
        {
            return value
        }
        let fields = String(decoding: line, as: UTF8.self).split(
            separator: ",", omittingEmptySubsequences: false)
        let values = fields.enumerated().map { place, field in
            ("\(place)", Double(field).map { JSONValue.real($0) } ?? .string(String(field)))
        }
        return .object(Dictionary(uniqueKeysWithValues: values))
    }

    /// A difference with a given cause, or with one inferred from the two builds.
    private func difference(
        _ chunk: RecordedChunk, _ cause: Difference.Cause?, _ message: String
    ) -> Difference {
        let build = build(WorkerPool.program)
        return Difference(
            kind: .chunk, sequence: chunk.sequence, operation: chunk.assignment.operation,
            cause: cause ?? .between(recorded: chunk.build, build), message: message, at: nil,
            job: chunk.assignment.held.job, chunk: chunk.assignment.held.attempt.chunk,
            recordedBuild: chunk.build, build: build, changes: [])
    }
}

/// The road networks of jobs, answered from the files of a site.
private struct FileRouters: JobRouters {
    let engine: SiteEngine

    func network(_ terms: RouteTerms) throws(Failure) -> NetworkPublished {
        try engine.networks.network(terms, at: terms.at ?? 0).published
    }

    func router(_ terms: RouteTerms) throws(Failure) -> JobRouter {
        let router = try engine.networks.router(terms, at: terms.at ?? 0)
        return JobRouter(
            route: { request throws(Failure) in try router.route(request) },
            table: { request, isCancelled throws(Failure) in
                try router.table(request, isCancelled: isCancelled)
            },
            reach: { request, isCancelled throws(Failure) in
                try router.reach(request, isCancelled: isCancelled)
            }, positions: { route throws(Failure) in try route.positions() })
    }
}

/// The maps of jobs, answered from the files of a site.
private struct AtlasMaps: JobMaps {
    let engine: SiteEngine

    func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription {
        guard let map = try engine.map(named: name, at: position) else {
            throw Failure(
                .notFound, "there was no map '\(name)' at sequence number \(position)")
        }
        return map
    }

    func answer(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        try engine.identify(request, isCancelled: isCancelled)
    }

    func forEachFeature(
        _ request: QueryRequest, in map: MapDescription, ids: ClosedRange<Int64>,
        isCancelled: @escaping @Sendable () -> Bool,
        _ body: (FeatureRow) throws(Failure) -> Void
    ) throws(Failure) -> FeatureTable {
        try engine.queries.forEachFeature(
            request, in: map, ids: ids, isCancelled: isCancelled, body)
    }

    func picture(
        _ request: ExportRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> ExportedPicture {
        try engine.picture(request, isCancelled: isCancelled)
    }

    func changes(
        of map: MapName, from first: Int64, to last: Int64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> MapChanges {
        try engine.changes(of: map, from: first, to: last, isCancelled: isCancelled)
    }

    func tileContent(
        of layers: [TileLayer], in map: MapDescription, meeting area: Envelope,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> [VectorTileLayer] {
        try engine.queries.tileContent(
            of: layers, in: map, meeting: area, isCancelled: isCancelled)
    }
}
