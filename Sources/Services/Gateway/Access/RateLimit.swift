// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Synchronization

/// Rate limit per second for each user or address: token buckets.
///
/// A bucket holds a second's worth of requests and is refilled steadily. At most 8,192 buckets are
/// kept; when all are in use, further names share one bucket.
final class RateLimit: Sendable {
    private struct Bucket {
        var level: Double
        var filledAt: Int64
    }

    static let capacity = 8_192
    private let perSecond: Double
    private struct State {
        var buckets: [String: Bucket] = [:]
        var roomMadeAt = Int64.min
    }

    private let state = Mutex(State())

    /// `perSecond` is 1 or more.
    init(perSecond: Int) { self.perSecond = Double(perSecond) }

    /// Whether another request of `name` is within the limit; `now` is in nanoseconds from any
    /// start.
    func admits(_ name: String, now: Int64 = MonotonicClock.nanoseconds()) -> Bool {
        state.withLock { state in
            let key = state.buckets[name] != nil || makeRoom(&state, now) ? name : ""
            var bucket = state.buckets[key] ?? Bucket(level: perSecond, filledAt: now)
            bucket.level = level(bucket, now)
            bucket.filledAt = max(now, bucket.filledAt)
            defer { state.buckets[key] = bucket }
            guard bucket.level >= 1 else { return false }
            bucket.level -= 1
            return true
        }
    }

    private func level(_ bucket: Bucket, _ now: Int64) -> Double {
        min(perSecond, bucket.level + Double(max(0, now - bucket.filledAt)) * 1e-9 * perSecond)
    }

    /// Removes full buckets, which are equivalent to new ones, at most once a second; false when
    /// there is no room.
    private func makeRoom(_ state: inout State, _ now: Int64) -> Bool {
        guard state.buckets.count >= Self.capacity else { return true }
        guard now >= state.roomMadeAt.addingReportingOverflow(1_000_000_000).partialValue else {
            return false
        }
        state.roomMadeAt = now
        state.buckets = state.buckets.filter { level($0.value, now) < perSecond }
        return state.buckets.count < Self.capacity
    }

    /// Number of buckets.
    var count: Int { state.withLock { $0.buckets.count } }

    /// The part of an address that identifies a subscriber: an IPv4 address, the first 64 bits of
    /// an IPv6 address.
    static func subscriber(_ address: String) -> String {
        guard address.contains(":"), !address.contains(".") else { return address }
        let halves = address.prefix { $0 != "%" }.split(
            separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        let head = halves[0].split(separator: ":")
        let tail = halves.count == 2 ? halves[1].split(separator: ":") : []
        let zeros = halves.count == 2 ? max(0, 8 - head.count - tail.count) : 0
        return (head + Array(repeating: "0", count: zeros) + tail).prefix(4).joined(separator: ":")
    }
}
