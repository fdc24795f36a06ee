// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Jobs
internal import Platform
internal import Site
internal import Terminal

struct JobAutopsyCommand: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "autopsy", abstract: "Show the attempts of a job's chunks.",
        discussion: """
            Without a chunk, lists those that failed, lost a worker or are quarantined. With one, \
            shows every attempt with the end and the last output of its worker, writes the work \
            order to a directory, and prints the command that executes it alone. --run executes \
            it, in a process that may die of it; exits 1 when it fails.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: NamedJob.help, transform: NamedJob.read) var job: NamedJob
    @Argument(help: "The chunk's number.") var chunk: Int?
    @Flag(help: "Execute the chunk now, alone, on this machine.") var run = false
    @Option(help: "Lines of each worker's log.") var lines = 20
    @Option(help: "Directory of the work order; by default a new one in /tmp.")
    var keep: String?

    func validate() throws {
        guard 0...1_000 ~= lines else { throw ValidationError("--lines takes 0 to 1000.") }
        guard chunk != nil || !run else { throw ValidationError("--run needs a chunk.") }
    }

    func perform(_ session: Session) async throws {
        let job = try await job.id(session)
        let events = try await session.readableLog().events(stream: .job(job))
        guard !events.isEmpty else { throw Failure(.notFound, "there is no job \(job)") }
        let autopsy = try JobAutopsy(events)
        guard let chunk else { return try list(autopsy, session) }
        let assignment = try autopsy.assignment(chunk: chunk)
        let scratch = try ScratchOrder(assignment, session.site, directory: keep)
        try describe(autopsy.chunks[chunk], assignment, scratch, session)
        guard run else { return }
        try await scratch.run(session)
    }

    // MARK: Texts

    private struct ChunkLine: Encodable {
        var chunk: Int
        var operation: String
        var pool: String
        var attempts: Int
        var deaths: Int
        var errors: Int
        var isQuarantined: Bool
    }

    private func list(_ autopsy: JobAutopsy, _ session: Session) throws {
        let rows = autopsy.suspects.map { number in
            let chunk = autopsy.chunks[number]
            return ChunkLine(
                chunk: number, operation: chunk.description.operation,
                pool: "\(chunk.description.pool)", attempts: chunk.attempts.count,
                deaths: chunk.deathCount, errors: chunk.errorCount,
                isQuarantined: chunk.isQuarantined)
        }
        if session.output.isJSON {
            for row in rows { try session.output.record(row) }
            return
        }
        guard !rows.isEmpty else {
            return try session.output.line(
                "none of the \(autopsy.chunks.count) chunks failed or lost a worker")
        }
        var table = Table(
            ["chunk", "operation", "pool", "attempts", "deaths", "errors", ""],
            numbers: [0, 3, 4, 5])
        for row in rows {
            table.add([
                "\(row.chunk)", row.operation, row.pool, "\(row.attempts)", "\(row.deaths)",
                "\(row.errors)", row.isQuarantined ? "quarantined" : "",
            ])
        }
        try session.output.lines(table.lines)
    }

    private struct AttemptLine: Encodable {
        var attempt: Int
        var worker: String
        var pid: Int32
        var begunAt: String
        var end: String?
        var reason: String?
        var endedAt: String?
        var processEnd: String?
        var log: [String]
    }

    private struct OrderLine: Encodable {
        var assignment: ChunkAssignment
        var order: String
        var command: String
    }

    private func describe(
        _ chunk: JobAutopsy.Chunk, _ assignment: ChunkAssignment, _ scratch: ScratchOrder,
        _ session: Session
    ) throws {
        let attempts = chunk.attempts.map { attempt in
            let log = ProcessLog.find(
                attempt.processID, in: session.site.runDirectory, lineCount: lines)
            return AttemptLine(
                attempt: attempt.attempt.number, worker: attempt.worker.uuidString.lowercased(),
                pid: attempt.processID, begunAt: attempt.begunAt.displayText,
                end: attempt.end?.word, reason: attempt.end?.reason,
                endedAt: attempt.end?.at.displayText, processEnd: log?.end, log: log?.lines ?? [])
        }
        if session.output.isJSON {
            for attempt in attempts { try session.output.record(attempt) }
            return try session.output.record(
                OrderLine(assignment: assignment, order: scratch.path, command: scratch.command))
        }
        var text = [
            "chunk \(assignment.held.attempt.chunk)  \(assignment.operation)"
                + (chunk.isQuarantined ? "  quarantined" : "")
        ]
        if chunk.description.input.count <= 2_000 {
            text.append("input      \(String(decoding: chunk.description.input, as: UTF8.self))")
        }
        for attempt in attempts {
            text.append("")
            text.append(
                "attempt \(attempt.attempt)  process \(attempt.pid)  \(attempt.begunAt)  "
                    + (attempt.end ?? "not ended") + (attempt.reason.map { ": \($0)" } ?? ""))
            if let end = attempt.processEnd { text.append("  the process ended: \(end)") }
            text += attempt.log.map { "  | " + $0 }
            if attempt.log.isEmpty {
                text.append("  no log of it in \(session.site.runDirectory)")
            }
        }
        text += ["", "alone on this machine:", "  " + scratch.command]
        try session.output.lines(text)
    }
}
