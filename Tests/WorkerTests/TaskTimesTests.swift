// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Daemon
import Testing

@testable import Worker

/// A worker's report of the duration of its tasks.
@Suite struct TaskTimesTests {
    @Test func `the mean is of the tasks since it was asked for last, rounded up`() {
        var times = TaskTimes(MetricsRegistry().timer("seconds", ""))
        #expect(times.takeMean() == nil)

        times.add(1_000)
        times.add(4_001)
        #expect(times.takeMean() == 3)
        #expect(times.takeMean() == nil)
        times.add(7_000)
        #expect(times.takeMean() == 7)
    }

    @Test func `a task that is not answered at once counts when a thread has done it`() {
        var times = TaskTimes(MetricsRegistry().timer("seconds", ""))

        #expect(times.measure { nil as Int? } == nil)
        #expect(times.takeMean() == nil)
        #expect(times.measure { 5 } == 5)
        #expect(times.takeMean() != nil)
    }
}
