// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Expression
internal import Geometry
internal import Identify

/// The filter of a query; confined to one thread.
struct RowFilter {
    /// Clauses, all of which must hold.
    let clauses: [BoundClause]
    /// Time filter; nil for any time.
    let time: TimeWindow?
    /// Spatial filter; nil for any place.
    let spatial: SpatialTest?
    /// Visible features of a past layer; nil for all.
    let sight: FeatureSight?
    /// Whether features without geometry or time pass the filter of place or time.
    let acceptsMissing: Bool
    private var chains = FeatureChains()

    /// Whether no feature can match.
    let isNever: Bool

    /// Clauses without a field are decided here.
    init(
        clauses: [BoundClause], time: TimeWindow?, spatial: SpatialTest?, sight: FeatureSight?,
        acceptsMissing: Bool = false
    ) {
        let constant = clauses.filter(\.isConstant)
        isNever = constant.contains { $0.evaluate { _ in .null } != true }
        self.clauses = clauses.filter { !$0.isConstant }
        self.time = time
        self.spatial = spatial
        self.sight = sight
        self.acceptsMissing = acceptsMissing
    }

    /// Whether every feature of the layer matches.
    var isEverything: Bool {
        clauses.isEmpty && time == nil && spatial == nil && sight == nil && !isNever
    }

    /// Whether the reader's feature matches; cheap tests come first.
    mutating func accepts(
        _ reader: FeatureReader, _ isCancelled: () -> Bool
    ) throws(Failure) -> Bool {
        if isNever { return false }
        if !clauses.isEmpty || time != nil || sight != nil {
            var damage: Failure?
            let column: (Int) -> AttributeValue = { index in
                do throws(Failure) { return try reader.value(index) } catch {
                    damage = error
                    return .null
                }
            }
            let isSelected =
                clauses.allSatisfy { $0.evaluate(column) == true }
                && time?.contains(column, orMissing: acceptsMissing) ?? true
            if let damage { throw damage }
            if !isSelected { return false }
            if let sight {
                guard case .integer(let id) = try reader.stored(0),
                    try sight.shows(id, column)
                else { return false }
                if let damage { throw damage }
            }
        }
        if acceptsMissing, reader.envelope.isEmpty { return true }
        return try spatial?.holds(reader, &chains, isCancelled) ?? true
    }
}
