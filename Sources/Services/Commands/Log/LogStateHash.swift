// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Jobs
internal import MapState
internal import Replay

struct LogStateHash: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "state-hash",
        abstract: "Fold the log and print the hash of the resulting maps and jobs.",
        discussion: """
            The same log gives the same hash on every run and release; snapshots are not used. \
            --live asks the running services for theirs and compares each part with the log folded \
            up to it; it exits 1 where one differs. JSON: \
            {"form":1,"hash":…,"partCount":…,"parts":[…],"sequence":…}, or with --live one \
            {"service":…,"comparedCount":…,"differences":[…],"hash":…,"sequence":…} for each \
            service.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?
    @Flag(help: "Show the hash of every map, locator and job.") var parts = false
    @Flag(help: "Compare with the state of the running services.") var live = false

    func validate() throws {
        guard !live || (at == nil && !parts) else {
            throw ValidationError("--live takes neither --at nor --parts.")
        }
    }

    func perform(_ session: Session) async throws {
        guard !live else { return try await compare(session) }
        let position = try await session.position(of: at)
        let hash = try await session.state(at: position).hash()
        if session.output.isJSON {
            var shown = hash
            if !parts { shown.parts = [] }
            try session.output.record(shown)
            return
        }
        if parts {
            try session.output.lines(
                hash.parts.map { "\($0.hash)  \($0.sequence)  \($0.name)" })
        }
        try session.output.line(
            "\(hash.hash)  sequence number \(position), \(hash.partCount) parts")
    }

    // MARK: Live

    private struct Line: Encodable {
        var service: String
        var sequence: Int64
        var hash: ContentID
        var comparedCount: Int
        var differences: [LiveCheck.Difference]
    }

    private func compare(_ session: Session) async throws {
        var differing: [String] = []
        for service in FoldingService.allCases {
            let line = try await compare(service, session)
            if !line.differences.isEmpty { differing.append(service.rawValue) }
            if session.output.isJSON {
                try session.output.record(line)
                continue
            }
            try session.output.line(
                "\(line.hash)  \(service.rawValue), \(line.comparedCount) parts compared, "
                    + "\(line.differences.count) differ")
            try session.output.lines(
                line.differences.map {
                    "  \($0.part) after event \($0.sequence): "
                        + "\($0.live.map { "\($0)" } ?? "absent"), "
                        + "the log says \($0.folded.map { "\($0)" } ?? "absent")"
                })
        }
        guard differing.isEmpty else {
            throw Failure(
                .corrupt, "\(differing.joined(separator: ", ")): not the state the log leads to")
        }
    }

    /// An append that is committed and not yet folded by its writer appears as a difference for a
    /// moment: only a difference found three times counts.
    private func compare(_ service: FoldingService, _ session: Session) async throws -> Line {
        var attempt = 1
        while true {
            let live = try await session.client().stateHash(of: service)
            var check = LiveCheck(live, kinds: service.kinds)
            let state = try await session.state(at: check.end) { try check.note($0) }
            try check.finish(state)
            if check.differences.isEmpty || attempt == 3 {
                return Line(
                    service: service.rawValue, sequence: live.sequence, hash: live.hash,
                    comparedCount: check.comparedCount, differences: check.differences)
            }
            attempt += 1
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

extension Session {
    /// The state of the whole site at a sequence number, folded from the beginning of the log
    /// without snapshots; `each` is called with it after every event.
    func state(
        at position: Int64, each: (SiteState) throws -> Void = { _ in }
    ) async throws -> SiteState {
        var state = SiteState()
        guard position > 0 else { return state }
        try await forEachEvent(through: position) { event in
            try state.apply(event)
            try each(state)
        }
        return state
    }

    /// The latest state that snapshots give up to a sequence number; the empty state without any.
    func snapshot(through position: Int64) async throws -> SiteState {
        let maps = try await kept(MapsState.self, through: position)
        let jobs = try await kept(JobTable.self, through: position)
        guard var maps, let jobs else { return SiteState() }
        var locators = MapsState()
        try await forEachEvent(through: maps.sequence, category: "locator") {
            try locators.apply($0)
        }
        locators.advance(to: maps.sequence)
        maps = maps.joined(withLocatorsOf: locators)
        return SiteState(maps: maps, jobs: jobs)
    }
}
