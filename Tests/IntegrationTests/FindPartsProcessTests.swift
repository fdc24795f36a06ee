// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Geometry
import Glibc
import Site
import TestKit
import Testing

/// Finds with answers in parts from real processes while the map changes between the parts,
/// re-executed by `cairn replay`.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct FindPartsProcessTests {
    private static let count = 130
    private static let text = String(repeating: "wort ", count: 13_000)

    /// A second layer, of large values.
    private func makeSite() async throws -> IdentifySite {
        let site = try await IdentifySite(side: 2, workers: 0, gateway: ["--record", "all"])
        for _ in 0..<2 { try site.start("cairn-worker --pool identify", ["--record", "all"]) }
        let path = site.files.path + "/texts.geojson"
        let features = (1...Self.count).map { number in
            #"{"type":"Feature","properties":{"name":"\#(number) \#(Self.text)"},"#
                + #""geometry":{"type":"Point","coordinates":[0,\#(number % 80)]}}"#
        }
        try (#"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}")
            .write(toFile: path, atomically: true, encoding: .utf8)
        let outcome = try await Programs.run(
            ["import", path, "--map", site.map.rawValue], site: site.files.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        try await site.waitForWorkers(2)
        return site
    }

    private func draft(_ number: Int) -> FeatureDraft {
        FeatureDraft(
            shape: .point(Coordinate(x: 0, y: 0)),
            attributes: Attributes([
                .init(name: "name", value: .string("new \(number) \(Self.text)"))
            ]))
    }

    /// Each part requested by itself, with an edit before the next; all of the map as of the first
    /// part.
    private func find(
        _ first: FindRequest, at site: IdentifySite, _ requester: Requester, round: Int64
    ) async throws -> (parts: [QueryAnswer], sequence: Int64) {
        var (request, parts, last) = (first, [QueryAnswer](), Int64(0))
        repeat {
            let payload = try CairnJSON.encode(request)
            let message = try await requester.request(
                operation: "find", payload: payload, kind: .task,
                pool: WorkerPool.identify.rawValue, timeout: .seconds(60))
            let part = try QueryAnswer(wireForm: message.payload)
            parts.append(part)
            // Features already sent, the one where the part ends, and later ones change.
            let number = Int64(parts.count)
            let edits = FeatureEdits(
                adds: [draft(Int(number))],
                deletes: [
                    round * 10 + number, round * 10 + 40 + number,
                    part.next?.place?.objectID ?? round * 10 + 100 + number,
                ])
            last = try await site.client.command(
                map: site.map, .editFeatures(layer: 1, edits: edits)
            ).sequence
            request.at = parts[0].sequence
            request.minSequence = nil
            request.part = part.next
        } while request.part != nil
        return (parts, last)
    }

    @Test func `parts join to the map as it was when the first was asked, and are answered again`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await makeSite()
        _ = try await site.client.command(
            map: site.map, .setEditable(layer: 1, isEditable: true))
        let bus = try BusThread(name: "parts", runDirectory: site.site.runDirectory)
        defer { bus.stop() }
        let requester = try bus.connectRequester(.supervisorRequests)
        var request = FindRequest(map: site.map, text: "WORT")
        request.returnGeometry = false
        var asked = 0
        for round in 0..<2 {
            let (parts, last) = try await find(request, at: site, requester, round: Int64(round))
            #expect(parts.count > 2)
            #expect(Set(parts.map(\.sequence)).count == 1)
            let joined = parts.flatMap(\.body)
            asked += parts.count

            var whole = request
            whole.at = parts[0].sequence
            let past = try await site.client.ask(.find, whole: whole, timeout: .seconds(60))
            #expect(past.body == joined)
            var present = request
            present.minSequence = last
            let now = try await site.client.ask(.find, whole: present, timeout: .seconds(60))
            #expect(now.body != joined)
            #expect(String(decoding: now.body, as: UTF8.self).contains("new \(parts.count) "))
            // The parts of both are as long as the others.
            asked += [past, now].reduce(0) { $0 + $1.body.count / (6 << 20) + 1 }
            request.minSequence = last
            // Another process answers the next, from the log alone.
            try await site.until("\(asked) lines") { try lines($0) >= asked }
            if round == 0 {
                try site.kill("cairn-worker --pool identify")
                try site.start("cairn-worker --pool identify", ["--record", "all"])
                try await site.waitForWorkers(2)
            }
        }

        let compared = try await Programs.run(
            ["replay", "--compare", "--json"], site: site.files.path)

        #expect(compared.status == 0, "\(compared.output.prefix(2_000)) \(compared.errors)")
        let summary = try #require(
            try JSONSerialization.jsonObject(with: Data(compared.output.utf8)) as? [String: Any])
        #expect(summary["comparedCount"] as? Int == asked)
        #expect(summary["differingCount"] as? Int == 0)
        #expect(summary["incomparableCount"] as? Int == 0)
    }

    /// Number of recorded requests.
    private func lines(_ site: IdentifySite) throws -> Int {
        let folder = site.files.path + "/recordings"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return try names.reduce(0) { count, name in
            try count + Self.lineCount(Data(contentsOf: URL(filePath: folder + "/" + name)))
        }
    }

    /// By the C library: a loop over tens of megabytes is slow in a debug build.
    private static func lineCount(_ data: Data) -> Int {
        unsafe data.withUnsafeBytes { bytes in
            var (count, rest) = unsafe (0, bytes[...])
            while let start = unsafe UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                let end = unsafe memchr(start, Int32(UInt8(ascii: "\n")), rest.count)
            {
                count += 1
                unsafe rest = rest.dropFirst(UnsafeRawPointer(end) - start + 1)
            }
            return count
        }
    }
}
