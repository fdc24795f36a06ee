// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Jobs
internal import Platform
internal import Site
internal import Terminal

struct JobSweep: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep", abstract: "Remove the files that no job needs any more.",
        discussion: """
            Removes the intermediate results of jobs that ended before a time at least an hour \
            ago, and files stored before it that no job refers to. --with-products removes the \
            inputs and products of these jobs as well. Jobs that have not ended lose nothing. The \
            log keeps every job and records the sweep with its actor; removed files cannot be \
            replayed. JSON: one line with before, keepsProducts, blobCount, byteCount, leftCount, \
            leftByteCount, isDone.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "Sweep jobs that ended before this time.", transform: Reading.time)
    var before: Timestamp
    @Flag(help: "Remove inputs and products too.") var withProducts = false
    @Flag(help: "Only report what would be removed.") var dryRun = false

    private struct Line: Encodable {
        var before: String
        var keepsProducts: Bool
        /// Number of removed blobs, or of those to be removed.
        var blobCount: Int
        var byteCount: Int64
        /// Number of remaining blobs.
        var leftCount: Int
        var leftByteCount: Int64
        var isDone: Bool
    }

    func validate() throws {
        let latest = WallClock.microseconds() - Int64(BlobStore.graceSeconds) * 1_000_000
        guard before.microseconds <= latest else {
            throw ValidationError("--before has to be an hour ago or earlier")
        }
    }

    func perform(_ session: Session) async throws {
        let blobs = session.site.blobs
        try blobs.restoreAside()
        // Existing blobs are listed before references are collected: a blob added meanwhile is not
        // on the list.
        let all = try blobs.entries()
        let kept = try await kept(session)
        let old = all.filter { $0.renewedAt < before && !kept.contains($0.id) }
        var line = Line(
            before: before.displayText, keepsProducts: !withProducts, blobCount: old.count,
            byteCount: old.byteCount, leftCount: all.count - old.count,
            leftByteCount: all.byteCount - old.byteCount, isDone: !dryRun)
        if !dryRun, !old.isEmpty {
            try await session.record(
                SiteBlobsSwept(
                    before: before, keepsProducts: !withProducts, blobCount: old.count,
                    byteCount: old.byteCount), in: .siteBlobs)
            let gone = try remove(old, from: blobs)
            line.blobCount = gone.count
            line.byteCount = gone.byteCount
            line.leftCount = all.count - gone.count
            line.leftByteCount = all.byteCount - gone.byteCount
        }
        if !dryRun { try session.site.uploads.forgetSwept(before: before) }
        if session.output.isJSON { return try session.output.record(line) }
        let (go, stay) = dryRun ? ("would go", "would stay") : ("are gone", "stay")
        try session.output.line(
            "\(line.blobCount) files of \(line.byteCount) bytes \(go); "
                + "\(line.leftCount) of \(line.leftByteCount) bytes \(stay)")
    }

    private func remove(
        _ old: [BlobStore.Entry], from blobs: BlobStore
    ) throws -> [BlobStore.Entry] {
        var progress = ProgressLine()
        defer { progress.clear() }
        var gone: [BlobStore.Entry] = []
        for entry in old {
            if try blobs.remove(entry.id, unlessRenewedSince: before) { gone.append(entry) }
            progress.show("\(gone.count) of \(old.count) files removed")
        }
        return gone
    }

    private func kept(_ session: Session) async throws -> Set<ContentID> {
        var jobs = JobBlobs()
        try await session.forEachEvent(category: "job") { try jobs.apply($0) }
        var kept = jobs.kept(before: before, keepsProducts: !withProducts)
        for input in jobs.openInputs where input.byteCount <= Batch.maximumInputByteCount {
            // The inputs of a batch that has not been planned are named nowhere else.
            do throws(Failure) {
                kept.formUnion(ContentID.named(in: try session.site.blobs.read(input)))
            } catch {
                // Such a batch can never be planned. Any other failure may be temporary.
                guard [.notFound, .corrupt].contains(error.code) else { throw error }
            }
        }
        return kept
    }
}

extension [BlobStore.Entry] {
    fileprivate var byteCount: Int64 { reduce(0) { $0 + $1.byteCount } }
}

extension ContentID {
    /// Every run of exactly 64 lower-case hexadecimal digits in the data.
    static func named(in bytes: Data) -> Set<ContentID> {
        let runs = bytes.split { byte in
            !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte)
                && !(UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte)
        }
        return Set(
            runs.filter { $0.count == 64 }.compactMap {
                ContentID(rawValue: String(decoding: $0, as: UTF8.self))
            })
    }
}
