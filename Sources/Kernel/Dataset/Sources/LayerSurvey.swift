// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Geometry
import Platform

/// The result of reading a source's layer: features taken, in a spool, and left out, kinds and ids.
///
/// It takes some 70 bytes of memory per feature.
struct LayerSurvey {
    /// The features that are taken.
    private let spool: FeatureSpool
    /// The stated geometry of a layer without features.
    private let stated: SourceGeometry?
    /// Number of features read.
    private(set) var featureCount = 0
    /// Number of features of several kinds.
    private(set) var collectionCount = 0
    /// The kinds of which a feature that is taken has a Z.
    private var kindsWithZ: GeometryKinds = []
    /// The kinds of which a feature that is taken has an M.
    private var kindsWithM: GeometryKinds = []
    /// Whether a polygon has several parts.
    private(set) var hasSeveralParts = false
    /// The sum of the areas of polygons, in the source's unit, and their number.
    private var area = (sum: 0.0, count: 0)
    /// The mean area of the polygons, in the square of the source's unit; nil without any.
    var meanArea: Double? { area.count > 0 ? area.sum / Double(area.count) : nil }
    /// The rectangle around all accepted features.
    private(set) var extent = Envelope.empty
    /// Plausible bounds of coordinates; nil when unknown.
    private let bounds: Envelope?
    /// Whether each feature of a GeoJSON file states a non-empty geometry; empty when unknown.
    private let statesGeometry: [Bool]
    /// The number of features beyond the bounds, and the rectangle around them.
    private(set) var strayCount = 0
    private(set) var strayExtent = Envelope.empty
    private var firstStray: String?
    /// The number of items that the source never returned as features, and the first of them.
    private var unreadCount = 0
    private var unread: [RejectedFeature] = []
    /// Number of features left out, whatever the others are.
    private var wrongCount = 0
    /// The first of them.
    private var wrong: [Rejected] = []
    /// Source id of every feature, by its place in the source.
    private var sourceIDs: [Int64] = []
    /// Values of the column named like the object id, `noID` for a feature left out; nil without
    /// such a column, or with nulls.
    private var columnIDs: [Int64]?
    /// GDAL's warnings from the read of the layer.
    private(set) var warnings: [SourceWarning] = []
    private var reader = WKBReader()
    private var wkb: [UInt8] = []
    private var attributes: [UInt8] = []

    static let rejectionLimit = 100
    private static let idRange: ClosedRange<Int64> = 1...2_147_483_647
    private static let noID = Int64.min

    /// Reads the whole layer into the new file `path`, with the attributes of `plan`.
    ///
    /// Features beyond `bounds` are counted, and those that only GeoJSON's `outline` reports as
    /// invalid are left out.
    init(
        _ source: VectorSource, layer index: Int, plan: FieldPlan, spoolPath path: String,
        bounds: Envelope?, outline: GeoJSONOutline?, _ progress: (ImportProgress) -> Void
    ) throws {
        let layer = source.layers[index]
        self.bounds = bounds
        let states = outline?.statesGeometry ?? []
        statesGeometry = states.count == layer.announcedCount ? states : []
        spool = try FeatureSpool(path: path)
        // A layer that announces features, or an unknown number, may have been truncated.
        stated = layer.announcedCount == 0 ? layer.geometry : nil
        columnIDs = plan.objectIDColumn == nil ? nil : []
        func report(_ count: Int) {
            progress(
                .checking(layer: layer.name, features: count, announced: layer.announcedCount))
        }
        if let outline {
            unreadCount = outline.oddCount
            unread = outline.oddPlaces.map {
                RejectedFeature(
                    sourceID: Int64($0), reason: "member \($0) of 'features' is not a feature")
            }
        }
        var skipped = SkippedFeatures()
        try source.forEachFeature(inLayer: index, skipped: &skipped) { feature in
            try take(feature, plan)
            guard featureCount <= Self.idRange.upperBound else {
                throw Failure(
                    .tooLarge, "layer '\(layer.name)' has more than 2,147,483,647 features")
            }
            if featureCount % 1000 == 0 { report(featureCount) }
        }
        report(featureCount)
        unreadCount += skipped.count
        unread += skipped.first.map { RejectedFeature(sourceID: $0.id, reason: $0.reason) }
        warnings = source.takeWarnings()
    }

    private mutating func take(_ feature: borrowing SourceFeature, _ plan: FieldPlan) throws {
        let place = featureCount
        featureCount += 1
        sourceIDs.append(feature.id)
        var isPlaceless = true
        do throws(FlatGeometry.Refusal) {
            if let count = feature.wkb(into: &wkb) {
                try reader.read(wkb, count: count)
                isPlaceless = reader.isEmpty
                if !isPlaceless { checkBounds(feature.id) }
            } else if !feature.complaints.isEmpty {
                // A stated geometry, which could not be read.
                throw .init(reason: Self.nothing)
            }
            if isPlaceless, statesGeometry.indices.contains(place), statesGeometry[place] {
                throw .init(reason: "a geometry that cannot be read")
            }
        } catch {
            return leaveOut(feature, error.reason)
        }
        if plan.objectIDColumn != nil, columnIDs != nil {
            if let id = plan.objectID(feature) {
                columnIDs?.append(id)
            } else {
                columnIDs = nil
            }
        }
        attributes.removeAll(keepingCapacity: true)
        plan.append(feature, row: featureCount, to: &attributes)
        if isPlaceless {
            return try spool.append(FlatGeometry(.point), attributes: attributes, place: place)
        }
        var kindCount = 0
        try reader.forEachGeometry { geometry in
            let kind = GeometryKinds(geometry.kind)
            if !geometry.z.isEmpty { kindsWithZ.insert(kind) }
            if !geometry.m.isEmpty { kindsWithM.insert(kind) }
            if geometry.parts.count > 1 { hasSeveralParts = true }
            if geometry.kind == .polygon {
                area.sum += geometry.area
                area.count += 1
            }
            extent = extent.union(geometry.envelope)
            kindCount += 1
            try spool.append(geometry, attributes: attributes, place: place)
        }
        if kindCount > 1 { collectionCount += 1 }
    }

