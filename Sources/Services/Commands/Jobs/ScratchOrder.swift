// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site

/// The work order of a chunk in a directory of its own, with its input blobs, and a process that
/// executes it.
struct ScratchOrder {
    private let assignment: ChunkAssignment
    private let directory: String
    private let program: String
    private let pool: WorkerPool
    private let site: String

    /// Path of the order.
    var path: String { directory + "/order.json" }

    /// The command that repeats it.
    var command: String { "\(program) --pool \(pool) --site '\(site)' --chunk '\(path)'" }

    /// Writes the order; throws `Failure` when the directory cannot be made.
    init(_ assignment: ChunkAssignment, _ site: Site, directory: String?) throws {
        self.assignment = assignment
        self.site = site.path
        let attempt = assignment.held.attempt
        // The system's temporary directory is shared: an unguessable name cannot have been taken
        // before.
        self.directory =
            directory
            ?? "/tmp/cairn-autopsy-\(assignment.held.job)-\(attempt.chunk)-\(attempt.number)-"
            + UUID().uuidString.lowercased()
        guard let own = OwnProgram.path(), let slash = own.lastIndex(of: "/") else {
            throw Failure(.internal, "the path of this program is not known")
        }
        program = String(own[...slash]) + WorkerPool.program
        pool = assignment.chunk.pool
        let blobs = self.directory + "/blobs"
        let files = FileManager.default
        do {
            try files.createDirectory(
                atPath: blobs, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            for blob in [assignment.jobInput] + assignment.gathered {
                guard let id = blob?.id, !files.fileExists(atPath: blobs + "/" + id.rawValue) else {
                    continue
                }
                try files.createSymbolicLink(
                    atPath: blobs + "/" + id.rawValue, withDestinationPath: site.blobs.path(id))
            }
            try CairnJSON.encode(assignment).write(to: URL(filePath: path))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(
                .unreadable, "the work order cannot be kept in '\(self.directory)': \(error)")
        }
    }

    private struct Line: Encodable {
        var report: ChunkReport?
        var processEnd: String
        var directory: String
    }

    /// Executes the order in a process of its own and prints the outcome; throws `Failure` unless
    /// it succeeds.
    func run(_ session: Session) async throws {
        let reportPath = directory + "/report.json"
        try? FileManager.default.removeItem(atPath: reportPath)
        let program = program
        let arguments = ["--pool", pool.name, "--site", site, "--chunk", path]
        let logPath = directory + "/output.log"
        let end = try await OwnThread.run("scratch") { () throws(Failure) in
            try Self.end(of: program, arguments, logPath: logPath)
        }.get()
        let report = FileManager.default.contents(atPath: reportPath).flatMap {
            try? CairnJSON.decode(ChunkReport.self, from: $0)
        }
        if session.output.isJSON {
            try session.output.record(Line(report: report, processEnd: end, directory: directory))
        }
        switch report {
        case .completed(let outcome)?:
            guard !session.output.isJSON else { return }
            let made = outcome.blob.map { "a blob of \($0.byteCount) bytes" } ?? "no blob"
            try session.output.line("completed: \(made), in \(directory)/blobs")
        case .failed(let failure)?: throw failure
        case .released(let reason)?: throw Failure(.internal, reason)
        case nil:
            let said = LogFile.lastLine(logPath).map { "; its last line: \($0)" } ?? ""
            throw Failure(.internal, "the process ended without a report: \(end)\(said)")
        }
    }

    private static func end(
        of program: String, _ arguments: [String], logPath: String
    ) throws(Failure) -> String {
        do throws(PlatformError) {
            var process = try ChildProcess(path: program, arguments: arguments, logPath: logPath)
            let watch = try ProcessWatch(processID: process.processID)
            let wake = try WakeSignal()
            while true {
                if let end = process.end() {
                    switch end {
                    case .status(let status): return "exit \(status)"
                    case .signal(let number): return "signal \(number)"
                    }
                }
                Waiting.forEnd(of: [watch], or: wake, milliseconds: 1_000)
            }
        } catch {
            throw Failure(error)
        }
    }
}
