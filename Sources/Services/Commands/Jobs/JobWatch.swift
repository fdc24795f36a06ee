// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Terminal

struct JobWatch: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show a job's progress and messages until it ends.",
        discussion: """
            Exits 0 when the job succeeded (or reached --until), 1 when it failed, was cancelled \
            or timed out, 69 when the site was away for ten minutes or --timeout was over. On a \
            terminal a bar is drawn; otherwise, and with --json, there is one line per change. \
            With --from FILE it goes on where the ticket in FILE ends, submits the job if that has \
            not happened yet, and keeps the ticket up to date; '-' reads a ticket from standard \
            input.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: """
            The job: its id, at least 4 characters that it begins with, or 'last'; left out with \
            --from.
            """,
        transform: NamedJob.read)
    var job: NamedJob?
    @Option(help: "A ticket's file, or '-'.") var from: String?
    @Option(help: "Stop watching at this percentage.") var until = 100.0
    @Option(help: "Stop watching after so many seconds.", transform: Reading.timeLimit)
    var timeout: Duration?

    func validate() throws {
        guard 0...100 ~= until else { throw ValidationError("--until takes 0 to 100.") }
        guard (job == nil) != (from == nil) else {
            throw ValidationError("Name a job, or a ticket with --from FILE.")
        }
    }

    func perform(_ session: Session) async throws {
        try await watching(session).run(within: timeout)
    }

    private func watching(_ session: Session) async throws -> JobWatching {
        guard let from else {
            _ = try session.client()
            guard let job = try await job?.id(session) else { throw CancellationError() }
            let ticket = JobTicket(site: session.site.identity.siteID, jobID: job)
            return JobWatching(session: session, ticket: ticket, until: until)
        }
        return JobWatching(
            session: session, ticket: try TicketFile.read(from), until: until,
            file: from == "-" ? nil : TicketFile(path: from), showsTicket: true)
    }
}

/// Watching one job.
struct JobWatching {
    let session: Session
    let ticket: JobTicket
    let until: Double
    /// The file of the ticket, kept up to date.
    var file: TicketFile?
    /// Whether JSON lines include the ticket.
    var showsTicket = false

    /// Shows the job until its end; throws `Failure` (`timedOut`) where a time limit ends before.
    func run(within limit: Duration?) async throws {
        guard try await Session.until(limit, { try await run() }) else {
            let seconds = (limit ?? .zero) / .seconds(1)
            throw Failure(
                .timedOut,
                "job \(ticket.jobID) has not ended within \(seconds.displayText(decimals: 3)) s")
        }
    }

    private func run() async throws {
        guard ticket.site == session.site.identity.siteID else {
            throw Failure(
                .conflict,
                "the ticket is of site \(ticket.site), and '\(session.site.path)' is site "
                    + "\(session.site.identity.siteID)")
        }
        let drawsBar = !session.output.isJSON && StandardStream.output.isTerminal
        var shown = ""
        let job = try await session.patientClient().follow(ticket) { news in
            let isEnough = until < 100 && news.job.progress >= until
            try show(news, drawsBar, news.job.status.isTerminal || isEnough, &shown)
            try file?.write(news.ticket)
            return !isEnough
        }
        try conclude(job)
    }

    private func show(
        _ news: JobNews, _ drawsBar: Bool, _ isOver: Bool, _ shown: inout String
    ) throws {
        if session.output.isJSON {
            return try session.output.record(
                JobLine(
                    job: news.job, news: showsTicket ? news.messages : nil,
                    ticket: showsTicket ? news.ticket : nil))
        }
        let columns = (RawTerminal.outputSize()?.columns ?? 80) - 1
        for message in news.messages {
            let text = "\(message.severity.rawValue): \(message.text)"
            if drawsBar {
                try session.output.write(
                    "\r" + TextWidth.padded(TextWidth.displayable(text), to: columns) + "\n")
            } else {
                try session.output.line(text)
            }
        }
        let line = ProgressBar.line(for: news.job, columns: 30)
        if drawsBar {
            try session.output.write(
                "\r" + TextWidth.padded(TextWidth.displayable(line), to: columns)
                    + (isOver ? "\n" : ""))
        } else if line != shown {
            try session.output.line(line)
            shown = line
        }
    }

    private func conclude(_ job: JobDescription) throws {
        switch job.status {
        case .failed, .timedOut, .cancelled:
            throw Failure(
                .cancelled,
                "job \(job.id) ended as \(job.status.rawValue)"
                    + (job.failure.map { ": \($0)" } ?? ""))
        case .submitted, .waiting, .executing, .cancelling, .succeeded: break
        }
    }
}

/// A file with a ticket, replaced atomically.
struct TicketFile {
    let path: String
    /// Maximum size of a ticket in bytes.
    private static let byteBound = 256 << 10

    /// Reads a ticket from a file, or from standard input for `-`.
    static func read(_ path: String) throws -> JobTicket {
        let bytes = try Reading.bytes(of: path, atMost: byteBound)
        do throws(Failure) {
            return try JobTicket(parsing: bytes)
        } catch {
            throw Failure(error.code, "the ticket '\(path)': \(error.message)")
        }
    }

    func write(_ ticket: JobTicket) throws {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        var file = try StagedFile(inDirectory: directory.isEmpty ? "/" : directory)
        try file.write(Array(try CairnJSON.encode(ticket) + [UInt8(ascii: "\n")]))
        try file.publish(as: path)
    }
}
