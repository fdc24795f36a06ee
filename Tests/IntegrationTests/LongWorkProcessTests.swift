// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Synchronization
import TestKit
import Testing

/// A worker with a long answer under way, held in the middle of it, and what it answers meanwhile.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct LongWorkProcessTests {
    private func site() async throws -> (IdentifySite, Gate) {
        let site = try await IdentifySite(side: 20, workers: 0, gateway: ["--no-identify-at-once"])
        let gate = try Gate(site.files.path + "/gate")
        try site.start(
            "cairn-worker --pool identify", failpoint: "worker.longTask:hold=\(gate.path)")
        try await site.waitForWorkers(1)
        return (site, gate)
    }

    /// A click that no thread but a task's answers: with a polygon.
    private func click(_ site: IdentifySite, _ number: Int) -> IdentifyRequest {
        var request = site.request(x: number, y: number)
        let (low, high) = (Double(number) * 1.2 + 0.2, Double(number) * 1.2 + 0.6)
        request.geometry = .envelope(Envelope(minX: low, minY: low, maxX: high, maxY: high))
        return request
    }

    private static let world = Envelope(minX: 0, minY: 0, maxX: 24, maxY: 24)

    @Test func `clicks and short queries are answered before the picture under way`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, gate) = try await site()
        let isDrawn = Mutex(false)
        let request = ExportRequest(map: site.map, extent: Self.world, width: 512, height: 512)
        let picture = Task {
            let picture = try await site.client.ask(.export, request, timeout: .seconds(100))
            isDrawn.withLock { $0 = true }
            return picture
        }
        let held = try await gate.arrival()
        let find = Task {
            try await site.client.ask(
                .find, whole: FindRequest(map: site.map, text: "3/4"), timeout: .seconds(100))
        }

        for number in 0..<10 {
            let answer = try await site.client.ask(.identify, click(site, number))
            #expect(answer.results.map(\.value) == [.string("\(number)/\(number)")])
        }
        var query = QueryRequest(map: site.map, layer: 0)
        (query.clause, query.result) = ("row = 3", .count)
        let count = try await site.client.ask(.query, whole: query)
        #expect(String(decoding: count.body, as: UTF8.self) == #"{"count":20}"#)

        #expect(isDrawn.withLock { !$0 })
        try held.close()
        let drawn = try await picture.value
        #expect(drawn.head.width == 512)
        try await gate.arrival().close()
        #expect(String(decoding: try await find.value.body, as: UTF8.self).contains("3/4"))
        // The same bytes as from an idle worker.
        try site.kill("cairn-worker --pool identify")
        try site.start("cairn-worker --pool identify")
        try await site.waitForWorkers(1)
        #expect(
            try await site.client.ask(.export, request, timeout: .seconds(100)).bytes == drawn.bytes
        )
    }

    @Test func `a held picture can be given up, and leaves its credit`() async throws {
        guard Programs.areBuilt() else { return }
        let (site, gate) = try await site()
        let request = ExportRequest(map: site.map, extent: Self.world, width: 64, height: 64)
        let first = Task { try await site.client.ask(.export, request, timeout: .seconds(100)) }
        let held = try await gate.arrival()
        let second = Task { try await site.client.ask(.export, request, timeout: .seconds(100)) }
        try await site.until("both pictures at the worker") { site in
            try await site.client.supervisorStatus()[.identify]?.runningTaskCount == 2
        }

        first.cancel()
        second.cancel()

        // The unstarted one is over although the thread is blocked.
        try await site.until("the end of the second") { site in
            try await site.client.supervisorStatus()[.identify]?.runningTaskCount == 1
        }
        try held.close()
        try await site.until("the end of the first") { site in
            try await site.client.supervisorStatus()[.identify]?.runningTaskCount == 0
        }
        #expect(try await site.client.ask(.identify, click(site, 4)).results.count == 1)
    }

    @Test func `more pictures than all workers have credit for leave it to clicks`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 20, workers: 0, gateway: ["--no-identify-at-once"])
        let gates = try (0..<2).map { try Gate(site.files.path + "/gate\($0)") }
        for gate in gates {
            try site.start(
                "cairn-worker --pool identify", failpoint: "worker.longTask:hold=\(gate.path)")
        }
        try await site.waitForWorkers(2)
        let pictures = (0..<100).map { number in
            Task {
                try await site.client.ask(
                    .export,
                    ExportRequest(
                        map: site.map, extent: Self.world, width: 20 + number, height: 20),
                    timeout: .seconds(200))
            }
        }
        var held: [FileHandle] = []
        for gate in gates { held.append(try await gate.arrival()) }
        try await site.until("every picture at its supervisor") { site in
            let status = try await site.client.supervisorStatus()[.identify]
            return status.map { $0.runningTaskCount + $0.waitingTaskCount } == pictures.count
                && status?.taskCredit == 64
        }

        for number in 0..<20 {
            let answer = try await site.client.ask(.identify, click(site, number))
            #expect(answer.results.map(\.value) == [.string("\(number)/\(number)")])
        }
        // The oldest of its tasks may be the cause of its death: no picture is lost with it.
        try site.kill("cairn-worker --pool identify")
        let last = try await site.client.ask(.identify, click(site, 3))
        #expect(last.results.map(\.value) == [.string("3/3")])
        try await site.until("every picture still at the supervisor") { site in
            let status = try await site.client.supervisorStatus()[.identify]
            return status.map { $0.runningTaskCount + $0.waitingTaskCount } == pictures.count
        }

        // A thread finds no gate that it should stop at.
        for gate in gates { try FileManager.default.removeItem(atPath: gate.path) }
        for handle in held { try handle.close() }
        for (number, picture) in pictures.enumerated() {
            #expect(try await picture.value.head.width == 20 + number)
        }
    }
}
