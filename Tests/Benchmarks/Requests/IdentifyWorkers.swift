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
            .appending(path: WorkerPool.program)
    }

    var processes: [Int32] { RunningProcess.all(of: .identify, site: site) }

    /// Running workers started here.
    var own: [Int32] { started.filter(\.isRunning).map(\.processIdentifier) }

    func start() throws {
        let process = Process()
        process.executableURL = program
        process.arguments = ["--pool", WorkerPool.identify.name, "--site", site]
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

    /// Waits until that many are registered with the supervisor.
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

/// The memory of processes as reported by the kernel, in kilobytes.
struct Memory: Encodable {
    /// Resident pages, shared ones counted once; nil for all users but root, to which alone the
    /// kernel reports shared pages.
    var resident: Int?
    /// Proportional set sizes: pages that other programs have too count by their share.
    var proportional = 0
    /// Of that mapped files: datasets, and the programs themselves.
    var files = 0
    /// Of that heap and stacks.
    var anonymous = 0

    /// The figure compared: independent, where possible, of other programs with the same libraries.
    var compared: Int { resident ?? proportional }

    static func of(_ processes: [Int32]) -> Memory {
        var memory = Memory()
        for process in processes {
            let path = "/proc/\(process)/smaps_rollup"
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 3, let size = Int(words[1]) else { continue }
                switch words[0] {
                case "Pss:": memory.proportional += size
                case "Pss_Anon:": memory.anonymous += size
                case "Pss_File:": memory.files += size
                default: break
                }
            }
        }
        var all: Set<UInt64> = []
        for process in processes {
            guard let frames = frames(of: process), !frames.isEmpty else { return memory }
            all.formUnion(frames)
        }
        memory.resident = all.count * Int(getpagesize()) / 1024
        return memory
    }

    /// The page frames of a process (`/proc/PID/pagemap`: 8 bytes a page, bit 63 present, bits 0 to
    /// 54 its frame).
    private static func frames(of process: Int32) -> Set<UInt64>? {
        let map = unsafe open("/proc/\(process)/pagemap", O_RDONLY)
        defer { close(map) }
        guard map >= 0,
            // `String(contentsOfFile:)` ends at the first 4 KiB of it.
            let areas = try? FileHandle(forReadingAtPath: "/proc/\(process)/maps")?.readToEnd()
        else { return nil }
        var frames: Set<UInt64> = []
        let pageSize = Int(getpagesize())
        for area in String(decoding: areas, as: UTF8.self).split(separator: "\n") {
            let ends = area.prefix { $0 != " " }.split(separator: "-")
            // Addresses beyond Int are the kernel's own.
            guard ends.count == 2, let first = Int(ends[0], radix: 16),
                let last = Int(ends[1], radix: 16), last > first
            else { continue }
            var entries = [UInt64](repeating: 0, count: (last - first) / pageSize)
            let size = entries.count * 8
            guard unsafe pread(map, &entries, size, first / pageSize * 8) == size else {
                return nil
            }
            for entry in entries where entry >> 63 == 1 {
                frames.insert(entry & ((1 << 55) - 1))
            }
        }
        frames.remove(0)
        return frames
    }
}
