// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc
internal import Synchronization

/// Monotonic time, from an unknown start; it continues while the machine sleeps.
public enum MonotonicClock {
    /// Nanoseconds (CLOCK_BOOTTIME).
    public static func nanoseconds() -> Int64 { read(CLOCK_BOOTTIME) }
}

/// Processor time, in user and kernel mode, that the calling thread has used.
public enum ThreadClock {
    /// Nanoseconds (CLOCK_THREAD_CPUTIME_ID).
    public static func nanoseconds() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }
}

/// The time of day; may jump either way, so it never orders anything.
public enum WallClock {
    /// Microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public static func microseconds() -> Int64 {
        read(CLOCK_REALTIME) / 1000 + offset.load(ordering: .relaxed)
    }

    /// Offsets this process's wall clock from the system's; for tests of wrong clocks.
    public static func setOffset(microseconds: Int64) {
        offset.store(microseconds, ordering: .relaxed)
    }

    private static let offset = Atomic<Int64>(0)
}

private func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
