// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import Platform
import Site
import Synchronization
import TestKit
import Testing

/// The drill: back up and archive a log that is being written, lose it, put the backup in its
/// place.
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct RestoreProcessTests {
    let files: TestSite
    let site: Site
    let client: CairnClient
    let world: MapName

    init() throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
        client = try CairnClient(site: site, patience: .seconds(60))
        world = try MapName(parsing: "World")
    }

    private func cairn(_ arguments: String...) async throws -> Programs.Outcome {
        let outcome = try await Programs.run(arguments, site: files.path)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome
    }

    @Test func `a log restored from a backup is the log of then, and processes ahead of it stop`()
        async throws
    {
        defer { files.end() }
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate", "cairn-gateway"]) else {
            return
        }
        let logd = try files.start("cairn-logd")
        let mapstate = try files.start("cairn-mapstate")
        let gateway = try files.start("cairn-gateway", ["--port", "\(try Loopback.freePort())"])
        _ = try await client.command(map: world, .createMap)
        let isOver = Atomic(false)
        let (client, world) = (client, world)
        let load = Task {
            var count = 0
            while !isOver.load(ordering: .relaxed) {
                _ = try await client.command(
                    map: world, .addGroup(name: "G\(count)", place: .init()))
                count += 1
            }
            return count
        }
        let log = try LogReader(bus: client.bus)
        while try await log.head().head < 40 { await Task.yield() }

        let early = try await cairn("map", "show", "World", "--at", "20", "--json")
        let backup = try await cairn("log", "backup", files.path + "/backup.sqlite", "--json")
        let head = try #require(backup.objects.first?["head"] as? Int)
        _ = try await cairn("log", "archive", "--through", "30")
        isOver.store(true, ordering: .relaxed)
        #expect(try await load.value > 0)
        for number in 0..<3 {
            _ = try await client.command(
                map: world, .addGroup(name: "Lost \(number)", place: .init()))
        }
        #expect(try await log.head().head > Int64(head))
        _ = try await cairn("log", "verify")
        #expect(
            try await cairn("map", "show", "World", "--at", "20", "--json").output == early.output)
        let then = try await cairn("map", "show", "World", "--at", "\(head)", "--json")
        let last = try await cairn("log", "show", "\(head)", "--json")

        let stopped = Mutex<Failure?>(nil)
        let subscription = try LogSubscription(
            bus: client.bus, log: log, onFault: { fault in stopped.withLock { $0 = fault } }
        ) { _, _ in }
        let end = try await log.head().head
        try await waitUntil("the subscription has event \(end)") { subscription.position >= end }
        files.signal(logd, SIGTERM)
        #expect(files.waitForExit(logd) == 0)
        let restored = try await cairn("log", "restore", files.path + "/backup.sqlite", "--json")
        #expect(restored.objects.first?["incarnation"] as? Int == 2)
        try files.start("cairn-logd")

        // Services ahead of the log stop: the gateway, the subscription, and the map state, which
        // would write on.
        #expect(files.waitForExit(gateway) == 1, "\(files.output())")
        #expect(files.output().contains("cairn-gateway: the event log has been replaced"))
        try await waitUntil("the subscription has stopped") { stopped.withLock { $0 } != nil }
        #expect(stopped.withLock { $0 }?.code == .conflict)
        let requester = try client.requester(.mapRequests)
        let refused = try? await requester.request(
            operation: "command",
            payload: CairnJSON.encode(
                MapCommandRequest(
                    id: .timeOrdered(), map: world,
                    command: .addGroup(name: "Late", place: .init()))),
            timeout: .seconds(60))
        #expect(refused == nil)
        #expect(files.waitForExit(mapstate) == 75, "\(files.output())")
        try files.start("cairn-mapstate")
        // The archive was made after the backup, which holds those events itself.
        #expect(try await log.head().head == Int64(head))
        _ = try await cairn("log", "verify")
        #expect(try await cairn("map", "show", "World", "--json").objects.count == 1)
        #expect(
            try await cairn("map", "show", "World", "--at", "\(head)", "--json").output
                == then.output)
        #expect(try await cairn("log", "show", "\(head)", "--json").output == last.output)
        let other = try CairnClient(site: site, patience: .seconds(60))
        defer { other.close() }
        let added = try await other.command(
            map: world, .addGroup(name: "After", place: .init()))
        #expect(added.sequence == Int64(head) + 1)
    }
}
