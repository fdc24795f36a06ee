// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import FoundationEssentials

struct ReplayCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run the past again: show states, compare answers, or watch it happen.",
        discussion: """
            --map or --job folds its events and shows every state; JSON: one \
            {"event":…,"state":…} per event.

            --compare asks recorded requests again on this build, and with --jobs does the chunks \
            of jobs again, and reports what differs, field by field; it exits 1 where something \
            does. The site may be up or down. JSON: one line per difference, then \
            {"comparedCount":…,"differingCount":…,"firstSequence":…,"incomparableCount":…, \
            "otherIncarnations":{…}}.

            Otherwise it drives another site, --into or a temporary one, through the events from \
            --from to --to, so that 'cairn view --site' can watch. Keys on a terminal: space \
            pauses and goes on, n is one event, + and - double and halve the speed, q ends. From \
            standard input that is no terminal the lines pause, resume, step, speed N, quit.
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: "Show the states of this map.", completion: .maps, transform: Reading.mapName)
    var map: MapName?
    @Option(
        help: "Show the states of this job, named as in 'cairn job show'.",
        transform: NamedJob.read)
    var job: NamedJob?
    @Flag(help: "Compare recorded answers with those of this build.") var compare = false
    @Option(help: "With --compare, a file or directory of recorded requests; else the site's.")
    var requests: String?
    @Flag(help: "With --compare, also execute the chunks of jobs again.") var jobs = false
    @Option(
        help: "With --compare, tolerance of numbers, absolute or relative.",
        transform: Reading.number) var tolerance = 1e-9
    @Option(help: "From this sequence number or time on.", transform: Reading.asOf) var from: AsOf?
    @Option(help: "Up to this sequence number or time.", transform: Reading.asOf) var to: AsOf?
    @Option(
        help: "Speed relative to real time; 0 for as fast as possible.",
        transform: Reading.number) var speed = 1.0
    @Option(help: "The site to drive, which must be empty; else a temporary one.")
    var into: String?

    func validate() throws {
        let forms = [map != nil, job != nil, compare].filter { $0 }.count
        guard forms <= 1 else {
            throw ValidationError("Give one of --map, --job and --compare.")
        }
        guard compare || (requests == nil && !jobs) else {
            throw ValidationError("--requests and --jobs belong to --compare.")
        }
        guard tolerance >= 0, speed >= 0 else {
            throw ValidationError("--tolerance and --speed take 0 or more.")
        }
        guard into == nil || forms == 0 else {
            throw ValidationError("--into drives a site: give it without --map, --job, --compare.")
        }
    }

    func perform(_ session: Session) async throws {
        if compare {
            try ReplayComparison(
                site: session.site, output: session.output, requests: requests, jobs: jobs,
                tolerance: tolerance, from: from, to: to
            ).run()
            return
        }
        let first = try await from.asyncMap { try await session.position(of: $0) } ?? 1
        let last = try await session.position(of: to)
        if let map {
            try await ReplayHistory(session: session, from: first, to: last).show(map)
        } else if let job {
            try await ReplayHistory(session: session, from: first, to: last).show(
                try await job.id(session))
        } else {
            try await ReplayDrive(
                source: session, from: first, to: last, speed: speed, into: into
            ).run()
        }
    }
}

extension Optional where Wrapped == AsOf {
    fileprivate func asyncMap<Value>(
        _ body: (AsOf) async throws -> Value
    ) async throws -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}
