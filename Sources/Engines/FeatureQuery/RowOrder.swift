// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset

/// A stable sort of rows by some of their values.
struct RowOrder {
    private let keys: [(term: RowTerm, isDescending: Bool)]
    private var ordinals: [Int32] = []
    /// Sort keys, row after row.
    private var values: [AttributeValue] = []

    init(_ keys: [(term: RowTerm, isDescending: Bool)]) { self.keys = keys }

    /// Throws `tooLarge` beyond the limit of rows.
    mutating func append(_ reader: FeatureReader) throws(Failure) {
        guard ordinals.count < QueryLimits.sortedRows else {
            throw Failure(
                .tooLarge,
                "orderByFields: more than \(QueryLimits.sortedRows) rows would have to be put in "
                    + "order: ask for fewer with 'where', or order by the object id")
        }
        ordinals.append(Int32(reader.ordinal))
        for key in keys { values.append(try key.term.value(reader)) }
    }

    /// The indices of the rows' features in the file, in order.
    func sorted() -> [Int32] {
        let places = ordinals.indices.sorted { first, second in
            for (key, way) in keys.enumerated() {
                let left = values[first * keys.count + key]
                let right = values[second * keys.count + key]
                if left.isOrdered(before: right) { return !way.isDescending }
                if right.isOrdered(before: left) { return way.isDescending }
            }
            return first < second
        }
        return places.map { ordinals[$0] }
    }
}

extension AttributeValue {
    /// Null sorts first, then numbers and moments by value, then text by code points.
    func isOrdered(before other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)), (.date(let left), .date(let right)):
            return left < right
        case (.real(let left), .real(let right)): return left < right
        case (.integer(let left), .real(let right)): return Double(left) < right
        case (.real(let left), .integer(let right)): return left < Double(right)
        case (.string(let left), .string(let right)):
            return left.utf8.lexicographicallyPrecedes(right.utf8)
        default: return rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .date: 2
        case .string: 3
        }
    }
}
