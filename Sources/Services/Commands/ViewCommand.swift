// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ArgumentParser
internal import CairnClient
internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Geometry
internal import MapState
internal import PROJ
internal import Terminal

struct ViewCommand: SiteCommand {
    static let configuration = CommandConfiguration(
        commandName: "view", abstract: "Look at a map in the terminal.",
        discussion: """
            Press ? for the keys. NO_COLOR turns colours off. With --frame one screen of that size \
            is written as text, once everything in view is drawn. JSON (with --frame): columns, \
            rows, lines.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(
        help: "The map; by default the first one.", completion: .maps, transform: Reading.mapName)
    var map: MapName?
    @Option(help: "Show it as of this sequence number or time.", transform: Reading.asOf)
    var at: AsOf?
    @Option(help: "The network of routes; may be left out where the site has one only.")
    var network: String?
    @Option(help: "The travel mode of routes, such as 'Driving Time' or foot.") var mode: String?
    @Option(help: "Write one screen of so many columns and rows, '100x30', instead.")
    var frame: String?

    private struct Line: Encodable {
        var columns: Int
        var rows: Int
        var lines: [String]
    }

    func validate() throws {
        guard !common.json || frame != nil else {
            throw ValidationError("--json needs --frame: a terminal shows no JSON.")
        }
        _ = try size()
    }

    /// Columns and rows from `--frame`.
    private func size() throws -> (columns: Int, rows: Int)? {
        guard let frame else { return nil }
        let parts = frame.split(separator: "x").map { Int($0) ?? 0 }
        guard parts.count == 2, 20...1000 ~= parts[0], 6...1000 ~= parts[1] else {
            throw ValidationError("--frame takes 'COLUMNSxROWS', 20x6 to 1000x1000.")
        }
        return (parts[0], parts[1])
    }

    func perform(_ session: Session) async throws {
        let noColour = ProcessInfo.processInfo.environment["NO_COLOR"] ?? ""
        if let map { _ = try await session.map(map, at: at) }
        let client = try session.client()
        var position: Int64?
        if let at { position = try await client.position(of: at) }
        let view = ViewSession(
            client: client, map: map, at: position, actor: Session.actor,
            usesColour: noColour.isEmpty, project: Self.project,
            findRoute: ViewRoutes(
                client: client, network: network, mode: mode,
                known: try await session.networks(at: at).names
            ).best)
        guard let size = try size() else { return try await view.run() }
        let text = try await view.frame(columns: size.columns, rows: size.rows).text
        if session.output.isJSON {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            try session.output.record(
                Line(columns: size.columns, rows: size.rows, lines: lines.map(String.init)))
        } else {
            try session.output.write(text + "\n")
        }
    }

    /// The candidate's location in the map's spatial reference.
    private static func project(
        _ candidate: Candidate, _ target: SpatialReference
    ) throws(Failure) -> Place {
        let transform = try CoordinateTransform(from: .wgs84, to: target)
        let location = try transform.forward(candidate.location)
        var extent = Shape.point(location).envelope
        do throws(Failure) {
            extent = try transform.forward(Shape.envelope(candidate.extent)).envelope
        } catch {
            // A place at the edge of the projection's domain is shown without its surroundings.
        }
        return Place(label: candidate.address, location: location, extent: extent)
    }
}
