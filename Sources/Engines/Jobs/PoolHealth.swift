// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Circuit breaker of a worker pool, against workers that die of whatever they are assigned.
///
/// Five deaths within a minute without a success open it for a second; every further death doubles
/// the time, up to a minute, and one success closes it. The death of an idle worker, or of one
/// whose last assignment precedes the end of the last rest, is no evidence about the next
/// assignment: many simultaneous deaths cause one rest. Times are monotonic, in nanoseconds.
public struct PoolHealth: Hashable, Sendable {
    /// Deaths that start a rest.
    public static let deathBound = 5
    /// Interval in which the deaths count, in nanoseconds.
    public static let window: Int64 = 60_000_000_000
    /// The first and the longest rest, in nanoseconds.
    public static let rests: ClosedRange<Int64> = 1_000_000_000...60_000_000_000

    /// Times of deaths since the last success, the latest only.
    private var deaths: [Int64] = []
    private var rest: Int64 = 0
    private var restsUntil: Int64 = .min

    /// A healthy pool.
    public init() {}

    /// Deaths since the last success that an assignment may have caused.
    public private(set) var deathCount = 0

    /// Records the death of a worker whose last assignment was at `given`; returns whether a rest
    /// starts.
    public mutating func died(at now: Int64, with given: Int64) -> Bool {
        guard given >= restsUntil else { return false }
        deathCount += 1
        deaths.append(now)
        deaths = deaths.suffix(Self.deathBound).filter { now - $0 <= Self.window }
        guard deaths.count >= Self.deathBound || rest > 0 else { return false }
        rest = min(max(2 * rest, Self.rests.lowerBound), Self.rests.upperBound)
        restsUntil = now + rest
        return true
    }

    /// Records a success.
    public mutating func succeeded() { self = PoolHealth() }

    /// Remaining rest in nanoseconds; 0 when work may be assigned.
    public func restLeft(at now: Int64) -> Int64 { restsUntil > now ? restsUntil - now : 0 }
}
