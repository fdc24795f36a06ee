// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import SQLite

/// The positions of the events of streams and categories, as runs of neighbours in the log.
///
/// An append of many events to a stream is one run of it, and events of one category mostly follow
/// on each other: so there are fewer runs than events, or as many at worst.
struct EventRuns {
    struct Run {
        let number: Int64
        let first: Int64
        var count: Int64
    }

    private(set) var streams: [Run] = []
    private(set) var categories: [Run] = []

    /// Adds neighbouring events, after all earlier ones.
    mutating func append(stream: Int64, category: Int64, first: Int64, count: Int64) {
        Self.append(Run(number: stream, first: first, count: count), to: &streams)
        Self.append(Run(number: category, first: first, count: count), to: &categories)
    }

    /// Takes the runs of others, which come after all of these.
    mutating func append(_ others: EventRuns) {
        for run in others.streams { Self.append(run, to: &streams) }
        for run in others.categories { Self.append(run, to: &categories) }
    }

    private static func append(_ run: Run, to runs: inout [Run]) {
        if let last = runs.last, last.number == run.number, last.first + last.count == run.first {
            runs[runs.count - 1].count += run.count
        } else {
            runs.append(run)
        }
    }

    /// Removes all runs; with `keepingCapacity` the storage stays.
    mutating func removeAll(keepingCapacity: Bool) {
        streams.removeAll(keepingCapacity: keepingCapacity)
        categories.removeAll(keepingCapacity: keepingCapacity)
    }

    /// Puts them into their tables, in the order of these, inside the caller's transaction.
    func write(to connection: Connection) throws(SQLiteError) {
        try Self.write(
            streams, "INSERT INTO stream_run (stream, first, count) VALUES (?1, ?2, ?3)", connection
        )
        try Self.write(
            categories, "INSERT INTO category_run (category, first, count) VALUES (?1, ?2, ?3)",
            connection)
    }

    private static func write(
        _ runs: [Run], _ sql: String, _ connection: Connection
    ) throws(SQLiteError) {
        var insert = try connection.prepare(sql)
        for run in runs.sorted(by: { ($0.number, $0.first) < ($1.number, $1.first) }) {
            try insert.bind(1, run.number)
            try insert.bind(2, run.first)
            try insert.bind(3, run.count)
            try insert.run()
        }
    }
}
