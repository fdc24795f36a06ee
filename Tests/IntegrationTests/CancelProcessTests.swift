// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

/// An identify whose caller is gone stops using a worker: real processes, a question that would
/// keep one busy for long.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct CancelProcessTests {
    private static let side = 60
    private static let teeth = 1_000

    /// The squares, 60 layers of them.
    private func heavySite() async throws -> IdentifySite {
        let site = try await IdentifySite(side: Self.side)
        let map = try #require(try await site.client.map(named: site.map))
        let source = try #require(map.layers[0].kind.source)
        var last: Int64 = 0
        for number in 1..<60 {
            last = try await site.client.command(
                map: site.map,
                .addLayer(name: "again \(number)", source: source, place: LayerPlace())
            ).sequence
        }
        try await site.until("loaded layers") { site in
            try await site.client.map(named: site.map, minSequence: last)?.layers
                .allSatisfy { $0.properties != nil } == true
        }
        return site
    }

    @Test func `a worker is free again whichever client stops waiting, and however`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await heavySite()
        let worker = try #require(site.processIDs("cairn-worker --pool identify").first)
        let credit = try await site.client.supervisorStatus()[.identify]?.taskCredit
        let form = IdentifySite.heavyForm(Self.teeth, side: Self.side)
        var used: [Double] = []

        for round in 1...6 {
            let before = IdentifySite.processorSeconds(worker)
            var connection: Loopback?
            var task: Task<IdentifyAnswer, any Error>?
            var program: Process?
            switch round % 3 {
            case 0:
                connection = Loopback(port: site.port)
                connection?.post(site.path, form)
            case 1:
                let request = heavyRequest(site)
                task = Task { try await site.client.ask(.identify, request, timeout: .seconds(60)) }
            default: program = try startProgram(site)
            }
            try await site.until("a busy worker") { site in
                try await site.client.supervisorStatus()[.identify]?.runningTaskCount == 1
                    && IdentifySite.processorSeconds(worker) > before + 0.03
            }

            connection = nil
            task?.cancel()
            if let program { kill(program.processIdentifier, SIGTERM) }

            try await site.until("the end of round \(round)") { site in
                let status = try await site.client.supervisorStatus()
                return status.cancelledTaskCount == round
                    && status[.identify]?.runningTaskCount == 0
                    && status[.identify]?.taskCredit == credit
            }
            let after = IdentifySite.processorSeconds(worker)
            used.append(after - before)
            // The worker answers again, more than once.
            let answers = try await [
                site.client.ask(.identify, site.request(x: round, y: 3)),
                site.client.ask(.identify, site.request(x: 3, y: round)),
            ]
            #expect(answers.map(\.results.count) == [60, 60])
            program?.waitUntilExit()
        }

        let status = try await site.client.supervisorStatus()
        #expect(status.abandonedTaskCount == 6)
        #expect(status.expiredTaskCount == 0 && status.lostWorkerCount == 0)
        // The worker has nothing to do: its threads come to rest, and have used no time for it.
        let idle = IdentifySite.processorSeconds(worker)
        _ = try await site.client.ask(.identify, site.request(x: 1, y: 1))
        var restCount = 0
        try await site.until("a worker at rest") { _ in
            restCount = IdentifySite.isAtRest(worker) ? restCount + 1 : 0
            return restCount == 5
        }
        #expect(IdentifySite.processorSeconds(worker) - idle < 0.3)
        let whole = IdentifySite.processorSeconds(worker)
        // Complete or too large, it is not cancelled any more.
        do throws(Failure) {
            let answer = try await site.client.ask(
                .identify, heavyRequest(site), timeout: .seconds(110))
            #expect(answer.layers.count == 60)
        } catch {
            #expect(error.code == .tooLarge)
            #expect(error.message.contains("the answer has "), "\(error)")
        }
        print(
            "6 heavy identifies abandoned after \(used) s of processor time each; whole it takes "
                + "\(IdentifySite.processorSeconds(worker) - whole) s")
    }

    @Test func `an expired timeout is named, and stops the work`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await heavySite()

        let failure = await #expect(throws: Failure.self) {
            try await site.client.ask(.identify, heavyRequest(site), timeout: .milliseconds(200))
        }

        #expect(failure?.code == .timedOut)
        #expect(failure?.message.contains("limit of 200 ms") == true, "\(failure as Any)")
        let form = IdentifySite.heavyForm(Self.teeth, side: Self.side)
            .replacingOccurrences(of: "timeout=60", with: "timeout=0.25")
        let connection = try #require(Loopback(port: site.port))
        connection.post(site.path, form)
        let answer = connection.answer() ?? ""
        #expect(answer.contains("\"code\":504") && answer.contains("limit of 250 ms"), "\(answer)")
        try await site.until("an idle worker") { site in
            try await site.client.supervisorStatus()[.identify]?.runningTaskCount == 0
        }
    }

    private func heavyRequest(_ site: IdentifySite) -> IdentifyRequest {
        var request = site.request(x: 0, y: 0)
        request.geometry = .polygon(rings: [IdentifySite.comb(Self.teeth, side: Self.side)])
        request.returnGeometry = false
        return request
    }

    /// `cairn identify` with the heavy polygon.
    private func startProgram(_ site: IdentifySite) throws -> Process {
        let ring = IdentifySite.comb(Self.teeth, side: Self.side).map { "\($0.x) \($0.y)" }
        let path = site.files.path + "/comb.wkt"
        try "POLYGON((\(ring.joined(separator: ", "))))".write(
            toFile: path, atomically: true, encoding: .utf8)
        let program = Process()
        program.executableURL = URL(filePath: Programs.folder + "/cairn")
        program.arguments = [
            "identify", "--site", site.files.path, "--map", "Grid", "--geometry", "@" + path,
            "--layers", "all", "--tolerance", "0", "--timeout", "60",
        ]
        program.standardOutput = FileHandle.nullDevice
        program.standardError = FileHandle.nullDevice
        try program.run()
        return program
    }
}
