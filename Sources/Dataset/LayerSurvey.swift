// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Geometry

/// What a first reading of a source's layer finds: features taken and left out, kinds and ids.
///
/// It takes some 18 bytes of memory per feature.
struct LayerSurvey {
    /// How many features were read.
    private(set) var featureCount = 0
    /// What each feature is, by its place in the source; empty for one that is left out, several
    /// for a collection of several kinds.
    private(set) var kinds: [GeometryKinds] = []
    /// How many features are of several kinds.
    private(set) var collectionCount = 0
    /// How many features there are of each kind.
    private(set) var counts = [Int](repeating: 0, count: GeometryKind.allCases.count)
    /// The kinds of which a feature that is taken has a Z.
    private(set) var kindsWithZ: GeometryKinds = []
    /// The kinds of which a feature that is taken has an M.
    private(set) var kindsWithM: GeometryKinds = []
    /// Whether a polygon has several parts.
    private(set) var hasSeveralParts = false
    /// The rectangle around all that is taken.
    private(set) var extent = Envelope.empty
    /// How many features are left out.
    private(set) var rejectedCount = 0
    /// The first of them.
    private(set) var rejected: [RejectedFeature] = []
    private var sourceIDs: [Int64] = []
    private var columnIDs: [Int64]? = []

    static let rejectionLimit = 100
    private static let idRange: ClosedRange<Int64> = 1...2_147_483_647

    /// Reads the whole layer.
    init(
        _ source: VectorSource, layer index: Int, _ progress: (ImportProgress) -> Void
    ) throws {
        let layer = source.layers[index]
        let idColumn = FieldPlan.objectIDCandidate(layer.fields)
        if idColumn == nil { columnIDs = nil }
        func report(_ count: Int) {
            progress(
                .checking(layer: layer.name, features: count, announced: layer.announcedCount))
        }
        try source.forEachFeature(inLayer: index) { feature in
            take(feature, idColumn)
            guard featureCount <= Self.idRange.upperBound else {
                throw Failure(
                    .tooLarge, "layer '\(layer.name)' has more than 2,147,483,647 features")
            }
            if featureCount % 1000 == 0 { report(featureCount) }
        }
        report(featureCount)
    }

    private mutating func take(_ feature: borrowing SourceFeature, _ idColumn: Int?) {
        featureCount += 1
        sourceIDs.append(feature.id)
        do throws(SourceGeometry.Refusal) {
            var found: GeometryKinds = []
            for measured in try Self.geometries(of: feature) {
                let geometry = measured.geometry
                if !measured.z.isEmpty { kindsWithZ.insert(GeometryKinds(geometry.kind)) }
                if !measured.m.isEmpty { kindsWithM.insert(GeometryKinds(geometry.kind)) }
                if case .polygon(let parts) = geometry, parts.count != 1 { hasSeveralParts = true }
                found.insert(GeometryKinds(geometry.kind))
                counts[geometry.kind.rawValue] += 1
                extent = extent.union(geometry.envelope)
            }
            kinds.append(found)
            if found.isMixed { collectionCount += 1 }
            if let idColumn, columnIDs != nil {
                if case .integer(let id) = feature.value(at: idColumn) {
                    columnIDs?.append(id)
                } else {
                    columnIDs = nil
                }
            }
        } catch {
            kinds.append([])
            rejectedCount += 1
            if rejected.count < Self.rejectionLimit {
                let complaint = feature.complaints.first.map { ": " + $0 } ?? ""
                rejected.append(
                    RejectedFeature(sourceID: feature.id, reason: error.reason + complaint))
            }
        }
    }

    /// A feature's geometry, checked; one per kind.
    static func geometries(
        of feature: borrowing SourceFeature
    ) throws(SourceGeometry.Refusal) -> [MeasuredGeometry] {
        guard let bytes = feature.wkb() else { throw .init(reason: "no geometry") }
        return try WKBReader.read(bytes)
    }

    /// Where the object ids come from.
    enum Numbering {
        /// The column already named like the object id.
        case column
        /// The source's own numbers.
        case source
        /// The feature's place in the source, from 1.
        case place
    }

    /// The first of the three that gives every feature its own id in 1…2^31−1.
    func numbering() -> Numbering {
        if let columnIDs, Self.areGood(columnIDs) { return .column }
        return Self.areGood(sourceIDs) ? .source : .place
    }

    private static func areGood(_ ids: [Int64]) -> Bool {
        guard ids.allSatisfy(idRange.contains) else { return false }
        let sorted = ids.sorted()
        return !zip(sorted, sorted.dropFirst()).contains { $0 == $1 }
    }

    /// The kinds a dataset is made for: one, or several of a mixed layer.
    ///
    /// Points among multipoints count as multipoints.
    var datasetKinds: [GeometryKind] {
        let present = GeometryKind.allCases.filter { counts[$0.rawValue] > 0 }
        return present.contains(.multipoint) ? present.filter { $0 != .point } : present
    }

    /// The kind of the dataset that takes features of `kind`.
    func datasetKind(for kind: GeometryKind) -> GeometryKind {
        kind == .point && counts[GeometryKind.multipoint.rawValue] > 0 ? .multipoint : kind
    }
}
