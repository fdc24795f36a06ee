// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Platform
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct DirectoryWatchTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "watch-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
    }

    private static let changes: [(name: String, change: @Sendable (String) throws -> Void)] = [
        ("a name that comes", { try Data().write(to: URL(filePath: $0 + "/new")) }),
        (
            "another file under the name",
            { try FileManager.default.moveItem(atPath: $0 + "/other", toPath: $0 + "/third") }
        ),
        ("a name that goes", { try FileManager.default.removeItem(atPath: $0 + "/file") }),
        (
            "other bytes",
            {
                let file = try #require(FileHandle(forWritingAtPath: $0 + "/file"))
                try file.write(contentsOf: Data("b".utf8))
                try file.close()
            }
        ),
        (
            "another mode",
            {
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o600], ofItemAtPath: $0 + "/file")
            }
        ),
    ]

    @Test(arguments: changes.indices)
    func `a wait without end hears of each change`(_ index: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["file", "other"] {
            try Data("a".utf8).write(to: URL(filePath: folder + "/" + name))
        }
        let (watch, wake) = (try DirectoryWatch(folder), try WakeSignal())
        let heard = Atomic<Bool>(false)
        let thread = try PinnedThread(name: "watch") {
            watch.wait(or: wake, milliseconds: -1)
            heard.store(true, ordering: .releasing)
        }
        try Self.changes[index].change(folder)
        thread.join()
        let hasHeard = heard.load(ordering: .acquiring)
        #expect(hasHeard)
    }

    @Test func `a wait ends by the signal, and by its time`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (watch, wake) = (try DirectoryWatch(folder), try WakeSignal())
        watch.wait(or: wake, milliseconds: 1)
        wake.wait(milliseconds: 1)
        wake.raise()
        watch.wait(or: wake, milliseconds: -1)
        wake.wait(milliseconds: -1)
        #expect(throws: PlatformError.self) { try DirectoryWatch(folder + "/none") }
    }
}
