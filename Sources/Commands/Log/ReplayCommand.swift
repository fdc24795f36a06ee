// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Jobs
internal import MapState
internal import Terminal

struct ReplayCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Fold a map's or a job's events and show every state.",
        discussion: """
            Reads only the log. The same events always give the same states. JSON: one line \
            {"event":…,"state":…} per event, the state being that of 'map show' or 'job show'.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "The map.", transform: Reading.mapName) var map: MapName?
    @Option(help: "The job.", transform: Reading.jobID) var job: JobID?
    @Option(help: "Show only from this sequence number on.") var from: Int64 = 1
    @Option(help: "Stop after this sequence number.") var to: Int64?

    func validate() throws {
        guard (map == nil) != (job == nil) else {
            throw ValidationError("Give --map or --job, one of them.")
        }
    }

    private struct Line<State: Encodable>: Encodable {
        var event: EventLine
        var state: State
    }

    func perform(_ session: Session) async throws {
        let count: Int
        if let map {
            count = try await replay(map, session)
        } else if let job {
            count = try await replay(job, session)
        } else {
            count = 0
        }
        if !session.output.isJSON { try session.output.line("\(count) events replayed") }
    }

    private func replay(_ name: MapName, _ session: Session) async throws -> Int {
        var state = MapsState()
        var count = 0
        var before: [String] = []
        try await session.forEachEvent(through: to, stream: .map(name)) { event in
            try state.apply(event)
            count += 1
            guard let map = state.map(named: name) else { return }
            if event.globalPosition >= from {
                let lines = map.treeLines
                try show(session, event, map, Array(lines.dropFirst()), unlike: before)
                before = Array(lines.dropFirst())
            }
        }
        guard count > 0 else { throw Failure(.notFound, "there is no map '\(name)'") }
        return count
    }

    private func replay(_ id: JobID, _ session: Session) async throws -> Int {
        var state: JobState?
        var count = 0
        try await session.forEachEvent(through: to, stream: .job(id)) { event in
            if state == nil {
                state = try JobState(first: event)
            } else {
                try state?.apply(event)
            }
            count += 1
            guard let job = state?.description, event.globalPosition >= from else { return }
            let line = ProgressBar.text(percent: job.progress, columns: 20)
            try show(
                session, event, job,
                [
                    "\(line) \(job.progress.displayText(decimals: 1))% \(job.stateText), "
                        + "\(job.completedChunkCount) of \(job.chunkCount) chunks"
                ], unlike: [])
        }
        guard count > 0 else { throw Failure(.notFound, "there is no job \(id)") }
        return count
    }

    /// One event and the state after it; a state that looks like the one before is not repeated.
    private func show(
        _ session: Session, _ event: RecordedEvent, _ state: some Encodable, _ lines: [String],
        unlike before: [String]
    ) throws {
        if session.output.isJSON {
            try session.output.record(Line(event: EventLine(event: event), state: state))
        } else {
            try session.output.lines(
                [event.line] + (lines == before ? [] : lines.map { "  " + $0 }))
        }
    }
}
