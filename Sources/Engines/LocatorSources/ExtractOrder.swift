// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import Dataset
internal import Platform

/// The order of objects in a PBF extract of OpenStreetMap.
///
/// GDAL's driver requires nodes, ways and relations in this order and silently drops the areas
/// whose relation precedes their ways. A file's declared order is not trusted: some files say
/// `Sort.Type_then_ID` and are not. The layout is that of the OpenStreetMap wiki, "PBF Format".
enum ExtractOrder {
    private enum Kind: Int, CaseIterable {
        case node, way, relation

        /// By the key of a group's first field; changesets count as nodes.
        ///
        /// Nil for a field that is no group, and an empty one.
        init?(group: Protobuf.Field) {
            guard let key = group.bytes.first else { return nil }
            switch key >> 3 {
            case 3: self = .way
            case 4: self = .relation
            default: self = .node
            }
        }
    }

    /// A blob of the file: its byte range with header, that of the blob alone, and the kinds of its
    /// objects.
    private struct Piece {
        var whole: Range<Int>
        var blob: Range<Int>
        /// Kinds of its objects; empty for the heading.
        var kinds: [Kind]
    }

    /// The format's own size limits, in bytes.
    private static let (mostHeader, mostBlob) = (64 << 10, 32 << 20)

    /// The path of an extract with its objects in the order that GDAL needs: the file itself where
    /// it is XML, in order, or unreadable here; else a copy.
    ///
    /// Throws `noSpace` or `unreadable` when the copy cannot be written, or the file changes
    /// meanwhile.
    static func ordered(
        _ path: String, in staging: borrowing StagingDirectory
    ) throws -> String {
        guard let file = try? MappedFile(path: path), let pieces = pieces(of: file),
            !isOrdered(pieces.flatMap(\.kinds))
        else { return path }
        let copy = try staging.makeEntry() + "/ordered.osm.pbf"
        let output = try OutputFile(creating: copy)
        var place = 0
        func write(_ bytes: [UInt8]) throws(PlatformError) {
            try output.write(bytes, at: place)
            place += bytes.count
        }
        for piece in pieces where piece.kinds.isEmpty { try write(file.copy(piece.whole)) }
        for kind in Kind.allCases {
            for piece in pieces where piece.kinds.contains(kind) {
                if Set(piece.kinds).count == 1 {
                    try write(file.copy(piece.whole))
                    continue
                }
                guard let block = expanded(file.copy(piece.blob)) else {
                    throw Failure(
                        .unreadable,
                        "'\(path)': the blob at byte \(piece.blob.lowerBound) changed meanwhile")
                }
                try write(framed(block, only: kind))
            }
        }
        return copy
    }

    private static func isOrdered(_ kinds: [Kind]) -> Bool {
        zip(kinds, kinds.dropFirst()).allSatisfy { $0.rawValue <= $1.rawValue }
    }

    /// Nil where the file is not PBF, is damaged, or has blobs compressed by another method than
    /// zlib.
    private static func pieces(of file: MappedFile) -> [Piece]? {
        var pieces: [Piece] = []
        var at = 0
        while at < file.byteCount {
            guard at + 4 <= file.byteCount else { return nil }
            let length = file.copy(at..<at + 4).reduce(0) { $0 << 8 | Int($1) }
            let header = at + 4..<at + 4 + length
            guard length <= mostHeader, header.upperBound <= file.byteCount,
                let fields = Protobuf.fields(of: file.copy(header))
            else { return nil }
            let type = fields.first { $0.number == 1 }.map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
            guard let size = fields.first(where: { $0.number == 3 })?.value,
                0...mostBlob ~= size,
                header.upperBound + size <= file.byteCount
            else { return nil }
            let blob = header.upperBound..<header.upperBound + size
            guard let block = expanded(file.copy(blob)), let parts = Protobuf.fields(of: block)
            else { return nil }
            var kinds: [Kind] = []
            if type == "OSMData" {
                kinds = parts.filter { $0.number == 2 }.compactMap(Kind.init(group:))
            }
            pieces.append(Piece(whole: at..<blob.upperBound, blob: blob, kinds: kinds))
            at = blob.upperBound
        }
        return pieces
    }

    /// The content of a blob; nil where it is damaged or compressed by another method.
    private static func expanded(_ blob: [UInt8]) -> [UInt8]? {
        guard let fields = Protobuf.fields(of: blob) else { return nil }
        if let raw = fields.first(where: { $0.number == 1 }) { return Array(raw.bytes) }
        guard let size = fields.first(where: { $0.number == 2 })?.value,
            0...mostBlob ~= size,
            let data = fields.first(where: { $0.number == 3 })
        else { return nil }
        return ZlibData.expand(Array(data.bytes), count: size)
    }

    /// A block with the groups of one kind of object, as an uncompressed blob with its header.
    private static func framed(_ block: [UInt8], only kind: Kind) -> [UInt8] {
        var data: [UInt8] = []
        for field in Protobuf.fields(of: block) ?? [] {
            if field.number == 2, Kind(group: field) != kind { continue }
            data += block[field.range]
        }
        let blob = Protobuf.field(1, data)
        let header = Protobuf.field(1, Array("OSMData".utf8)) + Protobuf.field(3, blob.count)
        let length = UInt32(header.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) } + header
            + blob
    }
}

/// Fields of messages in the wire format of Protocol Buffers.
enum Protobuf {
    struct Field {
        var number: Int
        /// The value of a number; 0 for others.
        var value = 0
        /// The bytes of a text, message or bytes; empty for others.
        var bytes: ArraySlice<UInt8> = []
        /// Its byte range, with the key.
        var range: Range<Int>
    }

    /// The fields of a message in order; nil where it is malformed.
    static func fields(of message: some RandomAccessCollection<UInt8>) -> [Field]? {
        let bytes = Array(message)
        var at = 0
        func number() -> Int? {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while at < bytes.count, shift < 64 {
                let byte = bytes[at]
                at += 1
                value |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return Int(truncatingIfNeeded: value) }
                shift += 7
            }
            return nil
        }
        var fields: [Field] = []
        while at < bytes.count {
            let start = at
            guard let key = number(), key >> 3 > 0 else { return nil }
            var field = Field(number: key >> 3, range: start..<start)
            switch key & 7 {
            case 0:
                guard let value = number() else { return nil }
                field.value = value
            case 1: at += 8
            case 2:
                guard let count = number(), 0...(bytes.count - at) ~= count else { return nil }
                field.bytes = bytes[at..<at + count]
                at += count
            case 5: at += 4
            default: return nil
            }
            guard at <= bytes.count else { return nil }
            field.range = start..<at
            fields.append(field)
        }
        return fields
    }

    /// Encodes a field of bytes.
    static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [number << 3 | 2] + varint(bytes.count) + bytes
    }

    /// Encodes a field of a non-negative number.
    static func field(_ number: UInt8, _ value: Int) -> [UInt8] { [number << 3] + varint(value) }

    private static func varint(_ value: Int) -> [UInt8] {
        var result: [UInt8] = []
        var rest = value
        while rest >= 0x80 {
            result.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return result + [UInt8(rest)]
    }
}
