// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Glibc

/// The processor time of processes, by name, in microseconds; the system counts in ticks of 10 ms.
struct ProcessTimes {
    private(set) var byProgram: [String: Double] = [:]

    /// Every process of a site.
    static func site(_ site: String) -> ProcessTimes {
        var times = ProcessTimes()
        for process in RunningProcess.all() where process.isOf(site: site) {
            times.byProgram[process.process, default: 0] += process.microseconds
        }
        return times
    }

    /// These processes and all that come of them.
    static func trees(_ roots: [Int32]) -> ProcessTimes {
        let all = RunningProcess.all()
        var wanted = Set(roots)
        var count = 0
        while count != wanted.count {
            count = wanted.count
            wanted = wanted.union(all.filter { wanted.contains($0.parent) }.map(\.id))
        }
        var times = ProcessTimes()
        for process in all where wanted.contains(process.id) {
            times.byProgram[process.name, default: 0] += process.microseconds
        }
        return times
    }

    /// This process.
    static func own() -> Double {
        var usage = rusage()
        unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
        func microseconds(_ time: timeval) -> Double {
            Double(time.tv_sec) * 1e6 + Double(time.tv_usec)
        }
        return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
    }

    static func + (left: ProcessTimes, right: ProcessTimes) -> ProcessTimes {
        ProcessTimes(byProgram: left.byProgram.merging(right.byProgram) { $0 + $1 })
    }

    static func - (left: ProcessTimes, right: ProcessTimes) -> ProcessTimes {
        ProcessTimes(byProgram: left.byProgram.merging(right.byProgram) { $0 - $1 })
    }
}

/// A process as /proc shows it.
struct RunningProcess {
    let id: Int32
    let parent: Int32
    /// As the system has it: at most 15 bytes.
    let name: String
    let words: [String]
    let microseconds: Double

    /// The last part of its first word.
    var program: String { String(words.first?.split(separator: "/").last ?? "") }

    /// The program and, of a worker, its pool: `cairn-worker --pool identify`.
    var process: String {
        words.dropFirst().first == "--pool"
            ? program + " " + words[1...2].joined(separator: " ") : program
    }

    func isOf(site: String) -> Bool { program.hasPrefix("cairn-") && words.contains(site) }

    static func all() -> [RunningProcess] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.compactMap { RunningProcess($0) }
    }

    /// The processes of one worker pool of a site, by rising id.
    static func all(of pool: WorkerPool, site: String) -> [Int32] {
        all().filter { $0.isOf(site: site) && $0.process == pool.processName }.map(\.id).sorted()
    }

    private init?(_ id: Int32) {
        guard let line = try? Data(contentsOf: URL(filePath: "/proc/\(id)/cmdline")),
            let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[close...].split(separator: " ")
        guard fields.count > 13, let parent = Int32(fields[2]), let user = Double(fields[12]),
            let system = Double(fields[13])
        else { return nil }
        self.id = id
        self.parent = parent
        name = String(stat[stat.index(after: open)..<close])
        words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        microseconds = (user + system) * 1e6 / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
