// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform

/// A record as it lies in the file: the stored bytes, and what is computed over them.
struct StoredRecord {
    let position: Int64
    let stream: String
    let streamPosition: Int64
    let recordedAt: Int64
    /// 16 bytes.
    let id: [UInt8]
    let type: String
    let schema: Int64
    /// JSON with sorted keys.
    let metadata: [UInt8]
    let data: [UInt8]
    /// Every field in a fixed order, little-endian, texts and bytes with their length before them:
    /// what checksum and chain are computed over.
    let canonical: [UInt8]

    /// Takes fields as they are stored.
    init(
        position: Int64, stream: String, streamPosition: Int64, recordedAt: Int64, id: [UInt8],
        type: String, schema: Int64, metadata: [UInt8], data: [UInt8]
    ) {
        self.position = position
        self.stream = stream
        self.streamPosition = streamPosition
        self.recordedAt = recordedAt
        self.id = id
        self.type = type
        self.schema = schema
        self.metadata = metadata
        self.data = data
        var writer = ByteWriter(
            capacity: 60 + stream.utf8.count + type.utf8.count + metadata.count + data.count)
        writer.append(position)
        writer.append(streamPosition)
        writer.append(recordedAt)
        writer.append(id)
        writer.append(UInt32(truncatingIfNeeded: schema))
        writer.append(UInt32(stream.utf8.count))
        writer.append(Array(stream.utf8))
        writer.append(UInt32(type.utf8.count))
        writer.append(Array(type.utf8))
        writer.append(UInt32(metadata.count))
        writer.append(metadata)
        writer.append(UInt32(data.count))
        writer.append(data)
        canonical = writer.bytes
    }

    /// A record as it will be stored.
    init(_ record: RecordedEvent) throws(Failure) {
        let event = record.event
        self.init(
            position: record.globalPosition, stream: record.stream.rawValue,
            streamPosition: record.streamPosition, recordedAt: record.recordedAt.microseconds,
            id: event.id.bytes, type: event.type, schema: Int64(event.schema),
            metadata: Array(try CairnJSON.encode(event.metadata)), data: Array(event.data))
    }

    var checksum: UInt32 {
        var crc = CRC32C()
        crc.update(canonical)
        return crc.value
    }

    /// The record as a value; throws when its fields do not have their form.
    func record() throws(LogFault) -> RecordedEvent {
        guard let stream = StreamName(rawValue: stream), let id = UUID(bytes: id),
            let metadata = try? CairnJSON.decode(EventMetadata.self, from: Data(metadata))
        else { throw LogFault(position: position, message: "the record does not have its form") }
        return RecordedEvent(
            globalPosition: position, stream: stream, streamPosition: streamPosition,
            recordedAt: Timestamp(microseconds: recordedAt),
            event: NewEvent(
                id: id, type: type, schema: Int(schema), data: Data(data), metadata: metadata))
    }
}

/// The hash chain over commit batches: each value is SHA-256 of the value before it and of the
/// batch's canonical records in order.
struct HashChain {
    /// 32 bytes; zeroes before the first batch.
    private(set) var value = [UInt8](repeating: 0, count: 32)

    init() {}
    init(value: [UInt8]) { self.value = value }

    mutating func add(_ records: [StoredRecord]) {
        var hash = SHA256()
        hash.update(value)
        for record in records { hash.update(record.canonical) }
        value = hash.finish().bytes
    }
}
