// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Platform
import Site

/// A process of the bench, which ends with it.
final class Program {
    private let process = Process()
    private let output = Pipe()

    /// Starts `path`; `input` becomes its standard input, `variables` are added to its environment.
    init(
        _ path: String, _ arguments: [String], input: String? = nil,
        variables: [String: String] = [:]
    ) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["CAIRN_LOG"] = "error"
        environment.merge(variables) { $1 }
        process.environment = environment
        process.standardOutput = output
        if let input {
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try Data(input.utf8).write(to: file)
            process.standardInput = try FileHandle(forReadingFrom: file)
            try FileManager.default.removeItem(at: file)
        }
        try process.run()
    }

    deinit { if process.isRunning { end(by: SIGKILL) } }

    var processID: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    func end(by number: Int32 = SIGTERM) {
        signal(SIGCONT)
        signal(number)
        process.waitUntilExit()
    }

    /// Its whole output as one value; throws when it fails.
    func result<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                .internal,
                "\(process.executableURL?.path ?? "") \(process.arguments ?? []) ended with status "
                    + "\(process.terminationStatus)")
        }
        return try JSONDecoder().decode(type, from: bytes)
    }

    /// Waits for its next line of output.
    func line() throws -> String {
        var bytes: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        throw Failure(.internal, "\(process.executableURL?.path ?? "") ended without a word")
    }

    /// Bytes of memory that are its own and resident.
    var residentByteCount: Int {
        let text =
            (try? String(contentsOfFile: "/proc/\(processID)/statm", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ").compactMap { Int($0) }
        return fields.count > 2 ? (fields[1] - fields[2]) * 4096 : 0
    }
}

/// Paths of the benchmark's programs and working directory.
struct Workshop {
    /// A directory of its own, short enough for sockets.
    let directory: String
    /// Of this program and of Cairn's.
    let programs: String
    /// Python with `eventsourcing`, and the script for it.
    var python: (program: String, script: String)?
    var isShort: Bool
    /// Events of the memory case.
    var memoryEventCount = 300_000

    var seconds: Double { isShort ? 2 : 5 }

    /// A fresh site.
    func site(_ name: String) throws -> Site {
        let path = directory + "/" + name
        try? FileManager.default.removeItem(atPath: path)
        return try Site(openingOrCreating: path)
    }

    func remove(_ site: Site) { try? FileManager.default.removeItem(atPath: site.path) }

    func cairn(
        _ name: String, _ site: Site, variables: [String: String] = [:]
    ) throws -> Program {
        let words = name.split(separator: " ").map(String.init)
        return try Program(
            programs + "/" + words[0], words.dropFirst() + ["--site", site.path],
            variables: variables)
    }

    /// This program in another role.
    func role(_ arguments: [String]) throws -> Program {
        try Program(programs + "/bench-log", arguments)
    }

    func peers(_ arguments: [String], input: String? = nil) throws -> PeerFigures {
        try Program(programs + "/bench-log-peers", arguments, input: input).result()
    }
}

/// Runs `work` and returns its duration in seconds.
func seconds(_ work: () throws -> Void) rethrows -> Double {
    let start = MonotonicClock.nanoseconds()
    try work()
    return Double(MonotonicClock.nanoseconds() - start) / 1e9
}
