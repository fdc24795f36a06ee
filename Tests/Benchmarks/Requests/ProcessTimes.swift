// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Glibc

/// The processor time of the processes of a site, by name, in microseconds.
enum ProcessTimes {
    static func read(site: String) -> [String: Double] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let tick = 1e6 / Double(sysconf(Int32(_SC_CLK_TCK)))
        var times: [String: Double] = [:]
        for name in names where Int(name) != nil {
            guard let line = try? Data(contentsOf: URL(filePath: "/proc/\(name)/cmdline")),
                let stat = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            else { continue }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            guard words.contains(site), let program = words.first?.split(separator: "/").last,
                program.hasPrefix("cairn-")
            else { continue }
            let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
            guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13])
            else { continue }
            times[String(program), default: 0] += (user + system) * tick
        }
        return times
    }

    /// Process ids of one program of a site.
    static func identifiers(of program: String, site: String) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { id in
            guard let line = try? Data(contentsOf: URL(filePath: "/proc/\(id)/cmdline")) else {
                return false
            }
            let words = line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            return words.contains(site) && words.first?.hasSuffix("/" + program) == true
        }.sorted()
    }
}

/// The latencies of one case, and its JSON line.
struct Measured {
    var nanoseconds: [Int64] = []
    var wrongCount = 0
    var failedCount = 0

    func report(
        _ name: String, _ question: Question, clients: Int, wall: Double, cpu: [String: Double],
        checked: String
    ) {
        let sorted = nanoseconds.sorted()
        func milliseconds(_ part: Double) -> Double {
            guard !sorted.isEmpty else { return 0 }
            let index = min(sorted.count - 1, Int(Double(sorted.count) * part))
            return (Double(sorted[index]) / 1e4).rounded() / 100
        }
        let count = Double(max(1, sorted.count))
        let perRequest = cpu.mapValues { ($0 / count * 10).rounded() / 10 }.filter {
            $0.value >= 0.1
        }
        struct Line: Encodable {
            var `case`: String
            var map: String
            var clients: Int
            var requests: Int
            var perSecond: Int
            var p50Milliseconds: Double
            var p99Milliseconds: Double
            var cpuMicroseconds: Double
            var cpuByProcess: [String: Double]
            var wrong: Int
            var failed: Int
            var checkedAgainst: String
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = try? encoder.encode(
            Line(
                case: name, map: question.map, clients: clients, requests: sorted.count,
                perSecond: Int(Double(sorted.count) / wall), p50Milliseconds: milliseconds(0.5),
                p99Milliseconds: milliseconds(0.99),
                cpuMicroseconds: (perRequest.values.reduce(0, +) * 10).rounded() / 10,
                cpuByProcess: perRequest, wrong: wrongCount, failed: failedCount,
                checkedAgainst: checked))
        print(String(decoding: bytes ?? Data(), as: UTF8.self))
        fflush(nil)
    }
}
