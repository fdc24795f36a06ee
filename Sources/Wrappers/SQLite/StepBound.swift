// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSQLite

/// A bound on the steps of SQLite's machine on the calling thread.
///
/// A view may have no end: `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)`. The
/// bound holds for connections of any library of the process, GDAL's too, that were opened under
/// one, as long as the thread has one; a statement beyond it fails as interrupted.
public enum StepBound {
    /// Runs `body` under a bound of its own, in place of the one that the thread has.
    ///
    /// The bound is looked at every 10,000 steps; nil lifts it. It misses a connection that is
    /// opened while GDAL closes a database on another thread, which forgets all such bounds.
    public static func run<Value: ~Copyable, E: Error>(
        _ steps: Int64?, _ body: () throws(E) -> Value
    ) throws(E) -> Value {
        _ = Connection.isWithoutAccount
        _ = cairn_sqlite3_watch_connections()
        let before = (cairn_sqlite3_has_bound(), cairn_sqlite3_get_steps_left())
        cairn_sqlite3_set_bound(steps == nil ? 0 : 1, steps ?? 0)
        defer { cairn_sqlite3_set_bound(before.0, before.1) }
        return try body()
    }

    /// Whether the thread's bound is used up.
    public static var isUsedUp: Bool {
        cairn_sqlite3_has_bound() != 0 && cairn_sqlite3_get_steps_left() <= 0
    }
}
