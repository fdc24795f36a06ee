// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Codecs
import FoundationEssentials
import Glibc
import Platform
import Testing

/// A directory that goes with its test.
private final class Folder {
    let path = "/tmp/cairn-staged-" + UUID().uuidString.prefix(8).lowercased()

    init() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: path + "/" + name).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    func write(_ text: String, isNameless: Bool) throws -> StagedFile {
        var file = try StagedFile(inDirectory: path, isNameless: isNameless)
        try file.write(Array(text.utf8))
        return file
    }
}

@Suite struct StagedFileTests {
    @Test(arguments: [true, false])
    func `a file is there under its name or not at all, and replaces or leaves another`(
        isNameless: Bool
    ) throws {
        let folder = try Folder()
        let path = folder.path + "/a"

        #expect(try folder.write("one", isNameless: isNameless).publish(as: path))
        #expect(folder.text("a") == "one")
        #expect(try folder.write("two", isNameless: isNameless).publish(as: path))
        #expect(folder.text("a") == "two")
        let third = try folder.write("three", isNameless: isNameless)
        #expect(try third.publish(as: path, replacing: false) == false)
        #expect(folder.text("a") == "two")
        let fourth = try folder.write("four", isNameless: isNameless)
        #expect(try fourth.publish(as: folder.path + "/b", replacing: false))
        #expect(folder.text("b") == "four")
        do {
            let dropped = try folder.write("five", isNameless: isNameless)
            #expect(dropped.byteCount == 4)
        }
        #expect(try folder.names() == ["a", "b"])
        var facts = stat()
        #expect(unsafe stat(path, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600)
        #expect(facts.st_nlink == 1)
    }

    @Test(arguments: [true, false])
    func `a staged file that cannot get its name says so and leaves nothing`(isNameless: Bool)
        throws
    {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/full/x", withIntermediateDirectories: true)

        #expect(throws: PlatformError.self) {
            try folder.write("one", isNameless: isNameless).publish(as: folder.path + "/full")
        }
        #expect(throws: PlatformError.self) {
            try folder.write("one", isNameless: isNameless)
                .publish(as: folder.path + "/none/a", replacing: false)
        }
        #expect(throws: PlatformError.self) {
            _ = try StagedFile(inDirectory: folder.path + "/none", isNameless: isNameless)
        }
        #expect(try folder.names() == ["full"])
    }

    @Test func `a process that is killed while it writes leaves nothing`() async throws {
        let folder = try Folder()
        let probe = try folder.write("one", isNameless: true)
        guard try folder.names().isEmpty else {
            return print("skipped: the file system of /tmp has no files without a name")
        }
        _ = consume probe
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = folder.path as String] in
            var file = try StagedFile(inDirectory: path)
            try file.write([UInt8](repeating: 7, count: 1 << 20))
            kill(getpid(), SIGKILL)
            try file.publish(as: path + "/a")
        }
        #expect(try folder.names() == [])
    }
}
