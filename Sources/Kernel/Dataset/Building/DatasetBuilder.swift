// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
import FoundationEssentials
import GDAL
import Platform

/// Makes datasets from files of the vector formats in `VectorFormats`.
public enum DatasetBuilder {
    /// Imports every readable layer of a file; each unreadable one fails alone.
    ///
    /// Each layer becomes a dataset `<directory>/<sha256>/layer.fgb`, a layer of mixed geometry one
    /// per kind. The datasets are built in a hidden directory beside them and get their names once
    /// all are complete and on the disk; the same file gives the same bytes, and an existing
    /// dataset is left as it is. Blocks the calling thread: a confined one reads the file and
    /// nothing else (`SourceFile`), and uses another.
    ///
    /// Throws `.notFound`, `.unreadable` (unknown format, truncated, reference to other files, or
    /// no spatial reference that could be assumed), `.invalidParameter` (nothing to import in it),
    /// `.tooLarge` (beyond ``ImportBounds``), `.noSpace`.
    ///
    /// - Parameters:
    ///   - path: A file, a directory that is a data source (`.gdb`), a gzip file, a zip or tar
    ///     archive of one.
    ///   - directory: The site's datasets.
    ///   - options: What counts before the statements of the source.
    ///   - progress: Called on the thread that reads, while this one waits.
    public static func importFile(
        path: String, into directory: String, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) -> Void = { _ in }
    ) throws(Failure) -> [ImportedLayer] {
        let staging = try StagingDirectory(in: directory)
        do {
            let staged = try SourceFile.readAll(path, in: staging) { files in
                try build(files, ImportChoices(options), staging, progress)
            }
            for dataset in staged { try publish(dataset, staging) }
            return staged.map(\.layer)
        } catch {
            throw Failure(importing: error).naming(path)
        }
    }

    private static func build(
        _ files: [SourceFile], _ choices: ImportChoices,
        _ staging: borrowing StagingDirectory, _ progress: (ImportProgress) -> Void
    ) throws -> [StagedDataset] {
        var found = Found()
        for file in files {
            do {
                try build(file, choices, staging, &found, progress)
            } catch {
                let failure = try Failure(partOf: error)
                guard files.count > 1 else { throw failure }
                found.leaveOut(file.part, "", failure)
            }
        }
        try found.check(choices.options, files[0].name)
        guard !found.staged.isEmpty else {
            if found.reasons.count == 1, let failure = found.failures.first { throw failure }
            throw Failure(
                .invalidParameter, "there is nothing to import in '\(files[0].name)'",
                details: Array(found.reasons.prefix(16)))
        }
        for (name, failure) in zip(found.failed, found.failures) {
            progress(.skipped(layer: name, reason: failure.message))
        }
        return found.named()
    }

    /// The outcomes of a source's layers.
    private struct Found {
        var staged: [StagedDataset] = []
        /// The names of the columns of all layers.
        var columns: [String] = []
        /// The names of all layers.
        var layers: [String] = []
        /// Whether a source is a table of text.
        var hasTable = false
        /// Reasons for layers and files left out.
        var reasons: [String] = []
        /// The failures among the reasons, with the failed parts.
        var failures: [Failure] = []
        var failed: [String] = []

        /// - Parameter kind: `layer`, or empty where the message names it.
        mutating func leaveOut(_ name: String, _ kind: String, _ failure: Failure) {
            let what = kind.isEmpty ? "'\(name)'" : "\(kind) '\(name)'"
            let isNamed = failure.message.contains("'\(name)'")
            let message = isNamed ? failure.message : "\(what): \(failure.message)"
            failed.append(name)
            failures.append(Failure(failure.code, message, details: failure.details))
            reasons.append(message)
        }

        /// Throws `invalidParameter` where a column or a layer that the options name is not there.
        func check(_ options: ImportOptions, _ source: String) throws(Failure) {
            func list(_ names: [String]) -> String {
                names.isEmpty
                    ? "none"
                    : names.prefix(40).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
            }
            func isKnown(_ name: String, _ names: [String]) -> Bool {
                names.contains { $0.lowercased() == name.lowercased() }
            }
            for layer in options.layers where !isKnown(layer, layers) {
                throw Failure(
                    .invalidParameter,
                    "there is no layer '\(layer.prefix(80))' in '\(source)'; there are "
                        + list(layers))
            }
            for field in options.fields where !isKnown(field.name, columns) {
                throw Failure(
                    .invalidParameter,
                    "there is no column '\(field.name.prefix(80))'; there are " + list(columns))
            }
            if options.geometry != nil, !hasTable {
                throw Failure(
                    .invalidParameter,
                    "'\(source)' has its own geometry: expected a table of text for columns of "
                        + "coordinates")
            }
        }

        /// Gives the datasets of a layer its style, as far as it fits them.
        mutating func style(from first: Int, _ style: ImportedStyle?) {
            for index in first..<staged.count {
                guard var style else { continue }
                let properties = staged[index].layer.properties
                do throws(Failure) {
                    try style.drawing?.check(properties.fields, properties.geometryType)
                } catch {
                    style.drawing = nil
                    style.notes.append("it does not fit the layer: \(error.message)")
                }
                staged[index].layer.style = style
            }
        }

        /// The datasets with unique names, and with a note on failed parts beside the first.
        func named() -> [StagedDataset] {
            var names = LayerNames()
            var named = staged.map { dataset in
                var dataset = dataset
                let name = names.take(dataset.layer.name)
                if name != dataset.layer.name {
                    dataset.layer.notes.append(
                        "the name '\(dataset.layer.name.prefix(80))' cannot be used, or another "
                            + "layer of "
                            + "the source has it: called '\(name)'")
                    dataset.layer.name = name
                }
                return dataset
            }
            for failure in failures.prefix(16) {
                named[0].layer.notes.append("left out: " + failure.message)
            }
            return named
        }
    }

    private static func build(
        _ file: SourceFile, _ choices: ImportChoices,
        _ staging: borrowing StagingDirectory, _ found: inout Found,
        _ progress: (ImportProgress) -> Void
    ) throws {
        let typing = try SourceTyping(file, choices, in: staging)
        if typing.isTable { found.hasTable = true }
        let source = try typing.file.open(options: typing.options)
        found.layers += source.layers.map(\.name)
        let taken = source.layers.indices.filter { choices.takes(source.layers[$0].name) }
        found.columns += taken.flatMap { source.layers[$0].fields.map(\.name) }
        let wanted = taken.filter { source.layers[$0].hasGeometry }
        progress(.opened(layers: wanted.map { source.layers[$0].name }))
        for index in taken {
            let name = source.layers[index].name
            do {
                let before = found.staged.count
                let reason = try build(
                    source, typing, choices, index, staging, &found, progress)
                if choices.options.takesStyles {
                    let styles = StyleSource(file: file, hasOneLayer: source.layers.count == 1)
                    found.style(from: before, styles.style(of: name))
                }
                guard let reason else { continue }
                found.reasons.append("layer '\(name)': \(reason)")
                progress(.skipped(layer: name, reason: reason))
            } catch {
                let failure = try Failure(partOf: error)
                found.leaveOut(name, "layer", failure)
            }
        }
    }

    /// Builds the datasets of one layer; answers why it is left out.
    private static func build(
        _ source: VectorSource, _ typing: SourceTyping, _ choices: ImportChoices, _ index: Int,
        _ staging: borrowing StagingDirectory, _ found: inout Found,
        _ progress: (ImportProgress) -> Void
    ) throws -> String? {
        guard source.layers[index].hasGeometry else { return "it has no geometry" }
        let builder = try LayerBuilder(
            source, layer: index, typing, choices, in: staging, progress)
        if let reason = builder.emptyReason { return reason }
        found.staged += try builder.build(in: staging, progress)
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
    /// The failure with the path of the source, unless the message has it.
    public func naming(_ path: String) -> Failure {
        guard !message.contains(path) else { return self }
        return Failure(code, "'\(path)': \(message)", details: details)
    }

    /// The failure of a part of a source, without which the others go on; rethrows an error that
    /// concerns the whole import.
    fileprivate init(partOf error: any Error) throws {
        self = Failure(importing: error)
        guard code == .unreadable || code == .invalidParameter || code == .corrupt else {
            throw self
        }
    }

    /// The failure for any error of an import.
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
