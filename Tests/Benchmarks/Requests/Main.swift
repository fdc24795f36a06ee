// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnClient
import CairnModel
import Foundation
import Geometry

/// Asks a running site for what is at seeded points, over HTTP and over the bus.
///
/// Checks every answer and prints one JSON line per case. `deploy/bench identify` starts the site and calls it.
@main struct BenchRequests: AsyncParsableCommand {
    @Option(help: "The site's directory.") var site: String
    @Option(help: "The gateway's port.") var port: Int
    @Option(help: "The map.") var map: String
    @Option(help: "xmin,ymin,xmax,ymax of the points, in the map's reference.") var box: String
    @Option(help: "Pixels.") var tolerance = 0.0
    @Option(help: "Map units per pixel.") var resolution = 0.01
    @Option(help: "Points.") var count = 2_000
    @Option(help: "Seconds per case.") var seconds = 3.0
    @Option(help: "Clients at once.") var clients = 8
    @Option(help: "LAYER=FILE.csv, with WKT and id: what the answers are checked against.")
    var truth: [String] = []
    @Option(help: "http, bus, empty, heavy or chaos.") var cases: [String] = ["http", "bus"]

    func run() async throws {
        let sides = box.split(separator: ",").compactMap { Double($0) }
        guard sides.count == 4 else { throw ValidationError("--box: four numbers") }
        let envelope = Envelope(minX: sides[0], minY: sides[1], maxX: sides[2], maxY: sides[3])
        let points = Points.seeded(count, in: envelope)
        let question = Question(
            map: map, tolerance: tolerance, resolution: resolution, points: points)
        let expected =
            truth.isEmpty ? nil : try Truth(files: truth).answers(to: question)
        let bench = Bench(
            site: site, seconds: seconds, clients: clients, question: question, expected: expected)
        for name in cases {
            switch name {
            case "http": try bench.http(port: port)
            case "bus": try await bench.bus()
            case "empty": try await bench.emptyWork()
            case "heavy": try await bench.heavyWork()
            case "chaos": try await bench.chaos()
            default: throw ValidationError("--cases: \(name)")
            }
        }
    }
}

/// Points that are the same on every machine.
enum Points {
    static func seeded(_ count: Int, in box: Envelope) -> [Coordinate] {
        var state: UInt64 = 7
        func next() -> Double {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return Double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53
        }
        return (0..<count).map { _ in
            let x = box.minX + next() * (box.maxX - box.minX)
            let y = box.minY + next() * (box.maxY - box.minY)
            // Six decimals, so that text and number are the same place.
            return Coordinate(x: (x * 1e6).rounded() / 1e6, y: (y * 1e6).rounded() / 1e6)
        }
    }
}

/// What is asked.
struct Question {
    let map: String
    let tolerance: Double
    let resolution: Double
    let points: [Coordinate]

    private static let pixels = 1_000.0

    private func extent(_ point: Coordinate) -> Envelope {
        let half = resolution * Self.pixels / 2
        return Envelope(
            minX: point.x - half, minY: point.y - half, maxX: point.x + half, maxY: point.y + half)
    }

    func path(_ point: Coordinate) -> String {
        let extent = extent(point)
        return "/arcgis/rest/services/\(map)/MapServer/identify?geometry=\(point.x),\(point.y)"
            + "&geometryType=esriGeometryPoint&layers=all&tolerance=\(tolerance)"
            + "&mapExtent=\(extent.minX),\(extent.minY),\(extent.maxX),\(extent.maxY)"
            + "&imageDisplay=1000,1000,96&returnGeometry=false&f=json"
    }

    func request(_ geometry: Shape, at point: Coordinate) throws(Failure) -> IdentifyRequest {
        IdentifyRequest(
            map: try MapName(parsing: map), geometry: geometry, layers: LayerSelection(.all),
            tolerance: tolerance, mapExtent: extent(point),
            imageDisplay: ImageDisplay(width: Self.pixels, height: Self.pixels),
            returnGeometry: false)
    }
}
