// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EventLog
internal import FoundationEssentials
internal import MapState
internal import Site

/// The snapshots of the maps of a log that is read in this process, as far as the log confirms
/// them; read-only.
struct LogSnapshots {
    private let store: SnapshotStore
    private let log: ArchivedLogReader
    private let incarnation: UUID
    private let report: @Sendable (String) -> Void
    /// Unusable ones, which are reported once.
    private var refused: Set<Int64> = []
    /// The last restored states, so that neighbouring requests read them once.
    private var taken: [MapsState] = []

    private static let takenLimit = 2

    /// Nil for a log without an incarnation; `report` receives a line for each unusable snapshot.
    init?(
        _ store: SnapshotStore, of log: ArchivedLogReader,
        report: @escaping @Sendable (String) -> Void
    ) throws(Failure) {
        guard let incarnation = try log.incarnation() else { return nil }
        self.store = store
        self.log = log
        self.incarnation = incarnation
        self.report = report
    }

    /// The latest state up to a sequence number that the log confirms; nil without one.
    ///
    /// Throws `Failure` where the log cannot be read.
    mutating func state(through last: Int64) throws(Failure) -> MapsState? {
        let head = try log.head()
        for name in store.names() where name.sequence <= last && !refused.contains(name.sequence) {
            if let place = taken.firstIndex(where: { $0.sequence == name.sequence }) {
                let known = taken.remove(at: place)
                taken.append(known)
                return known
            }
            do throws(Failure) {
                let state = try state(name, endingAt: head)
                taken.append(state)
                if taken.count > Self.takenLimit { taken.removeFirst() }
                return state
            } catch {
                guard !error.isRetriable else { throw error }
                refused.insert(name.sequence)
                report("\(store.path(name)): \(error.message)")
            }
        }
        return nil
    }

    private func state(
        _ name: SnapshotStore.Name, endingAt head: Int64
    ) throws(Failure) -> MapsState {
        try SnapshotStore.check(name, of: incarnation, endingAt: head)
        let (label, pieces) = try store.read(name)
        return try SnapshotStore.state(MapsState.self, label, pieces) {
            sequence throws(Failure) in
            try SnapshotStore.Place(
                of: sequence, verified: try log.verify(after: sequence - 1, limit: 1))
        }
    }
}
