// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Geometry
import Glibc
import PROJ
import Platform

/// Builds the datasets of one source layer in a staging directory.
struct LayerBuilder {
    private let layer: SourceLayer
    private let survey: LayerSurvey
    private let numbering: LayerSurvey.Numbering
    private let plan: FieldPlan
    private let spatialReference: SpatialReference
    private var notes: [String] = []
    private let provenance: LayerProvenance
    private let keys: KeyedIDs?

    /// Reads the layer into a spool in `directory` and decides how it will be written; throws
    /// `.unreadable` when its spatial reference is not determined, has no place on a map, or is not
    /// what its coordinates are in.
    ///
    /// The source is read once, and once more where it has a column named like the object id that
    /// cannot be used.
    init(
        _ source: VectorSource, layer index: Int, _ typing: SourceTyping,
        _ choices: ImportChoices, in directory: borrowing StagingDirectory,
        _ progress: (ImportProgress) -> Void
    ) throws {
        layer = source.layers[index]
        keys = choices.options.keys
        let path = typing.file.path
        let outline = source.driver == "GeoJSON" ? GeoJSONOutline(path: path) : nil
        let reference: LayerReference =
            if let chosen = choices.reference {
                try LayerReference(
                    chosen: chosen, instead: source.layers[index].spatialReference)
            } else {
                try LayerReference(source.layers[index], of: source, at: path, outline)
            }
        let types = try typing.types.surveying(source, layer: index)
        func read(_ plan: FieldPlan) throws -> LayerSurvey {
            try LayerSurvey(
                source, layer: index, plan: plan, spoolPath: directory.makeEntry() + "/spool",
                bounds: reference.bounds, outline: outline, progress)
        }
        var plan = FieldPlan(layer.fields, types, usesObjectIDColumn: true)
        var survey = try read(plan)
        var numbering = survey.numbering()
        let isColumnLost = plan.objectIDColumn != nil && numbering != .column
        // What is a key of the source stays, where it cannot be the object id.
        let sourceID = numbering == .source ? nil : layer.idColumn
        if isColumnLost || sourceID != nil {
            plan = FieldPlan(
                layer.fields, types, usesObjectIDColumn: !isColumnLost, sourceID: sourceID)
            survey = try read(plan)
            numbering = survey.numbering()
        }
        // One that strays is said; where most do, the others are not where they seem to be either.
        guard 2 * survey.strayCount <= survey.featureCount else {
            throw reference.refusal(of: survey)
        }
        let resolved = try reference.resolved(in: survey.extent)
        spatialReference = resolved.0
        notes = types.fileNotes + plan.notes + plan.losses.notes + resolved.notes
        notes += SourceWarnings.notes(source.warnings + survey.warnings)
        if numbering == .source, keys == nil, let key = layer.idColumn,
            !Self.plainKeys.contains(key.lowercased())
        {
            notes.append("column '\(key)' is the key of the source and the object id here")
        }
        if let note = survey.strayNote { notes.append(note) }
        if let note = survey.rejectionNote { notes.append(note) }
        if survey.collectionCount > 0 {
            notes.append(
                "\(survey.collectionCount) features are collections of several kinds of geometry "
                    + "and appear in the dataset of each, under the same object id")
        }
        if survey.placelessCount > 0 {
            notes.append(
                "\(survey.placelessCount) features have no geometry: they are found by their "
                    + "attributes alone")
        }
        if numbering == .place, keys == nil {
            notes.append(
                "the source's feature ids are not whole numbers from 1 to 2147483647, each once; "
                    + "object ids are places in the source")
        }
        self.plan = plan
        self.numbering = numbering
        self.survey = survey
        var meanArea: Double?
        if let mean = survey.meanArea {
            meanArea = mean * Self.squareMetres(of: spatialReference, at: survey.extent)
        }
        provenance = LayerProvenance(
            part: typing.file.part, layer: layer.name, driver: source.driver,
            rowCount: survey.featureCount, reference: reference.label,
            referenceBasis: reference.basis, encoding: types.encoding,
            meanArea: meanArea)
    }

