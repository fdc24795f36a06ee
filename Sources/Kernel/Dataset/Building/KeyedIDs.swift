// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The object ids of a layer's features by the values of a key column.
///
/// New data of the layer, imported with them, gives each row the object id of the feature with its
/// key, and an object id that was never used to every other row.
public struct KeyedIDs: Hashable, Sendable {
    /// The name of the column, in any letter case.
    public let column: String
    private var ids: [String: Int64] = [:]
    /// The lowest object id that no feature ever had.
    private let nextID: Int64

    /// Reads the keys of all features.
    ///
    /// Throws `invalidParameter` where there is no such column, or two features have one key;
    /// `corrupt` for damaged bytes.
    public init(
        of features: EditedDataset, column: String, nextID: Int64
    ) throws(Failure) {
        self.column = column
        self.nextID = nextID
        let base = features.base.properties
        let index = try Self.index(of: column, in: base.fields)
        var reader = FeatureReader(features)
        let overlayCount = features.overlay?.properties.featureCount ?? 0
        for place in 0..<base.featureCount + overlayCount {
            try reader.move(to: place)
            guard case .integer(let id) = try reader.value(0) else { continue }
            if place < base.featureCount, features.hides(id) { continue }
            guard let key = Self.key(try reader.value(index)) else { continue }
            if let other = ids.updateValue(id, forKey: key) {
                throw Failure(
                    .invalidParameter,
                    "features \(other) and \(id) have the key '\(key.prefix(80))' in column "
                        + "'\(column.prefix(80))': expected each key once")
            }
        }
    }

    private static func index(
        of column: String, in fields: [FieldDescription]
    ) throws(Failure) -> Int {
        guard
            let index = fields.firstIndex(where: { $0.name.lowercased() == column.lowercased() })
        else {
            throw Failure(
                .invalidParameter,
                "there is no key column '\(column.prefix(80))'; there are "
                    + fields.prefix(40).map { "'\($0.name.prefix(40))'" }.joined(separator: ", "))
        }
        return index
    }

    /// The text by which keys are compared, whatever the type of the column; nil for none.
    private static func key(_ value: AttributeValue) -> String? {
        switch value {
        case .null: nil
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number), .date(let number): "\(number)"
        case .real(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
        }
    }

    /// The object ids of a dataset's features, which are places from 1 so far.
    ///
    /// Throws `invalidParameter` where two rows have one key, or there is no such column.
    func assigned(to dataset: Dataset) throws(Failure) -> (ids: [UInt32: Int32], note: String) {
        let index = try Self.index(of: column, in: dataset.properties.fields)
        var reader = FeatureReader(dataset)
        var rows: [(place: Int64, key: String?)] = []
        for place in 0..<dataset.properties.featureCount {
            try reader.move(to: place)
            guard case .integer(let row) = try reader.value(0) else { continue }
            rows.append((row, Self.key(try reader.value(index))))
        }
        rows.sort { $0.place < $1.place }
        var (met, result): ([String: Int64], [UInt32: Int32]) = ([:], [:])
        var (next, keptCount) = (nextID, 0)
        for (row, key) in rows {
            if let key, let other = met.updateValue(row, forKey: key) {
                throw Failure(
                    .invalidParameter,
                    "rows \(other) and \(row) have the key '\(key.prefix(80))' in column "
                        + "'\(column.prefix(80))': expected each key once")
            }
            let known = key.flatMap { ids[$0] }
            if known != nil { keptCount += 1 }
            guard let id = Int32(exactly: known ?? next) else {
                throw Failure(.tooLarge, "the layer has had 2,147,483,647 object ids, the most")
            }
            if known == nil { next += 1 }
            result[UInt32(truncatingIfNeeded: row - 1)] = id
        }
        return (
            result,
            "\(keptCount) rows keep the object ids of features with their key in column "
                + "'\(column)', \(rows.count - keptCount) have new ones"
        )
    }
}
