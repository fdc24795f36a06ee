// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import Platform

/// Extracts of OpenStreetMap in the PBF form, read block after block
/// (wiki.openstreetmap.org/wiki/PBF_Format).
///
/// Memory is bounded by two blocks of at most 32 MiB. Objects may be in any order.
public enum PBFFile {
    /// Largest header of a block, in bytes.
    static let headerLimit = 64 << 10
    /// Largest block, compressed and expanded, in bytes.
    static let blockLimit = 32 << 20

    /// What a reader has to know of a file's form.
    private static let knownFeatures: Set<String> = ["OsmSchema-V0.6", "DenseNodes"]

    /// Reads a file from its start to its end.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - visitor: Takes the objects.
    ///   - progress: Called for each block with the bytes read so far.
    /// - Throws: `unreadable` with the path and the block for a damaged or cut file, a block that
    ///   is not compressed by zlib, or a feature that this reader does not know; the errors of
    ///   `visitor` and `progress`.
    public static func read<Visitor: OSMVisitor>(
        _ path: String, into visitor: inout Visitor,
        progress: (Int64) throws(Failure) -> Void = { _ throws(Failure) in }
    ) throws(Failure) {
        var blobs = try BlobReader(path)
        var hasHeader = false
        while let blob = try blobs.next() {
            do throws(ExtractDamage) {
                switch blob.type {
                case "OSMHeader":
                    try blob.bytes.lend { bytes throws(ExtractDamage) in
                        try checkHeader(bytes)
                    }
                    hasHeader = true
                case "OSMData" where !hasHeader:
                    throw ExtractDamage("data without a header before it")
                case "OSMData": break
                default: continue
                }
            } catch {
                throw blobs.failure(error.reason)
            }
            guard blob.type == "OSMData" else { continue }
            var block: PBFBlock
            do throws(ExtractDamage) {
                block = try blob.bytes.lend { bytes throws(ExtractDamage) in
                    try PBFBlock(bytes)
                }
            } catch {
                throw blobs.failure(error.reason)
            }
            let damage = try blob.bytes.lend { bytes throws(Failure) in
                try block.visit(bytes, &visitor)
            }
            if let damage { throw blobs.failure(damage.reason) }
            try progress(blobs.position)
        }
        guard hasHeader else { throw blobs.failure("the file has no header") }
    }

    private static func checkHeader(_ bytes: RawSpan) throws(ExtractDamage) {
        var reader = ProtobufReader(0..<bytes.byteCount)
        while let field = try reader.field(bytes) {
            guard field.number == 4, field.wire == 2 else {
                try reader.skip(field, bytes)
                continue
            }
            let feature = bytes.extracting(try reader.range(bytes)).text()
            guard knownFeatures.contains(feature) else {
                throw ExtractDamage(
                    "the file needs the feature '\(feature.prefix(80))', which is not supported")
            }
        }
    }
}

/// Reads the blocks of a file.
private struct BlobReader {
    private let path: String
    private let source: ByteSource
    private(set) var position: Int64 = 0
    private var number = 0

    struct Blob {
        var type: String
        var bytes: [UInt8]
    }

    init(_ path: String) throws(Failure) {
        self.path = path
        do {
            source = try ByteSource(path: path)
        } catch {
            throw Failure(.unreadable, error.description)
        }
    }

    func failure(_ reason: String) -> Failure {
        Failure(.unreadable, "'\(path)', block \(number): \(reason)")
    }

    /// The next block, expanded; nil at the end of the file.
    mutating func next() throws(Failure) -> Blob? {
        number += 1
        let prefix = try read(4)
        if prefix.isEmpty { return nil }
        guard prefix.count == 4 else { throw failure("the file is cut") }
        let headerByteCount = prefix.reduce(0) { $0 << 8 | Int($1) }
        guard headerByteCount <= PBFFile.headerLimit else {
            throw failure(
                "its header has \(headerByteCount) bytes; expected at most \(PBFFile.headerLimit)")
        }
        let header = try whole(headerByteCount)
        let (type, byteCount): (String, UInt64)
        do throws(ExtractDamage) {
            (type, byteCount) = try header.lend { bytes throws(ExtractDamage) in
                try Self.header(bytes)
            }
        } catch {
            throw failure(error.reason)
        }
        guard byteCount <= UInt64(PBFFile.blockLimit) else {
            throw failure("it has \(byteCount) bytes; expected at most \(PBFFile.blockLimit)")
        }
        let blob = try whole(Int(byteCount))
        do throws(ExtractDamage) {
            let bytes = try blob.lend { bytes throws(ExtractDamage) in try Self.expanded(bytes) }
            return Blob(type: type, bytes: bytes)
        } catch {
            throw failure(error.reason)
        }
    }

    private static func header(_ bytes: RawSpan) throws(ExtractDamage) -> (String, UInt64) {
        var reader = ProtobufReader(0..<bytes.byteCount)
        var (type, byteCount) = ("", UInt64.max)
        while let field = try reader.field(bytes) {
            switch (field.number, field.wire) {
            case (1, 2): type = bytes.extracting(try reader.range(bytes)).text()
            case (3, 0): byteCount = try reader.varint(bytes)
            default: try reader.skip(field, bytes)
            }
        }
        guard byteCount != .max else { throw ExtractDamage("its header has no size") }
        return (type, byteCount)
    }

    private static func expanded(_ bytes: RawSpan) throws(ExtractDamage) -> [UInt8] {
        var reader = ProtobufReader(0..<bytes.byteCount)
        var (raw, compressed): (Range<Int>?, Range<Int>?)
        var byteCount: UInt64?
        while let field = try reader.field(bytes) {
            switch (field.number, field.wire) {
            case (1, 2): raw = try reader.range(bytes)
            case (2, 0): byteCount = try reader.varint(bytes)
            case (3, 2): compressed = try reader.range(bytes)
            case (4, _), (5, _), (6, _), (7, _):
                let name = ["LZMA", "bzip2", "LZ4", "zstd"][field.number - 4]
                throw ExtractDamage("it is compressed by \(name); expected zlib")
            default: try reader.skip(field, bytes)
            }
        }
        if let raw { return bytes.copy(raw) }
        guard let compressed, let byteCount else { throw ExtractDamage("it has no content") }
        guard byteCount <= UInt64(PBFFile.blockLimit) else {
            throw ExtractDamage(
                "it expands to \(byteCount) bytes; expected at most \(PBFFile.blockLimit)")
        }
        guard let content = ZlibData.expand(bytes.copy(compressed), count: Int(byteCount)) else {
            throw ExtractDamage("its compressed bytes are damaged")
        }
        return content
    }

    private mutating func whole(_ count: Int) throws(Failure) -> [UInt8] {
        let bytes = try read(count)
        guard bytes.count == count else { throw failure("the file is cut") }
        return bytes
    }

    /// The next bytes; fewer at the end of the file.
    private mutating func read(_ count: Int) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while bytes.count < count {
                let more = try source.read(upTo: count - bytes.count)
                if more.isEmpty { break }
                if bytes.isEmpty { bytes = more } else { bytes += more }
            }
        } catch {
            throw failure(error.description)
        }
        position += Int64(bytes.count)
        return bytes
    }
}
