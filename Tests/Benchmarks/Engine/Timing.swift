// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation

/// Clocks of a measurement.
enum Timing {
    /// Seconds of processor time this thread has used.
    static func cpu() -> Double { seconds(CLOCK_THREAD_CPUTIME_ID) }

    /// Seconds since some moment.
    static func wall() -> Double { seconds(CLOCK_MONOTONIC) }

    /// The cost of a piece of work, in seconds.
    struct Cost {
        var wall: Double
        /// Of all threads of this process, or of the processes it waited for.
        var processor: Double
    }

    static func cost(
        ofChildren isOfChildren: Bool = false, _ work: () throws -> Void
    ) rethrows -> Cost {
        let (start, used) = (wall(), processor(isOfChildren))
        try work()
        return Cost(wall: wall() - start, processor: processor(isOfChildren) - used)
    }

    private static func processor(_ isOfChildren: Bool) -> Double {
        var usage = rusage()
        unsafe getrusage(isOfChildren ? RUSAGE_CHILDREN.rawValue : RUSAGE_SELF.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(0) {
            $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
        }
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The median processor seconds of each piece of work, done in turns so that a busy machine
    /// slows all alike; the first turn warms up and does not count.
    static func medians(rounds: Int, _ work: [() throws -> Void]) throws -> [Double] {
        var times = [[Double]](repeating: [], count: work.count)
        for round in 0...rounds {
            for (index, each) in work.enumerated() {
                let start = cpu()
                try each()
                if round > 0 { times[index].append(cpu() - start) }
            }
        }
        return times.map { $0.sorted()[$0.count / 2] }
    }
}

/// One line of the report.
struct Line: Encodable {
    var `case`: String
    /// The peer of the comparison.
    var peer: String
    /// The ratio to the peer: times faster, or relative size.
    var ratio: Double
    /// The required ratio.
    var asked: String
    var pass: Bool
    /// Number of questions, and of those with different answers.
    var questions: Int?
    var mismatches: Int?
    /// Ours and the peer's, in millions of questions a second, seconds, or bytes, by case.
    var ours: Double
    var theirs: Double
    var unit: String

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try FileHandle.standardOutput.write(contentsOf: encoder.encode(self) + Data("\n".utf8))
    }
}
