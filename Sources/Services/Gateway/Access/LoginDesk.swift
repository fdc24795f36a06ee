// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Platform

/// Compares passwords: two at a time, since each takes 64 MiB, and slower and slower for who
/// guesses.
actor LoginDesk {
    /// The most at once, the most that wait, and the most of both from one address; further ones
    /// are refused.
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
    /// How many run, and how many are here, from each address.
    private var running: [String: Int] = [:]
    private var present: [String: Int] = [:]
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
        let origin = LoginAttempts.Origin(
            user: "\(user) \((hash ?? "").suffix(16))", address: RateLimit.subscriber(address))
        try refuse(origin)
        guard runningCount < Self.runningLimit || waiting.count < Self.waitingLimit,
            present[origin.address, default: 0] < Self.addressLimit
        else { throw Failure(.busy, "too many log in just now; try again") }
        await enter(origin.address)
        defer { leave(origin.address) }
        // What was compared meanwhile may have failed.
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

    /// Gives the place to an address of which fewest run, to the one there that waits longest.
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

    /// Of a password that nobody was told.
    private static let nobodysHash =
        "$argon2id$v=19$m=65536,t=2,p=1$ncvgodVCdaZZGNXvA+As/w$i4GRejbynYQuVNv4pjejnuBjIhyEZRsN2f8CvN5wX9I"
}

extension Failure.Code {
    /// Not now: too many failures before (Esri's 400).
    static let refused = Failure.Code(rawValue: "refused")
}
