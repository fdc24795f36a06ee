// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnClient
import CairnModel
import Foundation
import Geometry
import Site

/// Asks a running site, and the peers that serve the same layers, what is at seeded points.
///
/// Checks every answer and prints one JSON line per case. `deploy/bench identify` starts them all
/// and calls it.
@main struct BenchRequests: AsyncParsableCommand {
    @Option(help: "The site's directory.") var site: String
    @Option(help: "The gateway's port.") var port: Int
    @Option(help: "The map.") var map: String
    @Option(help: "xmin,ymin,xmax,ymax of the points, in the map's reference.") var box: String
    @Option(help: "Pixels.") var tolerance = 0.0
    @Option(help: "Map units per pixel.") var resolution = 0.01
    @Option(help: "Points.") var count = 2_000
    @Option(help: "Seconds per case.") var seconds = 3.0
    @Option(help: "Turns that a case is cut into.") var rounds = 1
    @Option(help: "Clients at once.") var clients = 8
    @Option(help: "LAYER=FILE.csv, with WKT and id: what the answers are checked against.")
    var truth: [String] = []
    @Option(help: "clicks, past, empty, heavy, memory or chaos.") var cases: [String] = ["clicks"]
    @Option(help: "As of which sequence number 'past' asks.") var at: Int64 = 1
    @Option(help: "What MapServer is called.") var mapserver = "MapServer"
    @Option(help: "The port that MapServer answers WMS on.") var mapserverPort: Int?
    @Option(help: "Its processes, 1,2,3; their children count too.")
    var mapserverProcesses = ""
    @Option(help: "libpq's words for the database with the layers.") var postgis: String?
    @Option(help: "Its process; its children count too.") var postgisProcess: Int32 = 0
    @Flag(help: "Clicks over HTTP only.") var http = false

    func run() async throws {
        let sides = box.split(separator: ",").compactMap { Double($0) }
        guard sides.count == 4 else { throw ValidationError("--box: four numbers") }
        let envelope = Envelope(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
        let layers = truth.map { String($0.prefix { $0 != "=" }) }
        let question = Question(
            map: map, layers: layers, tolerance: tolerance, resolution: resolution,
            points: Points.seeded(count, in: envelope))
        let client = try CairnClient(site: Site(opening: site))
        defer { client.close() }
        let bench = Bench(
            site: site, seconds: seconds, rounds: rounds, clients: clients, question: question,
            client: client)
        var isAsAsked = true
        for name in cases {
            let passes =
                switch name {
                case "clicks": try await clicks(question, client)
                case "past": try await past(question)
                case "empty": try await bench.emptyWork()
                case "heavy": try await bench.heavyWork()
                case "memory": try await bench.memory()
                case "chaos": try await bench.chaos()
                default: throw ValidationError("--cases: \(name)")
                }
            isAsAsked = passes && isAsAsked
        }
        if !isAsAsked { throw ExitCode(1) }
    }

    private func past(_ question: Question) async throws -> Bool {
        var then = question
        then.moment = at
        let contest = Contest(
            question: question, expected: nil, seconds: seconds, rounds: rounds,
            clients: clients)
        return try await contest.runPast(
            HTTPContender.cairn(then, port: port, site: site, name: "http, as of the past"),
            HTTPContender.cairn(question, port: port, site: site))
    }

    private func clicks(_ question: Question, _ client: CairnClient) async throws -> Bool {
        let expected = truth.isEmpty ? nil : try Truth(files: truth).answers(to: question)
        let http = HTTPContender.cairn(question, port: port, site: site)
        let mapServer = mapserverPort.map { port in
            HTTPContender.mapServer(
                question, name: mapserver, port: port,
                processes: mapserverProcesses.split(separator: ",").compactMap { Int32($0) })
        }
        let contest = Contest(
            question: question, expected: expected, seconds: seconds, rounds: rounds,
            clients: clients)
        if self.http { return try await contest.run([.init(ours: http, peer: mapServer)]) }
        let bus = BusContender(try question.clicks(), client: client, site: site)
        let database = try postgis.map {
            try PostGIS(
                question, database: $0, processes: [postgisProcess], clients: clients)
        }
        return try await contest.run([
            .init(ours: http, peer: mapServer), .init(ours: bus, peer: database),
        ])
    }
}
