// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Site
internal import Synchronization

extension Failure.Code {
    /// A user's quota is used up (429).
    static let quotaExceeded = Failure.Code(rawValue: "quotaExceeded")
}

extension Failure {
    /// Names the quota, the amount used, and the remedy.
    static func quota(
        _ name: String, _ what: String, used: Int64, limit: Int64, _ help: String
    ) -> Failure {
        Failure(
            .quotaExceeded, "the quota of \(what) is full: \(used) of \(limit); \(help)",
            details: ["quota: \(name)", "used: \(used)", "limit: \(limit)"])
    }

    fileprivate static func bytes(used: Int64, limit: Int64) -> Failure {
        .quota(
            "bytes", "bytes of uploads and products", used: used, limit: limit,
            "they are kept until the site's operator sweeps ('cairn job sweep') or raises the "
                + "quota "
                + "('cairn user quota')")
    }
}

extension GatewayService {
    /// The caller's limits; nil without rules.
    func limits(of caller: Caller) -> Quota.Limits? {
        caller.isUnruled ? nil : access.snapshot.rules?.limits(of: caller.user)
    }

    /// Throws `quotaExceeded` where so many more bytes of the caller's are not kept.
    func checkRoom(
        for byteCount: Int64, of caller: Caller, _ backend: any GatewayJobs
    ) async throws(Failure) {
        guard let limits = limits(of: caller) else { return }
        let used = try await backend.use(by: caller).bytes + byteCount
        guard used <= limits.bytes else {
            throw Failure.bytes(used: used, limit: limits.bytes)
        }
    }

    /// Records a job within its submitter's quota; throws `quotaExceeded` beyond it.
    ///
    /// The jobs of one submitter are counted and recorded one after the other, so that a burst
    /// cannot exceed the limit.
    func record(
        _ submission: JobSubmission, by caller: Caller, _ backend: any GatewayJobs
    ) async throws(Failure) -> JobDescription {
        guard let limits = limits(of: caller) else { return try await backend.submit(submission) }
        try await submissions.enter(caller.actor)
        do throws(Failure) {
            let used = try await backend.use(by: caller)
            guard used.jobs < limits.jobs else {
                throw Failure.quota(
                    "jobs", "jobs under way", used: Int64(used.jobs), limit: Int64(limits.jobs),
                    "wait until one of them has ended, or cancel one")
            }
            guard used.bytes < limits.bytes else {
                throw Failure.bytes(used: used.bytes, limit: limits.bytes)
            }
            let job = try await backend.submit(submission)
            await submissions.leave(caller.actor)
            return job
        } catch {
            await submissions.leave(caller.actor)
            throw error
        }
    }
}

extension GatewayJobs {
    /// The caller's usage: running jobs, and the bytes of stored uploads and products.
    func use(by caller: Caller) async throws(Failure) -> (jobs: Int, bytes: Int64) {
        let usage = try await usage(of: caller.actor)
        let (blobs, uploads, owner) = (blobs, uploads, caller.uploader)
        let bytes = try await OwnThread.run("quota") { () throws(Failure) in
            let products = Set(usage.products.map(\.id)).reduce(Int64(0)) { sum, id in
                sum + (blobs.find(id)?.byteCount ?? 0)
            }
            return try uploads.byteCount(of: owner) + products + usage.olderByteCount
        }.get()
        return (usage.openCount, bytes)
    }
}

/// Serialises the submissions of each actor.
actor SubmissionQueue {
    /// Maximum number of waiting submissions of one actor; further ones are refused.
    static let waitingLimit = 64

    /// Waiting submissions by actor, while one of the actor's is in progress.
    private var waiting: [String: [CheckedContinuation<Void, Never>]] = [:]

    /// Waits for the actor's turn, which lasts until ``leave(_:)``; throws `Failure` (`busy`).
    func enter(_ name: String) async throws(Failure) {
        guard let queue = waiting[name] else {
            waiting[name] = []
            return
        }
        guard queue.count < Self.waitingLimit else {
            throw Failure(
                .busy, "\(Self.waitingLimit) jobs wait to be recorded for you; try again")
        }
        await withCheckedContinuation { waiting[name]?.append($0) }
    }

    /// Ends the turn.
    func leave(_ name: String) {
        guard waiting[name]?.isEmpty == false else {
            waiting[name] = nil
            return
        }
        waiting[name]?.removeFirst().resume()
    }
}

