// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Glibc

/// The identify workers of a site, its own and those that are started and ended here.
final class IdentifyWorkers {
    private let site: String
    private let program: URL
    private let client: CairnClient
    private var started: [Process] = []

    init(site: String, client: CairnClient) {
        self.site = site
        self.client = client
        program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "cairn-identify")
    }

    var processes: [Int32] { RunningProcess.all(of: "cairn-identify", site: site) }

    /// Those that were started here and run.
    var own: [Int32] { started.filter(\.isRunning).map(\.processIdentifier) }

    func start() throws {
        let process = Process()
        process.executableURL = program
        process.arguments = ["--site", site]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        started.append(process)
    }

    /// Ends those that were started here.
    func endAll() {
        for process in started where process.isRunning { process.terminate() }
        for process in started { process.waitUntilExit() }
        started = []
    }

    /// Waits until the supervisor knows that many.
    func wait(for count: Int) async throws {
        let limit = ContinuousClock.now + .seconds(60)
        while try await descriptions().count != count {
            guard ContinuousClock.now < limit else { throw CocoaError(.fileReadUnknown) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func descriptions() async throws -> [WorkerDescription] {
        try await client.workers().filter { $0.pool == .identify && !$0.isDraining }
    }
}

/// The memory of a process as the kernel splits it, in kilobytes.
struct Memory: Encodable {
    /// Pages shared with others count by their share.
    var total = 0
    /// Mapped files: datasets, and the programs themselves.
    var files = 0
    /// Heap and stacks.
    var anonymous = 0

    static func of(_ processes: [Int32]) -> Memory {
        var memory = Memory()
        for process in processes {
            let path = "/proc/\(process)/smaps_rollup"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 3, let size = Int(words[1]) else { continue }
                switch words[0] {
                case "Pss:": memory.total += size
                case "Pss_Anon:": memory.anonymous += size
                case "Pss_File:": memory.files += size
                default: break
                }
            }
        }
        return memory
    }
}
