// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Jobs
internal import MapState
internal import Replay

struct LogDiff: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show what changed in maps and jobs between two moments.",
        discussion: """
            Moments are sequence numbers or times, in either order. Prints nothing where nothing \
            changed; of an edited feature one line. Jobs are left out unless --jobs or --job names \
            them. JSON: one {"part":"map/World","path":[…],"before":…,"after":…} for each field; \
            an absent value is left out.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The first moment.", transform: Reading.asOf) var first: AsOf
    @Argument(help: "The second moment.", transform: Reading.asOf) var second: AsOf
    @Option(help: "Only this map.", completion: .maps, transform: Reading.mapName) var map: MapName?
    @Option(help: "Only this job, named as in 'cairn job show'.", transform: NamedJob.read)
    var job: NamedJob?
    @Flag(help: "Jobs too.") var jobs = false

    func validate() throws {
        guard map == nil || job == nil else {
            throw ValidationError("Give --map or --job, not both.")
        }
    }

    private struct Line: Encodable {
        var part: String
        var path: [String]
        var before: JSONValue?
        var after: JSONValue?
    }

    func perform(_ session: Session) async throws {
        let (one, two) = (
            try await session.position(of: first), try await session.position(of: second)
        )
        let job = try await job?.id(session)
        let (earlier, later) = try await parts(
            of: job, from: min(one, two), to: max(one, two), session)
        guard (map == nil && job == nil) || !(earlier + later).isEmpty else {
            let what = map.map { "map '\($0)'" } ?? job.map { "job \($0)" } ?? ""
            throw Failure(.notFound, "there was no \(what) at either moment")
        }
        let diff =
            one <= two
            ? try StateDiff(from: earlier, to: later) : try StateDiff(from: later, to: earlier)
        for part in diff.parts where jobs || job != nil || !part.name.hasPrefix("job/") {
            try show(part, session.output)
        }
    }

    /// The requested parts at two sequence numbers; for a single map or job only its stream is
    /// read.
    private func parts(
        of job: JobID?, from first: Int64, to last: Int64, _ session: Session
    ) async throws -> ([StatePart], [StatePart]) {
        if let map {
            let earlier = try await session.maps(with: map, through: first)
            let later = try await session.maps(with: map, from: earlier, through: last)
            return (
                try earlier.part(of: map).map { [$0] } ?? [],
                try later.part(of: map).map { [$0] } ?? []
            )
        }
        if let job {
            let earlier = try await session.job(job, through: first)
            let later = try await session.job(job, from: earlier, through: last)
            return (
                try earlier.map { [try $0.part()] } ?? [], try later.map { [try $0.part()] } ?? []
            )
        }
        var state = try await session.snapshot(through: first)
        try await fold(&state, to: first, session)
        let earlier = try state.parts()
        if last - state.sequence > Self.shortFold {
            let kept = try await session.snapshot(through: last)
            if kept.sequence > state.sequence { state = kept }
        }
        try await fold(&state, to: last, session)
        return (earlier, try state.parts())
    }

    private func fold(
        _ state: inout SiteState, to position: Int64, _ session: Session
    ) async throws {
        guard position > state.sequence else { return }
        try await session.forEachEvent(after: state.sequence, through: position) {
            try state.apply($0)
        }
    }

    /// Number of events that are folded faster than a snapshot is read.
    private static let shortFold: Int64 = 1_000

    private func show(_ part: StateDiff.Part, _ output: Output) throws {
        if output.isJSON {
            for change in part.changes {
                try output.record(
                    Line(
                        part: part.name, path: change.path, before: change.before,
                        after: change.after))
            }
            return
        }
        let changes = part.changes.filter { !$0.isBookkeeping }
        guard part.name != "commands", !changes.isEmpty else { return }
        func text(_ sequence: Int64?) -> String { sequence.map { "\($0)" } ?? "absent" }
        try output.line("\(part.name)  \(text(part.before)) → \(text(part.after))")
        var last: String?
        for change in changes {
            guard let feature = change.feature else {
                try output.line("  " + change.line)
                continue
            }
            // The fields of one feature follow each other.
            if feature.name != last { try output.line("  " + feature.text) }
            last = feature.name
        }
    }
}

extension FieldChange {
    /// The edited feature whose entry among the edits of a layer changed; nil for anything else.
    fileprivate var feature: (name: String, text: String)? {
        guard path.count >= 5, path[0] == "layers", path[2] == "edits", path[3] == "changes" else {
            return nil
        }
        let name = "layer \(path[1]) feature \(path[4])"
        guard path.count == 5 else { return (name, "~ \(name): edited again") }
        switch (before, after) {
        case (_, .object(let members)?) where members["feature"] == nil:
            return (name, "- \(name): deleted")
        case (nil, _): return (name, "~ \(name): edited")
        default: return (name, "= \(name): part of the dataset")
        }
    }

    /// Whether it only reflects another change.
    fileprivate var isBookkeeping: Bool {
        path.count == 1 && ["lastChange", "streamPosition", "sequence"].contains(path[0])
            || path.count == 4 && path[2] == "edits" && ["nextID", "sequence"].contains(path[3])
    }

    /// The difference as a line of text; long values are cut.
    var line: String {
        let name = path.isEmpty ? "" : pointer + ": "
        switch (before, after) {
        case (nil, let after?): return "+ \(name)\(after.shortText)"
        case (let before?, nil): return "- \(name)\(before.shortText)"
        default:
            return "~ \(name)\(before?.shortText ?? "absent") → \(after?.shortText ?? "absent")"
        }
    }
}

extension JSONValue {
    /// As JSON, cut to 200 characters.
    var shortText: String {
        guard let data = try? CairnJSON.encode(self) else { return "?" }
        let text = String(decoding: data, as: UTF8.self)
        return text.count > 200 ? text.prefix(199) + "…" : text
    }
}
