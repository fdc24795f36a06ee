// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// The real process, killed while it archives.
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct ArchiveProcessTests {
    let scratch: ScratchSite
    init() throws { scratch = try ScratchSite() }

    @Test(
        .slow,
        arguments: [
            "log.afterArchiveBeforeFloor:kill", "log.afterFloor:kill", "log.whileEvicting:kill@2",
        ])
    func `a log killed while it archives holds every event and ends with the archive`(
        point: String
    ) async throws {
        let client = try LogClient(scratch.site)
        let first = try LogdProcess(scratch.site, failpoint: point)
        for number in 0..<20 {
            try await client.log.append(
                (0..<100).map { newEvent("\(number).\($0)") }, to: try stream("job-\(number % 3)"),
                expected: .any, timeout: .seconds(30))
        }
        let before = try await client.log.events(category: "job", after: 0, limit: .max)
        #expect(before.count == 2_000)

        let archiving = Task { try await client.log.archive(through: 1_850) }
        #expect(first.waitForExit().status == -SIGKILL)
        let second = try LogdProcess(scratch.site)
        let archive = try? await archiving.value

        // Killed before, it starts again; killed after, there is nothing left to archive.
        #expect(
            archive == nil ? point != "log.afterArchiveBeforeFloor:kill" : archive?.last == 1_800)
        #expect(try await client.log.events(category: "job", after: 0, limit: .max) == before)
        try await verify(client, head: 2_000)
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: scratch.site.logDirectory + "/archives"
            ).filter { !$0.hasPrefix(".") }.count == 1)
        try await client.log.append([newEvent()], to: try stream("job-0"), expected: .exact(699))
        second.signal(SIGTERM)
        #expect(second.waitForExit().status == 0)
    }

    private func verify(_ client: LogClient, head: Int64) async throws {
        var position: Int64 = 0
        while position < head {
            let page = try await client.log.verify(after: position, limit: 300)
            #expect(page.fault == nil)
            guard page.checkedThrough > position else { break }
            position = page.checkedThrough
        }
        #expect(position == head)
    }
}
