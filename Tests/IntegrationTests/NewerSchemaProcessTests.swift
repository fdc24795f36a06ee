// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// A log with events of a newer build: a service stops instead of guessing, and reports why.
@Suite(.serialized, .timeLimit(.minutes(2)), .processes) struct NewerSchemaProcessTests {
    let files: TestSite
    let site: Site
    let client: CairnClient

    init() throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
        client = try CairnClient(site: site, patience: .seconds(30))
    }

    @Test func `every fold stops at an event of a newer schema with a sentence that names it`()
        async throws
    {
        defer { files.end() }
        try files.start("cairn-logd")
        let log = try LogReader(bus: client.bus)
        let job = JobID(rawValue: .timeOrdered())
        func newer(_ type: String) -> NewEvent {
            NewEvent(
                id: .timeOrdered(), type: type, schema: 999,
                data: Data(#"{"later":true}"#.utf8), metadata: EventMetadata())
        }
        try await log.append(
            [newer(MapCreated.eventType)], to: .map(try MapName(parsing: "World")),
            expected: .noStream, timeout: .seconds(30))
        try await log.append(
            [newer(LocatorPublished.eventType)], to: .locator("World"), expected: .noStream)
        try await log.append([newer(JobSubmitted.eventType)], to: .job(job), expected: .noStream)

        for name in [
            "cairn-mapstate", "cairn-worker --pool identify", "cairn-worker --pool locator",
        ] {
            let process = try files.start(name)
            #expect(files.waitForExit(process) == 1, "\(name): \(files.output())")
            #expect(files.output().contains("\(name): event"), "\(files.output())")
        }
        #expect(files.output().contains("has schema 999; this build knows schema"))

        // The supervisor continues with tasks, which need no jobs; requests about jobs fail with
        // the reason.
        try files.start("cairn-supervisor")
        var refusal: Failure?
        try await waitUntil("the job is refused", detail: String(describing: refusal)) {
            do throws(Failure) {
                _ = try await client.job(job)
            } catch {
                refusal = error
            }
            return refusal?.code == .newerVersion
        }
        #expect(refusal?.message.contains("schema 999") == true)
        #expect(try await log.head().head == 3)
    }
}
