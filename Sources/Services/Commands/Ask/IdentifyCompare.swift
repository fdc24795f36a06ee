// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import MapState
internal import Terminal

extension IdentifyCommand {
    private struct Line: Encodable {
        var first: Int64
        var second: Int64
        var differences: [IdentifyComparison.Difference]
        var events: [EventLine]
    }

    /// Asks the same question as of both moments, and shows what differs and why.
    func compareAnswers(_ session: Session) async throws {
        let ask = try asking(session, until: .now + limit)
        var positions: [Int64] = []
        for moment in compare { positions.append(try await session.position(of: moment)) }
        let (first, second) = (positions.min() ?? 0, positions.max() ?? 0)
        var answers: [IdentifyAnswer] = []
        var maps: [MapDescription] = []
        for position in [first, second] {
            let plan = try await plan(session, at: .sequence(position))
            answers.append(try await plan.answer(ask))
            maps.append(plan.map)
        }
        var comparison = try IdentifyComparison(
            answers[0], answers[1], maps: (maps[0], maps[1]))
        var events: [RecordedEvent] = []
        try await session.forEachEvent(after: first, through: second, stream: .map(map)) {
            if try comparison.note($0) { events.append($0) }
        }
        if session.output.isJSON {
            return try session.output.record(
                Line(
                    first: first, second: second, differences: comparison.differences,
                    events: events.map(EventLine.init)))
        }
        try show(comparison, events, (first, second), session.output)
    }

    private func show(
        _ comparison: IdentifyComparison, _ events: [RecordedEvent],
        _ moments: (first: Int64, second: Int64), _ output: Output
    ) throws {
        if comparison.differences.isEmpty {
            return try output.line("the same answer at \(moments.first) and \(moments.second)")
        }
        for difference in comparison.differences {
            let sign = ["added": "+", "removed": "-"][difference.change] ?? "~"
            let by = difference.events.map { "\($0)" }.joined(separator: ", ")
            try output.line(
                "\(sign) \(difference.layer) \(difference.layerName): feature \(difference.feature)"
                    + (by.isEmpty ? "" : "  by \(by)"))
            for field in difference.fields { try output.line("    " + field.line) }
        }
        for event in events {
            let actor = event.event.metadata.actor.map { "  by \($0)" } ?? ""
            try output.line(event.line + actor)
        }
    }
}
