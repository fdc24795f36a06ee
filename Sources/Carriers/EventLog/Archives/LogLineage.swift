// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import SQLite

/// The ancestry of a log: a restore begins a new incarnation, which has the events of the one
/// before up to the backup's end.
public struct LogLineage: Hashable, Sendable {
    /// A log, with the last event that it has from the one before.
    private struct Entry: Hashable {
        let id: UUID
        let after: Int64
    }

    /// Oldest first.
    private var entries: [Entry] = []

    /// The lineage of a log without an incarnation.
    public init() {}

    /// Adds the next restore; `after` is where the restored backup ended.
    mutating func append(_ id: UUID, after: Int64) { entries.append(Entry(id: id, after: after)) }

    /// Whether the events up to a sequence number of an incarnation are those of this log; true for
    /// a log without an incarnation.
    public func holds(_ sequence: Int64, of incarnation: UUID) -> Bool {
        guard !entries.isEmpty else { return true }
        guard let place = entries.lastIndex(where: { $0.id == incarnation }) else { return false }
        return entries[(place + 1)...].allSatisfy { sequence <= $0.after }
    }
}

extension SQLiteEventReader {
    /// The file's lineage; throws `Failure` when it cannot be read.
    public func lineage() throws(Failure) -> LogLineage {
        var lineage = LogLineage()
        guard hasFloor else { return lineage }
        try query { () throws(SQLiteError) in
            var rows = try connection.prepare(
                "SELECT id, after FROM incarnation ORDER BY number")
            while try rows.step() {
                guard let id = UUID(bytes: rows.bytes(0)) else { continue }
                lineage.append(id, after: rows.integer(1))
            }
        }
        return lineage
    }
}
