// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc
import Platform
import Testing

struct WakeLatencyTests {
    @Test func `demands are numbers of four bytes, and none is -1`() throws {
        let path = NSTemporaryDirectory() + "cairn-latency-" + UUID().uuidString
        try Data().write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let latency = try WakeLatency(device: path)

        try latency.demand(microseconds: 0)
        try latency.demand(microseconds: 30)
        try latency.demand(microseconds: nil)

        let written = try Data(contentsOf: URL(filePath: path))
        #expect([UInt8](written) == [0, 0, 0, 0, 30, 0, 0, 0, 255, 255, 255, 255])
    }

    @Test func `a machine without the device says so`() {
        #expect(throws: PlatformError(code: ENOENT, operation: "open", subject: "/nowhere/q")) {
            _ = try WakeLatency(device: "/nowhere/q")
        }
    }

    /// Another thread sleeps and is woken up, while this one waits once; the count is the whole
    /// process's.
    @Test func `every time a thread was woken up counts`() throws {
        let before = WakeLatency.wakeUpCount
        let thread = try PinnedThread(name: "sleeper") {
            for _ in 0..<20 { _ = poll(nil, 0, 1) }
        }
        thread.join()
        #expect(WakeLatency.wakeUpCount >= before + 20)
    }
}
