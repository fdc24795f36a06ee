// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Synchronization
import TestKit
import Testing

@testable import Commands

/// The messages of `cairn up` about a process that ends, with real processes.
@Suite(.timeLimit(.minutes(1))) struct ProcessSlotTests {
    private final class Said: Sendable {
        let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// Runs a script repeatedly until the given number of ends; returns the messages, with process
    /// ids as `N`.
    private func lines(_ script: String, ends: Int, log: String) throws -> [String] {
        var slot = ProcessSlot(
            ProcessPlan(
                role: .log, number: 1, path: "/bin/sh", arguments: ["-c", script], logPath: log))
        let said = Said()
        // A process may end between its start and the next check: its end is counted by its
        // message.
        var count: Int { said.lines.withLock { $0.count { $0.contains(" ended: ") } } }
        try blockUntil("the process has ended \(ends) times", detail: "\(count)") {
            slot.startIfDue { said.add($0) }
            slot.look { said.add($0) }
            return count >= ends
        }
        return said.lines.withLock { $0.map { $0.replacing(/pid \d+/, with: "pid N") } }
    }

    @Test func `the last words of a process are its own, never what was noted of one before`()
        throws
    {
        let directory = try GuardedDirectory(
            path: "/tmp/cairn-slot-" + UUID().uuidString.prefix(8).lowercased())
        defer { directory.end() }
        // The first prints a reason, the second ends silently, the third is killed after a message.
        let script = """
            cd '\(directory.path)'
            if [ ! -e one ]; then touch one; echo 'it cannot: no file'; exit 3; fi
            if [ ! -e two ]; then touch two; exit 4; fi
            echo 'well so far'; kill -9 $$
            """
        let said = try lines(script, ends: 3, log: directory.path + "/log")

        #expect(
            said == [
                "log (pid N) ended: exit 3; its last line: it cannot: no file",
                "log started again, pid N", "log (pid N) ended: exit 4",
                "log started again, pid N", "log (pid N) ended: signal 9",
            ])
        let log = try String(contentsOfFile: directory.path + "/log", encoding: .utf8)
        #expect(
            log.replacing(/process \d+/, with: "process N").split(separator: "\n") == [
                "it cannot: no file", "cairn up: process N ended: exit 3",
                "cairn up: process N ended: exit 4", "well so far",
                "cairn up: process N ended: signal 9",
            ])
    }
}
