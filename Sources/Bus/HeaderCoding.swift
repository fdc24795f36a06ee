// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
public import FoundationEssentials
internal import Platform

/// Why a message was not let in.
public enum FrameFault: String, Error, Hashable, Sendable, CaseIterable {
    /// There are fewer or more frames than three (after routing id or topic).
    case frameCount
    /// The header frame is shorter than 96 bytes or longer than 1,024, or lies about its length.
    case headerLength
    /// The first four bytes are not `CRN1`.
    case magic
    /// The wire version is not spoken here.
    case version
    /// The header's lengths are not those of the frames.
    case length
    /// The checksum does not fit.
    case checksum
    /// The kind is unknown, or has no business on this socket.
    case kind
    /// A topic is longer than 256 bytes or no UTF-8.
    case topic
}

/// The header's form on the wire.
public enum HeaderCoding {
    /// The bytes every header begins with.
    public static let magic: [UInt8] = Array("CRN1".utf8)
    /// The wire version written, and the only one read.
    public static let version: UInt8 = 1
    /// The header's length as written.
    public static let byteCount = 96
    /// The longest header read: a later build may append fields.
    public static let maximumByteCount = 1024
    private static let checksumOffset = 92

    /// The 96 bytes for a message.
    public static func encode(_ message: Message) -> [UInt8] {
        let header = message.header
        var writer = ByteWriter(capacity: byteCount)
        writer.append(magic)
        writer.append(version)
        writer.append(header.kind.rawValue)
        writer.append(UInt16(byteCount))
        writer.append(header.contentType)
        writer.append(header.flags)
        writer.append(header.pool)
        writer.append(UInt8(0))
        writer.append(header.epoch)
        append(header.messageID, to: &writer)
        append(header.correlation, to: &writer)
        append(header.sender, to: &writer)
        writer.append(header.sequence)
        writer.append(header.previousInCategory)
        writer.append(header.ttlMilliseconds)
        writer.append(UInt32(message.metadata.count))
        writer.append(UInt32(message.payload.count))
        var crc = CRC32C()
        crc.update(writer.bytes)
        crc.update(message.metadata.bytes)
        crc.update(message.payload.bytes)
        writer.append(crc.value)
        return writer.bytes
    }

    private static func append(_ id: UUID, to writer: inout ByteWriter) {
        let (high, low) = id.words
        writer.append(high.byteSwapped)
        writer.append(low.byteSwapped)
    }

    /// A header that has been read, with what must still be compared with the other frames.
    struct Decoded {
        let header: MessageHeader
        let metadataByteCount: UInt32
        let payloadByteCount: UInt32
        let checksum: UInt32
        /// The checksum over the header alone, the checksum's own four bytes left out.
        let partialChecksum: CRC32C
    }

    /// Reads a header frame; any bytes give a value or a fault, never a trap.
    static func decode(_ bytes: RawSpan) throws(FrameFault) -> Decoded {
        guard byteCount...maximumByteCount ~= bytes.byteCount else { throw .headerLength }
        guard u8(bytes, 0) == magic[0], u8(bytes, 1) == magic[1], u8(bytes, 2) == magic[2],
            u8(bytes, 3) == magic[3]
        else { throw .magic }
        guard u8(bytes, 4) == version else { throw .version }
        guard Int(bytes.littleEndian(at: 6, as: UInt16.self) ?? 0) == bytes.byteCount else {
            throw .headerLength
        }
        let header = MessageHeader(
            kind: MessageKind(rawValue: u8(bytes, 5)), pool: u8(bytes, 10),
            contentType: u8(bytes, 8), flags: u8(bytes, 9), messageID: uuid(bytes, 16),
            correlation: uuid(bytes, 32), sender: uuid(bytes, 48),
            sequence: bytes.littleEndian(at: 64) ?? 0,
            previousInCategory: bytes.littleEndian(at: 72) ?? 0,
            epoch: bytes.littleEndian(at: 12) ?? 0, ttlMilliseconds: bytes.littleEndian(at: 80) ?? 0
        )
        var crc = CRC32C()
        crc.update(bytes.extracting(0..<checksumOffset))
        crc.update(bytes.extracting(byteCount..<bytes.byteCount))
        return Decoded(
            header: header, metadataByteCount: bytes.littleEndian(at: 84) ?? 0,
            payloadByteCount: bytes.littleEndian(at: 88) ?? 0,
            checksum: bytes.littleEndian(at: checksumOffset) ?? 0, partialChecksum: crc)
    }

    /// Reads three frames; any bytes give a message or a fault, never a trap.
    public static func decode(
        header: RawSpan, metadata: Data, payload: Data
    ) throws(FrameFault) -> Message {
        let decoded = try decode(header)
        guard Int(decoded.metadataByteCount) == metadata.count,
            Int(decoded.payloadByteCount) == payload.count
        else { throw .length }
        var crc = decoded.partialChecksum
        crc.update(metadata.bytes)
        crc.update(payload.bytes)
        guard crc.value == decoded.checksum else { throw .checksum }
        guard decoded.header.kind.isKnown else { throw .kind }
        return Message(header: decoded.header, metadata: metadata, payload: payload)
    }

    private static func u8(_ bytes: RawSpan, _ offset: Int) -> UInt8 {
        bytes.littleEndian(at: offset) ?? 0
    }

    private static func uuid(_ bytes: RawSpan, _ offset: Int) -> UUID {
        let high: UInt64 = bytes.littleEndian(at: offset) ?? 0
        let low: UInt64 = bytes.littleEndian(at: offset + 8) ?? 0
        return UUID(words: (high.byteSwapped, low.byteSwapped))
    }
}
