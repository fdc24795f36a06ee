// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials
internal import Platform

/// Makes values of records in their canonical bytes, one after the other.
///
/// Neighbours resemble each other: names of streams and types, and texts of metadata, that have
/// just been met are not made again. Those that share a text share its memory. Used by one thread
/// at a time.
public struct RecordDecoder: Sendable {
    /// Texts remembered of each kind; a newer one takes the place of an older one.
    private static let remembered = 128

    private struct Known<Value: Sendable>: Sendable {
        /// Kept apart from the values, so that a comparison of texts copies no value.
        private var texts: [[UInt8]] = []
        private var values: [Value?] = []

        /// The value decoded from these bytes; `make` is called unless they equal the last ones of
        /// the slot.
        @inline(__always)
        mutating func value(_ bytes: RawSpan, _ make: (RawSpan) -> Value?) -> Value? {
            if texts.isEmpty {
                texts = Array(repeating: [], count: remembered)
                values = Array(repeating: nil, count: remembered)
            }
            let slot = Self.slot(bytes)
            if texts[slot].lend({ $0.isEqual(to: bytes) }), let known = values[slot] {
                return known
            }
            guard let value = make(bytes) else { return nil }
            (texts[slot], values[slot]) = (bytes.copy(), value)
            return value
        }

        private static func slot(_ bytes: RawSpan) -> Int {
            Int(truncatingIfNeeded: CRC32C.checksum(bytes)) & (remembered - 1)
        }
    }

    private var streams = Known<StreamName>()
    private var types = Known<String>()
    private var metadata = Known<EventMetadata>()

    /// An empty cache.
    public init() {}

    /// The next `count` records from an offset on; throws `Failure` (`corrupt`) for malformed
    /// bytes.
    ///
    /// Payloads are slices of `data`, whose memory lives as long as one of them.
    public mutating func records(
        _ count: Int, in data: Data, from offset: Int = 0
    ) throws(Failure) -> [RecordedEvent] {
        var reader = WireReader(Array(data), from: offset)
        var records: [RecordedEvent] = []
        records.reserveCapacity(count)
        for _ in 0..<count {
            let record: RecordedEvent?
            do throws(ByteReader.OutOfBounds) {
                record = try read(&reader, of: data)
            } catch {
                record = nil
            }
            guard let record else { throw Failure(.corrupt, "the record is malformed") }
            records.append(record)
        }
        return records
    }

    /// One record among others; throws `Failure` (`corrupt`) for malformed bytes.
    public mutating func record(
        _ index: Int, of records: CanonicalRecords
    ) throws(Failure) -> RecordedEvent {
        let place = records.range(index)
        let bytes = records.withBytes { $0.copy(place) }
        return try self.records(1, in: Data(bytes))[0]
    }

    private mutating func read(
        _ reader: inout WireReader, of whole: Data
    ) throws(ByteReader.OutOfBounds) -> RecordedEvent? {
        let position = try reader.number(Int64.self)
        let streamPosition = try reader.number(Int64.self)
        let time = try reader.number(Int64.self)
        let id = try reader.uuid()
        let schema = try reader.number(UInt32.self)
        let stream: StreamName? = try reader.counted { bytes in
            streams.value(bytes) { StreamName(rawValue: $0.text()) }
        }
        let type: String? = try reader.counted { bytes in types.value(bytes) { $0.text() } }
        let metadata: EventMetadata? = try reader.counted { bytes in
            self.metadata.value(bytes) { EventMetadata(stored: $0) }
        }
        let place = try reader.countedRange()
        guard let stream, let type, let metadata else { return nil }
        let start = whole.startIndex
        return RecordedEvent(
            globalPosition: position, stream: stream, streamPosition: streamPosition,
            recordedAt: Timestamp(microseconds: time),
            event: NewEvent(
                id: id, type: type, schema: Int(schema),
                data: whole[start + place.lowerBound..<start + place.upperBound],
                metadata: metadata))
    }
}
