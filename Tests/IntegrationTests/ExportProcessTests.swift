// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Cairo
import Foundation
import Geometry
import TestKit
import Testing

/// Pictures through real processes.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct ExportProcessTests {
    private func isBlank(_ picture: ExportedPicture) throws -> Bool {
        try Canvas(png: Array(picture.bytes)).rgba().allSatisfy { $0 == 255 }
    }

    private func ask(_ port: Int, _ path: String) async throws -> (head: String, body: String) {
        let connection = try #require(Loopback(port: port))
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.get(path)
                continuation.resume(returning: connection.wholeAnswer())
            }
        }
        return try #require(answer)
    }

    @Test func `a map is drawn as it is and as it was, and in time`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 20)
        var request = ExportRequest(
            map: site.map, extent: Envelope(minX: 0, minY: 0, maxX: 24, maxY: 24), width: 120,
            height: 120)

        let before = try await site.client.ask(.export, request)
        #expect(try !isBlank(before))
        let hidden = try await site.client.command(
            map: site.map, .setVisibility(layer: 0, isVisible: false))
        request.minSequence = hidden.sequence
        let after = try await site.client.ask(.export, request)
        #expect(try isBlank(after) && after.head.sequence >= hidden.sequence)
        request.minSequence = nil
        request.at = before.head.sequence
        #expect(try await site.client.ask(.export, request).bytes == before.bytes)

        try await checkHTTP(site, at: before.head.sequence)
        try await checkRefusals(site, request)
    }

    private func checkHTTP(_ site: IdentifySite, at sequence: Int64) async throws {
        struct Body: Decodable { var href: String, width: Int, scale: Double }
        let path =
            "/arcgis/rest/services/Grid/MapServer/export?bbox=0,0,24,24&size=120,120&at=\(sequence)"
        let (head, text) = try await ask(site.port, path + "&f=json")
        let body = try JSONDecoder().decode(Body.self, from: Data(text.utf8))
        #expect(
            head.contains("x-cairn-sequence: \(sequence)\r\n")
                || head.contains("X-Cairn-Sequence: \(sequence)\r\n"))
        #expect(body.width == 120 && abs(body.scale - 0.2 * 96 * 39.37) < 1e-9)
        // The test calls the server "x".
        let rest = try #require(body.href.split(separator: "http://x", maxSplits: 1).first)
        let picture = try await ask(site.port, String(rest))
        #expect(picture.head.lowercased().contains("content-type: image/png"))
    }

    private func checkRefusals(_ site: IdentifySite, _ request: ExportRequest) async throws {
        var large = request
        (large.width, large.height) = (5_000, 10)
        await #expect(throws: Failure.self) { try await site.client.ask(.export, large) }
        let unknown = ExportRequest(
            map: try MapName(parsing: "Nowhere"), extent: request.extent)
        await #expect(throws: Failure.self) { try await site.client.ask(.export, unknown) }
        // The worker is as good as before.
        #expect(try await site.client.ask(.export, request).head.width == 120)
    }
}
