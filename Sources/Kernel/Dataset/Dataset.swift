// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import Geometry
import Platform
import SpatialIndex

/// The features of one layer in one immutable FlatGeobuf file, mapped and searched in place.
///
/// Safe to share between threads: nothing changes after `init`. All coordinates are in
/// `properties.spatialReference`, x (easting, longitude) first. The file must stay as it is while
/// mapped (see `MappedFile`); removing its name is harmless.
public final class Dataset: Sendable {
    let file: MappedFile
    let header: FlatGeobufHeader
    /// Nil for a dataset from before there were such files.
    let index: LayerIndex?
    /// The layer's name as it was imported.
    public let name: String
    /// Extent, spatial reference, geometry type, fields (the first is the object id), feature
    /// count.
    public let properties: LayerProperties

    /// Maps a dataset file and its index, if present beside it, and checks their headers: cost and
    /// memory do not depend on their size.
    ///
    /// Throws `.notFound` or `.unreadable` when the file is missing or cannot be mapped, and
    /// `.corrupt`, naming file and byte offset, when it is malformed or truncated, or when the
    /// index is, or was made for another file.
    public convenience init(path: String) throws(Failure) {
        try self.init(path: path, indexPath: LayerIndex.path(beside: path))
    }

    /// Without an index when `indexPath` is nil or there is no such file.
    convenience init(path: String, indexPath: String?) throws(Failure) {
        let file: MappedFile
        do {
            file = try MappedFile(path: path)
        } catch {
            throw Failure(error.isNotFound ? .notFound : .unreadable, error.description)
        }
        let plain = try Dataset(file)
        if plain.header.hasWideIDs {
            throw Self.corrupt(
                path, Damage(offset: 12, expected: "object ids of 32 bits in a file"))
        }
        let index = try indexPath.map { path throws(Failure) in
            try LayerIndex(path: path, for: file)
        }
        self.init(plain, index: index ?? nil)
    }

    /// A dataset that is in no file; its index is made in memory, but where object ids have 64
    /// bits.
    ///
    /// Throws `.corrupt` where the bytes are no dataset.
    convenience init(adopting file: MappedFile) throws(Failure) {
        let plain = try Dataset(file)
        self.init(plain, index: plain.header.hasWideIDs ? nil : try LayerIndex(inMemoryFor: plain))
    }

    /// A dataset with an index attached.
    private init(_ plain: Dataset, index: LayerIndex?) {
        file = plain.file
        header = plain.header
        name = plain.name
        properties = plain.properties
        self.index = index
    }

    /// Checks the header; without an index.
    private init(_ file: MappedFile) throws(Failure) {
        self.file = file
        index = nil
        do throws(Damage) {
            header = try file.withBytes { bytes throws(Damage) in try FlatGeobufHeader(bytes) }
            name = header.name
            properties = try Self.properties(header, file)
        } catch {
            throw Self.corrupt(file.path, error)
        }
    }

