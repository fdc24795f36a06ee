// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Foundation
internal import Glibc
internal import Platform
internal import Synchronization

/// A site of its own under `/tmp`, with real processes; ends them all and removes itself.
///
/// The executables are those built beside the test program.
public final class TestSite: Sendable {
    /// The site's directory, short enough for sockets.
    public var path: String { directory.path }
    private let directory: GuardedDirectory
    private let running = Mutex<[Int32: Process]>([:])
    private let startCount = Mutex(0)

    /// Makes the directory; `cairn.json` comes with the first process.
    public init() throws {
        directory = try GuardedDirectory(
            path: "/tmp/cairn-t-\(UUID().uuidString.prefix(8).lowercased())")
    }

    /// The path of an executable; throws when it was not built.
    public static func executable(_ name: String) throws -> String {
        let program = OwnProgram.path() ?? ""
        let path = program.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        guard FileManager.default.isExecutableFile(atPath: path + "/" + name) else {
            throw Failure(.notFound, "\(path)/\(name) was not built with the tests")
        }
        return path + "/" + name
    }

    /// Starts `NAME --site PATH …`; returns its process id.
    ///
    /// The name may have arguments behind the program: `cairn-worker --pool identify`.
    /// Its output goes to `out/NAME-<n>` in the site.
    @discardableResult
    public func start(
        _ name: String, _ arguments: [String] = [], environment: [String: String] = [:]
    ) throws -> Int32 {
        let number = startCount.withLock { count in
            count += 1
            return count
        }
        let folder = path + "/out"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let outputPath = "\(folder)/\(name)-\(number)"
        _ = FileManager.default.createFile(atPath: outputPath, contents: nil)
        let process = Process()
        let words = name.split(separator: " ").map(String.init)
        process.executableURL = URL(fileURLWithPath: try Self.executable(words[0]))
        process.arguments = words.dropFirst() + ["--site", path] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = FileHandle(forWritingAtPath: outputPath)
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        running.withLock { $0[process.processIdentifier] = process }
        return process.processIdentifier
    }

    /// Sends a signal to a process of this site.
    public func signal(_ processID: Int32, _ number: Int32) {
        guard running.withLock({ $0[processID] }) != nil else { return }
        Glibc.kill(processID, number)
    }

    /// Stops a process with SIGSTOP and waits until all of its threads are stopped, so that no
    /// later message is seen before SIGCONT.
    public func freeze(_ processID: Int32) throws {
        signal(processID, SIGSTOP)
        try Self.waitUntilStopped(processID)
    }

    /// Waits until each thread of a process to which SIGSTOP was sent stands still.
    public static func waitUntilStopped(_ processID: Int32) throws {
        let folder = "/proc/\(processID)/task"
        func stands(_ thread: String) -> Bool {
            let bytes = FileManager.default.contents(atPath: "\(folder)/\(thread)/stat") ?? Data()
            // "123 (name) T …"; a thread that has ended has no file.
            let rest = String(decoding: bytes, as: UTF8.self).split(separator: ")").last ?? ""
            return bytes.isEmpty || rest.hasPrefix(" T") || rest.hasPrefix(" t")
        }
        try blockUntil("each thread of process \(processID) stands still") {
            let threads = try? FileManager.default.contentsOfDirectory(atPath: folder)
            return threads?.allSatisfy(stands) ?? true
        }
    }

    /// Kills a process and waits until it is gone.
    public func kill(_ processID: Int32) {
        guard let process = running.withLock({ $0.removeValue(forKey: processID) }) else { return }
        Glibc.kill(processID, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for the end of a process: its exit status, or the negative number of a signal.
    public func waitForExit(_ processID: Int32) -> Int32? {
        guard let process = running.withLock({ $0.removeValue(forKey: processID) }) else {
            return nil
        }
        process.waitUntilExit()
        let status = process.terminationStatus
        return process.terminationReason == .uncaughtSignal ? -status : status
    }

    /// Output of all processes so far, each under its name.
    public func output() -> String {
        let folder = path + "/out"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { name in
            let bytes = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
            return "== \(name)\n" + String(decoding: bytes, as: UTF8.self)
        }.joined()
    }

    /// Kills all running processes and removes the directory.
    public func end() {
        let left = running.withLock { running in
            defer { running = [:] }
            return running
        }
        for (processID, process) in left {
            Glibc.kill(processID, SIGCONT)
            Glibc.kill(processID, SIGKILL)
            process.waitUntilExit()
        }
        directory.end()
    }

    deinit { end() }
}
