// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

/// A record in its canonical bytes: every field in a fixed order, little-endian, texts and bytes with
/// their length before them; what checksum and chain are computed over, and what goes on the wire.
struct StoredRecord {
    let position: Int64
    let canonical: [UInt8]

    /// Takes canonical bytes.
    init(position: Int64, canonical: [UInt8]) {
        self.position = position
        self.canonical = canonical
    }

    /// A record as it will be stored.
    init(_ record: RecordedEvent) throws(Failure) {
        self.init(record, metadata: try record.event.metadata.storedForm())
    }

    init(_ record: RecordedEvent, metadata: [UInt8]) {
        let event = record.event
        var writer = ByteWriter(
            capacity: RecordedEvent.fewestBytes + record.stream.rawValue.utf8.count
                + event.type.utf8.count + metadata.count + event.data.count)
        record.write(to: &writer, metadata: metadata)
        self.init(position: record.globalPosition, canonical: writer.bytes)
    }

    var checksum: UInt32 { CRC32C.checksum(canonical) }

    /// The record as a value; throws when its fields do not have their form.
    func record() throws(LogFault) -> RecordedEvent {
        var reader = WireReader(canonical)
        do {
            return try RecordedEvent(from: &reader)
        } catch {
            throw LogFault(position: position, message: error.message)
        }
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
        var batch = BatchHash(after: self)
        for record in records { batch.add(record.canonical) }
        self = batch.finish()
    }
}

/// One step of the chain, record by record.
struct BatchHash {
    /// Records are hashed together: only whole blocks go to the processor's own instructions.
    private static let gathered = 32 << 10

    private var hash = SHA256()
    private var writer = ByteWriter(capacity: 4_096)

    init(after chain: HashChain) { writer.append(chain.value) }

    mutating func add(_ record: [UInt8]) {
        writer.append(record)
        hashIfDue()
    }

    mutating func add(_ record: RawSpan) {
        writer.append(record)
        hashIfDue()
    }

    private mutating func hashIfDue() {
        guard writer.byteCount >= Self.gathered else { return }
        writer.withBytes { hash.update($0) }
        writer.removeAll()
    }

    consuming func finish() -> HashChain {
        writer.withBytes { hash.update($0) }
        return HashChain(value: hash.finish().bytes)
    }
}
