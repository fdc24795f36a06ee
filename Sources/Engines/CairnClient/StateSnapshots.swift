// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
public import Site
internal import Synchronization

/// Writes a folded state down now and then, and finds it again at the next start.
///
/// A snapshot is taken where the log agrees with it: the same incarnation, and at the end of the
/// commit that holds the snapshot's last event the same hash chain, over records that pass their
/// checksums. Two logs that agree there agree on every event before, so what was folded is what
/// would be folded now. Anything else about a snapshot that is not as it should be is said in one
/// line, and an older one or the beginning of the log is taken.
///
/// Any task; nothing of it runs on the caller's actor.
public final class StateSnapshots<State: Snapshotted>: Sendable {
    private let store: SnapshotStore
    private let log: LogReader
    private let report: @Sendable (String) -> Void
    /// Which log it was when the fold began; what is folded from another is not kept.
    private let incarnation = Mutex<UUID?>(nil)
    private let isKeeping = Atomic<Bool>(false)

    /// The snapshots of a site; `report` is told, on any thread, of each that could not be taken.
    public init(
        site: Site, log: LogReader, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        store = site.snapshots(of: State.snapshotName)
        self.log = log
        self.report = report
    }

    /// The latest state up to a sequence number that the log agrees with, to fold on from; nil
    /// where there is none.
    ///
    /// Throws `Failure` where the log does not answer.
    @concurrent
    public func restore(through last: Int64 = .max) async throws(Failure) -> State? {
        let head = try await log.head()
        guard let incarnation = head.incarnation else { return nil }
        self.incarnation.withLock { $0 = incarnation }
        for name in store.names() where name.sequence <= last {
            do throws(Failure) {
                return try await restore(name, from: incarnation, endingAt: head.head)
            } catch {
                guard !error.isRetriable else { throw error }
                report("\(store.path(name)): \(error.message)")
            }
        }
        return nil
    }

    private func restore(
        _ name: SnapshotStore.Name, from incarnation: UUID, endingAt head: Int64
    ) async throws(Failure) -> State {
        try SnapshotStore.check(name, of: incarnation, endingAt: head)
        let store = store
        let (label, pieces) = try await OwnThread.run("snapshot") { () throws(Failure) in
            try store.read(name)
        }.get()
        let place = try await place(of: name.sequence)
        return try SnapshotStore.state(State.self, label, pieces) { _ in place }
    }

    /// Which log the last ``restore(through:)`` has found; nil before it has, and for a log of an
    /// older build.
    public var foundIncarnation: UUID? { incarnation.withLock { $0 } }

    /// The sequence numbers of the snapshots there are of that log, the latest first, whether they
    /// can be taken or not.
    ///
    /// Reads the folder.
    public func sequences() -> [Int64] {
        let found = foundIncarnation
        return store.names().filter { $0.incarnation == found ?? $0.incarnation }.map(\.sequence)
    }

    /// Writes a state down that was folded since ``restore(through:)``; what cannot be written is
    /// reported, and nothing else comes of it.
    @concurrent
    public func keep(_ state: State) async {
        do throws(Failure) { try await write(state) } catch {
            report("no snapshot at \(state.foldedThrough): \(error.message)")
        }
    }

    /// Begins to write a state down beside whatever comes next, unless another is being written
    /// that way; returns whether it began.
    public func keepBeside(_ state: State) -> Bool {
        guard !isKeeping.exchange(true, ordering: .acquiringAndReleasing) else { return false }
        Task {
            await keep(state)
            isKeeping.store(false, ordering: .releasing)
        }
        return true
    }

    private func write(_ state: State) async throws(Failure) {
        let sequence = state.foldedThrough
        guard sequence > 0, let known = incarnation.withLock({ $0 }) else { return }
        let place = try await place(of: sequence)
        // Asked last: an incarnation never comes back, so it was this one all the time.
        guard try await log.head().incarnation == known else {
            throw Failure(.conflict, "the log has been replaced")
        }
        let pieces = try state.pieces()
        let label = SnapshotStore.Label(
            state: State.snapshotName, form: SnapshotStore.form(of: State.self),
            incarnation: known, sequence: sequence,
            committedThrough: place.committedThrough, chainHash: place.chainHash,
            stateHash: try state.hash().hash)
        let store = store
        try await OwnThread.run("snapshot") { () throws(Failure) in
            try store.write(label, pieces)
        }.get()
    }

    /// The end of the commit that holds an event, and the hash chain there, as the log verifies it.
    private func place(
        of sequence: Int64
    ) async throws(Failure) -> SnapshotStore.Place {
        let page = try await log.verify(after: sequence - 1, limit: 1)
        return try SnapshotStore.Place(of: sequence, verified: page)
    }
}
