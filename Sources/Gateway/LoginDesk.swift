// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Platform

/// Compares passwords: two at a time, since each takes 64 MiB, and slower and slower for who guesses.
actor LoginDesk {
    /// The most at once, and the most that wait; further ones are refused.
    static let runningLimit = 2
    static let waitingLimit = 32

    private var attempts = LoginAttempts()
    private var runningCount = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private let clock: @Sendable () -> Int64

    /// `clock` gives seconds from any start.
    init(clock: @escaping @Sendable () -> Int64 = { MonotonicClock.nanoseconds() / 1_000_000_000 })
    {
        self.clock = clock
    }

    /// Whether the password is the one of the hash; without a hash it takes as long, and is not.
    ///
    /// Throws `Failure`: `refused` with the seconds to wait after failures, `busy`.
    func check(
        user: String, password: String, hash: String?, address: String
    ) async throws(Failure) -> Bool {
        let keys = ["user " + user, "address " + address]
        guard runningCount < Self.runningLimit || waiting.count < Self.waitingLimit else {
            throw Failure(.busy, "too many log in just now; try again")
        }
        let wait = attempts.wait(keys, now: clock())
        guard wait == 0 else {
            throw Failure(
                .refused, "Unable to generate token.",
                details: ["Too many failed attempts. Try again in \(wait) s."])
        }
        attempts.began(keys, now: clock())
        await enter()
        let compared = hash ?? Self.nobodysHash
        let result = await OwnThread.run("login") { () throws(Failure) in
            PasswordHash.matches(compared, password)
        }
        leave()
        guard try result.get(), hash != nil else { return false }
        attempts.succeeded(user: keys[0], address: keys[1])
        return true
    }

    private func enter() async {
        guard runningCount >= Self.runningLimit else {
            runningCount += 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Whoever waits longest takes the place over.
    private func leave() {
        if waiting.isEmpty { runningCount -= 1 } else { waiting.removeFirst().resume() }
    }

    /// Of a password that nobody was told.
    private static let nobodysHash =
        "$argon2id$v=19$m=65536,t=2,p=1$ncvgodVCdaZZGNXvA+As/w$i4GRejbynYQuVNv4pjejnuBjIhyEZRsN2f8CvN5wX9I"
}

extension Failure.Code {
    /// Not now: too many failures before (Esri's 400).
    static let refused = Failure.Code(rawValue: "refused")
}