/// Uploads in progress at this gateway, counted as their bytes arrive.
///
/// Callable on any thread.
final class ArrivingUploads: Sendable {
    private struct Account {
        /// Number of uploads in progress, by address.
        var counts: [String: Int] = [:]
        /// Number of bytes received by the uploads in progress.
        var byteCount: Int64 = 0
        /// Number of bytes of completed uploads since there was last none in progress.
        var keptByteCount: Int64 = 0

        var count: Int { counts.values.reduce(0, +) }
    }

    private let accounts = Mutex<[UploadLedger.Owner: Account]>([:])

    /// One upload of an owner with limits.
    final class Upload: Sendable {
        private let all: ArrivingUploads
        private let owner: UploadLedger.Owner
        private let address: String
        private let limits: Quota.Limits
        /// Bytes completed before ``used`` was counted.
        private let keptBefore: Int64
        private let state = Mutex(State(byteCount: 0, used: 0))

        private struct State {
            var byteCount: Int64
            var used: Int64
        }

        fileprivate init(
            _ all: ArrivingUploads, _ owner: UploadLedger.Owner, _ address: String,
            _ limits: Quota.Limits, keptBefore: Int64
        ) {
            self.all = all
            self.owner = owner
            self.address = address
            self.limits = limits
            self.keptBefore = keptBefore
        }

        /// Sets the owner's usage at the beginning; throws as ``take(_:)``.
        func begin(used: Int64) throws(Failure) {
            state.withLock { $0.used = used }
            try take(0)
        }

        /// Counts received bytes; throws `quotaExceeded` beyond the limit.
        func take(_ byteCount: Int) throws(Failure) {
            let (more, used) = state.withLock { state in
                let before = UploadLedger.charge(state.byteCount)
                state.byteCount += Int64(byteCount)
                return (UploadLedger.charge(state.byteCount) - before, state.used)
            }
            let sum = all.accounts.withLock { accounts in
                accounts[owner, default: Account()].byteCount += more
                let account = accounts[owner] ?? Account()
                return used + account.byteCount + account.keptByteCount - keptBefore
            }
            guard sum <= limits.bytes else {
                throw Failure.bytes(used: sum, limit: limits.bytes)
            }
        }

        /// Ends the upload; `isKept` if it is in the ledger.
        func end(isKept: Bool) {
            let own = state.withLock { UploadLedger.charge($0.byteCount) }
            all.accounts.withLock { accounts in
                guard var account = accounts[owner] else { return }
                account.byteCount -= own
                if isKept { account.keptByteCount += own }
                account.counts[address, default: 1] -= 1
                if account.counts[address] == 0 { account.counts[address] = nil }
                accounts[owner] = account.counts.isEmpty ? nil : account
            }
        }
    }

    /// Begins an upload, which has to be ended; throws `quotaExceeded` at the limit of concurrent
    /// uploads.
    ///
    /// All anonymous callers are one owner, of whose slots one address gets at most half.
    func begin(
        _ owner: UploadLedger.Owner, _ address: String, _ limits: Quota.Limits
    ) throws(Failure) -> Upload {
        let place = RateLimit.subscriber(address)
        let (used, limit, kept) = accounts.withLock { accounts in
            var account = accounts[owner] ?? Account()
            var (used, limit) = (account.count, limits.uploads)
            if owner == .anonymous, used < limit {
                (used, limit) = (account.counts[place] ?? 0, max(1, limit / 2))
            }
            guard used < limit else { return (used, limit, Int64(0)) }
            account.counts[place, default: 0] += 1
            account.byteCount += UploadLedger.charge(0)
            accounts[owner] = account
            return (used, limit, account.keptByteCount)
        }
        guard used < limit else {
            throw Failure.quota(
                "uploads", "uploads under way", used: Int64(used), limit: Int64(limit),
                "wait until one of them has ended")
        }
        return Upload(self, owner, place, limits, keptBefore: kept)
    }
}
