// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials
internal import Platform

/// The fixed layout of messages between the log and Cairn's own programs.
///
/// `Docs/bus-protocol.md` has it field by field. Other programs may write JSON.
public enum LogLayout {
    /// Flag of a request: the answer may have the fixed layout; of an answer: requests may.
    ///
    /// Programs without the flag leave it out and continue in JSON.
    public static let flag: UInt8 = 1
}

extension AppendRequest {
    /// The request in the fixed layout.
    ///
    /// Throws as `CairnJSON.encode`.
    public func fixedLayout() throws(Failure) -> Data {
        var writer = ByteWriter(capacity: streamsCapacity + 64)
        writer.append(count: appends.count)
        try writeStreams(to: &writer)
        Self.write(epochs, to: &writer)
        return Data(writer.bytes)
    }

    /// The streams with their events in the fixed layout; throws as `CairnJSON.encode`.
    public func streamsInFixedLayout() throws(Failure) -> Data {
        var writer = ByteWriter(capacity: streamsCapacity)
        try writeStreams(to: &writer)
        return Data(writer.bytes)
    }

    private var streamsCapacity: Int {
        appends.reduce(0) { size, append in
            append.events.reduce(size + 64) { $0 + $1.data.count + 256 }
        }
    }

    private func writeStreams(to writer: inout ByteWriter) throws(Failure) {
        // Events of one append nearly always have the same metadata.
        var metadata = EventMetadata()
        var stored = try metadata.storedForm()
        for append in appends {
            writer.append(counted: append.stream.rawValue)
            switch append.expected {
            case .any: writer.append(UInt8(0))
            case .noStream: writer.append(UInt8(1))
            case .streamExists: writer.append(UInt8(2))
            case .exact(let position):
                writer.append(UInt8(3))
                writer.append(position)
            }
            writer.append(count: append.events.count)
            for event in append.events {
                writer.append(event.id)
                writer.append(UInt32(clamping: event.schema))
                writer.append(counted: event.type)
                if event.metadata != metadata {
                    metadata = event.metadata
                    stored = try metadata.storedForm()
                }
                writer.append(count: stored.count)
                writer.append(stored)
                writer.append(counted: event.data.bytes)
            }
        }
    }

    private static func write(_ epochs: [String: Int64]?, to writer: inout ByteWriter) {
        writer.append(count: epochs?.count ?? 0)
        for (category, epoch) in epochs?.sorted(by: { $0.key < $1.key }) ?? [] {
            writer.append(counted: category)
            writer.append(epoch)
        }
    }

    /// A request made of outputs of ``streamsInFixedLayout()``, one after the other; `streamCount`
    /// streams in all.
    public static func fixedLayout(
        streams: [Data], streamCount: Int, epochs: [String: Int64]?
    ) -> Data {
        var writer = ByteWriter(capacity: streams.reduce(64) { $0 + $1.count })
        writer.append(count: streamCount)
        for bytes in streams { writer.append(bytes.bytes) }
        write(epochs, to: &writer)
        return Data(writer.bytes)
    }

    /// Reads it; throws `Failure` (`invalidParameter`).
    public init(fixedLayout data: Data) throws(Failure) {
        var reader = WireReader(Array(data))
        guard let appends = try? Self.appends(&reader), let epochs = try? Self.epochs(&reader),
            reader.remaining == 0
        else {
            throw Failure(.invalidParameter, "the append is malformed")
        }
        self.init(appends: appends, epochs: epochs.isEmpty ? nil : epochs)
    }

    private static func epochs(_ reader: inout WireReader) throws -> [String: Int64] {
        var epochs: [String: Int64] = [:]
        for _ in 0..<(try reader.count(eachAtLeast: 12)) {
            let category = try reader.text()
            epochs[category] = try reader.number(Int64.self)
        }
        return epochs
    }

    private struct UnfitValue: Error {}

