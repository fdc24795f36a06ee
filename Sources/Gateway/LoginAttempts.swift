// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Failed logins by user and by address, and how long each of them has to wait for the next.
///
/// Three failures are free; each further one doubles the wait, from 1 s to 60 s. What is 15 minutes old is forgotten.
/// Time is in seconds from any start.
struct LoginAttempts {
    private struct Failures {
        var count: Int
        var last: Int64
    }

    /// The most users and addresses remembered; the one that failed longest ago gives way.
    static let capacity = 4_096
    private static let memorySeconds: Int64 = 900
    private var entries: [String: Failures] = [:]

    /// How many seconds one of these has to wait; 0 when none has to.
    func wait(_ keys: [String], now: Int64) -> Int64 {
        keys.map { key in
            guard let failures = entries[key], failures.count >= 3,
                now - failures.last < Self.memorySeconds
            else { return 0 }
            return max(0, failures.last + Self.delay(failures.count) - now)
        }.max() ?? 0
    }

    private static func delay(_ count: Int) -> Int64 { min(60, 1 << Int64(min(count - 3, 6))) }

    /// An attempt begins, and counts as failed until it has succeeded.
    mutating func began(_ keys: [String], now: Int64) {
        for key in keys {
            if let failures = entries[key], now - failures.last < Self.memorySeconds {
                entries[key] = Failures(count: failures.count + 1, last: now)
            } else {
                makeRoom(now)
                entries[key] = Failures(count: 1, last: now)
            }
        }
    }

    /// It succeeded: the user begins anew, the address is as before.
    mutating func succeeded(user: String, address: String) {
        entries[user] = nil
        guard var failures = entries[address] else { return }
        failures.count -= 1
        entries[address] = failures.count > 0 ? failures : nil
    }

    private mutating func makeRoom(_ now: Int64) {
        guard entries.count >= Self.capacity else { return }
        entries = entries.filter { now - $0.value.last < Self.memorySeconds }
        guard entries.count >= Self.capacity,
            let oldest = entries.min(by: { $0.value.last < $1.value.last })
        else { return }
        entries[oldest.key] = nil
    }

    /// How many are remembered.
    var count: Int { entries.count }
}
