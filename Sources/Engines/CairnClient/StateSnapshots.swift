// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
public import Site
internal import Synchronization

/// Persists a folded state from time to time, and restores it at the next start.
///
/// A snapshot is restored where the log confirms it: the same incarnation, and at the end of the
/// commit that holds the snapshot's last event the same hash chain, over records that pass their
/// checksums. Two logs that agree there agree on every event before, so the restored state is what
/// a fold would give now. Any other snapshot is reported in one line, and an older one or the
/// beginning of the log is used.
///
/// Thread-safe; none of it runs on the caller's actor.
public final class StateSnapshots<State: Snapshotted>: Sendable {
    private let store: SnapshotStore
    private let log: LogReader
    private let report: @Sendable (String) -> Void
    /// The incarnation of the log at the start of the fold; a state of another one is not kept.
    private let incarnation = Mutex<UUID?>(nil)
    private let isKeeping = Atomic<Bool>(false)

    /// Opens the snapshots of a site; `report` receives, on any thread, a line for each unusable
    /// one.
    public init(
        site: Site, log: LogReader, report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        store = site.snapshots(of: State.snapshotName)
        self.log = log
        self.report = report
    }

    /// The latest state up to a sequence number that the log confirms, to resume the fold from; nil
    /// for none.
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

    /// The incarnation found by the last ``restore(through:)``; nil before that, and for a log of
    /// an older build.
    public var foundIncarnation: UUID? { incarnation.withLock { $0 } }

    /// The sequence numbers of the snapshots of that log, the latest first, usable or not.
    ///
    /// Reads the folder.
    public func sequences() -> [Int64] {
        let found = foundIncarnation
        return store.names().filter { $0.incarnation == found ?? $0.incarnation }.map(\.sequence)
    }

    /// Persists a state that was folded since ``restore(through:)``; a failure is reported and has
    /// no other effect.
    @concurrent
    public func keep(_ state: State) async {
        do throws(Failure) { try await write(state) } catch {
            report("no snapshot at \(state.foldedThrough): \(error.message)")
        }
    }

    /// Starts to persist a state in the background, unless another is being persisted; returns
    /// whether it started.
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
        // Asked last: an incarnation never recurs, so it was this one all along.
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

    /// The end of the commit that holds an event, with its hash chain, as verified by the log.
    private func place(
        of sequence: Int64
    ) async throws(Failure) -> SnapshotStore.Place {
        let page = try await log.verify(after: sequence - 1, limit: 1)
        return try SnapshotStore.Place(of: sequence, verified: page)
    }
}
