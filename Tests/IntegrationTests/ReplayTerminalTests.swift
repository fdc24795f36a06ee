// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Glibc
import Synchronization
import TestKit
import Testing

/// `cairn replay` on a terminal and off it: what keys and signals do.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct ReplayTerminalTests {
    /// A terminal with a program on it.
    private final class Terminal: Sendable {
        private let near: Int32
        private let far: Int32
        private let process: Process
        private let shown = Mutex<[UInt8]>([])

        init(_ arguments: [String], site: String) throws {
            let near = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (locked, number) = (Int32(0), UInt32(0))
            // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h.
            let isOpen = unsafe ioctl(near, 0x4004_5431, &locked) == 0
            let isNumbered = unsafe ioctl(near, 0x8004_5430, &number) == 0
            try #require(isOpen && isNumbered)
            let far = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            try #require(far >= 0)
            (self.near, self.far) = (near, far)
            process = Process()
            process.executableURL = URL(filePath: Programs.folder + "/cairn")
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["CAIRN_SITE": site]) { $1 }
            let handle = FileHandle(fileDescriptor: far, closeOnDealloc: false)
            process.standardInput = handle
            process.standardOutput = handle
            process.standardError = handle
            try process.run()
            Thread.detachNewThread { [weak self] in
                var bytes = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let count = unsafe read(near, &bytes, bytes.count)
                    guard count > 0 else { return }
                    self?.shown.withLock { $0 += bytes[..<count] }
                }
            }
        }

        deinit {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            process.waitUntilExit()
            close(far)
            close(near)
        }

        func type(_ keys: String) {
            let bytes = Array(keys.utf8)
            _ = unsafe write(near, bytes, bytes.count)
        }

        var text: String { String(decoding: shown.withLock { $0 }, as: UTF8.self) }

        /// The sequence numbers of the events that it has shown.
        var events: [Int64] {
            text.matches(of: /(\d+) {2}\d{4}-\d\d-\d\dT/).compactMap { Int64($0.1) }
        }

        var isRunning: Bool { process.isRunning }
        var status: Int32 { process.terminationStatus }

        /// How the terminal treats what is typed.
        var modes: UInt32 {
            var settings = termios()
            unsafe tcgetattr(far, &settings)
            return settings.c_lflag & UInt32(ICANON | ECHO | ISIG)
        }
    }

    private func until(
        _ terminal: Terminal, _ what: String, _ condition: (Terminal) -> Bool
    ) async throws {
        try await waitUntil(
            "the terminal shows \(what)", within: .seconds(40), detail: terminal.text
        ) {
            condition(terminal)
        }
    }

    @Test func `keys pause, step, go on and end, and the terminal is given back`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        var sequences: [Int64] = []
        for number in 0..<6 {
            let result = try await site.client.command(
                map: site.map, .setVisibility(layer: 0, isVisible: !number.isMultiple(of: 2)))
            sequences.append(result.sequence)
        }
        func replay(_ name: String) throws -> Terminal {
            // A delay of a millisecond takes a quarter of an hour, until the user changes the
            // speed.
            try Terminal(
                [
                    "replay", "--from", "\(sequences[0])", "--to", "\(sequences[5])", "--speed",
                    "0.000001", "--into", site.files.path + "/" + name,
                ], site: site.files.path)
        }

        let paused = try replay("paused")
        let modes = paused.modes
        try await until(paused, "the first event") { $0.events.count == 1 }
        #expect(paused.modes != modes)
        paused.type(" ++++++++++nn")
        try await until(paused, "two steps") { $0.events.count >= 3 }
        paused.type("q")
        try await until(paused, "the end") { !$0.isRunning }
        #expect(paused.events == Array(sequences[..<3]) && paused.status == 0)
        #expect(!paused.text.contains("history has reached"))
        #expect(paused.modes == modes)

        let whole = try replay("whole")
        try await until(whole, "the first event") { $0.events.count == 1 }
        whole.type("n")
        try await until(whole, "a step") { $0.events.count == 2 }
        whole.type("x++++++++++ ")
        try await until(whole, "all history") { $0.text.contains("has reached \(sequences[5])") }
        #expect(whole.events == sequences && whole.isRunning)
        whole.type("q")
        try await until(whole, "the end") { !$0.isRunning }
        #expect(whole.status == 0 && whole.modes == modes)
    }
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends a replay, and its temporary site goes with it`(number: Int32) async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let (process, input, errors) = (Process(), Pipe(), site.files.path + "/errors")
        // Under nohup it would rightly continue.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "--default-signal=HUP", Programs.folder + "/cairn", "replay", "--site",
            site.files.path, "--speed", "0.000001",
        ]
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.standardError = try FileHandle(forWritingTo: URL(filePath: errors))
        try process.run()
        var path: String?
        func text() -> String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }
        try await waitUntil(
            "the replay names its site", within: .seconds(100),
            detail: "running: \(process.isRunning), errors: \(text()) \(site.files.output())"
        ) {
            path = text().firstMatch(of: /(\/tmp\/cairn-replay-\S+)\n/).map { String($0.1) }
            return path != nil
        }
        let temporary = try #require(path)
        #expect(FileManager.default.fileExists(atPath: temporary))

        kill(process.processIdentifier, number)

        try await waitUntil("the replay has ended", within: .seconds(40)) { !process.isRunning }
        #expect(process.terminationReason == .exit)
        #expect(!FileManager.default.fileExists(atPath: temporary))
        withExtendedLifetime(input) {}
    }
}
