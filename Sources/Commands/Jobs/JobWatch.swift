// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Platform
internal import Terminal

struct JobWatch: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show a job's progress until it ends.",
        discussion: """
            Exits 0 when the job succeeded (or reached --until), 1 when it failed, was cancelled or \
            timed out. On a terminal a bar is drawn; otherwise, and with --json, there is one line \
            per change.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The job.", transform: Reading.jobID) var job: JobID
    @Option(help: "Stop watching at this percentage.") var until = 100.0

    func validate() throws {
        guard 0...100 ~= until else { throw ValidationError("--until takes 0 to 100.") }
    }

    func perform(_ session: Session) async throws {
        try await JobWatching(session: session, id: job, until: until).run()
    }
}

/// Watching one job.
struct JobWatching {
    let session: Session
    let id: JobID
    let until: Double

    /// Where nothing was heard for so long the job is read: what is published may be lost (decision 0034).
    private static let silence = Duration.seconds(2)

    func run() async throws {
        let drawsBar = !session.output.isJSON && StandardStream.output.isTerminal
        let client = try session.client()
        let (steps, feed) = AsyncStream.makeStream(
            of: JobDescription?.self, bufferingPolicy: .bufferingNewest(16))
        let live = try client.live(job: id)
        let hearing = Task { for await job in live { feed.yield(job) } }
        let reminding = Task {
            while (try? await Task.sleep(for: Self.silence)) != nil { feed.yield(nil) }
        }
        defer {
            hearing.cancel()
            reminding.cancel()
        }
        var shown = ""
        // After the subscription: nothing lies between what is read and what is heard.
        var job = try await client.job(id)
        try show(job, drawsBar, isOver(job), &shown)
        var wasHeard = false
        for await step in steps where !isOver(job) {
            if step == nil, wasHeard {
                wasHeard = false
                continue
            }
            wasHeard = step != nil
            let news = if let step { step } else { try await client.job(id) }
            // What was on its way while the job was read may be older.
            guard (news.sequence, news.progress) >= (job.sequence, job.progress) else { continue }
            job = news
            try show(job, drawsBar, isOver(job), &shown)
            if isOver(job) { break }
        }
        try conclude(job)
    }

    private func isOver(_ job: JobDescription) -> Bool {
        job.status.isTerminal || (until < 100 && job.progress >= until)
    }

    private func show(
        _ job: JobDescription, _ drawsBar: Bool, _ isOver: Bool, _ shown: inout String
    ) throws {
        let line = ProgressBar.line(for: job, columns: 30)
        if drawsBar {
            let width = RawTerminal.outputSize()?.columns ?? 80
            try session.output.write(
                "\r" + TextWidth.padded(TextWidth.displayable(line), to: width - 1)
                    + (isOver ? "\n" : ""))
        } else if line != shown {
            if session.output.isJSON {
                try session.output.record(JobLine(job: job))
            } else {
                try session.output.line(line)
            }
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
