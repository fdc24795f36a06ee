// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials
public import Platform

/// Records in their canonical bytes, one behind the other, as the log stores, checks, sends and
/// publishes them without decoding any.
public struct CanonicalRecords: Hashable, Sendable {
    private var writer: ByteWriter
    /// End offset of each record.
    private var ends: [Int] = []

    /// An empty sequence with capacity for some bytes and records.
    public init(byteCapacity: Int = 0, capacity: Int = 0) {
        writer = ByteWriter(capacity: byteCapacity)
        ends.reserveCapacity(capacity)
    }

    /// Records as their canonical bytes; throws as `CairnJSON.encode`.
    public init(_ records: some Sequence<RecordedEvent>) throws(Failure) {
        self.init()
        for record in records {
            let metadata = try record.event.metadata.storedForm()
            append { record.write(to: &$0, metadata: metadata) }
        }
    }

    /// Number of records.
    public var count: Int { ends.count }
    /// Whether there are no records.
    public var isEmpty: Bool { ends.isEmpty }
    /// Their bytes together.
    public var byteCount: Int { writer.byteCount }

    /// Byte range of a record; traps for an index out of range.
    public func range(_ index: Int) -> Range<Int> {
        (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// Byte range of neighbouring records.
    public func range(_ indices: Range<Int>) -> Range<Int> {
        guard !indices.isEmpty else { return 0..<0 }
        return range(indices.lowerBound).lowerBound..<ends[indices.upperBound - 1]
    }

    /// Removes all records and keeps the storage.
    public mutating func removeAll() {
        writer.removeAll()
        ends.removeAll(keepingCapacity: true)
    }

    /// Lends all bytes.
    @inline(__always)
    public func withBytes<Value, Fault>(
        _ body: (RawSpan) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        try writer.withBytes(body)
    }

    /// Appends a record that `body` writes.
    @inline(__always)
    public mutating func append<Fault>(
        _ body: (inout ByteWriter) throws(Fault) -> Void
    ) throws(Fault) {
        try body(&writer)
        ends.append(writer.byteCount)
    }

    /// The bytes of some neighbours behind others.
    func data(after front: [UInt8], _ indices: Range<Int>) -> Data {
        let place = range(indices)
        var data = Data(capacity: front.count + place.count)
        data.append(contentsOf: front)
        data.append(contentsOf: writer.bytes[place])
        return data
    }

    /// The CRC-32C of a record; traps for one that is not there.
    public func checksum(_ index: Int) -> UInt32 {
        let place = range(index)
        return writer.withBytes { CRC32C.checksum($0.extracting(place)) }
    }

    /// The global position of a record; traps for one that is not there.
    public func position(_ index: Int) -> Int64 {
        let start = range(index).lowerBound
        return writer.withBytes { $0.littleEndian(at: start) ?? 0 }
    }

    /// The id of a record; traps for one that is not there.
    public func id(_ index: Int) -> UUID {
        var reader = WireReader(writer.bytes, from: range(index).lowerBound + 24)
        return (try? reader.uuid()) ?? UUID(words: (0, 0))
    }

    /// Takes the last record back.
    public mutating func removeLast() {
        guard !ends.isEmpty else { return }
        ends.removeLast()
        writer.removeLast(writer.byteCount - (ends.last ?? 0))
    }

    /// Appends the records of others.
    public mutating func append(_ others: CanonicalRecords) {
        let start = writer.byteCount
        others.withBytes { writer.append($0) }
        ends.append(contentsOf: others.ends.lazy.map { $0 + start })
    }

    /// Decodes the records with a decoder that caches repeated values.
    public func decoded(by decoder: inout RecordDecoder) throws(Failure) -> [RecordedEvent] {
        try decoder.records(count, in: Data(writer.bytes))
    }

    /// The records as values, in order; throws `Failure` (`corrupt`) when one does not have its
    /// form.
    public func decoded() throws(Failure) -> [RecordedEvent] {
        var decoder = RecordDecoder()
        return try decoded(by: &decoder)
    }
}
