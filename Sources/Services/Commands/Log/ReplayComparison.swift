// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EventLog
internal import FoundationEssentials
internal import Glibc
internal import Platform
internal import Recording
internal import Replay
internal import Site
internal import Synchronization

/// `cairn replay --compare`: recorded requests and chunks of jobs, executed again by this build.
struct ReplayComparison {
    let site: Site
    let output: Output
    let requests: String?
    let jobs: Bool
    let tolerance: Double
    let from: AsOf?
    let to: AsOf?
    private let builds = OwnBuilds()

    init(
        site: Site, output: Output, requests: String?, jobs: Bool, tolerance: Double, from: AsOf?,
        to: AsOf?
    ) {
        self.site = site
        self.output = output
        self.requests = requests
        self.jobs = jobs
        self.tolerance = tolerance
        self.from = from
        self.to = to
    }

    func run() throws {
        let engine = try SiteEngine(site: site.path) { reason in
            Output.diagnose("snapshot not used: \(reason)")
        }
        let range = try range()
        var summary = ComparisonSummary()
        try compareRequests(engine, range, &summary)
        if jobs { try compareJobs(engine, range, &summary) }
        if output.isJSON {
            try output.record(summary)
        } else {
            try output.line(summary.line)
        }
        if let first = summary.firstSequence {
            throw Failure(
                .conflict,
                "\(summary.differingCount) of \(summary.comparedCount) differ, the first at "
                    + "sequence "
                    + "number \(first)")
        }
    }

    /// The requested sequence numbers.
    private func range() throws -> ClosedRange<Int64> {
        let log = try SQLiteEventReader(path: site.logFile)
        func position(_ moment: AsOf?) throws -> Int64? {
            switch moment {
            case nil: nil
            case .sequence(let sequence)?: sequence
            case .time(let time)?: try log.position(at: time)
            }
        }
        let (first, last) = (try position(from) ?? 0, try position(to) ?? .max)
        guard first <= last else {
            throw Failure(
                .invalidParameter,
                "from \(first) to \(last): expected sequence numbers in this order")
        }
        return first...last
    }

    // MARK: Requests

    private func compareRequests(
        _ engine: SiteEngine, _ range: ClosedRange<Int64>, _ summary: inout ComparisonSummary
    ) throws {
        let lineage = try SQLiteEventReader(path: site.logFile).lineage()
        let comparison = RequestComparison(
            engine: engine, tolerance: tolerance, isOfThisLog: { lineage.holds($0, of: $1) }
        ) { [builds] in builds.build(of: $0) }
        for path in try files() {
            var lines = try RecordingLines(path: path)
            while let record = try lines.next() {
                guard range.contains(record.sequence) else { continue }
                switch try comparison.compare(record) {
                case .same: summary.note(nil)
                case .differs(let difference):
                    summary.note(difference)
                    try show(difference)
                case .incomparable: summary.incomparableCount += 1
                case .ofAnotherLog(let incarnation): summary.note(ofAnotherLog: incarnation)
                }
            }
        }
    }

    /// The recording files, oldest first.
    private func files() throws -> [String] {
        guard let requests else {
            return RecordingDirectory(path: site.recordingsDirectory).files
        }
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: requests, isDirectory: &isDirectory) else {
            throw Failure(.notFound, "there is no file or directory '\(requests)'")
        }
        guard isDirectory else { return [requests] }
        let directory = RecordingDirectory(path: requests)
        let others = directory.otherNames
        if let first = others.first {
            Output.diagnose(
                "passed over in '\(requests)': \(others.count) whose names are not those of "
                    + "recordings, "
                    + "first '\(first)'; a file that is named by itself is read whatever its name")
        }
        return directory.files
    }

    // MARK: Jobs

    private func compareJobs(
        _ engine: SiteEngine, _ range: ClosedRange<Int64>, _ summary: inout ComparisonSummary
    ) throws {
        let scratch = try PrivateDirectory.makeTemporary(prefix: "/tmp/cairn-compare-")
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        try Self.remove(scratch, onTermination: 130)
        let comparison = try ChunkComparison(
            site: site, engine: engine, scratch: scratch, tolerance: tolerance
        ) { [builds] in builds.build(of: $0) }
        var finder = ChunkFinder()
        let log = try SQLiteEventReader(path: site.logFile)
        try log.forEach(through: range.upperBound) { record in
            guard let chunk = try finder.next(record), range.contains(chunk.sequence) else {
                return
            }
            let difference = comparison.compare(chunk)
            summary.note(difference)
            if let difference { try show(difference) }
        }
    }

    /// Has SIGTERM and SIGINT remove the directory and end the process with that status.
    private static func remove(_ scratch: String, onTermination status: Int32) throws {
        try TerminationWatch.start {
            // A chunk in progress may add another file meanwhile.
            for _ in 0..<100 where FileManager.default.fileExists(atPath: scratch) {
                try? FileManager.default.removeItem(atPath: scratch)
            }
            Output.diagnose("the comparison was stopped before its end")
            _exit(status)
        }
    }

    // MARK: Output

    private func show(_ difference: Difference) throws {
        if output.isJSON { return try output.record(difference) }
        let what = difference.job.map { "job \($0), chunk \(difference.chunk ?? 0)" } ?? "request"
        let build = difference.recordedBuild.map { ", answered by \($0)" } ?? ""
        try output.line(
            "\(difference.sequence)  \(what) \(difference.operation)  "
                + "\(difference.cause.rawValue)\(build): \(difference.message)")
        try output.lines(difference.changes.prefix(10).map { "  " + $0.line })
    }
}

extension ComparisonSummary {
    fileprivate var line: String {
        "\(comparedCount) compared, \(differingCount) differ"
            + (firstSequence.map { ", the first at sequence number \($0)" } ?? "")
            + (incomparableCount > 0 ? "; \(incomparableCount) cannot be compared" : "")
            + otherIncarnations.sorted { $0.key < $1.key }.map {
                "; passed over: \($0.value) of another incarnation of the log, \($0.key)"
            }.joined()
    }
}

/// Digests of this build's programs beside `cairn`, by the process names of recordings.
private final class OwnBuilds: Sendable {
    private let known = Mutex<[String: String?]>([:])

    func build(of process: String) -> String? {
        let program = WorkerPool.program(ofRecorded: process)
        if let known = known.withLock({ $0[program] }) { return known }
        let folder = OwnProgram.path().map {
            String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.endIndex))
        }
        let digest = folder.flatMap { Recorder.digest(ofProgram: $0 + "/" + program) }
        let build = digest.map { CairnCommand.version + "+" + $0 }
        known.withLock { $0[program] = .some(build) }
        return build
    }
}

extension SQLiteEventReader {
    /// Calls `body` for every event up to `last`, in order.
    fileprivate func forEach(
        through last: Int64, _ body: (RecordedEvent) throws -> Void
    ) throws {
        let scan = try LogScan(path: path)
        while let events = try scan.next() {
            for event in events {
                if event.globalPosition > last { return }
                try body(event)
            }
        }
    }

    /// The last event recorded at or before a time; 0 when there was none.
    fileprivate func position(at time: Timestamp) throws -> Int64 {
        var search = MomentSearch(at: time, before: try head() + 1)
        while let next = search.next {
            search.take(try read(ReadRange(after: next - 1, limit: 1)).events.first)
        }
        return search.position
    }
}
