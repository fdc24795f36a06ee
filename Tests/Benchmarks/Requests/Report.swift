// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation

/// Measurements of one case so far.
struct Measured {
    var nanoseconds: [Int64] = []
    var wrongCount = 0
    var failedCount = 0
    /// Seconds.
    var wall = 0.0
    /// Processor times of the answering processes.
    var times = ProcessTimes()
    /// Processor time of the client in microseconds.
    var clientTime = 0.0

    mutating func add(_ other: Measured) {
        nanoseconds += other.nanoseconds
        wrongCount += other.wrongCount
        failedCount += other.failedCount
        wall += other.wall
        times = times + other.times
        clientTime += other.clientTime
    }

    private var count: Double { Double(max(1, nanoseconds.count)) }
    var perSecond: Double { Double(nanoseconds.count) / max(wall, 1e-9) }
    /// Processor time a request in microseconds, of the answering processes, by program.
    var cpuByProgram: [String: Double] { times.byProgram.mapValues { $0 / count } }
    var cpu: Double { cpuByProgram.values.reduce(0, +) }
    var client: Double { clientTime / count }

    /// Milliseconds.
    func quantile(_ part: Double) -> Double {
        guard !nanoseconds.isEmpty else { return 0 }
        let sorted = nanoseconds.sorted()
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]) / 1e6
    }
}

/// One line of the report; what is nil is not printed.
struct Line: Encodable {
    /// Ours divided by the peer's.
    struct Ratios: Encodable {
        var perSecond: Double
        var p99: Double
        /// Processor time of the answering processes.
        var cpu: Double
        /// Processor time of those and of the client.
        var cpuWithClient: Double
    }

    var `case`: String
    var peer: String?
    var map: String
    var clients: Int
    var workers: Int?
    var requests: Int
    var perSecond: Int
    var p50Milliseconds: Double
    var p99Milliseconds: Double
    var cpuMicroseconds: Double
    var cpuByProcess: [String: Double]
    var clientMicroseconds: Double
    var wrong: Int
    var failed: Int
    var checkedAgainst: String
    var ratios: Ratios?
    var ratio: Double?
    var asked: String?
    var passes: Bool?
    var started: Int?
    var ended: Int?
    var killed: Int?

    init(
        _ name: String, _ question: Question, _ measured: Measured, clients: Int, checked: String
    ) {
        self.case = name
        map = question.map
        self.clients = clients
        requests = measured.nanoseconds.count
        perSecond = Int(measured.perSecond)
        p50Milliseconds = measured.quantile(0.5).rounded(to: 2)
        p99Milliseconds = measured.quantile(0.99).rounded(to: 2)
        cpuMicroseconds = measured.cpu.rounded(to: 1)
        cpuByProcess = measured.cpuByProgram.mapValues { $0.rounded(to: 1) }
            .filter { $0.value > 0 }
        clientMicroseconds = measured.client.rounded(to: 1)
        wrong = measured.wrongCount
        failed = measured.failedCount
        checkedAgainst = checked
    }

    func write() { Report.write(self) }
}

/// JSON Lines on standard output.
enum Report {
    static func write(_ line: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = try? encoder.encode(line)
        print(String(decoding: bytes ?? Data(), as: UTF8.self))
        fflush(nil)
    }
}

extension Double {
    func rounded(to decimals: Int) -> Double {
        guard isFinite else { return 0 }
        let scale = pow(10, Double(decimals))
        return (self * scale).rounded() / scale
    }
}
