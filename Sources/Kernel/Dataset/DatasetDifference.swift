// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// The difference between the features of a layer and those of a dataset that is to replace it.
public struct DatasetDifference: Hashable, Sendable, Codable {
    /// Features of one outcome.
    public struct Group: Hashable, Sendable, Codable {
        /// Number of features.
        public var count = 0
        /// The object ids of the first of them.
        public var first: [Int64] = []

        mutating func add(_ id: Int64) {
            count += 1
            if first.count < 5 { first.append(id) }
        }
    }

    /// A field of one of the two, or of another type in the other.
    public struct Field: Hashable, Sendable, Codable {
        /// Its name.
        public var name: String
        /// Type of its values before; absent for a new field.
        public var before: FieldType?
        /// Type of its values after; absent for a field that goes.
        public var after: FieldType?
    }

    /// A value that differs.
    public struct Value: Hashable, Sendable, Codable {
        /// The field, or `geometry`.
        public var field: String
        /// The value before; absent for a geometry.
        public var before: AttributeValue?
        /// The value after; absent for a geometry.
        public var after: AttributeValue?
    }

    /// Features that only the new data has.
    public var added = Group()
    /// Features that differ.
    public var changed = Group()
    /// Features that only the layer has.
    public var removed = Group()
    /// What differs in the first changed feature.
    public var firstChange: [Value] = []
    /// Fields that differ.
    public var fields: [Field] = []
    /// Number of features before.
    public var rowsBefore = 0
    /// Number of features after, the edits that are carried over included.
    public var rowsAfter = 0

    /// Compares feature by feature, by object id.
    ///
    /// Throws `corrupt` for damaged bytes of a feature.
    ///
    /// - Parameter carried: Object ids of features whose edits are carried over, which stay as they
    ///   are.
    public init(
        from old: EditedDataset, to new: Dataset, carrying carried: Set<Int64> = []
    ) throws(Failure) {
        let before = try ObjectOrder(try ObjectOrder(old.base), under: old)
        let after = try ObjectOrder(new)
        fields = Self.fields(old.base.properties.fields, new.properties.fields)
        (rowsBefore, rowsAfter) = (before.count, after.count)
        var (one, other) = (FeatureReader(old), FeatureReader(new))
        var (left, right) = (0, 0)
        while left < before.count || right < after.count {
            let first = left < before.count ? before.ids[left] : .max
            let second = right < after.count ? after.ids[right] : .max
            let id = Int64(min(first, second))
            let isInBoth = first == second
            if carried.contains(id) {
                if !isInBoth { rowsAfter += first < second ? 1 : -1 }
            } else if isInBoth {
                try one.move(to: Int(before.ordinals[left]))
                try other.move(to: Int(after.ordinals[right]))
                if !(fields.isEmpty && one.hasBytes(of: other)) {
                    try compare(id, one, other, new)
                }
            } else if first < second {
                removed.add(id)
            } else {
                added.add(id)
            }
            if first <= second { left += 1 }
            if second <= first { right += 1 }
        }
    }

    /// Whether nothing differs.
    public var isNothing: Bool {
        added.count + changed.count + removed.count == 0 && fields.isEmpty
    }

    private mutating func compare(
        _ id: Int64, _ one: FeatureReader, _ other: FeatureReader, _ new: Dataset
    ) throws(Failure) {
        let before = try one.edited(id)
        let after = try other.edited(id)
        let isMoved = before.shape != after.shape || before.ordinates != after.ordinates
        let old = Dictionary(
            before.attributes.entries.map { ($0.name, $0.value) },
            uniquingKeysWith: { first, _ in first })
        let values = after.attributes.entries.compactMap { entry -> Value? in
            guard let value = old[entry.name], value != entry.value else { return nil }
            return Value(field: entry.name, before: value, after: entry.value)
        }
        guard isMoved || !values.isEmpty else { return }
        changed.add(id)
        if changed.count == 1 {
            firstChange = values + (isMoved ? [Value(field: "geometry")] : [])
        }
    }

    private static func fields(
        _ old: [FieldDescription], _ new: [FieldDescription]
    ) -> [Field] {
        func types(_ fields: [FieldDescription]) -> [String: FieldType] {
            Dictionary(
                fields.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
        }
        let (before, after) = (types(old), types(new))
        let names = old.map(\.name) + new.map(\.name).filter { before[$0] == nil }
        return names.compactMap { name in
            before[name] == after[name]
                ? nil : Field(name: name, before: before[name], after: after[name])
        }
    }
}

extension FeatureReader {
    /// The feature as an edit would have left it.
    fileprivate func edited(_ id: Int64) throws(Failure) -> EditedFeature {
        let start = dataset === base ? 0 : base.properties.featureCount
        guard let reference = dataset.feature(at: ordinal - start) else {
            throw Failure(.corrupt, "'\(dataset.name)' has no feature \(id)")
        }
        return try EditedFeature(reference, of: dataset)
    }
}
