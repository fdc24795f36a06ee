// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Builds one FlatBuffers message from its end to its start, as FlatBuffers' own C++ builder does:
/// the same calls give the same bytes.
///
/// A *place* is a distance from the end of the message, so it stays true while the message grows.
/// The memory is kept from one message to the next. Used by one thread at a time.
@safe
struct FlatBuilder: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    private var free: Int
    private var alignment = 8
    private var tableStart = 0
    private var fields: [(slot: Int, place: Int)] = []
    private var vtables: [Int] = []

    init() {
        unsafe memory = .allocate(byteCount: 1 << 12, alignment: 16)
        free = 1 << 12
    }

    deinit { unsafe memory.deallocate() }

    /// Number of bytes so far: the place of the last write.
    var byteCount: Int { unsafe memory.count - free }

    /// The bytes so far.
    func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try body(
            unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(rebasing: memory[free...])))
    }

    /// Begins the next message.
    mutating func begin() {
        free = unsafe memory.count
        alignment = 8
        vtables.removeAll(keepingCapacity: true)
    }

    /// Reserves `count` bytes in front; returns their start.
    @inline(__always)
    private mutating func take(_ count: Int) -> UnsafeMutableRawPointer {
        if free < count { grow(by: count) }
        free -= count
        return unsafe memory.baseAddress.unsafelyUnwrapped + free
    }

    private mutating func grow(by count: Int) {
        let used = byteCount
        let size = unsafe max(2 * memory.count, used + count)
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        unsafe UnsafeMutableRawBufferPointer(rebasing: larger[(size - used)...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[free...]))
        unsafe memory.deallocate()
        unsafe memory = larger
        free = size - used
    }

    /// Pads with zeros, so that the position `count` bytes further on is a multiple of `size`.
    @inline(__always)
    private mutating func align(_ size: Int, after count: Int = 0) {
        alignment = max(alignment, size)
        let padding = -(byteCount + count) & (size - 1)
        if padding > 0 {
            unsafe take(padding).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
        }
    }

    @inline(__always)
    private mutating func push<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
        align(MemoryLayout<T>.size)
        unsafe take(MemoryLayout<T>.size).storeBytes(of: value.littleEndian, as: T.self)
    }

    /// A reference, from where it will be written to `place`.
    @inline(__always)
    private mutating func pushReference(to place: Int) {
        align(4)
        push(UInt32(byteCount - place + 4))
    }

    /// Writes a vector of `count` elements whose bytes are `bytes`; returns its place.
    mutating func vector(_ bytes: RawSpan, count: Int, elementByteCount: Int) -> Int {
        unsafe bytes.withUnsafeBytes { unsafe vector(copying: $0, count, elementByteCount) }
    }

    private mutating func vector(
        copying bytes: UnsafeRawBufferPointer, _ count: Int, _ elementByteCount: Int
    ) -> Int {
        align(4, after: bytes.count)
        align(elementByteCount, after: bytes.count)
        if let base = bytes.baseAddress {
            unsafe take(bytes.count).copyMemory(from: base, byteCount: bytes.count)
        }
        push(UInt32(count))
        return byteCount
    }

    /// A vector of numbers; its place.
    mutating func vector<T: BitwiseCopyable>(_ numbers: [T]) -> Int {
        unsafe numbers.withUnsafeBytes {
            unsafe vector(copying: $0, numbers.count, MemoryLayout<T>.size)
        }
    }

    /// A vector of references to tables or vectors at those places; its place.
    mutating func vector(referringTo places: [Int]) -> Int {
        align(4, after: 4 * places.count)
        for place in places.reversed() { pushReference(to: place) }
        push(UInt32(places.count))
        return byteCount
    }

    /// Begins a table; fields follow, last slot first where they are of one size.
    mutating func beginTable() {
        fields.removeAll(keepingCapacity: true)
        tableStart = byteCount
    }

    /// Writes a field that refers to `place`; nil leaves it out.
    mutating func refer(_ slot: Int, to place: Int?) {
        guard let place else { return }
        pushReference(to: place)
        fields.append((slot, byteCount))
    }

    /// A field of one byte; 0 is left out.
    mutating func byte(_ slot: Int, _ value: UInt8) {
        guard value != 0 else { return }
        push(value)
        fields.append((slot, byteCount))
    }

    /// A field of one number; 0 is written, too.
    mutating func number<T: FixedWidthInteger & BitwiseCopyable>(_ slot: Int, _ value: T) {
        push(value)
        fields.append((slot, byteCount))
    }

    /// Ends the table; returns its place.
    ///
    /// Tables of one layout share their vtable.
    mutating func endTable() -> Int {
        push(Int32(0))
        let table = byteCount
        let slots = fields.reduce(0) { max($0, $1.slot + 1) }
        let size = 4 + 2 * slots
        let vtable = unsafe take(size)
        unsafe vtable.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        unsafe vtable.storeBytes(of: UInt16(size).littleEndian, as: UInt16.self)
        unsafe vtable.storeBytes(
            of: UInt16(table - tableStart).littleEndian, toByteOffset: 2, as: UInt16.self)
        for field in fields {
            unsafe vtable.storeBytes(
                of: UInt16(table - field.place).littleEndian, toByteOffset: 4 + 2 * field.slot,
                as: UInt16.self)
        }
        var used = byteCount
        if let known = vtables.first(where: { unsafe isEqual($0, vtable, size) }) {
            free += size
            used = known
        } else {
            vtables.append(used)
        }
        unsafe memory.storeBytes(
            of: Int32(used - table).littleEndian, toByteOffset: memory.count - table,
            as: Int32.self)
        return table
    }

    private func isEqual(_ place: Int, _ vtable: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        guard place >= size else { return false }
        let other = unsafe memory.baseAddress.unsafelyUnwrapped + (memory.count - place)
        return (0..<size).allSatisfy {
            unsafe other.load(fromByteOffset: $0, as: UInt8.self)
                == vtable.load(fromByteOffset: $0, as: UInt8.self)
        }
    }

    /// Ends the message, its length in front.
    mutating func finish(root: Int) {
        align(alignment, after: 8)
        pushReference(to: root)
        push(UInt32(byteCount))
    }
}