    /// The content id, the SHA-256 of its file: as stated by its index, at no cost, else of all
    /// bytes.
    ///
    /// Throws `.unreadable`.
    public func contentID() throws(Failure) -> ContentID {
        if let index, let id = ContentID(rawValue: Hexadecimal.encode(index.features.dataHash)) {
            return id
        }
        do {
            return ContentID(try MappedFile.sha256(file.path))
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    /// One feature with its index data.
    public struct FeatureReference: Hashable, Sendable {
        /// The place among all features, from 0, in the order of the file.
        public var ordinal: Int
        /// The object id; 0 when the feature's bytes are damaged, in which case ``shape(of:)`` and
        /// ``attributes(of:)`` throw.
        public var objectID: Int64
        /// The rectangle around the feature.
        public var envelope: Envelope
    }

    /// Calls `body` with every feature whose rectangle intersects `envelope` (in the dataset's
    /// spatial reference), in the order of the file.
    public func search(
        _ envelope: Envelope, _ body: (FeatureReference) throws -> Void
    ) rethrows {
        guard let tree = header.tree else { return }
        try file.withBytes { bytes in
            try tree.search(bytes.extracting(header.treeBytes), envelope) { leaf in
                try body(reference(bytes, leaf))
            }
        }
    }

    /// Calls `body` with every feature, in the order of the file.
    public func forEach(_ body: (FeatureReference) throws -> Void) rethrows {
        for ordinal in 0..<header.featureCount {
            guard let reference = feature(at: ordinal) else { return }
            try body(reference)
        }
    }

    /// The feature at a place in the file; nil when `ordinal` is not in `0..<featureCount`.
    public func feature(at ordinal: Int) -> FeatureReference? {
        file.withBytes { bytes in
            guard let leaf = header.tree?.leaf(at: ordinal, in: bytes.extracting(header.treeBytes))
            else { return nil }
            return reference(bytes, leaf)
        }
    }

    /// The feature at an ordinal, with its known object id.
    func reference(at ordinal: Int, objectID: Int64) -> FeatureReference? {
        file.withBytes { bytes in
            header.tree?.leaf(at: ordinal, in: bytes.extracting(header.treeBytes)).map {
                FeatureReference(
                    ordinal: ordinal, objectID: objectID, envelope: $0.envelope)
            }
        }
    }

    /// The geometry, all of a multipolygon's rings in one list; nil when it has no coordinates.
    ///
    /// Throws `.corrupt` where the feature's bytes are damaged.
    public func shape(of feature: FeatureReference) throws(Failure) -> Shape? {
        try read(feature) { bytes, table throws(Damage) in
            guard let geometry = try table.table(bytes, 0) else { return nil }
            return try FlatGeobufGeometry.shape(bytes, geometry, header.kind)
        }
    }

    /// Number of coordinates of the geometry; takes far less time than ``shape(of:)``.
    ///
    /// Throws `.corrupt` for damaged bytes of the feature.
    public func coordinateCount(of feature: FeatureReference) throws(Failure) -> Int {
        try read(feature) { bytes, table throws(Damage) in
            guard let geometry = try table.table(bytes, 0) else { return 0 }
            var count = 0
            try FlatGeobufGeometry.forEachPiece(bytes, geometry, header.kind) { xy, _ in
                count += xy.count / 16
            }
            return count
        }
    }

    /// The polygons of a polygon feature: parts, each a list of closed rings, shell first.
    ///
    /// The feature is the union of its parts; inside one part even-odd decides. Empty for features
    /// that are no polygons. Throws `.corrupt` where the feature's bytes are damaged.
    public func polygonParts(
        of feature: FeatureReference
    ) throws(Failure) -> [[[Coordinate]]] {
        guard properties.geometryType == .polygon else { return [] }
        return try read(feature) { bytes, table throws(Damage) in
            guard let geometry = try table.table(bytes, 0) else { return [] }
            return try FlatGeobufGeometry.polygons(bytes, geometry, header.kind)
        }
    }

    /// The Z and M of every coordinate of ``shape(of:)``, in its order; each nil when the dataset
    /// has none.
    ///
    /// NaN stands for a missing one. Throws `.corrupt` for damaged bytes of the feature.
    public func furtherOrdinates(
        of feature: FeatureReference
    ) throws(Failure) -> (z: [Double]?, m: [Double]?) {
        guard header.hasZ || header.hasM else { return (nil, nil) }
        return try read(feature) { bytes, table throws(Damage) in
            guard let geometry = try table.table(bytes, 0) else { return (nil, nil) }
            func ordinates(_ slot: Int) throws(Damage) -> [Double] {
                try FlatGeobufGeometry.ordinates(bytes, geometry, header.kind, slot: slot)
            }
            return (header.hasZ ? try ordinates(2) : nil, header.hasM ? try ordinates(3) : nil)
        }
    }

    /// The attributes in field order, the object id first.
    ///
    /// Throws `.corrupt` where the feature's bytes are damaged.
    public func attributes(of feature: FeatureReference) throws(Failure) -> Attributes {
        let values = try read(feature) { bytes, table throws(Damage) in
            try FlatGeobufProperties.values(
                bytes, try table.vector(bytes, 1, elementByteCount: 1) ?? 0..<0, header.columns)
        }
        return Attributes(
            zip(header.columns, values).map { Attributes.Entry(name: $0.name, value: $1) })
    }

    private func reference(
        _ bytes: RawSpan, _ leaf: PackedHilbertTree.Leaf
    ) -> FeatureReference {
        var objectID: Int64 = 0
        do throws(Damage) {
            let window = try featureRange(bytes, leaf)
            let feature = bytes.extracting(window)
            let table = try FlatTable.root(feature)
            let range = try table.vector(feature, 1, elementByteCount: 1) ?? 0..<0
            objectID = try FlatGeobufProperties.objectID(
                feature, range, isWide: header.hasWideIDs)
        } catch {
            objectID = 0
        }
        return FeatureReference(ordinal: leaf.ordinal, objectID: objectID, envelope: leaf.envelope)
    }

    /// The range of the feature's buffer in the file, without its size prefix.
    func featureRange(
        _ bytes: RawSpan, _ leaf: PackedHilbertTree.Leaf
    ) throws(Damage) -> Range<Int> {
        let place = header.treeBytes.upperBound - (header.featureCount - leaf.ordinal) * 40 + 32
        guard leaf.offset <= header.featureBytes.count - 4 else {
            throw Damage(offset: place, expected: "a feature inside the file")
        }
        let prefix = header.featureBytes.lowerBound + Int(leaf.offset)
        let byteCount = Int(try bytes.number(at: prefix, as: UInt32.self))
        guard byteCount <= bytes.byteCount - prefix - 4 else {
            throw Damage(offset: prefix, expected: "the rest of a feature")
        }
        return prefix + 4..<prefix + 4 + byteCount
    }

    private func read<R>(
        _ feature: FeatureReference, _ body: (RawSpan, FlatTable) throws(Damage) -> R
    ) throws(Failure) -> R {
        do throws(Damage) {
            return try file.withBytes { bytes throws(Damage) in
                let tree = bytes.extracting(header.treeBytes)
                guard let leaf = header.tree?.leaf(at: feature.ordinal, in: tree) else {
                    throw Damage(offset: 0, expected: "a feature of this dataset")
                }
                let range = try featureRange(bytes, leaf)
                let window = bytes.extracting(range)
                do throws(Damage) {
                    return try body(window, try FlatTable.root(window))
                } catch { throw error.shifted(by: range.lowerBound) }
            }
        } catch { throw Self.corrupt(file.path, error) }
    }

    static func corrupt(_ path: String, _ damage: Damage) -> Failure {
        Failure(
            .corrupt, "'\(path)' at byte \(damage.offset): expected \(damage.expected)")
    }
}
