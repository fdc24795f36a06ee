// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform
import Testing

@Suite struct FileSystemTests {
    @Test func `the disk of /proc is known by its number, and a missing path says so`() throws {
        #expect(try FileSystem.type(of: "/proc") == 0x9fa0)
        #expect(throws: PlatformError.self) { try FileSystem.type(of: "/no/such/path") }
    }

    @Test(arguments: [(0x6969, true), (0xff53_4d42, true), (0x9fa0, false), (0xef53, false)])
    func `network file systems are told from local ones`(type: Int, isRemote: Bool) {
        #expect(FileSystem.isRemote(type: type) == isRemote)
    }
}
