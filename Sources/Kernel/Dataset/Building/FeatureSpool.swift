// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import Platform

/// The features of a layer on their way into datasets, in a file of their own: written once in the
/// order of the source, then read in any order; removed with the spool.
///
/// A record is six 32-bit numbers (coordinates, whether each has Z and M, path or ring ends, parts,
/// bytes of attributes), then these things in that order. Memory: 48 bytes a feature.
final class FeatureSpool {
    /// One feature of one kind.
    struct Entry {
        var envelope: Envelope
        /// Offset of its record in the file.
        var offset: Int
        /// The feature's place in the source.
        var place: UInt32
    }

    /// The features of each kind, by ``GeometryKind``, in the order of the source.
    private var entries = [[Entry]](repeating: [], count: GeometryKind.allCases.count)
    /// Features without geometry, in the order of the source.
    private(set) var placeless: [Entry] = []
    private let path: String
    private let file: OutputFile
    private var waiting: [UInt8] = []
    private var written = 0

    private static let blockByteCount = 1 << 20

    /// Creates the file.
    init(path: String) throws(PlatformError) {
        self.path = path
        file = try OutputFile(creating: path)
        waiting.reserveCapacity(2 * Self.blockByteCount)
    }

    /// Adds a feature with its attributes as FlatGeobuf has them; of no coordinates, one without
    /// geometry.
    func append(
        _ geometry: FlatGeometry, attributes: [UInt8], place: Int
    ) throws(PlatformError) {
        let entry = Entry(
            envelope: geometry.envelope, offset: written + waiting.count, place: UInt32(place))
        if geometry.isEmpty {
            placeless.append(entry)
        } else {
            entries[geometry.kind.rawValue].append(entry)
        }
        Self.append(geometry, attributes: attributes, to: &waiting)
        if waiting.count >= Self.blockByteCount { try flush() }
    }

    /// Whether a feature is of that kind.
    func holds(_ kind: GeometryKind) -> Bool { !entries[kind.rawValue].isEmpty }

    /// The features of some kinds, and optionally those without geometry, in the order of the
    /// source.
    func entries(of kinds: [GeometryKind], withPlaceless: Bool) -> [Entry] {
        var lists = kinds.map { entries[$0.rawValue] }
        if withPlaceless { lists.append(placeless) }
        lists.removeAll(where: \.isEmpty)
        guard lists.count > 1 else { return lists.first ?? [] }
        return lists.joined().sorted { $0.place < $1.place }
    }

    /// Appends a record to bytes.
    static func append(
        _ geometry: borrowing FlatGeometry, attributes: [UInt8], to bytes: inout [UInt8]
    ) {
        func append<T: BitwiseCopyable>(_ elements: [T]) {
            unsafe elements.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        }
        for number in [
            geometry.coordinateCount, geometry.z.isEmpty ? 0 : 1, geometry.m.isEmpty ? 0 : 1,
            geometry.ends.count, geometry.parts.count, attributes.count,
        ] { append([UInt32(number)]) }
        append(geometry.xy)
        append(geometry.z)
        append(geometry.m)
        append(geometry.ends)
        append(geometry.parts)
        append(attributes)
    }

    private func flush() throws(PlatformError) {
        try file.write(waiting, at: written)
        written += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }

    /// Ends the writing, and lends all records.
    func map() throws -> MappedFile {
        try flush()
        return try MappedFile(path: path)
    }

    deinit { OutputFile.remove(path) }
}

/// A record of a spool, as byte ranges.
struct SpooledFeature {
    let coordinateCount: Int
    let xy: Range<Int>
    /// Nil where it has none.
    let z: Range<Int>?
    let m: Range<Int>?
    /// The number of coordinates up to the end of each path or ring.
    let ends: [UInt32]
    /// The number of rings up to the end of each part.
    let parts: [UInt32]
    let attributes: Range<Int>

    /// Number of coordinates of the record at `offset`; traps for an offset out of range.
    static func coordinateCount(_ bytes: RawSpan, at offset: Int) -> Int {
        precondition(offset >= 0 && offset <= bytes.byteCount - 4)
        return Int(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The record at `offset`; traps for an offset out of range.
    init(_ bytes: RawSpan, at offset: Int) {
        func number(_ place: Int) -> UInt32 {
            unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self)
        }
        precondition(offset >= 0 && offset <= bytes.byteCount - 24)
        var place = offset + 24
        func take(_ count: Int) -> Range<Int> {
            defer { place += count }
            return place..<place + count
        }
        let count = Int(number(offset))
        coordinateCount = count
        xy = take(16 * count)
        z = number(offset + 4) == 0 ? nil : take(8 * count)
        m = number(offset + 8) == 0 ? nil : take(8 * count)
        let ends = take(4 * Int(number(offset + 12)))
        let parts = take(4 * Int(number(offset + 16)))
        attributes = take(Int(number(offset + 20)))
        precondition(place <= bytes.byteCount)
        self.ends = stride(from: ends.lowerBound, to: ends.upperBound, by: 4).map(number)
        self.parts = stride(from: parts.lowerBound, to: parts.upperBound, by: 4).map(number)
    }
}
