// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

/// The conditions for a state to be restored from a snapshot, in any process.
extension SnapshotStore {
    /// The end of the commit that holds an event.
    public struct Place: Hashable, Sendable {
        /// The end of that commit.
        public var committedThrough: Int64
        /// The log's hash chain there, 64 hexadecimal digits.
        public var chainHash: String

        /// The place of an event, from the verification of one event after the one before it.
        ///
        /// Throws `Failure`: `corrupt` for a log damaged there, `conflict` for one that ends
        /// before.
        public init(of sequence: Int64, verified page: VerifyPage) throws(Failure) {
            if let fault = page.fault {
                throw Failure(
                    .corrupt, "the log is damaged at \(fault.position): \(fault.message)")
            }
            guard page.checkedThrough >= sequence else {
                throw Failure(.conflict, "the log ends before \(sequence)")
            }
            (committedThrough, chainHash) = (page.checkedThrough, page.chainHash)
        }
    }

    /// The form of this build's snapshots of a state.
    public static func form<State: Snapshotted>(of type: State.Type) -> String {
        "\(State.snapshotName) \(State.snapshotForm), state \(StateHash.form), "
            + "cairn \(Release.version)"
    }

    /// Refuses, by its name alone, a snapshot of another log or of more than the log has; throws
    /// `conflict`.
    ///
    /// - Parameters:
    ///   - name: The snapshot.
    ///   - incarnation: Which log it is.
    ///   - head: Where that ends.
    public static func check(
        _ name: Name, of incarnation: UUID, endingAt head: Int64
    ) throws(Failure) {
        guard name.incarnation == incarnation else {
            throw Failure(.conflict, "it was folded from another incarnation of the log")
        }
        guard 1...max(1, head) ~= name.sequence else {
            throw Failure(.conflict, "it is ahead of the log, which ends at \(head)")
        }
    }

    /// The state of a snapshot, provided the log holds the events it was folded from.
    ///
    /// Throws `Failure`: `conflict` for a snapshot of another form, or of events that are not in
    /// the log, `corrupt` for one that does not restore the state that was written.
    public static func state<State: Snapshotted>(
        _ type: State.Type, _ label: Label, _ pieces: [Data],
        at place: (_ sequence: Int64) throws(Failure) -> Place
    ) throws(Failure) -> State {
        guard label.state == State.snapshotName, label.form == form(of: type) else {
            throw Failure(
                .conflict,
                "it has the form '\(label.form.prefix(100))'; this build has '\(form(of: type))'")
        }
        let place = try place(label.sequence)
        guard place.committedThrough == label.committedThrough, place.chainHash == label.chainHash
        else {
            throw Failure(.conflict, "the log does not hold what was folded")
        }
        let state = try State(pieces: pieces)
        guard state.foldedThrough == label.sequence, try state.hash().hash == label.stateHash else {
            throw Failure(.corrupt, "it does not lead to the state that was written")
        }
        return state
    }
}
