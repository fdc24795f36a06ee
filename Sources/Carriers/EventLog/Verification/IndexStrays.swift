// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import SQLite

/// Rows of the indexes that no event leads to.
///
/// A page of a verification looks up the ids, the streams and most categories of the events at
/// hand. Surplus rows follow from counts: once each event was found where it belongs, an index with
/// more rows than events has a stray.
enum IndexStrays {
    /// The position of the first stray, if there are more rows than events; nil also for missing
    /// rows, which pages find.
    static func fault(in connection: Connection) throws(SQLiteError) -> LogFault? {
        // One statement, and so of one moment.
        var totals = try connection.prepare(
            """
            SELECT max(0, through - coalesce((SELECT min(position) FROM event), through + 1) + 1),
                (SELECT count(*) FROM event_id),
                (\(count("stream_run"))), (\(count("category_run"))) FROM indexed
            """)
        guard try totals.step() else { return nil }
        let held = totals.integer(0)
        var first: LogFault?
        for (place, kind) in ["ids", "streams", "categories"].enumerated()
        where totals.integer(place + 1) > held {
            let search =
                switch kind {
                case "ids": strayIDs
                case "streams": strayRuns(of: "stream")
                default: strayRuns(of: "category")
                }
            guard let position = try connection.integer(search),
                position < first?.position ?? .max
            else { continue }
            first = LogFault(
                position: max(1, position),
                message: "the index of \(kind) names it where it does not belong")
        }
        return first
    }

    /// Number of events that the rows name; a row without an event counts as one.
    private static func count(_ table: String) -> String {
        // A sum of integers would fail where it is too great for one.
        "SELECT total(max(count, 1)) FROM \(table)"
    }

    private static let strayIDs = """
        SELECT min(position) FROM event_id AS named WHERE NOT EXISTS (
            SELECT 1 FROM event WHERE event.position = named.position AND event.id = named.id)
        """

    private static func strayRuns(of kind: String) -> String {
        """
        SELECT min(first) FROM \(kind)_run AS run, indexed
        WHERE count < 1 OR first + count - 1 > through OR NOT EXISTS (
            SELECT 1 FROM event WHERE position = run.first AND event.\(kind) = run.\(kind))
        """
    }
}
