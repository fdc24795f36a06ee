// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
internal import Codecs
import Geometry
import Platform
import SpatialIndex

/// The common form of a dataset's features.
struct DatasetForm {
    var kind: FlatGeobufHeader.Kind
    var hasZ: Bool
    var hasM: Bool
}

/// Writes a dataset's file and its index from spooled features, and reads both back.
///
/// The calling thread encodes features and builds the index; another writes, hashes and verifies
/// the file.
struct DatasetWriter {
    private let entries: [FeatureSpool.Entry]
    private let spool: MappedFile
    private let form: DatasetForm
    private let header: [UInt8]
    private let extent: Envelope
    private let coordinateCount: Int

    private static let blockByteCount = 1 << 20

    /// - Parameter header: Magic and header of such a file, whatever number of features it states.
    init(
        entries: [FeatureSpool.Entry], spool: MappedFile, form: DatasetForm, header: [UInt8]
    ) throws(Failure) {
        self.entries = entries
        self.spool = spool
        self.form = form
        extent = entries.reduce(Envelope.empty) { $0.union($1.envelope) }
        coordinateCount = spool.withBytes { bytes in
            entries.reduce(0) { $0 + SpooledFeature.coordinateCount(bytes, at: $1.offset) }
        }
        do throws(Damage) {
            self.header = try FlatGeobufHeader.stating(
                entries.count, in: extent, header)
        } catch {
            throw Failure(.internal, "a header of GDAL's: expected \(error.expected)")
        }
    }

    /// The result of a write.
    struct Written {
        var id: ContentID
        var properties: LayerProperties
    }

    /// Writes the file, which must not exist, and the index beside it.
    ///
    /// Throws `.noSpace` for a full disk, or a file that differs from the bytes written.
    ///
    /// - Parameters:
    ///   - objectID: The object id of a feature by its place in the source.
    ///   - progress: Called every 1,000 features, and when all are written.
    func write(
        _ path: String, objectID: (UInt32) -> Int32, progress: (Int) -> Void
    ) throws -> Written {
        let order = PackedHilbertTree.fileOrder(entries.map(\.envelope))
        // An empty dataset has no tree.
        let tree = PackedHilbertTree(itemCount: entries.count, nodeSize: 16)
        guard tree != nil || entries.isEmpty else {
            throw Failure(.tooLarge, "a dataset of \(entries.count) features")
        }
        let ids = order.map { objectID(entries[Int($0)].place) }
        let output = try BlockWriter(path, from: header.count + (tree?.byteCount ?? 0))
        let offsets = try encode(order, ids, to: output, progress)
        let items = zip(order, offsets).map { (entries[Int($0)].envelope, $1) }
        let front = header + (PackedHilbertTree.pack(items) ?? [])
        let expected = ReadBack(
            front: front, checksum: try output.finish(front: front), objectIDs: ids,
            coordinateCount: coordinateCount)
        progress(entries.count)
        return try readBack(path, expected)
    }

    /// Checks the bytes; then makes them durable, hashes them, reads every feature, and writes the
    /// index, side by side.
    private func readBack(_ path: String, _ expected: ReadBack) throws -> Written {
        try expected.checkBytes(of: path)
        let syncing = try BackgroundThread("dataset-sync") { try StagedFile.sync(path) }
        let hashing = try BackgroundThread("dataset-hash") { try MappedFile.sha256(path) }
        let dataset = try Dataset(path: path, indexPath: nil)
        let checking = try BackgroundThread("dataset-check") {
            try expected.checkFeatures(of: dataset)
        }
        try LayerIndex.write(for: dataset) { try hashing.value() }
        try checking.value()
        try syncing.value()
        return Written(
            id: ContentID(try hashing.value()), properties: dataset.properties)
    }

    /// Hands all features to `output`; where each starts among them.
    private func encode(
        _ order: [UInt32], _ ids: [Int32], to output: BlockWriter, _ progress: (Int) -> Void
    ) throws -> [UInt64] {
        var encoder = FeatureEncoder(form.kind, hasZ: form.hasZ, hasM: form.hasM)
        var offsets: [UInt64] = []
        offsets.reserveCapacity(order.count)
        var end: UInt64 = 0
        var block: [UInt8] = []
        try spool.withBytes { spool in
            for (ordinal, number) in order.enumerated() {
                let feature = SpooledFeature(spool, at: entries[Int(number)].offset)
                offsets.append(end)
                end += encoder.encode(feature, in: spool, objectID: ids[ordinal]) { bytes in
                    unsafe bytes.withUnsafeBytes { unsafe block.append(contentsOf: $0) }
                    return UInt64(bytes.byteCount)
                }
                if block.count >= Self.blockByteCount {
                    try output.append(block)
                    block = []
                    block.reserveCapacity(2 * Self.blockByteCount)
                }
                if ordinal % 1000 == 999 { progress(ordinal + 1) }
            }
            try output.append(block)
        }
        return offsets
    }
}

extension FlatGeobufHeader {
    /// A copy of a header with another number of features, another rectangle around them, and
    /// optionally another kind of geometry; `bytes` begin with the magic.
    ///
    /// The header must state the number and the rectangle already. An empty dataset has no index,
    /// which GDAL expects to be stated by an `index_node_size` of 0. The field, for whose default
    /// of 16 there is no room in a header, is then laid over the zeros of the number of features.
    static func stating(
        _ featureCount: Int, in extent: Envelope, kind: Kind? = nil, _ bytes: [UInt8]
    ) throws(Damage) -> [UInt8] {
        let span = unsafe bytes.span.bytes.extracting(12..<bytes.count)
        let table = try FlatTable.root(span)
        guard let envelope = try table.vector(span, 1, elementByteCount: 8), envelope.count == 32,
            let count = try table.place(span, 8, byteCount: 8)
        else { throw Damage(offset: 12, expected: "a number of features and their rectangle") }
        var bytes = bytes
        func put(_ bits: UInt64, at place: Int) {
            for byte in 0..<8 {
                bytes[12 + place + byte] = UInt8(truncatingIfNeeded: bits >> (8 * UInt64(byte)))
            }
        }
        for (index, bound) in [extent.minX, extent.minY, extent.maxX, extent.maxY].enumerated() {
            put(bound.bitPattern, at: envelope.lowerBound + 8 * index)
        }
        put(UInt64(featureCount), at: count)
        if let number = table.entry(8), let size = table.entry(9) {
            let place = 12 + size..<12 + size + 2
            let (own, known) = (Array(bytes[place]), Array(bytes[12 + number..<12 + number + 2]))
            if own == [0, 0] || own == known {
                bytes.replaceSubrange(place, with: featureCount == 0 ? known : [0, 0])
            }
        }
        if let kind {
            guard let place = try table.place(span, 2, byteCount: 1) else {
                throw Damage(offset: 12, expected: "a kind of geometry")
            }
            bytes[12 + place] = kind.rawValue
        }
        return bytes
    }
}
