// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Platform
internal import Secrets

/// Verifies passwords, two at a time since each takes 64 MiB, with a growing delay after failures.
actor LoginDesk {
    /// Limits on running and waiting checks, and on both of one address; further ones are refused.
    static let runningLimit = 2
    static let waitingLimit = 32
    static let addressLimit = 8

    private struct Waiting {
        let address: String
        let continuation: CheckedContinuation<Void, Never>
    }

    private var attempts = LoginAttempts()
    private var runningCount = 0
    private var waiting: [Waiting] = []
    /// Number of running, and of all, checks by address.
    private var running: [String: Int] = [:]
    private var present: [String: Int] = [:]
    private let clock: @Sendable () -> Int64

    /// `clock` returns seconds from an arbitrary start.
    init(clock: @escaping @Sendable () -> Int64 = { MonotonicClock.nanoseconds() / 1_000_000_000 })
    {
        self.clock = clock
    }

    /// Whether the password matches the hash; without a hash false, after the same time.
    ///
    /// Throws `Failure`: `refused` with the seconds to wait after failures, `busy`.
    func check(
        user: String, password: String, hash: String?, address: String
    ) async throws(Failure) -> Bool {
        let origin = LoginAttempts.Origin(
            user: "\(user) \((hash ?? "").suffix(16))", address: RateLimit.subscriber(address))
        try refuse(origin)
        guard runningCount < Self.runningLimit || waiting.count < Self.waitingLimit,
            present[origin.address, default: 0] < Self.addressLimit
        else { throw Failure(.busy, "too many logins in progress; try again") }
        await enter(origin.address)
        defer { leave(origin.address) }
        // A check that ran meanwhile may have failed.
        try refuse(origin)
        let compared = hash ?? Self.nobodysHash
        let result = await OwnThread.run("login") { () throws(Failure) in
            PasswordHash.matches(compared, password)
        }
        guard try result.get(), hash != nil else {
            attempts.failed(origin, now: clock())
            return false
        }
        attempts.succeeded(origin, now: clock())
        return true
    }

    private func refuse(_ origin: LoginAttempts.Origin) throws(Failure) {
        let wait = attempts.wait(origin, now: clock())
        guard wait == 0 else {
            throw Failure(
                .refused, "Unable to generate token.",
                details: ["Too many failed attempts. Try again in \(wait) s."])
        }
    }

    private func enter(_ address: String) async {
        present[address, default: 0] += 1
        guard runningCount >= Self.runningLimit else {
            runningCount += 1
            running[address, default: 0] += 1
            return
        }
        await withCheckedContinuation {
            waiting.append(Waiting(address: address, continuation: $0))
        }
    }

    /// Hands the slot to the address with the fewest running checks, to its longest waiting one.
    private func leave(_ address: String) {
        Self.lower(&present, address)
        Self.lower(&running, address)
        let next = waiting.indices.min { first, second in
            let counts = (
                running[waiting[first].address, default: 0],
                running[waiting[second].address, default: 0]
            )
            return counts.0 == counts.1 ? first < second : counts.0 < counts.1
        }
        guard let next else {
            runningCount -= 1
            return
        }
        let one = waiting.remove(at: next)
        running[one.address, default: 0] += 1
        one.continuation.resume()
    }

    private static func lower(_ counts: inout [String: Int], _ address: String) {
        let count = counts[address, default: 0] - 1
        counts[address] = count > 0 ? count : nil
    }

    /// Hash of a random, discarded password.
    private static let nobodysHash =
        "$argon2id$v=19$m=65536,t=2,p=1$ncvgodVCdaZZGNXvA+As/w$"
        + "i4GRejbynYQuVNv4pjejnuBjIhyEZRsN2f8CvN5wX9I"
}

extension Failure.Code {
    /// Too many failed attempts; to be tried again later (Esri's 400).
    static let refused = Failure.Code(rawValue: "refused")
}
