// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
import Geometry
import Platform
import SpatialIndex

/// The features of a layer: an immutable dataset with edits over it.
///
/// Added and changed features are a small dataset of its own, in memory, searched as any other; the
/// base's features with edits are masked.
public struct EditedDataset: Sendable {
    /// The dataset that was imported or compacted.
    public let base: Dataset
    /// The added and changed features; nil for none.
    public let overlay: Dataset?
    /// The edits; nil for none.
    private let edits: LayerEdits?

    /// A dataset without edits.
    public init(_ base: Dataset) {
        self.base = base
        overlay = nil
        edits = nil
    }

    /// A dataset with edits over it, whose features are encoded here.
    ///
    /// Time and memory grow with the edits, not with the dataset. Throws `.corrupt` for a malformed
    /// header of the dataset.
    public init(_ base: Dataset, _ edits: LayerEdits?) throws(Failure) {
        self.base = base
        guard let edits, !edits.changes.isEmpty else {
            overlay = nil
            self.edits = nil
            return
        }
        self.edits = edits
        overlay = try Dataset(laying: edits.changes.compactMap(\.feature), over: base)
    }

    /// Whether there are edits.
    public var isEdited: Bool { edits != nil }

    /// Whether a feature of ``base`` counts no more.
    public func hides(_ objectID: Int64) -> Bool { edits?.change(of: objectID) != nil }

    /// Whether it was made of these edits.
    public func isMade(of edits: LayerEdits?) -> Bool {
        // Arrays that share their storage are equal at once.
        (self.edits?.changes ?? []) == (edits?.changes ?? [])
    }
}

extension Dataset {
    /// The features as a dataset in memory with the columns of another; nil for none.
    fileprivate convenience init?(
        laying features: [EditedFeature], over base: Dataset
    ) throws(Failure) {
        guard !features.isEmpty else { return nil }
        try self.init(
            features.map {
                (
                    $0.id, FlatGeometry($0, GeometryKind(base.header.kind)),
                    base.attributeBytes($0.attributes)
                )
            },
            base.header.kind, hasZ: base.header.hasZ, hasM: base.header.hasM,
            header: base.headerBytes, called: "edits of '\(base.name)'")
    }

    /// Features as a dataset in memory.
    ///
    /// - Parameters:
    ///   - features: Object id, geometry, and attributes as FlatGeobuf has them.
    ///   - hasZ: Whether the header states Z.
    ///   - hasM: Whether the header states M.
    ///   - header: Magic and header of a file with the same columns.
    ///   - hasWideIDs: Whether the header states object ids of 64 bits, not of 32.
    ///   - name: Used in messages in place of a path.
    convenience init(
        _ features: [(id: Int64, geometry: FlatGeometry, attributes: [UInt8])],
        _ kind: FlatGeobufHeader.Kind, hasZ: Bool = false, hasM: Bool = false, header: [UInt8],
        hasWideIDs: Bool = false, called name: String
    ) throws(Failure) {
        var records: [UInt8] = []
        var entries: [(envelope: Envelope, offset: Int, id: Int64)] = []
        var severalParts = false
        for (id, geometry, attributes) in features {
            severalParts = severalParts || geometry.parts.count > 1
            entries.append((geometry.envelope, records.count, id))
            FeatureSpool.append(geometry, attributes: attributes, to: &records)
        }
        let bytes: [UInt8]
        do throws(Damage) {
            let encoder = FeatureEncoder(
                kind.holding(severalParts: severalParts), hasZ: hasZ, hasM: hasM)
            bytes = try Self.bytes(entries, records, encoder, header, hasWideIDs)
        } catch {
            throw Dataset.corrupt(name, error)
        }
        let file: MappedFile
        do throws(MappingError) {
            file = try MappedFile(copying: bytes, path: name)
        } catch {
            throw Failure(.unavailable, error.description)
        }
        try self.init(adopting: file)
    }

    private static func bytes(
        _ entries: [(envelope: Envelope, offset: Int, id: Int64)], _ records: [UInt8],
        _ encoder: consuming FeatureEncoder, _ header: [UInt8], _ hasWideIDs: Bool
    ) throws(Damage) -> [UInt8] {
        var features: [UInt8] = []
        var items: [(envelope: Envelope, offset: UInt64)] = []
        for number in PackedHilbertTree.fileOrder(entries.map(\.envelope)) {
            let entry = entries[Int(number)]
            items.append((entry.envelope, UInt64(features.count)))
            let span = unsafe records.span.bytes
            let feature = SpooledFeature(span, at: entry.offset)
            func take(_ bytes: RawSpan) {
                unsafe bytes.withUnsafeBytes { unsafe features.append(contentsOf: $0) }
            }
            if hasWideIDs {
                encoder.encode(feature, in: span, objectID: entry.id, take)
            } else {
                encoder.encode(feature, in: span, objectID: Int32(clamping: entry.id), take)
            }
        }
        let extent = entries.reduce(Envelope.empty) { $0.union($1.envelope) }
        let header = try FlatGeobufHeader.stating(
            entries.count, in: extent, kind: encoder.kind, header)
        return header + (PackedHilbertTree.pack(items) ?? []) + features
    }

    /// Magic and header of the file.
    var headerBytes: [UInt8] { file.copy(0..<header.treeBytes.lowerBound) }

    /// Attributes as FlatGeobuf has them, without the object id.
    func attributeBytes(_ attributes: Attributes) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, column) in header.columns.enumerated().dropFirst() {
            guard index - 1 < attributes.entries.count else { break }
            column.append(attributes.entries[index - 1].value, number: index, to: &bytes)
        }
        return bytes
    }
}

extension EditedFeature {
    /// A feature of a dataset as an edit would have left it.
    ///
    /// Throws `.corrupt` where its bytes are damaged.
    public init(
        _ feature: Dataset.FeatureReference, of dataset: Dataset
    ) throws(Failure) {
        let shape = try dataset.shape(of: feature)
        let (z, m) = shape == nil ? (nil, nil) : try dataset.furtherOrdinates(of: feature)
        func some(_ values: [Double]?) -> [Double?]? { values?.map { $0.isFinite ? $0 : nil } }
        self.init(
            id: feature.objectID, shape: shape,
            ordinates: FurtherOrdinates(z: some(z), m: some(m)),
            attributes: Attributes(
                Array(try dataset.attributes(of: feature).entries.dropFirst())))
    }
}
