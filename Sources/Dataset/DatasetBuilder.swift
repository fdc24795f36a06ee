// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import FoundationEssentials
import GDAL
import Platform

/// Makes datasets from files of the vector formats in `VectorFormats`.
public enum DatasetBuilder {
    /// Imports every layer of a file, all or none.
    ///
    /// Each layer becomes a dataset `<directory>/<sha256>/layer.fgb`, a layer of mixed geometry one
    /// per kind. The datasets are built in a hidden directory beside them and get their names once
    /// all are complete and on the disk; the same file gives the same bytes, and a dataset that is
    /// there already is left as it is. Blocks the calling thread: a confined one reads the file and nothing else
    /// (`SourceFile`), and uses another.
    ///
    /// Throws `.notFound`, `.unreadable` (not one of the formats, cut short, leading to other files, or no
    /// spatial reference that could be assumed), `.invalidParameter` (nothing to import in it),
    /// `.tooLarge` (beyond ``ImportBounds``), `.noSpace`.
    ///
    /// - Parameters:
    ///   - path: A file, a directory that is a data source (`.gdb`), a gzip file, a zip or tar archive of one.
    ///   - directory: The site's datasets.
    ///   - progress: Called on the thread that reads, while this one waits.
    public static func importFile(
        path: String, into directory: String, progress: (ImportProgress) -> Void = { _ in }
    ) throws(Failure) -> [ImportedLayer] {
        let staging = try StagingDirectory(in: directory)
        do {
            let staged = try SourceFile.read(path, in: staging) { file in
                try build(file, staging, progress)
            }
            for dataset in staged { try publish(dataset, staging) }
            return staged.map(\.layer)
        } catch {
            throw Failure(importing: error).naming(path)
        }
    }

    private static func build(
        _ file: SourceFile, _ staging: borrowing StagingDirectory,
        _ progress: (ImportProgress) -> Void
    ) throws -> [StagedDataset] {
        let source = try file.open()
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
                .invalidParameter, "there is nothing to import in '\(file.name)'",
                details: Array(reasons.prefix(16)))
        }
        return staged
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
    /// The same with the path that was named, where the message does not have it.
    public func naming(_ path: String) -> Failure {
        guard !message.contains(path) else { return self }
        return Failure(code, "'\(path)': \(message)", details: details)
    }

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
