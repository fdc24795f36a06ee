// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnModel
internal import MapState
internal import Routing
internal import Site
internal import Terminal

extension RoadChangeReport {
    /// The layer that the roads follow, and what has become of them in a network that was built
    /// anew; empty for neither.
    fileprivate var stateText: String {
        var parts: [String] = []
        if let followed { parts.append(followed.problem ?? followed.displayText) }
        if missingCount > 0 {
            parts.append(
                isFoundAgain
                    ? "\(missingCount) missing, found again by shape"
                    : followed == nil
                        ? "unresolved: \(missingCount) missing" : "\(missingCount) missing")
        }
        return parts.joined(separator: "; ")
    }
}

struct RoadList: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the changes that stand on a network.",
        discussion: """
            JSON: one line per change with number, effect, recordedAt, edgeCount, turnCount, \
            missingCount (edges or turns that a network that was built anew lacks), isFoundAgain, \
            isUnresolved, modes, from, until, hours, reason, shape, followed (map, layer, name, \
            clause, sequence, problem) and roads.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func perform(_ session: Session) async throws {
        let known = try await session.network(named: network, at: at)
        let opened = try RoutableNetwork(known.published, in: session.site.networksDirectory)
        var table = Table(
            ["change", "effect", "edges", "roads", "terms", "reason", "state"], numbers: [0, 2])
        for standing in known.changes {
            let line = opened.report(of: standing)
            if session.output.isJSON {
                try session.output.record(line)
                continue
            }
            var names: [String] = []
            for road in line.roads where !road.street.isEmpty && !names.contains(road.street) {
                names.append(road.street)
                if names.count == 3 { break }
            }
            table.add([
                "\(standing.number)", standing.change.effect.displayText, "\(line.edgeCount)",
                names.joined(separator: ", "), standing.change.termsText,
                standing.change.reason ?? "", line.stateText,
            ])
        }
        if !session.output.isJSON { try session.output.lines(table.lines) }
    }
}

struct RoadShow: ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a change that stands, with its roads.",
        discussion: "JSON: the line that 'cairn road list' has for it.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The network.") var network: String
    @Argument(help: "The number of the change.") var number: Int64
    @Option(help: "As of this sequence number or time.", transform: Reading.asOf) var at: AsOf?

    func perform(_ session: Session) async throws {
        let known = try await session.network(named: network, at: at)
        guard let standing = known.change(number) else {
            throw Failure(
                .notFound, "no change \(number) stands on network '\(known.published.name)'")
        }
        let opened = try RoutableNetwork(known.published, in: session.site.networksDirectory)
        let line = opened.report(of: standing)
        if session.output.isJSON { return try session.output.record(line) }
        var lines = ["change \(number): \(standing.change.displayText)"]
        lines.append("recorded \(standing.recordedAt.displayText)")
        // The first line names the layer.
        let isSaid = line.missingCount == 0 && line.followed?.problem == nil
        if !isSaid { lines.append(line.stateText) }
        lines += line.roads.map { road in
            "  \(road.edge.way):\(road.edge.segment)\(road.edge.isBackward ? ":back" : ":forward")"
                + "  \(RouteText.length(road.length))  \(road.street)"
        }
        try session.output.lines(lines)
    }
}
