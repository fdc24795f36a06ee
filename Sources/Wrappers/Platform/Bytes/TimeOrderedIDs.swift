// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// Makes the ids of this process that begin with the time.
public enum TimeOrderedIDs {
    /// A fresh version 7 id; any thread.
    ///
    /// It sorts by the wall clock, to a quarter of a microsecond, because that time is its first 60
    /// bits. It sorts after every id made before it in this process, because no two get the same
    /// time: one that would counts on from the last, ahead of the clock, unless the clock went back
    /// by a second or more. It is no other process's because of 62 bits of ``UniqueNumbers``, which
    /// start anew at random in each process, forked ones too.
    public static func next() -> UUIDBits.Bytes {
        while true {
            // Read before the clock: a thread delayed in between must not take the others' progress
            // for a clock that went back, and its exchange fails.
            let before = last.load(ordering: .relaxed)
            let now = UUIDBits.ticks(nanoseconds: WallClock.microseconds() * 1_000)
            let isAhead = before >= now && before - now < ticksOfSecond
            let next = isAhead ? before + 1 : now
            if last.compareExchange(expected: before, desired: next, ordering: .relaxed).exchanged {
                return UUIDBits.version7(ticks: next, random: UniqueNumbers.next())
            }
        }
    }

    private static let last = Atomic<UInt64>(0)
    private static let ticksOfSecond: UInt64 = 4_096_000
}
