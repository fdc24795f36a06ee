// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Testing

/// The programs of this build, run as a user runs them.
enum Programs {
    /// The outcome of an ended program.
    struct Outcome: Sendable {
        var status: Int32
        var output: String
        var errors: String

        /// Each line of the output as a JSON object.
        var objects: [[String: Any]] {
            output.split(separator: "\n").compactMap {
                try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
        }
    }

    /// The executables a site needs.
    static let all = [
        "cairn", "cairn-logd", "cairn-mapstate", "cairn-supervisor", "cairn-worker",
        "cairn-gateway",
    ]

    /// The folder of this build's programs: `CAIRN_BIN`, or beside the test bundle.
    static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["CAIRN_BIN"] { return named }
        let bundle = ProcessInfo.processInfo.arguments.first { $0.contains(".xctest") }
        return URL(filePath: bundle ?? "").deletingLastPathComponent().path
    }()

    /// Whether these programs were built; prints a line when they were not.
    static func areBuilt(_ names: [String] = all, test: String = #function) -> Bool {
        let missing = names.filter {
            !FileManager.default.isExecutableFile(atPath: folder + "/" + $0)
        }
        if !missing.isEmpty { print("\(test) is skipped: \(missing) not built in \(folder)") }
        return missing.isEmpty
    }

    /// Runs a program to its end; `input` is what it reads.
    static func run(
        _ arguments: [String], site: String?, program: String = "cairn", input: String? = nil
    ) async throws -> Outcome {
        let process = Process()
        process.executableURL = URL(
            filePath: program.hasPrefix("/") ? program : folder + "/" + program)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["CAIRN_SITE"] = site
        process.environment = environment
        let inputPath = scratchFile()
        defer { try? FileManager.default.removeItem(at: inputPath) }
        try Data((input ?? "").utf8).write(to: inputPath)
        process.standardInput = try FileHandle(forReadingFrom: inputPath)
        let (outputPath, errorPath) = (scratchFile(), scratchFile())
        let (output, errors) = (
            try FileHandle(forWritingTo: outputPath), try FileHandle(forWritingTo: errorPath)
        )
        process.standardOutput = output
        process.standardError = errors
        defer {
            try? FileManager.default.removeItem(at: outputPath)
            try? FileManager.default.removeItem(at: errorPath)
        }
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return Outcome(
            status: status,
            output: String(decoding: try Data(contentsOf: outputPath), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errorPath), as: UTF8.self))
    }

    /// A path for a new site; short, because it contains sockets.
    static func newSite() -> String {
        "/tmp/cairn-" + UUID().uuidString.prefix(8).lowercased()
    }

    private static func scratchFile() -> URL {
        let url = URL(filePath: NSTemporaryDirectory() + "cairn-out-" + UUID().uuidString)
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        return url
    }
}
