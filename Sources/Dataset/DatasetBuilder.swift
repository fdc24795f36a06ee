// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import FoundationEssentials
import GDAL
import Platform

/// Makes datasets from files of any vector format that GDAL reads.
public enum DatasetBuilder {
    /// Imports every layer of a file, all or none.
    ///
    /// Each layer becomes a dataset `<directory>/<sha256>/layer.fgb`, a layer of mixed geometry one
    /// per kind. The datasets are built in a hidden directory beside them and get their names once
    /// all are complete and on the disk; the same file gives the same bytes, and a dataset that is
    /// there already is left as it is. Blocks the calling thread, and uses a second one.
    ///
    /// Throws `.notFound`, `.unreadable` (not a format GDAL knows, cut short, or no spatial
    /// reference that could be assumed), `.invalidParameter` (nothing to import in it), `.noSpace`.
    ///
    /// - Parameters:
    ///   - path: A file, a directory that is a data source (`.gdb`), a gzip file of one, or a zip.
    ///   - directory: The site's datasets.
    ///   - progress: Called on this thread.
    public static func importFile(
        path: String, into directory: String, progress: (ImportProgress) -> Void = { _ in }
    ) throws(Failure) -> [ImportedLayer] {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(.notFound, "'\(path)' does not exist")
        }
        let staging = try StagingDirectory(in: directory)
        do {
            let source = try VectorSource.open(path, expandingIn: staging)
            let wanted = source.layers.indices.filter { source.layers[$0].hasGeometry }
            progress(.opened(layers: wanted.map { source.layers[$0].name }))
            var staged: [StagedDataset] = []
            var reasons: [String] = []
            for index in source.layers.indices {
                if let reason = try build(source, index, staging, &staged, progress) {
                    reasons.append("layer '\(source.layers[index].name)': \(reason)")
                    progress(.skipped(layer: source.layers[index].name, reason: reason))
                }
            }
            guard !staged.isEmpty else {
                throw Failure(
                    .invalidParameter, "there is nothing to import in '\(path)'",
                    details: Array(reasons.prefix(16)))
            }
            for dataset in staged { try publish(dataset, staging) }
            return staged.map(\.layer)
        } catch {
            throw Failure(importing: error)
        }
    }

    /// Builds the datasets of one layer; answers why it is left out.
    private static func build(
        _ source: VectorSource, _ index: Int, _ staging: borrowing StagingDirectory,
        _ staged: inout [StagedDataset], _ progress: (ImportProgress) -> Void
    ) throws -> String? {
        guard source.layers[index].hasGeometry else { return "it has no geometry" }
        let builder = try LayerBuilder(source, layer: index, in: staging, progress)
        if let reason = builder.emptyReason { return reason }
        staged += try builder.build(in: staging, progress)
        return nil
    }

    private static func publish(
        _ dataset: StagedDataset, _ staging: borrowing StagingDirectory
    ) throws {
        try StagedFile.sync(dataset.path)
        let entry = String(dataset.path.dropLast("/layer.fgb".count))
        try staging.publish(entry: entry, as: dataset.layer.dataset.rawValue)
    }
}

extension Failure {
    /// What any error of an import means to the user.
    public init(importing error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as PlatformError: self.init(error)
        case let error as TextError:
            self.init(error.isNoSpace ? .noSpace : .unreadable, error.description)
        case let error as GDALError where error.isWriteFailure:
            self.init(
                .noSpace, "the dataset was not written completely; is the disk full?",
                details: [error.description])
        case let error as GDALError:
            self.init(.unreadable, error.description, details: Array(error.messages.dropFirst()))
        case let error as CocoaError where error.code == .fileWriteOutOfSpace:
            self.init(.noSpace, "the disk is full")
        default: self.init(.internal, "\(error)")
        }
    }
}
