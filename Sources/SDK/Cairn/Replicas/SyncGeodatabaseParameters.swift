// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a synchronisation does.
public final class SyncGeodatabaseParameters: Sendable {
    private struct Values: Sendable {
        var direction = SyncDirection.bidirectional
        var rollsBack = false
    }

    private let values = Guarded(Values())

    /// Both ways, keeping what went well.
    public init() {}

    /// Which way edits go.
    public var geodatabaseSyncDirection: SyncDirection {
        get { values.current.direction }
        set { values.withLock { $0.direction = newValue } }
    }
    /// Whether one failed edit undoes everything, on both sides.
    public var shouldRollbackOnFailure: Bool {
        get { values.current.rollsBack }
        set { values.withLock { $0.rollsBack = newValue } }
    }
}

/// Which way edits go: `download` takes those of the service over and leaves the file's where they
/// wait, `upload` sends the file's alone, `bidirectional` does both.
public enum SyncDirection: String, Sendable, Hashable {
    case none
    case download
    case upload
    case bidirectional
}
