// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import SQLite

/// Rows of the indexes that no event leads to.
///
/// A page of a verification asks for what the events at hand lead to: their ids, their streams,
/// most categories. Whether there is more is a matter of numbers: once each event was found where
/// it belongs, the indexes name as many as there are, or some row is a stray.
enum IndexStrays {
    /// Where the first stray lies, if there are more rows than events; nil too where something is
    /// left out, which pages find.
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

    /// How many events the rows name; one that names none counts as one.
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