    /// Counts a feature beyond the bounds, which is kept as it is.
    private mutating func checkBounds(_ id: Int64) {
        guard let bounds else { return }
        var envelope = Envelope.empty
        reader.forEachGeometry { envelope = envelope.union($0.envelope) }
        guard envelope.union(bounds) != bounds else { return }
        strayCount += 1
        strayExtent = strayExtent.union(envelope)
        guard firstStray == nil else { return }
        let isLatitude = envelope.minY < bounds.minY || envelope.maxY > bounds.maxY
        let value =
            isLatitude
            ? (envelope.maxY > bounds.maxY ? envelope.maxY : envelope.minY)
            : (envelope.maxX > bounds.maxX ? envelope.maxX : envelope.minX)
        firstStray = "\(id), " + (isLatitude ? "latitude \(value)" : "longitude \(value)")
    }

    /// A sentence about the features beyond the bounds; nil for none.
    var strayNote: String? {
        firstStray.map {
            "\(strayCount) features lie beyond ±90 degrees of latitude or ±360 of longitude, the "
                + "first (\($0)); they are kept as they are"
        }
    }

    /// A feature by its place in the source.
    private typealias Rejected = (place: Int, reason: String)
    private static let nothing = "no geometry"

    private mutating func leaveOut(_ feature: borrowing SourceFeature, _ reason: String) {
        columnIDs?.append(Self.noID)
        wrongCount += 1
        guard wrong.count < Self.rejectionLimit else { return }
        let complaint = feature.complaints.first.map { ": " + $0 } ?? ""
        wrong.append((featureCount - 1, reason + complaint))
    }

    /// The source of the object ids.
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
        if let columnIDs, Self.areGood(columnIDs.filter { $0 != Self.noID }) { return .column }
        return Self.areGood(sourceIDs) ? .source : .place
    }

    /// The object id of the feature at a place in the source.
    func objectID(_ place: UInt32, _ numbering: Numbering) -> Int32 {
        switch numbering {
        case .column: Int32(truncatingIfNeeded: columnIDs?[Int(place)] ?? 0)
        case .source: Int32(truncatingIfNeeded: sourceIDs[Int(place)])
        case .place: Int32(place) + 1
        }
    }

    private static func areGood(_ ids: [Int64]) -> Bool {
        guard ids.allSatisfy(idRange.contains) else { return false }
        // Most sources number in order.
        if zip(ids, ids.dropFirst()).allSatisfy({ $0 < $1 }) { return true }
        let sorted = ids.sorted()
        return !zip(sorted, sorted.dropFirst()).contains { $0 == $1 }
    }

    /// The kinds a dataset is made for: one, or several of a mixed layer.
    ///
    /// Of a layer without features it is the kind that the source states.
    /// Points among multipoints count as multipoints.
    var datasetKinds: [GeometryKind] {
        let present = GeometryKind.allCases.filter(spool.holds)
        if featureCount == 0, let stated { return [GeometryKind(stated.kind)] }
        return present.contains(.multipoint) ? present.filter { $0 != .point } : present
    }

    /// Whether the dataset of `kind` has Z, and whether M: some accepted feature has, or without
    /// any the source states it.
    func dimensions(of kind: GeometryKind) -> (hasZ: Bool, hasM: Bool) {
        let sources = sources(of: kind).map { GeometryKinds($0) }
        let stated = featureCount == 0 ? stated : nil
        return (
            sources.contains(where: kindsWithZ.contains) || stated?.hasZ ?? false,
            sources.contains(where: kindsWithM.contains) || stated?.hasM ?? false
        )
    }

    /// The kinds whose features go into the dataset of `kind`.
    func sources(of kind: GeometryKind) -> [GeometryKind] {
        kind == .multipoint ? [.point, .multipoint] : [kind]
    }

    /// Ends the reading, and lends the spooled records.
    func map() throws -> MappedFile { try spool.map() }

    /// The features of the dataset of `kind`, in the order of the source.
    func entries(of kind: GeometryKind) -> [FeatureSpool.Entry] {
        spool.entries(of: sources(of: kind), withPlaceless: keepsPlaceless)
    }

    /// Whether features without geometry are taken: there is one dataset, which they belong to.
    private var keepsPlaceless: Bool { datasetKinds.count == 1 }

    /// Number of features accepted without geometry.
    var placelessCount: Int { keepsPlaceless ? spool.placeless.count : 0 }

    /// Number of features left out.
    var rejectedCount: Int {
        wrongCount + unreadCount + (keepsPlaceless ? 0 : spool.placeless.count)
    }

    /// A sentence on the features left out; nil for none.
    var rejectionNote: String? {
        guard rejectedCount > 0 else { return nil }
        let first = rejected.first.map { ", the first (\($0.sourceID)) because of: " + $0.reason }
        return "\(rejectedCount) features were left out" + (first ?? "")
    }

    /// The first of them.
    var rejected: [RejectedFeature] {
        let placeless = keepsPlaceless ? [] : spool.placeless.prefix(Self.rejectionLimit)
        let all = wrong + placeless.map { (Int($0.place), Self.nothing) }
        let named = all.sorted { $0.place < $1.place }.map {
            RejectedFeature(sourceID: sourceIDs[$0.place], reason: $0.reason)
        }
        return Array((named + unread).prefix(Self.rejectionLimit))
    }
}
