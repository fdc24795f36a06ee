// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import EventLog
import Foundation
import Site
import TestKit
import Testing

/// A disk that is really full; needs the right to mount one, and prints a line without it.
@Suite(.timeLimit(.minutes(2)), .processes) struct FullDiskTests {
    let scratch: ScratchSite
    init() throws { scratch = try ScratchSite() }

    private func mount(_ arguments: [String]) throws -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test
    func `a log on a full disk refuses appends, answers reads, and goes on once there is space`()
        async throws
    {
        let folder = scratch.site.logDirectory
        guard try mount(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder]) else {
            print("skipped: no right to mount a small disk")
            return
        }
        defer { _ = try? mount(["umount", "-l", folder]) }
        let filler = URL(filePath: folder + "/filler")
        try Data(count: 1 << 20).write(to: filler)
        let client = try LogClient(scratch.site)
        let logd = try LogdProcess(scratch.site)
        let name = try stream("map-a")
        func append() async -> Failure.Code? {
            do {
                try await client.log.append(
                    [newEvent(String(repeating: "x", count: 10_000))], to: name, expected: .any,
                    timeout: .seconds(30))
                return nil
            } catch {
                return error.code
            }
        }

        var accepted: Int64 = 0
        var refusal: Failure.Code?
        while refusal == nil && accepted < 1_000 {
            refusal = await append()
            if refusal == nil { accepted += 1 }
        }
        #expect(refusal == .noSpace)
        #expect(accepted > 20)
        for _ in 0..<20 { #expect(await append() == .noSpace) }
        #expect(try await client.log.head().head == accepted)
        #expect(
            try await client.log.events(stream: name).count == Int(accepted))

        try FileManager.default.removeItem(at: filler)
        #expect(await append() == nil)
        #expect(try await client.log.head().head == accepted + 1)
        let page = try await client.log.verify(after: 0)
        #expect(page.fault == nil && page.checkedThrough == accepted + 1)
        logd.signal(SIGTERM)
        #expect(logd.waitForExit().status == 0)
    }
}
