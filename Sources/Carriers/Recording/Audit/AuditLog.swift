// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform
public import Site
internal import Synchronization

/// What an audit keeps, and for how long.
public struct AuditPolicy: Hashable, Sendable {
    /// Of a million questions so many are kept.
    public var sampledPerMillion: UInt32
    /// Age at which a file is removed, in days.
    public var days: Int
    /// Total size of a site's files at which the oldest is removed, in bytes.
    public var byteLimit: Int64
    /// Fields that are not kept.
    public var masked: Set<Field>

    /// A field that can be left out.
    public enum Field: String, Hashable, Sendable, CaseIterable {
        case user, address, question
    }

    /// Makes a policy.
    public init(
        sampledPerMillion: UInt32 = 1_000_000, days: Int = 90, byteLimit: Int64 = 10 << 30,
        masked: Set<Field> = []
    ) {
        self.sampledPerMillion = sampledPerMillion
        self.days = days
        self.byteLimit = byteLimit
        self.masked = masked
    }
}

/// Writes the audit of one gateway: a file in `audit` of the site after the other.
///
/// An entry is written to mapped memory, without a system call but for random bytes, once in 256
/// entries, and outlives the process however that ends. Where the disk is full answers go on, and
/// what is not kept is counted. A file that is complete is sealed: its entries' digests are
/// chained, so that a change shows. Any thread may call.
public final class AuditLog: Sendable {
    private struct State {
        var segment: AuditSegment?
        /// Monotonic nanoseconds before which a file that could not be made is not tried again.
        var retryAt: Int64 = 0
        var salt: ArraySlice<UInt8> = []
        var sample: UInt32 = 0
        var lostCount = 0
        var isClosed = false
    }

    /// A file's size, in bytes.
    static let segmentByteCount = 4 << 20
    private static let retryNanoseconds: Int64 = 1_000_000_000
    private static let saltByteCount = 16

    private let files: AuditFiles
    private let policy: AuditPolicy
    private let state: Mutex<State>
    private let housekeeping: BlockingQueue<String>
    private let housekeeper: PinnedThread
    private let onFault: @Sendable (Failure) -> Void

    /// Begins an audit in a site's folder; throws `Failure` when no thread can be created.
    ///
    /// `onFault` gets the reason why a file cannot be made, at most once a second, on the thread of
    /// the entry that is lost by it.
    public init(
        site: Site, policy: AuditPolicy, onFault: @escaping @Sendable (Failure) -> Void
    ) throws(Failure) {
        self.onFault = onFault
        let files = AuditFiles(directory: site.auditDirectory)
        let queue = BlockingQueue<String>(capacity: 64)
        (self.files, self.policy, housekeeping) = (files, policy, queue)
        state = Mutex(State())
        do throws(PlatformError) {
            housekeeper = try PinnedThread(name: "audit") {
                // Those of processes that were killed.
                files.sealAbandoned()
                files.remove(olderThan: policy.days, beyond: policy.byteLimit)
                while let path = queue.pop() {
                    files.seal(path)
                    files.remove(olderThan: policy.days, beyond: policy.byteLimit)
                }
            }
        } catch {
            throw Failure(error)
        }
    }

    /// Number of entries that could not be kept.
    public var lostCount: Int { state.withLock { $0.lostCount } }

    /// Keeps an entry, unless the policy samples it away.
    public func note(_ entry: @autoclosure () -> AuditEntry) {
        guard let salt = admitted() else { return }
        var entry = entry()
        if policy.masked.contains(.user) { entry.user = nil }
        if policy.masked.contains(.address) { entry.address = "" }
        if policy.masked.contains(.question) { entry.question = nil }
        let bytes = entry.bytes(salt: salt)
        guard bytes.count + AuditFiles.headerByteCount + 8 <= Self.segmentByteCount else {
            return state.withLock { $0.lostCount += 1 }
        }
        while true {
            guard let segment = segment() else { return state.withLock { $0.lostCount += 1 } }
            if segment.journal.append(bytes) { return }
            end(segment)
        }
    }

    /// Random bytes for an entry that is to be kept.
    private func admitted() -> ArraySlice<UInt8>? {
        state.withLock { state in
            if policy.sampledPerMillion < 1_000_000 {
                // Evenly spread, whatever the share.
                let before = state.sample
                state.sample = (before + policy.sampledPerMillion) % 1_000_000
                guard before + policy.sampledPerMillion >= 1_000_000 else { return nil }
            }
            if state.salt.isEmpty {
                state.salt = RandomBytes.make(256 * Self.saltByteCount)[...]
            }
            defer { state.salt = state.salt.dropFirst(Self.saltByteCount) }
            return state.salt.prefix(Self.saltByteCount)
        }
    }

    /// The open file, made if necessary; nil while none can be made.
    private func segment() -> AuditSegment? {
        state.withLock { state in
            if let segment = state.segment { return segment }
            let now = MonotonicClock.nanoseconds()
            guard !state.isClosed, now >= state.retryAt else { return nil }
            do throws(Failure) {
                let segment = try files.begin(policy, byteCount: Self.segmentByteCount)
                state.segment = segment
                return segment
            } catch {
                state.retryAt = now + Self.retryNanoseconds
                onFault(error)
                return nil
            }
        }
    }

    /// Ends a full file; the next entry makes another.
    private func end(_ segment: AuditSegment) {
        let isCurrent = state.withLock { state in
            guard state.segment === segment else { return false }
            state.segment = nil
            return true
        }
        guard isCurrent else { return }
        segment.end()
        // Where too many wait, the next gateway that starts seals it.
        _ = housekeeping.tryPush(segment.journal.path)
    }

    /// Ends and seals the file once the files before it are sealed; later entries are lost.
    public func close() {
        let segment = state.withLock { state in
            state.isClosed = true
            return state.segment.take()
        }
        housekeeping.close()
        housekeeper.join()
        if let segment {
            segment.end()
            files.seal(segment.journal.path)
        }
    }

    deinit { close() }
}
