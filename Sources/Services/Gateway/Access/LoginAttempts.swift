// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Back-off after failed logins: by user and address together, by address, and by user.
///
/// Some failures of each are free; each further one doubles the wait, from 1 s to 60 s. Failures
/// expire after 15 minutes. At an address from which a user has logged in before, only that user's
/// failures there count, so attempts by others, there or elsewhere, cannot lock the user out. Times
/// are in seconds from an arbitrary start.
struct LoginAttempts {
    /// User and address of an attempt.
    struct Origin: Hashable {
        /// The user, with a value that changes with the password: a new password starts afresh.
        var user: String
        /// The part of the address that identifies a subscriber.
        var address: String
    }

    private enum Key: Hashable {
        case pair(Origin), address(String), user(String)
    }

    private struct Failures {
        var count: Int
        var last: Int64
    }

    /// Maximum number of remembered failures, and of successes; the oldest are evicted.
    static let capacity = 4_096
    private static let memorySeconds: Int64 = 900
    private static let knownSeconds: Int64 = 30 * 86_400
    private var entries: [Key: Failures] = [:]
    /// Time of the last successful login, by origin.
    private var known: [Origin: Int64] = [:]

    /// Number of failures without a wait.
    private static func freeCount(_ key: Key) -> Int {
        switch key {
        case .pair: 3
        case .address: 30
        case .user: 100
        }
    }

    /// Remaining wait in seconds; 0 for none.
    func wait(_ origin: Origin, now: Int64) -> Int64 {
        let isKnown = known[origin].map { now - $0 < Self.knownSeconds } ?? false
        let keys: [Key] =
            isKnown
            ? [.pair(origin)] : [.pair(origin), .address(origin.address), .user(origin.user)]
        return keys.map { wait($0, now) }.max() ?? 0
    }

    private func wait(_ key: Key, _ now: Int64) -> Int64 {
        let free = Self.freeCount(key)
        guard let failures = entries[key], failures.count >= free,
            now - failures.last < Self.memorySeconds
        else { return 0 }
        return max(0, failures.last + min(60, 1 << Int64(min(failures.count - free, 6))) - now)
    }

    /// Records a failed attempt.
    mutating func failed(_ origin: Origin, now: Int64) {
        for key in [Key.pair(origin), .address(origin.address), .user(origin.user)] {
            if let failures = entries[key], now - failures.last < Self.memorySeconds {
                entries[key] = Failures(count: failures.count + 1, last: now)
            } else {
                makeRoom(now)
                entries[key] = Failures(count: 1, last: now)
            }
        }
    }

    /// Records a successful attempt, which clears the user's failures there.
    mutating func succeeded(_ origin: Origin, now: Int64) {
        entries[.pair(origin)] = nil
        if known.count >= Self.capacity, known[origin] == nil,
            let oldest = known.min(by: { $0.value < $1.value })
        {
            known[oldest.key] = nil
        }
        known[origin] = now
    }

    private mutating func makeRoom(_ now: Int64) {
        guard entries.count >= Self.capacity else { return }
        entries = entries.filter { now - $0.value.last < Self.memorySeconds }
        guard entries.count >= Self.capacity,
            let oldest = entries.min(by: { $0.value.last < $1.value.last })
        else { return }
        entries[oldest.key] = nil
    }

    /// Number of remembered failures, one entry for each user, address and pair.
    var count: Int { entries.count }
}
