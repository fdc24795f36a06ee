// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// A fold of the log that can be written down as it is, so that the next process need not fold the
/// whole log again.
///
/// What is written is a convenience of one build, never a record: it can be thrown away at any
/// time, and `init(pieces:)` of `pieces()` gives an equal state.
public protocol Snapshotted: Sendable {
    /// What it is called in the names of files: `maps`.
    static var snapshotName: String { get }
    /// The form of ``pieces()``, and what the events mean to the fold.
    ///
    /// Whoever changes either gives it the next number, so that nobody goes on from what an earlier
    /// build understood.
    static var snapshotForm: Int { get }
    /// The last event folded in; 0 for the state before the first.
    var foldedThrough: Int64 { get }
    /// About how many pieces there are, without making them.
    var pieceCount: Int { get }
    /// The hash of the state.
    func hash() throws(Failure) -> StateHash
    /// The state as JSON texts, none with a line feed in it.
    func pieces() throws(Failure) -> [Data]
    /// The state that gave these pieces; throws `Failure` for what no state gives.
    init(pieces: [Data]) throws(Failure)
}
