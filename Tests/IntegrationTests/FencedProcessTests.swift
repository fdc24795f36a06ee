// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// A process that was stopped, taken for dead and replaced, and then wakes up.
@Suite(.serialized, .timeLimit(.minutes(2)), .processes) struct FencedProcessTests {
    let files: TestSite
    let site: Site
    let client: CairnClient

    init() throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
        client = try CairnClient(site: site, patience: .seconds(60))
        try files.start("cairn-logd")
    }

    /// Removes the locks of a stopped process, as a careless operator would, and starts its
    /// successor; returns when that serves `endpoint`.
    private func replace(_ name: String, serving endpoint: String) async throws {
        let socket = site.runDirectory + "/" + endpoint
        let old = inode(socket)
        #expect(old != nil)
        for file in try FileManager.default.contentsOfDirectory(atPath: site.runDirectory)
        where file == name + ".lock"
            || file.hasPrefix(endpoint.prefix(4)) && file.hasSuffix(".lock")
        {
            try FileManager.default.removeItem(atPath: site.runDirectory + "/" + file)
        }
        try files.start(name)
        try await waitUntil(
            "a successor serves \(endpoint)", within: .seconds(40), detail: files.output()
        ) {
            inode(socket) != old && inode(socket) != nil
        }
    }

    private func inode(_ path: String) -> UInt64? {
        let found = try? FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber]
        return (found as? NSNumber)?.uint64Value
    }

    /// The events of the log, by type and stream.
    private func events() async throws -> [RecordedEvent] {
        try await LogReader(bus: client.bus).read(ReadRequest(after: 0, limit: 1_000)).events
    }

    @Test func `a map state that wakes up after its successor began writes nothing and ends`()
        async throws
    {
        defer { files.end() }
        let zombie = try files.start("cairn-mapstate")
        let (world, ghost) = (try MapName(parsing: "World"), try MapName(parsing: "Ghost"))
        let requester = try client.requester(.mapRequests)
        func ask(_ map: MapName) async throws -> Message {
            try await requester.request(
                operation: "command",
                payload: CairnJSON.encode(
                    MapCommandRequest(id: .timeOrdered(), map: map, command: .createMap)),
                timeout: .seconds(60))
        }
        _ = try await client.command(map: world, .createMap)
        _ = try await ask(try MapName(parsing: "Early"))

        try files.freeze(zombie)
        let asked = Task { try await ask(ghost) }
        try await replace("cairn-mapstate", serving: "map.req")
        let other = try CairnClient(site: site, patience: .seconds(60))
        defer { other.close() }
        _ = try await other.command(map: try MapName(parsing: "Late"), .createMap)
        files.signal(zombie, SIGCONT)

        #expect(files.waitForExit(zombie) == 75, "\(files.output())")
        #expect(files.output().contains("cairn-mapstate: the append to 'map-Ghost' comes from"))
        await #expect {
            _ = try await asked.value
        } throws: {
            ($0 as? Failure)?.isRetriable == true
        }
        _ = try await other.command(map: world, .addGroup(name: "Still here", place: .init()))
        #expect(
            try await events().map(\.stream.rawValue)
                == ["map-World", "map-Early", "map-Late", "map-World"])
    }

    @Test func `a supervisor that wakes up after its successor began writes nothing and ends`()
        async throws
    {
        defer { files.end() }
        let zombie = try files.start("cairn-supervisor")
        let input = try site.blobs.put(Data("id,query\n1,Paris\n".utf8), mediaType: "text/csv")
        func submission() -> JobSubmission {
            JobSubmission(
                id: JobID(rawValue: .timeOrdered()), kind: .batchGeocode, parameters: [:],
                input: input)
        }
        _ = try await client.submit(submission())
        let late = submission()

        try files.freeze(zombie)
        let client = client
        let submitted = Task { try await client.submit(late) }
        try await replace("cairn-supervisor", serving: "sup.req")
        let other = try CairnClient(site: site, patience: .seconds(60))
        defer { other.close() }
        _ = try await other.submit(submission())
        files.signal(zombie, SIGCONT)

        #expect(files.waitForExit(zombie) == 75, "\(files.output())")
        #expect(files.output().contains("cairn-supervisor: the append to"))
        // The client retries, and the successor takes the job, once.
        #expect(try await submitted.value.id == late.id)
        let begun = try await events().filter { $0.event.type == JobSubmitted.eventType }
        #expect(begun.count == 3 && Set(begun.map(\.stream)).count == 3)
        #expect(begun.last?.stream == .job(late.id))
        #expect(
            try await LogReader(bus: other.bus).verify(after: 0).fault == nil)
    }
}
