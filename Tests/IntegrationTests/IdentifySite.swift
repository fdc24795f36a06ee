// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Platform
import Site
import Synchronization
import TestKit
import Testing

/// A site whose log, map state, supervisor, identify workers and gateway are real processes, with
/// the map `Grid`: `side` × `side` squares of one unit, 0.2 apart from each other, in EPSG:3857.
final class IdentifySite: Sendable {
    let files: TestSite
    let site: Site
    let client: CairnClient
    let port: Int
    let map: MapName
    private let processes = Mutex<[String: [Int32]]>([:])

    init(side: Int, workers: Int = 1, gateway: [String] = []) async throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
        client = try CairnClient(site: site, patience: .seconds(30))
        port = try Loopback.freePort()
        map = try MapName(parsing: "Grid")
        for name in ["cairn-logd", "cairn-supervisor", "cairn-mapstate"] { try start(name) }
        for _ in 0..<workers { try start("cairn-worker --pool identify") }
        try start("cairn-gateway", ["--port", "\(port)"] + gateway)
        let path = files.path + "/squares.geojson"
        try Data(Self.squares(side).utf8).write(to: URL(filePath: path))
        let outcome = try await Programs.run(
            ["import", path, "--map", map.rawValue], site: files.path)
        try #require(outcome.status == 0, "\(outcome.errors) \(files.output())")
        try await waitForWorkers(workers)
        try await waitForGateway(port)
    }

    deinit {
        client.close()
        files.end()
    }

    private static func squares(_ side: Int) -> String {
        var text = #"{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"#
        text += #""EPSG:3857"}},"features":["#
        for y in 0..<side {
            for x in 0..<side {
                let (left, bottom) = (Double(x) * 1.2, Double(y) * 1.2)
                let (right, top) = (left + 1, bottom + 1)
                text += x + y == 0 ? "" : ","
                text += #"{"type":"Feature","properties":{"name":"\#(x)/\#(y)","row":\#(y)},"#
                text += #""geometry":{"type":"Polygon","coordinates":[[[\#(left),\#(bottom)],"#
                text += "[\(right),\(bottom)],[\(right),\(top)],[\(left),\(top)],"
                text += "[\(left),\(bottom)]]]}}"
            }
        }
        return text + "]}"
    }

    // MARK: Processes

    @discardableResult
    func start(
        _ name: String, _ arguments: [String] = [], failpoint: String? = nil
    ) throws -> Int32 {
        var environment = ["CAIRN_LOG": "notice"]
        environment["CAIRN_FAILPOINT"] = failpoint
        let processID = try files.start(name, arguments, environment: environment)
        processes.withLock { $0[name, default: []].append(processID) }
        return processID
    }

    func processIDs(_ name: String) -> [Int32] { processes.withLock { $0[name] ?? [] } }

    /// Kills the oldest process of that name.
    func kill(_ name: String) throws {
        let victim = processes.withLock {
            $0[name]?.isEmpty == false ? $0[name]?.removeFirst() : nil
        }
        files.kill(try #require(victim))
    }

    /// Waits until a process has been killed, by itself or another.
    func waitForKill(_ name: String, _ processID: Int32) throws {
        let status = files.waitForExit(processID)
        guard status == -SIGKILL else {
            throw Failure(.internal, "\(name) ended with \(status ?? 0): \(files.output())")
        }
        processes.withLock { $0[name]?.removeAll { $0 == processID } }
    }

    func waitForWorkers(_ count: Int) async throws {
        try await until("\(count) workers") { try await $0.client.workers().count == count }
    }

    func waitForGateway(_ port: Int) async throws {
        try await until("the gateway") { _ in
            guard let connection = Loopback(port: port) else { return false }
            connection.post("/healthz", "")
            return connection.answer()?.contains("\"healthy\":true") == true
        }
    }

    /// Waits until something holds, 40 s at most; a retriable failure is no answer.
    func until(
        _ what: String, _ condition: (IdentifySite) async throws -> Bool
    ) async throws {
        try await waitUntil(
            "there is \(what)", within: .seconds(40), every: .milliseconds(10),
            detail: files.output()
        ) {
            do {
                return try await condition(self)
            } catch let failure as Failure where failure.isRetriable {
                return false
            }
        }
    }

    /// The processor time a process has used, in seconds.
    static func processorSeconds(_ processID: Int32) -> Double {
        let stat = (try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)) ?? ""
        let fields = stat.drop { $0 != ")" }.split(separator: " ")
        guard fields.count > 12, let user = Double(fields[12]), let system = Double(fields[13])
        else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Whether no thread of a process is computing.
    static func isAtRest(_ processID: Int32) -> Bool {
        let folder = "/proc/\(processID)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.allSatisfy { thread in
            let stat = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)
            return stat?.split(separator: ")").last?.hasPrefix(" S") ?? true
        }
    }

    // MARK: Asking

    var path: String { "/arcgis/rest/services/\(map)/MapServer/identify" }

    /// A request for the features at one square.
    func request(x: Int, y: Int) -> IdentifyRequest {
        IdentifyRequest(
            map: map,
            geometry: .point(Coordinate(x: Double(x) * 1.2 + 0.5, y: Double(y) * 1.2 + 0.5)),
            layers: LayerSelection(.all), tolerance: 0,
            mapExtent: Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100),
            imageDisplay: ImageDisplay(width: 100, height: 100))
    }

    /// The request for one square as a form.
    func form(x: Int, y: Int) -> String {
        "geometry=\(Double(x) * 1.2 + 0.5),\(Double(y) * 1.2 + 0.5)" + Self.screen
    }

    private static let screen =
        "&layers=all&tolerance=0&mapExtent=0,0,100,100&imageDisplay=100,100,96&returnGeometry=false"

    /// A polygon over everything with so many teeth; heavy with many layers.
    static func comb(_ teeth: Int, side: Int) -> [Coordinate] {
        let width = Double(side) * 1.2
        var ring = [Coordinate(x: -1, y: -1)]
        for tooth in 0..<teeth {
            let x = width * Double(tooth) / Double(teeth)
            ring.append(Coordinate(x: x, y: width + 1))
            ring.append(Coordinate(x: x + 0.4 * width / Double(teeth), y: 0.05))
        }
        return ring + [Coordinate(x: width, y: -1), Coordinate(x: -1, y: -1)]
    }

    /// The polygon as a form.
    static func heavyForm(_ teeth: Int, side: Int) -> String {
        let ring = comb(teeth, side: side).map { "[\($0.x),\($0.y)]" }.joined(separator: ",")
        return "geometry={\"rings\":[[\(ring)]]}&geometryType=esriGeometryPolygon&timeout=60"
            + screen
    }
}
