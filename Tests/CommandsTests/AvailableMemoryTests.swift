// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import Commands

/// The memory that the system says is left.
@Suite struct AvailableMemoryTests {
    private static let memory = "MemTotal:  2000 kB\nMemFree: 1 kB\nMemAvailable:   1000 kB\n"

    private static func found(
        _ memory: String?, _ group: String? = "0::/a/b\n", _ files: [String: String] = [:]
    ) -> Int64? {
        AvailableMemory.byteCount(memory: memory, group: group) { files[$0] }
    }

    @Test func `without a limit the machine's memory counts`() {
        #expect(Self.found(Self.memory) == 1_024_000)
        #expect(Self.found(Self.memory, nil) == 1_024_000)
        #expect(
            Self.found(
                Self.memory, "0::/a/b\n",
                ["/a/b/memory.max": "max\n", "/a/b/memory.current": "5\n"]) == 1_024_000)
        #expect(Self.found(nil) == nil && Self.found("MemAvailable: much kB") == nil)
    }

    @Test func `the tightest group around the process counts`() {
        var files = ["/a/b/memory.max": "900\n", "/a/b/memory.current": "100\n"]
        #expect(Self.found(Self.memory, "12:cpu:/x\n0::/a/b\n", files) == 800)
        files["/a/memory.max"] = "700"
        files["/a/memory.current"] = "650"
        #expect(Self.found(Self.memory, "0::/a/b\n", files) == 50)
        files["/a/memory.current"] = "750"
        #expect(Self.found(Self.memory, "0::/a/b\n", files) == 0)
        let root = ["/memory.max": "40", "/memory.current": "30"]
        #expect(Self.found(nil, "0::/\n", root) == 10)
    }

    @Test func `this system says what it has left`() throws {
        #expect(try #require(AvailableMemory.byteCount) > 0)
    }
}
