// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Testing

@testable import Daemon

struct WakeDemandTests {
    /// What is demanded after each interval with so many wake-ups.
    private func demands(_ wakeUps: [Int]) -> [Bool] {
        var (demand, count) = (WakeDemand(wakeUpCount: 1_000), 1_000)
        return wakeUps.map { wakeUp in
            count += wakeUp
            let before = demand.isMade
            let changes = demand.changes(at: count)
            #expect(changes == (before != demand.isMade))
            return demand.isMade
        }
    }

    @Test func `a process that wakes up now and then demands no latency`() {
        #expect(demands([0, 49, 3, 49]) == [false, false, false, false])
    }

    @Test func `a latency demand is made at once, and kept a second longer than it is needed`() {
        let quiet = Array(repeating: 49, count: 10)
        let kept = Array(repeating: true, count: 9) + [false]
        #expect(demands([50] + quiet + [50]) == [true] + kept + [true])
        #expect(demands([50, 0, 0, 60] + quiet) == [true, true, true, true] + kept)
    }
}