    /// The square metres of one square unit of a reference, about.
    private static func squareMetres(
        of reference: SpatialReference, at extent: Envelope
    ) -> Double {
        guard let unit = try? reference.coordinateSystem.unit() else { return 1 }
        guard unit.isAngular else { return unit.factor * unit.factor }
        let side = unit.factor * 6_371_000
        return side * side * cos(extent.center.y * unit.factor)
    }

    /// Names of keys that say nothing more than that they are.
    private static let plainKeys: Set<String> = [
        "fid", "ogc_fid", "ogr_fid", "objectid", "rowid", "id",
    ]

    /// Why nothing can be written; nil when there is a dataset to write, be it of no feature.
    var emptyReason: String? {
        if !survey.datasetKinds.isEmpty { return nil }
        return survey.featureCount == 0 && survey.rejectedCount == 0
            ? "it has no features, and the source does not state that, and of which kind they "
                + "would be"
            : "none of its \(max(survey.featureCount, survey.rejectedCount)) features can be taken"
                + (survey.rejected.first.map { ", the first because of: " + $0.reason } ?? "")
    }

    /// Writes one dataset per kind of geometry into `directory` and checks what was written.
    func build(
        in directory: borrowing StagingDirectory, _ progress: (ImportProgress) -> Void
    ) throws -> [StagedDataset] {
        let spool = try survey.map()
        let kinds = survey.datasetKinds
        var staged: [StagedDataset] = []
        for kind in kinds {
            let name = kinds.count == 1 ? layer.name : "\(layer.name) (\(kind.suffix))"
            var path = try directory.makeEntry() + "/layer.fgb"
            let entries = survey.entries(of: kind)
            func write(_ id: (UInt32) -> Int32) throws -> DatasetWriter.Written {
                let writer = try DatasetWriter(
                    entries: entries, spool: spool, form: form(of: kind),
                    header: header(name, form(of: kind)))
                return try writer.write(path, objectID: id) { count in
                    progress(.writing(layer: name, features: count, total: entries.count))
                }
            }
            var written = try write { survey.objectID($0, keys == nil ? numbering : .place) }
            var notes = notes
            if let keys {
                // Keys are compared as the values that the dataset holds.
                let (ids, note) = try keys.assigned(to: try Dataset(path: path))
                path = try directory.makeEntry() + "/layer.fgb"
                written = try write { ids[$0] ?? 0 }
                notes.append(note)
            }
            staged.append(
                StagedDataset(
                    path: path,
                    layer: ImportedLayer(
                        name: name, dataset: written.id, properties: written.properties,
                        featureCount: entries.count, rejectedCount: survey.rejectedCount,
                        rejected: survey.rejected, notes: notes,
                        provenance: provenance)))
        }
        return staged
    }

    private func form(of kind: GeometryKind) -> DatasetForm {
        let (hasZ, hasM) = survey.dimensions(of: kind)
        let fileKind: FlatGeobufHeader.Kind =
            switch kind {
            case .point: .point
            case .multipoint: .multiPoint
            case .polyline: .multiLineString
            // Without a table of parts a polygon takes a sixth less, and QGIS shows the same.
            case .polygon: survey.hasSeveralParts ? .multiPolygon : .polygon
            }
        return DatasetForm(kind: fileKind, hasZ: hasZ, hasM: hasM)
    }

    private func header(_ name: String, _ form: DatasetForm) throws -> [UInt8] {
        try VectorWriter.flatGeobufHeader(
            name: name, geometry: form.kind.written, hasZ: form.hasZ, hasM: form.hasM,
            fields: plan.written, wkid: spatialReference.wkid, wkt: spatialReference.wkt)
    }
}

extension FlatGeobufHeader.Kind {
    /// What GDAL's driver calls it.
    fileprivate var written: VectorWriter.Geometry {
        switch self {
        case .point: .point
        case .multiPoint: .multipoint
        case .lineString, .multiLineString: .multilinestring
        case .polygon: .polygon
        case .multiPolygon: .multipolygon
        }
    }
}

/// A finished dataset that does not have its name yet.
struct StagedDataset {
    let path: String
    var layer: ImportedLayer
}
