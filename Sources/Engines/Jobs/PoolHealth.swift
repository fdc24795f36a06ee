// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Whether a pool of workers may be given work, or dies of everything it is given.
///
/// Five deaths within a minute without one success begin a rest of a second; every further death
/// doubles it, up to a minute, and one success ends it all. The death of a worker that had nothing,
/// or had what it was given before the last rest was over, says nothing about what the pool would
/// be given now: many that die at once make one rest. Times are nanoseconds of a clock that never
/// goes back.
public struct PoolHealth: Hashable, Sendable {
    /// Deaths that begin a rest.
    public static let deathBound = 5
    /// Within so long.
    public static let window: Int64 = 60_000_000_000
    /// The first rest, and the longest.
    public static let rests: ClosedRange<Int64> = 1_000_000_000...60_000_000_000

    /// When workers died since the last success, the latest of them.
    private var deaths: [Int64] = []
    private var rest: Int64 = 0
    private var restsUntil: Int64 = .min

    /// A pool nothing is known of.
    public init() {}

    /// Deaths since the last success that may be due to what the workers were given.
    public private(set) var deathCount = 0

    /// A worker died that was given the last of what it had at `given`; true when a rest begins.
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

    /// A worker did what it was given.
    public mutating func succeeded() { self = PoolHealth() }

    /// Nanoseconds left of the rest; 0 when work may be given.
    public func restLeft(at now: Int64) -> Int64 { restsUntil > now ? restsUntil - now : 0 }
}
