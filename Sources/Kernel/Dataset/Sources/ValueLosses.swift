// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Values changed on import, counted by column and by outcome.
final class ValueLosses {
    private struct Key: Hashable {
        let column: String
        let outcome: String
    }
    private struct Entry {
        var count: Int
        let row: Int
        let value: String
        let place: Int
    }
    private var entries: [Key: Entry] = [:]
    /// Number of values in columns beyond the limit.
    private var furtherCount = 0
    private static let limit = 1_000

    /// Counts a value of a row, from 1; `outcome` states the effect: `became null`.
    func count(_ column: String, _ outcome: String, row: Int, value: @autoclosure () -> String) {
        let key = Key(column: column, outcome: outcome)
        if entries[key] != nil {
            entries[key]?.count += 1
        } else if entries.count < Self.limit {
            entries[key] = Entry(
                count: 1, row: row, value: String(value().prefix(40)), place: entries.count)
        } else {
            furtherCount += 1
        }
    }

    /// A sentence for each column and outcome, in the order of the first of them.
    var notes: [String] {
        let counted = entries.sorted { $0.value.place < $1.value.place }.map { key, entry in
            "column '\(key.column)': "
                + (entry.count == 1 ? "a value " : "\(entry.count) values ") + key.outcome
                + (entry.count == 1
                    ? ", in row \(entry.row): " : ", the first in row \(entry.row): ")
                + "'\(entry.value)'"
        }
        guard furtherCount > 0 else { return counted }
        return counted + ["\(furtherCount) values of further columns are not kept as they were"]
    }
}