    private static func appends(_ reader: inout WireReader) throws -> [StreamAppend] {
        let count = try reader.count(eachAtLeast: 9)
        return try (0..<count).map { _ in
            guard let stream = StreamName(rawValue: try reader.text()) else { throw UnfitValue() }
            let expected: ExpectedVersion
            switch try reader.byte() {
            case 0: expected = .any
            case 1: expected = .noStream
            case 2: expected = .streamExists
            case 3: expected = .exact(try reader.number(Int64.self))
            default: throw UnfitValue()
            }
            let events = try reader.count(eachAtLeast: 32)
            return StreamAppend(
                stream: stream, expected: expected,
                events: try (0..<events).map { _ in try event(&reader) })
        }
    }

    private static func event(_ reader: inout WireReader) throws -> NewEvent {
        let id = try reader.uuid()
        let schema = try reader.number(UInt32.self)
        let type = try reader.text()
        guard let metadata = try reader.counted({ EventMetadata(stored: $0) }) else {
            throw UnfitValue()
        }
        return NewEvent(
            id: id, type: type, schema: Int(schema), data: try reader.data(), metadata: metadata)
    }
}

extension AppendResult {
    /// The result in the fixed layout.
    public var fixedLayout: Data {
        var writer = ByteWriter(capacity: 25)
        writer.append(firstPosition)
        writer.append(lastPosition)
        writer.append(recordedAt.microseconds)
        writer.append(UInt8(isRepeat ? 1 : 0))
        return Data(writer.bytes)
    }

    /// Reads it; throws `Failure` (`invalidParameter`).
    public init(fixedLayout data: Data) throws(Failure) {
        var reader = WireReader(Array(data))
        do throws(ByteReader.OutOfBounds) {
            let first = try reader.number(Int64.self)
            let last = try reader.number(Int64.self)
            let time = try reader.number(Int64.self)
            self.init(
                firstPosition: first, lastPosition: last, isRepeat: try reader.byte() != 0,
                recordedAt: Timestamp(microseconds: time))
        } catch {
            throw Failure(
                .invalidParameter, "the answer to an append is malformed")
        }
    }
}

extension ReadPage {
    /// The page in the fixed layout.
    public static func fixedLayout(
        _ records: CanonicalRecords, through: Int64, head: Int64
    ) -> Data {
        var writer = ByteWriter(capacity: 20)
        writer.append(through)
        writer.append(head)
        writer.append(count: records.count)
        return records.data(after: writer.bytes, 0..<records.count)
    }

    /// Reads it; throws `Failure` (`invalidParameter`).
    public init(fixedLayout data: Data) throws(Failure) {
        var reader = WireReader(Array(data.prefix(20)))
        guard let through = try? reader.number(Int64.self),
            let head = try? reader.number(Int64.self),
            let count = try? reader.number(UInt32.self),
            count <= (data.count - 20) / RecordedEvent.fewestBytes
        else {
            throw Failure(.invalidParameter, "the page is malformed")
        }
        var decoder = RecordDecoder()
        self.init(
            events: try decoder.records(Int(count), in: data, from: 20), through: through,
            head: head)
    }
}

/// Events of one category that follow on each other, as the log publishes them.
public enum PublishedEvents {
    /// Some neighbours among records in the fixed layout: their number, then each in its canonical
    /// bytes.
    public static func fixedLayout(_ records: CanonicalRecords, _ indices: Range<Int>) -> Data {
        var writer = ByteWriter(capacity: 4)
        writer.append(count: indices.count)
        return records.data(after: writer.bytes, indices)
    }

    /// Decodes them; throws `Failure` (`corrupt`) for malformed bytes.
    public static func read(
        fixedLayout data: Data, by decoder: inout RecordDecoder
    ) throws(Failure) -> [RecordedEvent] {
        var reader = WireReader(Array(data.prefix(4)))
        guard let count = try? reader.number(UInt32.self),
            count <= (data.count - 4) / RecordedEvent.fewestBytes
        else {
            throw Failure(.corrupt, "the published events are malformed")
        }
        return try decoder.records(Int(count), in: data, from: 4)
    }
}
