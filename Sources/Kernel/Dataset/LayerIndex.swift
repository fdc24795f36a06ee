// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
internal import Codecs
import Platform
import SpatialIndex

/// The index of a dataset: the file `layer.index` beside `layer.fgb`, mapped and searched in place.
struct LayerIndex: Sendable {
    let file: MappedFile
    let features: FeatureIndex

    /// The path of a dataset file's index: beside it, with another extension.
    static func path(beside path: String) -> String {
        (path.hasSuffix(".fgb") ? String(path.dropLast(4)) : path) + ".index"
    }

    /// Maps the index of a dataset's file and compares their headers; nil when absent.
    init?(path: String, for data: MappedFile) throws(Failure) {
        do {
            file = try MappedFile(path: path)
        } catch {
            if error.isNotFound { return nil }
            throw Failure(.unreadable, error.description)
        }
        do throws(IndexDamage) {
            features = try file.withBytes { bytes throws(IndexDamage) in
                try FeatureIndex(bytes, dataByteCount: data.byteCount)
            }
        } catch { throw Self.corrupt(path, error) }
        // In a site the directory is named by the hash of the data.
        let directory = data.path.split(separator: "/").dropLast().last.map(String.init) ?? ""
        let stated = Hexadecimal.encode(features.dataHash)
        if let id = ContentID(rawValue: directory), id.rawValue != stated,
            ErasedDataset.hash(beside: data.path) != stated
        {
            throw Failure(.corrupt, "'\(path)' is the index of dataset \(stated), not of \(id)")
        }
    }

    /// The index of a dataset that is in no file, made in memory.
    init(inMemoryFor dataset: Dataset) throws(Failure) {
        do {
            let bytes = try Self.bytes(for: dataset) {
                dataset.file.withBytes { SHA256.digest($0) }
            }
            file = try MappedFile(copying: bytes, path: dataset.file.path + ".index")
            features = try file.withBytes { bytes throws(IndexDamage) in
                try FeatureIndex(bytes, dataByteCount: dataset.file.byteCount)
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "an index in memory: \(error)")
        }
    }

    static func corrupt(_ path: String, _ damage: IndexDamage) -> Failure {
        Failure(.corrupt, "'\(path)' at byte \(damage.offset): expected \(damage.expected)")
    }

    /// Writes the index of a dataset beside it, and reads it back in full.
    ///
    /// Throws `Failure`, `PlatformError`, and errors of `hash`, which is called late.
    static func write(for dataset: Dataset, _ hash: () throws -> SHA256.Digest) throws {
        let target = path(beside: dataset.file.path)
        let directory = target.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast().joined(separator: "/")
        var staged = try StagedFile(inDirectory: directory.isEmpty ? "." : directory)
        try staged.write(try bytes(for: dataset, hash))
        try staged.publish(as: target)
        guard let index = try LayerIndex(path: target, for: dataset.file) else {
            throw Failure(.internal, "'\(target)' is missing after it was written")
        }
        do throws(IndexDamage) {
            try index.file.withBytes { bytes throws(IndexDamage) in
                try dataset.file.withBytes { data throws(IndexDamage) in
                    try index.features.check(bytes, data)
                }
            }
        } catch { throw corrupt(target, error) }
    }

    private static func bytes(
        for dataset: Dataset, _ hash: () throws -> SHA256.Digest
    ) throws -> [UInt8] {
        var builder = FeatureIndexBuilder(dataset.header.kind.indexed)
        do throws(Damage) {
            try dataset.file.withBytes { data throws(Damage) in
                for ordinal in 0..<dataset.header.featureCount {
                    try dataset.add(ordinal, to: &builder, data)
                }
            }
        } catch { throw Dataset.corrupt(dataset.file.path, error) }
        let hash = try hash()
        return dataset.file.withBytes { builder.finish(data: $0, dataHash: hash.bytes) }
    }
}

extension Dataset {
    fileprivate func add(
        _ ordinal: Int, to builder: inout FeatureIndexBuilder, _ data: RawSpan
    ) throws(Damage) {
        guard let leaf = header.tree?.leaf(at: ordinal, in: data.extracting(header.treeBytes))
        else { throw Damage(offset: 0, expected: "a feature of this dataset") }
        let range = try featureRange(data, leaf)
        let window = data.extracting(range)
        do throws(Damage) {
            let table = try FlatTable.root(window)
            let values = try table.vector(window, 1, elementByteCount: 1) ?? 0..<0
            builder.addFeature(try FlatGeobufProperties.objectID(window, values))
            guard let geometry = try table.table(window, 0) else { return }
            try FlatGeobufGeometry.forEachPiece(window, geometry, header.kind) {
                xy, ends throws(Damage) in
                try Self.checkRings(window, xy.lowerBound, ends)
                builder.add(
                    place: range.lowerBound + xy.lowerBound, count: xy.count / 16, ringEnds: ends,
                    in: data)
            }
        } catch { throw error.shifted(by: range.lowerBound) }
    }

    /// Throws unless every ring ends where it began.
    private static func checkRings(
        _ bytes: RawSpan, _ xy: Int, _ ends: [Int]
    ) throws(Damage) {
        var start = 0
        for end in ends where end > start {
            for ordinate in [0, 8] {
                let first = xy + 16 * start + ordinate
                let last = xy + 16 * (end - 1) + ordinate
                guard
                    try bytes.number(at: first, as: UInt64.self)
                        == bytes.number(at: last, as: UInt64.self)
                else { throw Damage(offset: xy + 16 * start, expected: "a closed ring") }
            }
            start = end
        }
    }
}

extension FlatGeobufHeader.Kind {
    /// The index's kind for features of this kind.
    fileprivate var indexed: FeatureIndex.Kind {
        switch self {
        case .point, .multiPoint: .points
        case .lineString, .multiLineString: .lines
        case .polygon, .multiPolygon: .areas
        }
    }
}
