// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
public import FoundationEssentials
internal import Platform

/// The reason a message was refused.
public enum FrameFault: String, Error, Hashable, Sendable, CaseIterable {
    /// A message has fewer frames than three (after routing id or topic).
    case frameCount
    /// The header frame is shorter than 96 bytes or longer than 1,024, or has a wrong length field.
    case headerLength
    /// The first four bytes are not `CRN1`.
    case magic
    /// The wire version is not spoken here.
    case version
    /// The lengths in the header differ from those of the frames.
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
    /// The magic as a little-endian number.
    private static let magicNumber: UInt32 = 0x314e_5243
    /// The wire version written, and the only one read.
    public static let version: UInt8 = 1
    /// The header's length as written.
    public static let byteCount = 96
    /// The longest header read: a later build may append fields.
    public static let maximumByteCount = 1024
    private static let checksumOffset = 92
    /// Flag of byte 11: the sender reads groups; 1 was an older form of groups.
    private static let groupFlag: UInt8 = 2

    /// A header as written.
    typealias Bytes = InlineArray<96, UInt8>

    /// The 96 bytes for a message.
    public static func encode(_ message: Message) -> [UInt8] {
        let bytes: Bytes = encode(message, from: .zero)
        return bytes.withBytes { $0.copy() }
    }

    /// The 96 bytes for a message; the sender is put in where the message names none.
    static func encode(_ message: Message, from sender: UUID) -> Bytes {
        let header = message.header
        var bytes = Bytes(repeating: 0)
        bytes.store(magicNumber.littleEndian, at: 0)
        bytes.store(version, at: 4)
        bytes.store(header.kind.rawValue, at: 5)
        bytes.store(UInt16(byteCount).littleEndian, at: 6)
        bytes.store(header.contentType, at: 8)
        bytes.store(header.flags, at: 9)
        bytes.store(header.pool, at: 10)
        bytes.store(header.readsGroups ? groupFlag : 0, at: 11)
        bytes.store(header.epoch.littleEndian, at: 12)
        bytes.store(header.messageID.uuid, at: 16)
        bytes.store(header.correlation.uuid, at: 32)
        bytes.store((header.sender == .zero ? sender : header.sender).uuid, at: 48)
        bytes.store(header.sequence.littleEndian, at: 64)
        bytes.store(header.previousInCategory.littleEndian, at: 72)
        bytes.store(header.ttlMilliseconds.littleEndian, at: 80)
        bytes.store(UInt32(message.metadata.count).littleEndian, at: 84)
        bytes.store(UInt32(message.payload.count).littleEndian, at: 88)
        var crc = CRC32C()
        bytes.withBytes { crc.update($0.extracting(0..<checksumOffset)) }
        crc.update(message.metadata.bytes)
        crc.update(message.payload.bytes)
        bytes.store(crc.value.littleEndian, at: checksumOffset)
        return bytes
    }

    /// A decoded header, with the fields still to be compared with the other frames.
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
        guard bytes.uint32(at: 0) == magicNumber else { throw .magic }
        guard bytes.byte(at: 4) == version else { throw .version }
        guard Int(bytes.uint16(at: 6)) == bytes.byteCount else { throw .headerLength }
        let header = MessageHeader(
            kind: MessageKind(rawValue: bytes.byte(at: 5)), pool: bytes.byte(at: 10),
            contentType: bytes.byte(at: 8), flags: bytes.byte(at: 9), messageID: uuid(bytes, 16),
            correlation: uuid(bytes, 32), sender: uuid(bytes, 48),
            sequence: Int64(bitPattern: bytes.uint64(at: 64)),
            previousInCategory: Int64(bitPattern: bytes.uint64(at: 72)),
            epoch: bytes.uint32(at: 12), ttlMilliseconds: bytes.uint32(at: 80),
            readsGroups: bytes.byte(at: 11) & groupFlag != 0)
        var crc = CRC32C()
        crc.update(bytes.extracting(0..<checksumOffset))
        crc.update(bytes.extracting(byteCount..<bytes.byteCount))
        return Decoded(
            header: header, metadataByteCount: bytes.uint32(at: 84),
            payloadByteCount: bytes.uint32(at: 88),
            checksum: bytes.uint32(at: checksumOffset), partialChecksum: crc)
    }

    /// Reads three frames; any bytes give a message or a fault, never a trap.
    public static func decode(
        header: RawSpan, metadata: Data, payload: Data
    ) throws(FrameFault) -> Message {
        let decoded = try decode(header)
        guard Int(decoded.metadataByteCount) == metadata.count,
            Int(decoded.payloadByteCount) == payload.count
        else { throw .length }
        try check(decoded, metadata.bytes, payload.bytes)
        return Message(header: decoded.header, metadata: metadata, payload: payload)
    }

    /// Decodes the first of several messages that follow each other.
    ///
    /// Any bytes give a message and its byte count, or a fault, never a trap.
    static func decodeFirst(
        of bytes: RawSpan
    ) throws(FrameFault) -> (message: Message, byteCount: Int) {
        guard bytes.byteCount >= byteCount else { throw .headerLength }
        guard bytes.uint32(at: 0) == magicNumber else { throw .magic }
        guard bytes.byte(at: 4) == version else { throw .version }
        let metadataStart = Int(bytes.uint16(at: 6))
        guard byteCount...maximumByteCount ~= metadataStart, metadataStart <= bytes.byteCount else {
            throw .headerLength
        }
        let decoded = try decode(bytes.extracting(0..<metadataStart))
        let payloadStart = metadataStart + Int(decoded.metadataByteCount)
        let end = payloadStart + Int(decoded.payloadByteCount)
        guard end <= bytes.byteCount else { throw .length }
        let metadata = bytes.extracting(metadataStart..<payloadStart)
        let payload = bytes.extracting(payloadStart..<end)
        try check(decoded, metadata, payload)
        return (
            Message(header: decoded.header, metadata: metadata.data(), payload: payload.data()), end
        )
    }

    private static func check(
        _ decoded: Decoded, _ metadata: RawSpan, _ payload: RawSpan
    ) throws(FrameFault) {
        var crc = decoded.partialChecksum
        crc.update(metadata)
        crc.update(payload)
        guard crc.value == decoded.checksum else { throw .checksum }
        guard decoded.header.kind.isKnown else { throw .kind }
    }

    private static func uuid(_ bytes: RawSpan, _ offset: Int) -> UUID {
        UUID(uuid: bytes.uuid(at: offset))
    }
}

extension RawSpan {
    /// A copy of the bytes.
    func data() -> Data {
        guard byteCount > 0 else { return Data() }
        var data = Data(count: byteCount)
        var target = data.mutableBytes
        copy(into: &target)
        return data
    }
}
