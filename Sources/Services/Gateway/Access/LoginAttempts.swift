// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Failed logins, and how long the next one has to wait: by user and address together, by address,
/// and by user.
///
/// Some failures of each are free; each further one doubles the wait, from 1 s to 60 s. What is 15
/// minutes old is forgotten. At an address from which a user has logged in before, only what failed
/// for this user there counts: strangers elsewhere, and others there, keep nobody out. Time is in
/// seconds from any start.
struct LoginAttempts {
    /// A user and the address of an attempt.
    struct Origin: Hashable {
        /// The user, with something that changes with the password: a new one begins anew.
        var user: String
        /// The part of the address that one subscriber has.
        var address: String
    }

    private enum Key: Hashable {
        case pair(Origin), address(String), user(String)
    }

    private struct Failures {
        var count: Int
        var last: Int64
    }

    /// The most that are remembered, of failures and of successes; what is oldest gives way.
    static let capacity = 4_096
    private static let memorySeconds: Int64 = 900
    private static let knownSeconds: Int64 = 30 * 86_400
    private var entries: [Key: Failures] = [:]
    /// Where users have logged in from, and when last.
    private var known: [Origin: Int64] = [:]

    /// How many failures are free.
    private static func freeCount(_ key: Key) -> Int {
        switch key {
        case .pair: 3
        case .address: 30
        case .user: 100
        }
    }

    /// How many seconds one has to wait; 0 for none.
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

    /// An attempt has failed.
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

    /// It succeeded: the user begins anew there, and has been there.
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

    /// How many failures are remembered, at most one entry for each user, address and pair.
    var count: Int { entries.count }
}
