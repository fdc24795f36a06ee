// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// The base of the process tests: none of their processes survives.
@Suite(.timeLimit(.minutes(2)), .processes) struct GuardedDirectoryTests {
    private func start(_ arguments: [String], _ environment: [String: String] = [:]) throws
        -> Process
    {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    @Test func `every process that names the directory ends with it, and no other`() throws {
        let directory = try GuardedDirectory(path: Programs.newSite())
        let log = directory.path + "/log"
        #expect(FileManager.default.createFile(atPath: log, contents: nil))
        let stranger = try start(["-c", "exec sleep 1000"])
        defer {
            kill(stranger.processIdentifier, SIGKILL)
            stranger.waitUntilExit()
        }
        let named = try start(["-c", "exec tail -f \(log)"])
        let inherits = try start(["-c", "exec sleep 1000"], ["CAIRN_SITE": directory.path])
        let stopped = try start(["-c", "kill -STOP $$", directory.path])

        directory.end()

        for process in [named, inherits, stopped] {
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(process.terminationStatus == SIGKILL)
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path))
        #expect(stranger.isRunning)
    }

    /// A process has neither arguments nor environment during `exec`.
    @Test func `a process that goes from program to program ends with it`() throws {
        let programs = "[ $1 = 0 ] && exec sleep 20; exec /bin/sh -c \"$0\" \"$0\" $(($1 - 1))"
        for _ in 0..<50 {
            let directory = try GuardedDirectory(path: Programs.newSite())
            let started = try start(
                ["-c", programs, programs, "5"], ["CAIRN_SITE": directory.path])
            directory.end()
            started.waitUntilExit()
            #expect(started.terminationReason == .uncaughtSignal)
        }
    }

    @Test func `a site that a test leaves up is ended`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        let up = try await site.run("up --detach --port \(try Loopback.freePort())")
        try #require(up.status == 0, "\(up.errors)")
        let record = try await site.run("status --json").objects
        let processes = record.compactMap { $0["pid"] as? Int }
        #expect(processes.count > 5)

        site.remove()

        let left = processes.filter { process in
            let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
            return String(decoding: line, as: UTF8.self).contains(site.folder)
        }
        #expect(left.isEmpty)
    }
}
