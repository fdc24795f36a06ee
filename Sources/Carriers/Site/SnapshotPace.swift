// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// Number of events folded between two snapshots of a state.
public struct SnapshotPace: Hashable, Sendable {
    /// Least number of events.
    public var eventCount: Int

    /// Ten thousand, some tenths of a second of folding.
    public static let usual = SnapshotPace(eventCount: 10_000)

    /// Makes a pace.
    public init(eventCount: Int) { self.eventCount = eventCount }

    /// Whether a snapshot is due, so many events after the last: at most about one piece is written
    /// for each folded event.
    public func isDue(after events: Int, _ state: some Snapshotted) -> Bool {
        events >= eventCount && events >= state.pieceCount
    }
}
