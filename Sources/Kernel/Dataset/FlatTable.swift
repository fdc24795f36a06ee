// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The offset and expectation at which stored bytes are malformed.
struct Damage: Error, Hashable {
    /// Bytes from the start of the span that was read.
    var offset: Int
    /// The expected form.
    var expected: String

    /// The damage with an offset in a span that starts `base` bytes earlier.
    func shifted(by base: Int) -> Damage { Damage(offset: offset + base, expected: expected) }
}

/// A FlatBuffers table found in borrowed bytes: plain offsets, each checked against the bytes
/// before it is followed, so damaged input is an error and never a read past the end.
///
/// The bytes are passed to every call and must be those the table was made from. Offsets only ever
/// point forward in FlatBuffers (except to the vtable), so no chain of references can be circular.
struct FlatTable {
    private let position: Int
    private let vtable: Int
    private let vtableByteCount: Int
    private let tableByteCount: Int

    /// The table at `position`.
    init(_ bytes: RawSpan, at position: Int) throws(Damage) {
        let distance = Int(try bytes.number(at: position, as: Int32.self))
        let (vtable, overflow) = position.subtractingReportingOverflow(distance)
        guard !overflow, vtable >= 0 else { throw Damage(offset: position, expected: "a table") }
        let vtableByteCount = Int(try bytes.number(at: vtable, as: UInt16.self))
        let tableByteCount = Int(try bytes.number(at: vtable + 2, as: UInt16.self))
        guard vtableByteCount >= 4, vtable + vtableByteCount <= bytes.byteCount,
            tableByteCount >= 4, position + tableByteCount <= bytes.byteCount
        else { throw Damage(offset: vtable, expected: "a field table inside the data") }
        self.position = position
        self.vtable = vtable
        self.vtableByteCount = vtableByteCount
        self.tableByteCount = tableByteCount
    }

    /// The root table of a buffer whose first four bytes are its offset.
    static func root(_ bytes: RawSpan) throws(Damage) -> FlatTable {
        try FlatTable(bytes, at: Int(try bytes.number(at: 0, as: UInt32.self)))
    }

    /// The offset of the field of that slot; nil when the table omits it.
    private func field(_ bytes: RawSpan, _ slot: Int, byteCount: Int) throws(Damage) -> Int? {
        let entry = 4 + 2 * slot
        guard entry + 2 <= vtableByteCount else { return nil }
        let offset = Int(try bytes.number(at: vtable + entry, as: UInt16.self))
        guard offset != 0 else { return nil }
        guard offset + byteCount <= tableByteCount else {
            throw Damage(offset: vtable + entry, expected: "a field inside its table")
        }
        return position + offset
    }

    /// The offset of the scalar of that slot; nil when the table omits it.
    func place(_ bytes: RawSpan, _ slot: Int, byteCount: Int) throws(Damage) -> Int? {
        try field(bytes, slot, byteCount: byteCount)
    }

    /// The offset of the vtable entry of that slot, a UInt16 relative to the table's start, 0 for
    /// an omitted field; nil for a slot beyond the vtable.
    func entry(_ slot: Int) -> Int? {
        let entry = 4 + 2 * slot
        return entry + 2 <= vtableByteCount ? vtable + entry : nil
    }

    /// The scalar of that slot, or `absent` when the table leaves it out.
    func scalar<T: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan, _ slot: Int, absent: T
    ) throws(Damage) -> T {
        guard let field = try field(bytes, slot, byteCount: MemoryLayout<T>.size) else {
            return absent
        }
        return try bytes.number(at: field, as: T.self)
    }

    /// The target of the reference in that slot; nil when the table omits it.
    private func target(_ bytes: RawSpan, _ slot: Int) throws(Damage) -> Int? {
        guard let field = try field(bytes, slot, byteCount: 4) else { return nil }
        let offset = Int(try bytes.number(at: field, as: UInt32.self))
        guard offset >= 4, field + offset <= bytes.byteCount - 4 else {
            throw Damage(offset: field, expected: "a reference inside the data")
        }
        return field + offset
    }

    /// The byte range of the vector in that slot, a whole number of elements; nil when left out.
    func vector(_ bytes: RawSpan, _ slot: Int, elementByteCount: Int) throws(Damage) -> Range<Int>?
    {
        guard let target = try target(bytes, slot) else { return nil }
        let count = Int(try bytes.number(at: target, as: UInt32.self))
        let start = target + 4
        guard count <= (bytes.byteCount - start) / elementByteCount else {
            throw Damage(offset: target, expected: "a vector inside the data")
        }
        return start..<start + count * elementByteCount
    }

    /// The text in that slot, ill-formed UTF-8 repaired; nil when left out.
    func string(_ bytes: RawSpan, _ slot: Int) throws(Damage) -> String? {
        guard let range = try vector(bytes, slot, elementByteCount: 1) else { return nil }
        return bytes.text(range)
    }

    /// The table in that slot; nil when left out.
    func table(_ bytes: RawSpan, _ slot: Int) throws(Damage) -> FlatTable? {
        guard let target = try target(bytes, slot) else { return nil }
        return try FlatTable(bytes, at: target)
    }

    /// The count and range of the tables in the vector in that slot; nil when omitted.
    func tables(_ bytes: RawSpan, _ slot: Int) throws(Damage) -> FlatTableVector? {
        guard let range = try vector(bytes, slot, elementByteCount: 4) else { return nil }
        return FlatTableVector(range: range)
    }
}

/// A vector of references to tables.
struct FlatTableVector {
    /// The references' bytes.
    let range: Range<Int>

    /// Number of tables.
    var count: Int { range.count / 4 }

    /// The table of that index, below `count`.
    func table(_ bytes: RawSpan, _ index: Int) throws(Damage) -> FlatTable {
        let field = range.lowerBound + 4 * index
        let offset = Int(try bytes.number(at: field, as: UInt32.self))
        guard offset >= 4 else { throw Damage(offset: field, expected: "a forward reference") }
        return try FlatTable(bytes, at: field + offset)
    }
}

extension RawSpan {
    /// The little-endian integer at that place.
    @inline(__always)
    func number<T: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: T.Type
    ) throws(Damage) -> T {
        guard offset >= 0, offset <= byteCount - MemoryLayout<T>.size else {
            throw Damage(offset: offset, expected: "\(MemoryLayout<T>.size) more bytes")
        }
        return T(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
    }

    /// The little-endian double at that place.
    @inline(__always)
    func double(at offset: Int) throws(Damage) -> Double {
        Double(bitPattern: try number(at: offset, as: UInt64.self))
    }

    /// The UTF-8 text in a range, ill-formed sequences repaired.
    func text(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
