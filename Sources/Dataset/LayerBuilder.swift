// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Geometry
import Platform

/// Builds the datasets of one source layer in a staging directory.
struct LayerBuilder {
    private let source: VectorSource
    private let index: Int
    private let layer: SourceLayer
    private let survey: LayerSurvey
    private let numbering: LayerSurvey.Numbering
    private let plan: FieldPlan
    private let spatialReference: SpatialReference
    private var notes: [String] = []

    /// Reads the layer once and decides how it will be written; throws `.unreadable` when its
    /// spatial reference is missing and cannot be longitude and latitude.
    init(
        _ source: VectorSource, layer index: Int, _ progress: (ImportProgress) -> Void
    ) throws {
        self.source = source
        self.index = index
        layer = source.layers[index]
        survey = try LayerSurvey(source, layer: index, progress)
        numbering = survey.numbering()
        plan = FieldPlan(layer.fields, usesObjectIDColumn: numbering == .column)
        spatialReference = try Self.spatialReference(layer, survey)
        notes = plan.notes
        if layer.spatialReference == nil {
            notes.append("the source states no spatial reference; 4326 was assumed")
        }
        if survey.collectionCount > 0 {
            notes.append(
                "\(survey.collectionCount) features are collections of several kinds of geometry "
                    + "and appear in the dataset of each, under the same object id")
        }
        if numbering == .place {
            notes.append(
                "the source's feature ids are not unique in 1…2147483647; object ids are "
                    + "places in the source")
        }
    }

    /// Whether there is a feature to write.
    var isEmpty: Bool { survey.datasetKinds.isEmpty }

    /// Why nothing can be written.
    var emptyReason: String {
        survey.featureCount == 0
            ? "it has no features"
            : "none of its \(survey.featureCount) features can be taken"
                + (survey.rejected.first.map { ", the first because of: " + $0.reason } ?? "")
    }

    private static func spatialReference(
        _ layer: SourceLayer, _ survey: LayerSurvey
    ) throws(Failure) -> SpatialReference {
        if let stated = layer.spatialReference {
            return stated.wkid.map { SpatialReference(wkid: $0) }
                ?? SpatialReference(wkt: stated.wkt)
        }
        let degrees = Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)
        let extent = survey.extent
        guard extent.isEmpty || extent.union(degrees) == degrees else {
            throw Failure(
                .unreadable,
                "layer '\(layer.name)' states no spatial reference, and its coordinates "
                    + "(x \(extent.minX) to \(extent.maxX), y \(extent.minY) to \(extent.maxY)) "
                    + "are not longitude and latitude")
        }
        return .wgs84
    }

    /// Writes one dataset per kind of geometry into `directory` and checks what was written.
    func build(
        in directory: borrowing StagingDirectory, _ progress: (ImportProgress) -> Void
    ) throws -> [StagedDataset] {
        let kinds = survey.datasetKinds
        var staged: [StagedDataset] = []
        for kind in kinds {
            let name = kinds.count == 1 ? layer.name : "\(layer.name) (\(kind.suffix))"
            let path = try directory.makeEntry() + "/layer.fgb"
            let written = try write(kind, name, path, progress)
            let dataset = try written.verify(path)
            let hash = try MappedFile.sha256(path)
            try LayerIndex.write(for: dataset, hash)
            let id = ContentID(hash)
            staged.append(
                StagedDataset(
                    path: path,
                    layer: ImportedLayer(
                        name: name, dataset: id, properties: dataset.properties,
                        featureCount: written.featureCount, rejectedCount: survey.rejectedCount,
                        rejected: survey.rejected, notes: notes)))
        }
        return staged
    }

    private func write(
        _ kind: GeometryKind, _ name: String, _ path: String,
        _ progress: (ImportProgress) -> Void
    ) throws -> WrittenFeatures {
        let hasZ = survey.kindsWithZ.contains(kindOf: kind, survey)
        let hasM = survey.kindsWithM.contains(kindOf: kind, survey)
        // Without a table of parts a polygon takes a sixth less, and QGIS shows the same.
        let isSingle = kind == .polygon && !survey.hasSeveralParts
        var writer = try FlatGeobufWriter(
            path: path, name: name, geometry: isSingle ? .polygon : kind.written, hasZ: hasZ,
            hasM: hasM,
            fields: plan.written, wkid: spatialReference.wkid, wkt: spatialReference.wkt)
        var written = WrittenFeatures()
        var place = 0
        let total = survey.counts.indices.reduce(0) { sum, raw in
            let each = GeometryKind(rawValue: raw).map(survey.datasetKind(for:))
            return each == kind ? sum + survey.counts[raw] : sum
        }
        try source.forEachFeature(inLayer: index) { feature in
            defer { place += 1 }
            guard place < survey.kinds.count else { throw changed }
            guard survey.kinds[place].contains(kindOf: kind, survey) else { return }
            let geometries = try LayerSurvey.geometries(of: feature)
            guard
                let geometry = geometries.first(where: {
                    survey.datasetKind(for: $0.geometry.kind) == kind
                })
            else { throw changed }
            let id = try objectID(feature, place)
            try writer.append(
                [.integer(id)] + plan.values(feature),
                wkb: geometry.wkb(as: kind, hasZ: hasZ, hasM: hasM, isSingle: isSingle))
            written.add(id, geometry)
            if written.featureCount % 1000 == 0 {
                progress(.writing(layer: name, features: written.featureCount, total: total))
            }
        }
        try writer.close()
        guard written.featureCount == total else { throw changed }
        progress(.writing(layer: name, features: written.featureCount, total: total))
        return written
    }

    private var changed: Failure {
        Failure(.unreadable, "layer '\(layer.name)' changed while it was being read")
    }

    private func objectID(_ feature: borrowing SourceFeature, _ place: Int) throws -> Int64 {
        switch numbering {
        case .place: return Int64(place) + 1
        case .source: return feature.id
        case .column:
            guard let column = plan.objectIDColumn,
                case .integer(let id) = feature.value(at: column)
            else { throw changed }
            return id
        }
    }
}

extension GeometryKind {
    /// The kind of file it is written to.
    fileprivate var written: FlatGeobufWriter.Geometry {
        switch self {
        case .point: .point
        case .multipoint: .multipoint
        case .polyline: .multilinestring
        case .polygon: .multipolygon
        }
    }
}

extension GeometryKinds {
    /// Whether one of the kinds goes into the dataset of `kind`.
    fileprivate func contains(kindOf kind: GeometryKind, _ survey: LayerSurvey) -> Bool {
        GeometryKind.allCases.contains {
            contains(GeometryKinds($0)) && survey.datasetKind(for: $0) == kind
        }
    }
}

/// A finished dataset that does not have its name yet.
struct StagedDataset {
    let path: String
    let layer: ImportedLayer
}
