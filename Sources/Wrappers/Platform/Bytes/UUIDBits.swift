// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc
internal import Synchronization

/// Random bytes from the operating system's generator.
public enum RandomBytes {
    /// `count` unpredictable bytes.
    public static func make(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // One system call, where Swift's generator makes one for each number.
            if let start = buffer.baseAddress { unsafe arc4random_buf(start, count) }
            filled = count
        }
    }
}

/// Numbers unique in this process, from an unpredictable start: for ids of messages, where a system
/// call each time would be too costly.
///
/// A forked process starts from another number.
public enum UniqueNumbers {
    private static let state = Atomic<UInt64>(.random(in: .min ... .max))

    /// Whether a forked process starts anew.
    ///
    /// Made after ``state``, never with it: a fork meanwhile would leave its child to wait for the
    /// thread of the parent that makes the number.
    private static let isRenewedByFork: Bool = {
        _ = state.load(ordering: .relaxed)
        return pthread_atfork(
            nil, nil,
            { UniqueNumbers.state.store(.random(in: .min ... .max), ordering: .relaxed) }) == 0
    }()

    /// The next number (SplitMix64); any thread.
    public static func next() -> UInt64 {
        _ = isRenewedByFork
        var number = state.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        return number ^ number >> 31
    }
}

/// The sixteen bytes of UUIDs (RFC 9562), made here because Foundation only makes version 4.
public enum UUIDBits {
    /// Sixteen bytes in the order they are written, the shape of `Foundation.uuid_t`.
    public typealias Bytes = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8,
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )

    /// Version 7: 48 bits of milliseconds, 12 bits of the millisecond's fraction, 62 random bits.
    ///
    /// Later ids sort after earlier ones down to a quarter of a microsecond. `nanoseconds` counts
    /// from 1970 and must not be negative.
    public static func version7(nanoseconds: Int64, random: UInt64) -> Bytes {
        version7(ticks: ticks(nanoseconds: nanoseconds), random: random)
    }

    /// The time of version 7 as one number: 4,096 to a millisecond.
    static func ticks(nanoseconds: Int64) -> UInt64 {
        let time = UInt64(max(0, nanoseconds))
        return (time / 1_000_000) << 12 | (time % 1_000_000) * 4096 / 1_000_000
    }

    static func version7(ticks: UInt64, random: UInt64) -> Bytes {
        bytes(
            high: (ticks >> 12) << 16 | 0x7000 | ticks & 0xfff,
            low: random & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    /// The bytes of two halves, the first byte of each first.
    public static func bytes(high: UInt64, low: UInt64) -> Bytes {
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
            UInt8(truncatingIfNeeded: word >> (56 - 8 * index))
        }
        return (
            byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3),
            byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7),
            byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
            byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
        )
    }
}
