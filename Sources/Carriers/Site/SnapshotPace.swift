// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Number of events folded between two snapshots of a state.
public struct SnapshotPace: Hashable, Sendable {
    /// At least so many.
    public var eventCount: Int

    /// Ten thousand, some tenths of a second of folding.
    public static let usual = SnapshotPace(eventCount: 10_000)

    /// Makes a pace.
    public init(eventCount: Int) { self.eventCount = eventCount }

    /// Whether it is time, so many events after the last snapshot: never more than about one piece
    /// is written for each event that was folded.
    public func isDue(after events: Int, _ state: some Snapshotted) -> Bool {
        events >= eventCount && events >= state.pieceCount
    }
}
