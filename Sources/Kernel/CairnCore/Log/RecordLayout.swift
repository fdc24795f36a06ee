// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
public import Platform

// The fixed layout of events: `Docs/event-log-format.md`, "Canonical bytes". Checksum and chain are
// computed over it, and Cairn's own programs exchange records in it: the log need not decode them.
extension RecordedEvent {
    /// The fewest bytes a record has.
    public static let fewestBytes = 60

    /// Appends the canonical bytes, with metadata as it is stored.
    public func write(to writer: inout ByteWriter, metadata: [UInt8]) {
        writer.append(globalPosition)
        writer.append(streamPosition)
        writer.append(recordedAt.microseconds)
        writer.append(event.id)
        writer.append(UInt32(truncatingIfNeeded: event.schema))
        writer.append(counted: stream.rawValue)
        writer.append(counted: event.type)
        writer.append(count: metadata.count)
        writer.append(metadata)
        writer.append(counted: event.data.bytes)
    }
}

extension EventMetadata {
    /// Decodes stored bytes; nil for malformed ones.
    init?(stored: RawSpan) {
        do throws(CanonicalJSONCursor.IrregularForm) {
            self = try EventMetadata.plain(stored)
        } catch {
            guard let metadata = try? CairnJSON.decode(EventMetadata.self, from: stored.data())
            else { return nil }
            self = metadata
        }
    }
}

extension WireReader {
    /// The next sixteen bytes as an id.
    mutating func uuid() throws(ByteReader.OutOfBounds) -> UUID {
        let high = try number(UInt64.self)
        let low = try number(UInt64.self)
        return UUID(words: (high.byteSwapped, low.byteSwapped))
    }

    /// The next bytes, their count in front.
    mutating func data() throws(ByteReader.OutOfBounds) -> Data {
        let count = try count(eachAtLeast: 1)
        return try take(count) { span in span.data() }
    }
}

extension ByteWriter {
    /// Appends the sixteen bytes of an id.
    mutating func append(_ id: UUID) {
        let (high, low) = id.words
        append(high.byteSwapped)
        append(low.byteSwapped)
    }
}

extension RawSpan {
    /// A copy.
    func data() -> Data { Data(copy()) }
}
