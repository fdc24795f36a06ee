// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The tags of OpenStreetMap that define points of interest, with their categories: the rows of
/// `Data/points-of-interest.txt`.
struct PointOfInterestTags {
    /// One row: a tag, and the category; nil for one that is no point of interest.
    struct Row {
        var key: String
        /// Nil for any.
        var value: String?
        var category: String?
    }

    let rows: [Row]
    /// All keys, without duplicates.
    let keys: [String]
    private let rowsOfKey: [String: [Int]]

    static let shipped = PointOfInterestTags(
        String(decoding: PackageResources.points_of_interest_txt, as: UTF8.self))

    init(_ table: String) {
        rows = table.split(separator: "\n").filter { $0.first != "#" }.compactMap { line in
            let parts = line.split(separator: " ", maxSplits: 1)
            let tag = parts[0].split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, tag.count == 2 else { return nil }
            let category = String(parts[1].drop { $0 == " " })
            return Row(
                key: tag[0], value: tag[1] == "*" ? nil : tag[1],
                category: category == "-" ? nil : category)
        }
        var keys: [String] = []
        for row in rows where !keys.contains(row.key) { keys.append(row.key) }
        self.keys = keys
        rowsOfKey = Dictionary(grouping: rows.indices) { [rows] in rows[$0].key }
    }

    /// The category of an object by its tags, with the row that gave it; nil for no point of
    /// interest.
    ///
    /// Of a list of values, separated by `;`, the first counts.
    func category(_ tag: (String) -> String) -> (name: String, row: Int)? {
        var first: Int?
        for key in keys {
            let text = tag(key)
            guard !text.isEmpty, text != "no" else { continue }
            let value = text.split(separator: ";").first.map(String.init) ?? text
            let found = rowsOfKey[key]?.first {
                rows[$0].value.map { $0 == value } ?? true
            }
            if let found, rows[found].category != nil { first = min(first ?? found, found) }
        }
        return first.flatMap { row in rows[row].category.map { ($0, row) } }
    }
}
