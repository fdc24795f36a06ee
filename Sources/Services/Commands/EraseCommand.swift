// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import Dataset
internal import EventLog
internal import FoundationEssentials
internal import MapState
internal import Platform
internal import Recording
internal import Replay
internal import Site

struct EraseCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Take a person's values out of every past.",
        discussion: """
            WHAT is a feature, MAP/LAYER/ID with the layer's number. Its values and its \
            geometry are taken out of all events of the map and of every dataset that the \
            layer ever had; recorded requests about the map go, and so do snapshots, which are \
            made again. --user takes the name of a user out of events, the audit and recorded \
            requests. The site must be down. Positions, times, ids and the hash chain of the \
            log stay; the log records how much was erased, and 'cairn log verify' says so. It \
            is not undone. Backups made before keep what they have: 'cairn restore --erasures' \
            takes the lines of --list --json. JSON: one line with eventCount, commitCount, \
            datasetCount, recordingCount and isDone.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "A feature: MAP/LAYER/ID with the layer's number.") var what: String?
    @Option(help: "A user.") var user: String?
    @Flag(help: "List the erasures of the site.") var list = false
    @Flag(help: "Only count.") var dryRun = false

    func validate() throws {
        guard [what != nil, user != nil, list].filter(\.self).count == 1 else {
            throw ValidationError("Give a feature, --user or --list, one of them.")
        }
    }

    private struct Line: Encodable {
        var eventCount: Int
        var commitCount: Int
        var datasetCount: Int
        var recordingCount: Int
        var isDone: Bool
    }

    func perform(_ session: Session) async throws {
        if list { return try show(erasuresOf: session) }
        let data = try user.map { .user($0) } ?? PersonalData(feature: what ?? "")
        guard !session.isUp, session.supervisor == nil else {
            throw Failure(
                .conflict,
                "the site '\(session.site.path)' is up: what its processes hold in memory cannot "
                    + "be erased; stop it with 'cairn down'")
        }
        let erasure = SiteErasure(site: session.site, data)
        if dryRun { return try show(try erasure.count(), isDone: false, session.output) }
        let erased = try erasure.run()
        try await session.record(erased, in: .siteErasures)
        try show(erased, isDone: true, session.output)
    }

    private func show(_ erased: SiteErased, isDone: Bool, _ output: Output) throws {
        let line = Line(
            eventCount: erased.eventCount, commitCount: erased.commits.count,
            datasetCount: erased.datasets.count, recordingCount: erased.recordingCount,
            isDone: isDone)
        if output.isJSON { return try output.record(line) }
        try output.line(
            "\(line.eventCount) events in \(line.commitCount) commits, \(line.datasetCount) "
                + "datasets and \(line.recordingCount) recordings "
                + (isDone ? "hold it no longer" : "hold it"))
    }

    private func show(erasuresOf session: Session) throws {
        let log = try ArchivedLogReader(path: session.site.logFile)
        for record in try log.read(
            ReadRange(after: 0, limit: 100_000, filter: .stream(.siteErasures))
        ).events {
            let erased = try SiteErased.decode(record.event)
            if session.output.isJSON {
                try session.output.record(erased)
            } else {
                try session.output.line(
                    "\(record.globalPosition)  \(record.recordedAt)  \(erased.subject): "
                        + "\(erased.eventCount) events, \(erased.datasets.count) datasets")
            }
        }
    }
}
