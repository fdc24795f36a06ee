// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Jobs
internal import MapState
internal import Terminal

/// Folds a map's or a job's events and prints every state.
struct ReplayHistory {
    let session: Session
    /// First sequence number to print.
    let from: Int64
    /// Last sequence number to print.
    let to: Int64

    private struct Line<State: Encodable>: Encodable {
        var event: EventLine
        var state: State
    }

    func show(_ name: MapName) async throws {
        var state = try await session.maps(with: name, through: min(from, to + 1) - 1)
        var before: [String] = []
        try await session.forEachEvent(
            after: state.lastChange(of: name) ?? 0, through: to, stream: .map(name)
        ) { event in
            try state.apply(event)
            guard let map = state.map(named: name) else { return }
            let lines = Array(map.treeLines.dropFirst())
            try show(event, map, lines, unlike: before)
            before = lines
        }
        guard let last = state.streamPosition(of: name) else {
            throw Failure(.notFound, "there is no map '\(name)'")
        }
        try end(last + 1)
    }

    func show(_ id: JobID) async throws {
        var state = try await session.job(id, through: min(from, to + 1) - 1)
        try await session.forEachEvent(
            after: state?.sequence ?? 0, through: to, stream: .job(id)
        ) { event in
            if state == nil {
                state = try JobState(first: event)
            } else {
                try state?.apply(event)
            }
            guard let job = state?.description else { return }
            let line = ProgressBar.text(percent: job.progress, columns: 20)
            try show(
                event, job,
                [
                    "\(line) \(job.progress.displayText(decimals: 1))% \(job.stateText), "
                        + "\(job.completedChunkCount) of \(job.chunkCount) chunks"
                ], unlike: [])
        }
        guard let last = state?.streamPosition else {
            throw Failure(.notFound, "there is no job \(id)")
        }
        try end(last + 1)
    }

    private func end(_ count: Int64) throws {
        if !session.output.isJSON { try session.output.line("\(count) events replayed") }
    }

    /// Prints an event and the state after it; an unchanged state is not repeated.
    private func show(
        _ event: RecordedEvent, _ state: some Encodable, _ lines: [String], unlike before: [String]
    ) throws {
        if session.output.isJSON {
            try session.output.record(Line(event: EventLine(event: event), state: state))
        } else {
            try session.output.lines(
                [event.line] + (lines == before ? [] : lines.map { "  " + $0 }))
        }
    }
}
