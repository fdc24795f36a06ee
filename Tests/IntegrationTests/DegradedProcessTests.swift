// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// A site whose log has gone: what can be answered is answered, and nothing is acknowledged.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DegradedProcessTests {
    @Test func `without the log identify answers and says stale, and nothing is acknowledged`()
        async throws
    {
        let site = try await IdentifySite(side: 3)
        let before = try await site.client.identify(site.request(x: 1, y: 2))
        #expect(!before.isStale && before.layers.first?.results.count == 1)
        let head = try await LogReader(bus: site.client.bus).head().head

        try site.kill("cairn-logd")

        // Two seconds without a word from the log make an answer stale.
        try await site.until("a stale answer") {
            try await $0.client.identify($0.request(x: 1, y: 2)).isStale
        }
        let after = try await site.client.identify(site.request(x: 1, y: 2))
        #expect(after.layers == before.layers && after.sequence == before.sequence)
        let answer = try http(site)
        #expect(answer.head.contains("x-cairn-stale: true"))
        #expect(answer.body.contains("\"1/2\""))

        let patient = try CairnClient(site: site.site, patience: .seconds(5))
        defer { patient.close() }
        await refuses {
            _ = try await patient.command(
                map: site.map, .addGroup(name: "Late", place: .init()))
        }
        let input = try site.site.blobs.put(Data("x,y\n1,1\n".utf8), mediaType: "text/csv")
        let job = JobSubmission(
            id: JobID(rawValue: .timeOrdered()), kind: .batchGeocode, parameters: [:],
            input: input)
        await refuses { _ = try await patient.submit(job) }

        try site.start("cairn-logd")
        try await site.until("a fresh answer") {
            try await !$0.client.identify($0.request(x: 1, y: 2)).isStale
        }
        try await site.until("a fresh answer over HTTP") {
            try !http($0).head.contains("x-cairn-stale")
        }
        let log = try LogReader(bus: site.client.bus)
        let events = try await log.read(ReadRequest(after: head, limit: 100)).events
        // What was refused as out of reach is decided anew by whoever asked; nothing came by itself.
        #expect(!events.contains { $0.stream == .map(site.map) })
    }

    private func http(_ site: IdentifySite) throws -> (head: String, body: String) {
        let connection = try #require(Loopback(port: site.port))
        connection.post(site.path, site.form(x: 1, y: 2) + "&f=json")
        return try #require(connection.wholeAnswer())
    }

    /// Whatever is refused says so in a way that asks for another attempt.
    private func refuses(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("acknowledged without a log")
        } catch {
            #expect((error as? Failure)?.isRetriable == true, "\(error)")
        }
    }
}
