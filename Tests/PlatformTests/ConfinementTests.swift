// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc
import Platform
import TestKit
import Testing

@Suite struct ConfinementTests {
    private let directory = NSTemporaryDirectory() + "cairn-confined-" + UUID().uuidString

    init() throws {
        for name in ["/read", "/write", "/other"] {
            try FileManager.default.createDirectory(
                atPath: directory + name, withIntermediateDirectories: true)
            try Data("text".utf8).write(to: URL(filePath: directory + name + "/file"))
        }
    }

    /// Runs `body` behind the walls, with the directories `read` and `write`.
    private func confined<Value>(_ body: () throws -> Value) throws -> Value {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        return try Confinement.run(
            "confined", reading: [directory + "/read"], writing: [directory + "/write"], body)
    }

    /// The error of a call that has failed; 0 where it has not.
    private static func error(_ descriptor: Int32) -> Int32 {
        guard descriptor < 0 else {
            close(descriptor)
            return 0
        }
        return errno
    }

    /// Whether this kernel supports a wall; prints a line where it does not.
    private func has(_ wall: Confinement.Wall, _ test: String = #function) -> Bool {
        let isThere = Confinement.walls.contains(wall)
        if !isThere { print("skipped \(test): this kernel has no wall '\(wall.rawValue)'") }
        return isThere
    }

    @Test func `behind the wall of files only what was named is opened`() throws {
        guard has(.files) else { return }
        let other = directory + "/other/file"
        let link = directory + "/write/link"

        let errors = try confined { () -> [Int32] in
            [
                Self.error(unsafe open(directory + "/read/file", O_RDONLY)),
                Self.error(unsafe open(directory + "/write/new", O_RDWR | O_CREAT, 0o600)),
                unsafe symlink(other, link),
                Self.error(unsafe open("/etc/passwd", O_RDONLY)),
                Self.error(unsafe open(other, O_RDONLY)),
                Self.error(unsafe open(link, O_RDONLY)),
                Self.error(unsafe open(directory + "/read/file", O_WRONLY)),
                Self.error(unsafe open(directory + "/read/new", O_RDWR | O_CREAT, 0o600)),
                unsafe unlink(other) == 0 ? 0 : errno,
                unsafe rename(other, directory + "/write/other") == 0 ? 0 : errno,
            ]
        }

        #expect(errors.prefix(3).allSatisfy { $0 == 0 }, "\(errors)")
        #expect(errors.dropFirst(3).allSatisfy { [EACCES, EXDEV].contains($0) }, "\(errors)")
    }

    @Test func `behind the wall of calls there is no socket and no program`() throws {
        guard has(.calls) else { return }

        let errors = try confined { () -> [Int32] in
            var pair: [Int32] = [0, 0]
            return [
                Self.error(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)),
                Self.error(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)),
                unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 ? 0 : errno,
                kill(getpid(), 0) == 0 ? 0 : errno,
            ]
        }
        let isStarted = try? Confinement.run("confined", reading: ["/"], writing: []) {
            var child = pid_t()
            return unsafe posix_spawn(&child, "/bin/true", nil, nil, [nil], nil) == 0
        }

        #expect(errors == [EPERM, EPERM, EPERM, EPERM])
        #expect(isStarted == false)
    }

    @Test func `a thread started behind the walls is behind them`() throws {
        guard has(.files) else { return }
        let error = try confined {
            try BackgroundThread("inner") { Self.error(unsafe open("/etc/passwd", O_RDONLY)) }
                .value()
        }
        #expect(error == EACCES)
    }

    @Test func `the rest of the process is as it was, during and after`() throws {
        let (asked, answered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let before = try BackgroundThread("before") {
            asked.wait()
            defer { answered.signal() }
            return Self.error(unsafe open("/etc/passwd", O_RDONLY))
        }
        try confined {
            asked.signal()
            answered.wait()
        }
        let during = try before.value()
        #expect(during == 0)
        #expect(Self.error(unsafe open("/etc/passwd", O_RDONLY)) == 0)
        #expect(Self.error(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) == 0)
    }

    @Test func `an error of confined work is thrown`() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try confined { throw Refusal() } }
    }

    @Test func `this kernel has both walls, or says which are missing`() {
        let missing = Confinement.Wall.allCases.filter { !Confinement.walls.contains($0) }
        if !missing.isEmpty {
            print("an import has no wall of \(missing.map(\.rawValue).joined(separator: ", "))")
        }
        #expect(Set(Confinement.walls).count == Confinement.walls.count)
    }
}
