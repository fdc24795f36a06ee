// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Platform
import Site
import TestKit
import Testing

/// The real `cairn-logd`, as a process.
final class LogdProcess {
    private let process = Process()
    private let output = Pipe()

    /// Starts it; `failpoint` is a value of `CAIRN_FAILPOINT`, `variables` are further ones of its
    /// environment.
    init(_ site: Site, failpoint: String? = nil, variables: [String: String] = [:]) throws {
        let folder = try #require(OwnProgram.path()).split(separator: "/").dropLast()
        process.executableURL = URL(
            fileURLWithPath: "/" + folder.joined(separator: "/") + "/cairn-logd")
        process.arguments = ["--site", site.path]
        var environment = ProcessInfo.processInfo.environment
        environment["CAIRN_LOG"] = "error"
        environment["CAIRN_FAILPOINT"] = failpoint
        process.environment = environment.merging(variables) { $1 }
        process.standardError = output
        try process.run()
    }

    deinit { if process.isRunning { kill() } }

    var processID: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    func signal(_ number: Int32) { Glibc.kill(process.processIdentifier, number) }

    /// Stops it; nothing sent to it from now on is seen before SIGCONT.
    func freeze() throws {
        signal(SIGSTOP)
        try TestSite.waitUntilStopped(processID)
    }

    func kill() {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Its exit status and output; a signal's number is negative.
    func waitForExit() -> (status: Int32, said: String) {
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let status = process.terminationStatus
        return (
            process.terminationReason == .uncaughtSignal ? -status : status,
            String(decoding: said, as: UTF8.self)
        )
    }
}
