// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import Platform

/// Builds the bytes of a ``FeatureIndex`` over existing data; the same features give the same
/// bytes.
///
/// Features are added in their order, each followed by its pieces. Takes some 100 bytes of memory
/// per piece beside the result.
public struct FeatureIndexBuilder {
    /// Rings with no more segments than this are scanned; others get stripes.
    static let scannedSegments = 48
    /// Paths and multipoints are cut into pieces of this many.
    static let pathSegments = 32

    private struct Entry {
        var envelope: Envelope
        var feature: UInt32
        var count: UInt16
        var place: Int
    }

    private struct Area {
        var entry: Int
        var place: Int
        var ringEnds: [Int]
    }

    private let kind: FeatureIndex.Kind
    private var entries: [Entry] = []
    private var areas: [Area] = []
    private var ids: [UInt32] = []

    /// An empty index.
    public init(_ kind: FeatureIndex.Kind) { self.kind = kind }

    /// The next feature; its object id is 0…2^32-1.
    public mutating func addFeature(_ objectID: Int64) {
        ids.append(UInt32(truncatingIfNeeded: objectID))
    }

    /// Adds coordinates of the last feature: `count` of them, 16 bytes each, from `place` in
    /// `data`.
    ///
    /// A path, some positions, or, with `ringEnds` (end index of each ring), a part of a polygon.
    /// Traps for a range out of bounds.
    public mutating func add(place: Int, count: Int, ringEnds: [Int] = [], in data: RawSpan) {
        precondition(place >= 0 && count >= 0 && place + 16 * count <= data.byteCount)
        guard count > 0 else { return }
        unsafe data.withUnsafeBytes { bytes in
            let memory = unsafe Memory(bytes)
            switch kind {
            case .points: cut(memory, place, count, overlap: 0)
            case .lines: cut(memory, place, count, overlap: 1)
            case .areas:
                let isStriped = ringEnds.count > 1 || count - 1 > Self.scannedSegments
                if isStriped {
                    areas.append(Area(entry: entries.count, place: place, ringEnds: ringEnds))
                }
                append(memory, place, count, segments: count - 1, isStriped: isStriped)
            }
        }
    }

    /// A chain in pieces; neighbours share `overlap` coordinates.
    private mutating func cut(_ memory: Memory, _ place: Int, _ count: Int, overlap: Int) {
        var start = 0
        repeat {
            let end = min(start + Self.pathSegments + overlap, count)
            append(
                memory, place + 16 * start, end - start, segments: end - start - overlap,
                isStriped: false)
            start = end - overlap
        } while start + overlap < count
    }

    private mutating func append(
        _ memory: Memory, _ place: Int, _ count: Int, segments: Int, isStriped: Bool
    ) {
        var envelope = Envelope.empty
        for vertex in 0..<count { envelope.extend(to: memory.coordinate(place + 16 * vertex)) }
        entries.append(
            Entry(
                envelope: envelope, feature: UInt32(ids.count - 1),
                count: isStriped ? UInt16(FeatureIndex.Piece.striped) : UInt16(segments),
                place: place))
    }

    /// The whole index; `dataHash` is the SHA-256 of `data`, 32 bytes.
    public consuming func finish(data: RawSpan, dataHash: [UInt8]) -> [UInt8] {
        precondition(dataHash.count == 32)
        let extent = entries.reduce(Envelope.empty) { $0.union($1.envelope) }
        let origin = entries.isEmpty ? Coordinate(x: 0, y: 0) : extent.center
        let boxes = entries.map { FloatBox($0.envelope, from: origin) }
        let order = FloatTree.order(of: boxes)
        let tree = FloatTree(itemCount: entries.count)
        let details = self.details(
            data, origin, from: FeatureIndex.headerByteCount + tree.byteCount)
        var body = ByteWriter()
        body.append(
            tree.pack(
                order.map { boxes[Int($0)] },
                order.map { number in
                    let entry = entries[Int(number)]
                    return (
                        entry.feature, ids[Int(entry.feature)],
                        UInt64(entry.place) | UInt64(entry.count) << 48
                    )
                }))
        body.append(details)
        return header(body.bytes, origin, data.byteCount, dataHash) + body.bytes
    }

    /// The striped areas; their offsets are entered in their pieces.
    private mutating func details(
        _ data: RawSpan, _ origin: Coordinate, from offset: Int
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for area in areas {
            entries[area.entry].place = offset + bytes.count
            bytes += unsafe data.withUnsafeBytes { data in
                unsafe StripedAreaBuilder(
                    Memory(data), place: area.place, ringEnds: area.ringEnds, origin: origin
                ).bytes()
            }
        }
        return bytes
    }

    private func header(
        _ body: [UInt8], _ origin: Coordinate, _ dataByteCount: Int, _ dataHash: [UInt8]
    ) -> [UInt8] {
        var header = ByteWriter()
        header.append(FeatureIndex.magic)
        header.append(FeatureIndex.version)
        header.append(kind.rawValue)
        for number in [
            FeatureIndex.headerByteCount + body.count, dataByteCount, ids.count, entries.count,
        ] { header.append(UInt64(number)) }
        header.append(origin.x.bitPattern)
        header.append(origin.y.bitPattern)
        header.append(dataHash)
        header.append(unsafe CRC32C.checksum(body.span.bytes))
        while header.bytes.count < FeatureIndex.headerByteCount - 4 { header.append(UInt8(0)) }
        header.append(unsafe CRC32C.checksum(header.bytes.span.bytes))
        return header.bytes
    }
}
