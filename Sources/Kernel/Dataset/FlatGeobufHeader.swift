// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import SpatialIndex

/// The types of FlatGeobuf's columns, by their number in the file.
enum ColumnType: UInt8 {
    case byte, unsignedByte, bool, short, unsignedShort, int, unsignedInt, long, unsignedLong
    case float, double, string, json, dateTime, binary

    /// Byte count of a value; nil for one with a length prefix.
    var byteCount: Int? {
        switch self {
        case .byte, .unsignedByte, .bool: 1
        case .short, .unsignedShort: 2
        case .int, .unsignedInt, .float: 4
        case .long, .unsignedLong, .double: 8
        case .string, .json, .dateTime, .binary: nil
        }
    }
}

/// A column as the header describes it.
struct Column {
    let name: String
    let type: ColumnType
    let width: Int?
    /// Slot 2, `title`; nil when left out.
    let alias: String?
}

/// The part of a FlatGeobuf 3 file before its features, validated.
struct FlatGeobufHeader {
    /// FlatGeobuf's numbers for the geometry kinds a dataset may have.
    enum Kind: UInt8 {
        case point = 1
        case lineString, polygon, multiPoint, multiLineString, multiPolygon
    }

    let name: String
    let kind: Kind
    let hasZ: Bool
    let hasM: Bool
    let columns: [Column]
    let featureCount: Int
    let spatialReference: SpatialReference
    /// Nil when there are no features.
    let tree: PackedHilbertTree?
    /// Range of the index.
    let treeBytes: Range<Int>
    /// Range of the features: from behind the index to the end.
    let featureBytes: Range<Int>

    /// Whether object ids have 64 bits: of datasets in memory that other servers' features are laid
    /// into.
    var hasWideIDs: Bool { columns.first?.type == .long }

    static let magic: [UInt8] = [0x66, 0x67, 0x62, 0x03, 0x66, 0x67, 0x62]
    private static let headerLimit = 64 << 20

    /// Reads and checks the header of a whole file.
    init(_ file: RawSpan) throws(Damage) {
        for (offset, byte) in Self.magic.enumerated() {
            guard try file.number(at: offset, as: UInt8.self) == byte else {
                throw Damage(offset: offset, expected: "FlatGeobuf version 3")
            }
        }
        let headerByteCount = Int(try file.number(at: 8, as: UInt32.self))
        guard 8...Self.headerLimit ~= headerByteCount, 12 + headerByteCount <= file.byteCount else {
            throw Damage(offset: 8, expected: "a header inside the file")
        }
        let bytes = file.extracting(12..<12 + headerByteCount)
        do throws(Damage) {
            let table = try FlatTable.root(bytes)
            name = try table.string(bytes, 0) ?? ""
            guard let kind = Kind(rawValue: try table.scalar(bytes, 2, absent: 0)) else {
                throw Damage(offset: 0, expected: "one kind of geometry for the whole file")
            }
            self.kind = kind
            hasZ = try table.scalar(bytes, 3, absent: UInt8(0)) != 0
            hasM = try table.scalar(bytes, 4, absent: UInt8(0)) != 0
            columns = try Self.columns(bytes, table)
            spatialReference = try Self.spatialReference(bytes, table)
            let count = try table.scalar(bytes, 8, absent: UInt64(0))
            let nodeSize = try table.scalar(bytes, 9, absent: UInt16(16))
            guard count <= PackedHilbertTree.itemLimit else {
                throw Damage(offset: 0, expected: "a possible number of features")
            }
            featureCount = Int(count)
            tree = PackedHilbertTree(itemCount: Int(count), nodeSize: Int(nodeSize))
        } catch { throw error.shifted(by: 12) }
        guard tree != nil || featureCount == 0 else {
            throw Damage(offset: 12, expected: "a spatial index")
        }
        let start = 12 + headerByteCount
        let treeByteCount = tree?.byteCount ?? 0
        guard treeByteCount <= file.byteCount - start else {
            throw Damage(offset: file.byteCount, expected: "the rest of the spatial index")
        }
        treeBytes = start..<start + treeByteCount
        featureBytes = start + treeByteCount..<file.byteCount
    }

    private static func columns(_ bytes: RawSpan, _ table: FlatTable) throws(Damage) -> [Column] {
        var columns: [Column] = []
        guard let tables = try table.tables(bytes, 7) else { return [] }
        for index in 0..<min(tables.count, 65536) {
            let column = try tables.table(bytes, index)
            guard let type = ColumnType(rawValue: try column.scalar(bytes, 1, absent: 0)) else {
                throw Damage(offset: 0, expected: "a known type for column \(index)")
            }
            let width = try column.scalar(bytes, 4, absent: Int32(-1))
            let alias = try column.string(bytes, 2)
            columns.append(
                Column(
                    name: try column.string(bytes, 0) ?? "", type: type,
                    width: width > 0 ? Int(width) : nil,
                    alias: alias.flatMap { $0.isEmpty ? nil : $0 }))
        }
        return columns
    }

    private static func spatialReference(
        _ bytes: RawSpan, _ table: FlatTable
    ) throws(Damage) -> SpatialReference {
        guard let crs = try table.table(bytes, 10) else {
            throw Damage(offset: 0, expected: "a spatial reference")
        }
        let code = try crs.scalar(bytes, 1, absent: Int32(0))
        if code > 0 { return SpatialReference(wkid: Int(code)) }
        guard let wkt = try crs.string(bytes, 4), !wkt.isEmpty else {
            throw Damage(offset: 0, expected: "a spatial reference")
        }
        return SpatialReference(wkt: wkt)
    }
}
