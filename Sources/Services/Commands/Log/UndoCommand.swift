// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import MapState

struct UndoCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo changes of a map.",
        discussion: """
            Puts back what the events with these sequence numbers changed in one map, as one \
            event, which can be undone too. Changes since then that build on them are listed, and \
            the undo is refused unless --also undoes them too, or --merge keeps what they changed \
            (of a feature, field by field). JSON: one {"undone":…,"dependents":…,"restored":…}, \
            with "sequence" where something was undone.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "A sequence number, or FIRST..LAST.", transform: UndoCommand.range)
    var events: ClosedRange<Int64>
    @Option(
        help: "The map; by default the one that the first event changed.",
        completion: .maps, transform: Reading.mapName)
    var map: MapName?
    @Option(name: .customLong("by"), help: "Only what this user changed.") var actor: String?
    @Flag(help: "Undo later changes that build on these too.") var also = false
    @Flag(help: "Keep what later changes set.") var merge = false
    @Flag(help: "Only show what would be undone.") var dryRun = false

    func validate() throws {
        guard !(also && merge) else { throw ValidationError("Give one of --also and --merge.") }
    }

    static func range(_ text: String) throws -> ClosedRange<Int64> {
        let parts = text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int64($0) }
        guard numbers.count == parts.count, let first = numbers.first, let last = numbers.last,
            1 <= first, first <= last
        else {
            throw Failure(
                .invalidParameter,
                "'\(text.prefix(80))': expected a sequence number, or two like 17..23")
        }
        return first...last
    }

    func perform(_ session: Session) async throws {
        let map = try await changedMap(session)
        var request = UndoRequest(events, by: actor, isDryRun: dryRun)
        request.policy = also ? .also : merge ? .merge : .refuse
        let result = try await session.client().command(
            map: map, .undo(request), actor: Session.actor)
        try show(result, of: map, session.output)
    }

    /// The map of the first event in the range.
    private func changedMap(_ session: Session) async throws -> MapName {
        if let map { return map }
        var found: MapName?
        var after = events.lowerBound - 1
        while found == nil, after < events.upperBound {
            let page = try await session.readableLog().read(ReadRequest(after: after, limit: 1_000))
            found = page.events.first { event in
                event.globalPosition <= events.upperBound && event.stream.category == "map"
            }.flatMap { MapName(rawValue: String($0.stream.rawValue.dropFirst(4))) }
            guard let last = page.events.last?.globalPosition else { break }
            after = last
        }
        guard let found else {
            throw Failure(.notFound, "no event of the range changes a map: give --map")
        }
        return found
    }

    // MARK: What is shown

    private struct Line: Encodable {
        var map: MapName
        var sequence: Int64?
        var undone: [UndoReport.Change]
        var dependents: [UndoReport.Dependent]
        var restored: [String]
    }

    private func show(
        _ result: MapCommandResult, of map: MapName, _ output: Output
    ) throws {
        guard let report = result.undo else {
            return try output.line("done before, as event \(result.sequence)")
        }
        if output.isJSON {
            return try output.record(
                Line(
                    map: map, sequence: dryRun ? nil : result.sequence, undone: report.undone,
                    dependents: report.dependents, restored: report.restored))
        }
        for change in report.undone {
            let actor = change.actor.map { " by \($0)" } ?? ""
            try output.line(
                "\(dryRun ? "would undo" : "undone") \(change.sequence) \(change.type)\(actor)")
        }
        let verb = also ? "also" : merge ? "kept" : "in the way"
        for dependent in report.dependents { try output.line("\(verb): \(dependent.text)") }
        let further = report.dependentCount - report.dependents.count
        if further > 0 { try output.line("\(verb): \(further) more") }
        for line in report.restored { try output.line("restored \(line)") }
        if report.restored.isEmpty, report.dependents.isEmpty {
            try output.line("nothing changes: all is as it was before")
        }
        if !dryRun, !report.restored.isEmpty {
            try output.line("map \(map) is at \(result.sequence)")
        }
    }
}
