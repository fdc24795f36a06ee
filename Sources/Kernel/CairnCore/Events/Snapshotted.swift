// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// A fold of the log that can be written to a snapshot, so that the next process need not fold the
/// whole log again.
///
/// A snapshot is a cache of one build, never a record: it can be deleted at any time, and
/// `init(pieces:)` of `pieces()` gives an equal state.
public protocol Snapshotted: Sendable {
    /// The state's name in file names: `maps`.
    static var snapshotName: String { get }
    /// Version of ``pieces()`` and of the fold's semantics.
    ///
    /// A change to either must increment it, so that no state is restored from a snapshot of an
    /// earlier build's semantics.
    static var snapshotForm: Int { get }
    /// The last event folded in; 0 for the state before the first.
    var foldedThrough: Int64 { get }
    /// About how many pieces there are, without making them.
    var pieceCount: Int { get }
    /// The hash of the state.
    func hash() throws(Failure) -> StateHash
    /// The state as JSON texts, none with a line feed in it.
    func pieces() throws(Failure) -> [Data]
    /// The state with these pieces; throws `Failure` for malformed ones.
    init(pieces: [Data]) throws(Failure)
}
