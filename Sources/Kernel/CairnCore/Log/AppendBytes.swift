// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials
public import Platform

/// An append in its fixed layout, split into fields but not decoded: the log needs names, ids and
/// byte ranges, and no value of an event.
///
/// The bytes of an event from its id to its payload are the same in an append as in a record
/// (`Docs/event-log-format.md`), so a record is made of an append by copying.
public struct AppendBytes: Sendable {
    /// The events of an append for one stream.
    public struct Part: Hashable, Sendable {
        /// The stream.
        public let stream: StreamName
        /// The condition on the stream.
        public let expected: ExpectedVersion
        /// Its events, as numbers into ``AppendBytes/events``.
        public let events: Range<Int>
    }

    /// One event, by the places of its bytes.
    public struct Event: Hashable, Sendable {
        /// Chosen by the producer.
        public let id: UUID
        /// The version of the payload's form.
        public let schema: UInt32
        /// Id and schema, in the form they have in a record.
        public let head: Range<Int>
        /// The type's name.
        public let type: Range<Int>
        /// The metadata as they are stored.
        public let metadata: Range<Int>
        /// The payload.
        public let data: Range<Int>
        /// Type, metadata and payload with their lengths, in the form they have in a record.
        public var tail: Range<Int> { head.upperBound..<data.upperBound }
    }

    /// The fixed layout.
    public let bytes: [UInt8]
    /// The parts, one for each stream.
    public let parts: [Part]
    /// The events of all parts, in order.
    public let events: [Event]
    /// The epochs of the writer, by category.
    public let epochs: [String: Int64]?

    /// Takes a request apart; throws `Failure` (`invalidParameter`) where it does not have the form
    /// of the layout.
    public init(fixedLayout data: Data) throws(Failure) {
        var taken = Self.take(Array(data))
        if let found = taken, !found.hasStoredMetadata {
            // Other words for the same metadata: they are stored in one form.
            taken = Self.take(Array(try AppendRequest(fixedLayout: data).fixedLayout()))
        }
        guard let taken else {
            throw Failure(.invalidParameter, "the append is malformed")
        }
        self = taken.append
    }

    /// A request in its bytes; throws as `CairnJSON.encode`.
    public init(_ request: AppendRequest) throws(Failure) {
        guard let taken = Self.take(Array(try request.fixedLayout())) else {
            throw Failure(.invalidParameter, "the append cannot be written in its layout")
        }
        self = taken.append
    }

    private init(
        bytes: [UInt8], parts: [Part], events: [Event], epochs: [String: Int64]?
    ) {
        self.bytes = bytes
        self.parts = parts
        self.events = events
        self.epochs = epochs
    }

    /// The append, and whether all its metadata are in stored form.
    private static func take(
        _ bytes: [UInt8]
    ) -> (append: AppendBytes, hasStoredMetadata: Bool)? {
        var reader = WireReader(bytes)
        var parts: [Part] = []
        var events: [Event] = []
        var isStored = true
        do throws(ByteReader.OutOfBounds) {
            for _ in 0..<(try reader.count(eachAtLeast: 9)) {
                let name = try reader.text()
                guard let stream = StreamName(rawValue: name),
                    let expected = try expectation(&reader)
                else { return nil }
                let first = events.count
                let count = try reader.count(eachAtLeast: 32)
                events.reserveCapacity(first + count)
                for _ in 0..<count { events.append(try event(&reader, &isStored)) }
                parts.append(
                    Part(stream: stream, expected: expected, events: first..<events.count))
            }
            var epochs: [String: Int64] = [:]
            for _ in 0..<(try reader.count(eachAtLeast: 12)) {
                let category = try reader.text()
                epochs[category] = try reader.number(Int64.self)
            }
            guard reader.remaining == 0 else { return nil }
            return (
                AppendBytes(
                    bytes: bytes, parts: parts, events: events,
                    epochs: epochs.isEmpty ? nil : epochs), isStored
            )
        } catch {
            return nil
        }
    }

    private static func expectation(
        _ reader: inout WireReader
    ) throws(ByteReader.OutOfBounds) -> ExpectedVersion? {
        switch try reader.byte() {
        case 0: return .any
        case 1: return .noStream
        case 2: return .streamExists
        case 3: return .exact(try reader.number(Int64.self))
        default: return nil
        }
    }

    private static func event(
        _ reader: inout WireReader, _ isStored: inout Bool
    ) throws(ByteReader.OutOfBounds) -> Event {
        let start = reader.offset
        let id = try reader.uuid()
        let schema = try reader.number(UInt32.self)
        let head = start..<reader.offset
        let type = try reader.countedRange()
        let metadataStart = reader.offset + 4
        let isPlain = try reader.counted { EventMetadata.isPlain($0) }
        if !isPlain { isStored = false }
        let metadata = metadataStart..<reader.offset
        let data = try reader.countedRange()
        return Event(
            id: id, schema: schema, head: head, type: type, metadata: metadata, data: data)
    }

    /// One event as a value; throws `Failure` (`invalidParameter`) for malformed metadata.
    public func value(of event: Event) throws(Failure) -> NewEvent {
        let value = bytes.lend { span -> NewEvent? in
            EventMetadata(stored: span.extracting(event.metadata)).map { metadata in
                NewEvent(
                    id: event.id, type: span.extracting(event.type).text(),
                    schema: Int(event.schema), data: span.extracting(event.data).data(),
                    metadata: metadata)
            }
        }
        guard let value else {
            throw Failure(.invalidParameter, "the append is malformed")
        }
        return value
    }

    /// Writes the canonical bytes of an event, as recorded.
    public func write(
        _ event: Event, of stream: StreamName, at position: Int64, streamPosition: Int64,
        time: Timestamp, to writer: inout ByteWriter
    ) {
        writer.append(position)
        writer.append(streamPosition)
        writer.append(time.microseconds)
        bytes.lend { writer.append($0.extracting(event.head)) }
        writer.append(counted: stream.rawValue)
        bytes.lend { writer.append($0.extracting(event.tail)) }
    }
}
