// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Foundation
import LogService
import Site
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct LogServiceTests {
    let scratch: ScratchSite
    let running: RunningLog
    let client: LogClient

    init() throws {
        scratch = try ScratchSite()
        running = try RunningLog(scratch.site)
        client = try LogClient(scratch.site)
    }

    @Test(arguments: [
        ("log/archives", "000000000001-000000000009-0123456789ab.sqlite"),
        ("snapshots/maps", "x.snapshot"), ("snapshots/jobs", "x.snapshot"),
        ("recordings", "1-cairn-gateway-1.jsonl"), ("log", "events.sqlite-wal"),
    ])
    func `a site that has had a log does not begin another`(folder: String, name: String) throws {
        let lost = try ScratchSite()
        let directory = lost.site.path + "/" + folder
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: directory + "/" + name))

        let failure = #expect(throws: Failure.self) { try RunningLog(lost.site) }

        #expect(failure?.code == .notFound)
        #expect(failure?.message.contains(" there is \(folder)") == true)
        #expect(!FileManager.default.fileExists(atPath: lost.site.logFile))
        // A blob that precedes the first event is no evidence of a lost log.
        let fresh = try ScratchSite()
        _ = try fresh.site.blobs.put(Data("x".utf8), mediaType: "text/plain")
        try RunningLog(fresh.site).stop()
    }

    @Test func `appended events are read back in order, by stream and by category`()
        async throws
    {
        let (map, job) = (try stream("map-a"), try stream("job-b"))
        let first = try await client.log.append(
            [newEvent("1"), newEvent("2")], to: map, expected: .noStream)
        let second = try await client.log.append([newEvent("3")], to: job, expected: .noStream)

        #expect(first.firstPosition == 1 && first.lastPosition == 2 && !first.isRepeat)
        #expect(second.firstPosition == 3 && second.lastPosition == 3 && !second.isRepeat)
        let all = try await client.log.read(ReadRequest(after: 0, limit: 10))
        #expect(all.events.map(\.globalPosition) == [1, 2, 3])
        #expect(all.through == 3 && all.head == 3)
        #expect(
            try await client.log.events(stream: map).map(\.streamPosition) == [0, 1])
        #expect(
            try await client.log.events(category: "job", after: 0, limit: 9).map(\.stream) == [job])
        let head = try await client.log.head()
        #expect(head.head == 3 && head.categories == ["map": 2, "job": 3])
        #expect(head.incarnation != nil)
        running.stop()
    }

    @Test func `a subscriber gets the past, the present, and nothing twice`() async throws {
        let name = try stream("map-a")
        let handled = Handled()
        for number in 0..<50 {
            try await client.log.append([newEvent("\(number)")], to: name, expected: .any)
        }
        let subscription = try LogSubscription(bus: client.bus, log: client.log) { events, upTo in
            handled.take(events, upTo: upTo)
        }
        for number in 50..<100 {
            try await client.log.append([newEvent("\(number)")], to: name, expected: .any)
        }

        #expect(await handled.reached(100))
        #expect(handled.events.map(\.globalPosition) == Array(1...100))
        #expect(await eventually { !subscription.isStale })
        subscription.cancel()
        running.stop()
    }

    @Test func `a log stopped and started again in one process goes on where it was`() async throws
    {
        let name = try stream("map-a")
        try await client.log.append([newEvent("1")], to: name, expected: .noStream)
        running.stop()
        #expect(!FileManager.default.fileExists(atPath: scratch.site.logFile + "-wal"))

        let again = try RunningLog(scratch.site)
        let result = try await client.log.append([newEvent("2")], to: name, expected: .exact(0))

        #expect(result.firstPosition == 2)
        #expect(try await client.log.verify(after: 0).fault == nil)
        again.stop()
    }
}
