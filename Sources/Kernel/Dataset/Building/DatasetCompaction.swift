// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
import Geometry
import Platform

extension DatasetBuilder {
    /// Compacts a dataset with its edits into a new dataset.
    ///
    /// The new dataset is written, checked and published as an import's; the same features give the
    /// same bytes. Columns, name and spatial reference stay. Blocks the calling thread, and uses a
    /// second one.
    ///
    /// Throws `.noSpace`, `.corrupt` for damaged bytes of a feature, `.cancelled` soon after
    /// `isCancelled` returns true; then nothing is left behind.
    ///
    /// - Parameters:
    ///   - directory: The site's datasets.
    ///   - isCancelled: Polled now and then.
    ///   - willPublish: Called when the dataset is complete, before it gets its name in the
    ///     directory; an error ends the compaction.
    public static func compact(
        _ edited: EditedDataset, into directory: String, isCancelled: () -> Bool = { false },
        willPublish: (ContentID, LayerProperties) throws(Failure) -> Void = { _, _ in }
    ) throws(Failure) -> (dataset: ContentID, properties: LayerProperties) {
        let staging = try StagingDirectory(in: directory)
        do {
            var survey = try CompactionSurvey(edited, in: staging, isCancelled)
            let path = try staging.makeEntry() + "/layer.fgb"
            let written = try survey.write(path)
            try StagedFile.sync(path)
            try willPublish(written.id, written.properties)
            try staging.publish(
                entry: String(path.dropLast("/layer.fgb".count)), as: written.id.rawValue)
            return (written.id, written.properties)
        } catch {
            throw Failure(importing: error)
        }
    }
}

/// The features that are left, in a spool.
private struct CompactionSurvey {
    /// By the place in the spool.
    private(set) var objectIDs: [Int32] = []
    private let base: Dataset
    private let spool: FeatureSpool
    private let kind: GeometryKind
    private var severalParts: Bool

    /// By rising object id, so that the same features give the same file wherever they come from.
    init(
        _ edited: EditedDataset, in staging: borrowing StagingDirectory, _ isCancelled: () -> Bool
    ) throws {
        base = edited.base
        kind = GeometryKind(base.header.kind)
        severalParts = base.header.kind == .multiPolygon
        spool = try FeatureSpool(path: try staging.makeEntry() + "/spool")
        let order = try ObjectOrder(try ObjectOrder(base, isCancelled), under: edited)
        var reader = FeatureReader(edited)
        var chains = FeatureChains()
        for (place, ordinal) in order.ordinals.enumerated() {
            if place.isMultiple(of: 4096), isCancelled() {
                throw Failure(.cancelled, "the compaction was cancelled")
            }
            try reader.move(to: Int(ordinal))
            try reader.read(into: &chains, hasZ: true, hasM: true)
            let geometry = FlatGeometry(kind, chains)
            severalParts = severalParts || geometry.parts.count > 1
            try spool.append(geometry, attributes: try reader.attributeBytes(), place: place)
        }
        objectIDs = order.ids
    }

    mutating func write(_ path: String) throws -> DatasetWriter.Written {
        let form = DatasetForm(
            kind: base.header.kind.holding(severalParts: severalParts),
            hasZ: base.header.hasZ, hasM: base.header.hasM)
        let header: [UInt8]
        do throws(Damage) {
            header = try FlatGeobufHeader.stating(
                1, in: base.properties.extent ?? .empty, kind: form.kind, base.headerBytes)
        } catch {
            throw Dataset.corrupt(base.file.path, error)
        }
        let writer = try DatasetWriter(
            entries: spool.entries(of: [kind], withPlaceless: true), spool: try spool.map(),
            form: form, header: header)
        return try writer.write(path) {
            objectIDs[Int($0)]
        } progress: { _ in
        }
    }
}
