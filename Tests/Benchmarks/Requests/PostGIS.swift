// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Geometry
import Glibc

/// PostGIS, queried through prepared statements of libpq in closed loops, all on the calling
/// thread.
///
/// One statement queries all layers; its parameter is the point, and the rows come back in the
/// database's form.
final class PostGIS: Contender {
    private struct Client {
        let connection: DatabaseConnection
        var asked = 0
        var since: Int64 = 0
    }

    let name: String
    private let layers: [String]
    private let processes: [Int32]
    private let points: [[UInt8]]
    private var clients: [Client] = []
    /// Answers of the checking pass; all later ones must be the same, byte for byte.
    private var expected: [[UInt8]] = []

    /// Opens as many connections as there are clients.
    init(_ question: Question, database: String, processes: [Int32], clients count: Int) throws {
        layers = question.layers
        self.processes = processes
        points = question.points.map(Self.extendedBinary)
        let statement = Self.statement(question)
        clients = try (0..<count).map { _ in
            Client(connection: try DatabaseConnection(database, statement: statement))
        }
        name =
            "PostGIS "
            + (try clients.first?.connection.value(of: "SELECT PostGIS_Lib_Version()") ?? "")
    }

    private static func statement(_ question: Question) -> String {
        let isNear =
            question.tolerance == 0
            ? "ST_Intersects(geom, $1::geometry)"
            : "ST_DWithin(geom, $1::geometry, \(question.tolerance * question.resolution))"
        return question.layers.enumerated().map { number, layer in
            "SELECT \(number), id, name, class, rank FROM \"\(layer)\" WHERE \(isNear)"
        }.joined(separator: " UNION ALL ")
    }

    /// EWKB of a point in EPSG:4326.
    private static func extendedBinary(_ point: Coordinate) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
            (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        return [1] + bytes(UInt32(0x2000_0001)) + bytes(UInt32(4326))
            + bytes(point.x.bitPattern) + bytes(point.y.bitPattern)
    }

    /// The first connection runs every question, the others enough to have planned and cached all.
    func answers() throws -> [[Hit]] {
        expected = []
        var found: [[Hit]] = []
        for client in clients.indices {
            let isFirst = client == 0
            for index in points.indices.prefix(isFirst ? points.count : 100) {
                try ask(index, client)
                let connection = clients[client].connection
                var wait = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
                while !(try connection.take(keepsNumbers: isFirst)) {
                    unsafe poll(&wait, 1, 30_000)
                }
                guard isFirst else { continue }
                expected.append(connection.rows)
                found.append(
                    connection.numbers.map { Hit(layer: layers[$0], id: $1) }.sorted())
            }
        }
        return found
    }

    func run(clients count: Int, seconds: Double) throws -> Measured {
        var waits = clients.prefix(count).map {
            pollfd(fd: $0.connection.descriptor, events: Int16(POLLIN), revents: 0)
        }
        var measured = Measured()
        var next = 0
        let start = HTTPLoad.now()
        let end = start + Int64(seconds * 1e9)
        for index in waits.indices {
            try ask(next % points.count, index)
            next += 1
        }
        var openCount = waits.count
        while openCount > 0 {
            guard unsafe poll(&waits, nfds_t(waits.count), 30_000) > 0 else {
                throw CocoaError(.fileReadUnknown)
            }
            for index in waits.indices where waits[index].revents != 0 {
                let client = clients[index]
                guard try client.connection.take(keepsNumbers: false) else { continue }
                let now = HTTPLoad.now()
                measured.nanoseconds.append(now - client.since)
                if client.connection.rows != expected[client.asked] { measured.wrongCount += 1 }
                if now < end {
                    try ask(next % points.count, index)
                    next += 1
                } else {
                    waits[index].fd = -1
                    openCount -= 1
                }
            }
        }
        measured.wall = Double(HTTPLoad.now() - start) / 1e9
        return measured
    }

    func processTimes() -> ProcessTimes { .trees(processes) }

    private func ask(_ index: Int, _ client: Int) throws {
        clients[client].asked = index
        clients[client].since = HTTPLoad.now()
        try clients[client].connection.ask(points[index])
    }
}
