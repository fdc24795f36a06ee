// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A cursor in a JSON text of a known form: names in their order, no spaces, nothing escaped, as
/// Cairn's own encoder writes it.
///
/// Every step reads the next part of the form, or throws `IrregularForm`; then the text must be
/// read by a full JSON reader. It holds the offset only; every step is lent the bytes.
public struct CanonicalJSONCursor: Sendable {
    /// The text does not go on as its form has it.
    public struct IrregularForm: Error {
        /// Creates the error.
        @inlinable public init() {}
    }

    @usableFromInline var offset = 0

    /// Starts at the front.
    public init() {}

    /// Passes over exactly this text.
    @inlinable
    public mutating func pass(_ text: StaticString, in bytes: RawSpan) throws(IrregularForm) {
        guard takes(text, in: bytes) else { throw IrregularForm() }
    }

    /// Passes over this text if it comes next.
    @inlinable
    public mutating func takes(_ text: StaticString, in bytes: RawSpan) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= bytes.byteCount - offset else { return false }
        var place = 0
        while place + 8 <= count {
            let wanted = unsafe UnsafeRawPointer(text.utf8Start)
                .loadUnaligned(fromByteOffset: place, as: UInt64.self)
            guard wanted == bytes.uint64(at: offset + place) else { return false }
            place += 8
        }
        while place < count {
            guard unsafe text.utf8Start[place] == bytes.byte(at: offset + place) else {
                return false
            }
            place += 1
        }
        offset += count
        return true
    }

    /// Throws unless everything has been read.
    @inlinable
    public func end(_ bytes: RawSpan) throws(IrregularForm) {
        guard offset == bytes.byteCount else { throw IrregularForm() }
    }

    /// The next whole number, of at most eighteen digits.
    @inlinable
    public mutating func integer(in bytes: RawSpan) throws(IrregularForm) -> Int {
        let isNegative = takes("-", in: bytes)
        let start = offset
        var number = 0
        while offset < bytes.byteCount {
            let digit = bytes.byte(at: offset) &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            number = number &* 10 &+ Int(digit)
            offset += 1
        }
        let count = offset - start
        let hasZeroAhead = count > 1 && bytes.byte(at: start) == UInt8(ascii: "0")
        guard 1...18 ~= count, !hasZeroAhead, !isNegative || number != 0 else {
            throw IrregularForm()
        }
        // A fraction or an exponent would make it another number.
        if offset < bytes.byteCount {
            let next = bytes.byte(at: offset)
            guard next != UInt8(ascii: "."), next | 0x20 != UInt8(ascii: "e") else {
                throw IrregularForm()
            }
        }
        return isNegative ? -number : number
    }

    /// The next number, of at most fifteen digits and without exponent: then one rounding is all
    /// there is.
    public mutating func real(in bytes: RawSpan) throws(IrregularForm) -> Double {
        let start = offset
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            let isPart =
                byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "-")
            guard isPart else { break }
            offset += 1
        }
        if offset < bytes.byteCount, bytes.byte(at: offset) | 0x20 == UInt8(ascii: "e") {
            throw IrregularForm()
        }
        guard let number = Self.decimal(bytes.extracting(start..<offset)) else {
            throw IrregularForm()
        }
        return number
    }

    /// Digits, perhaps with one point between them; nil for more than fifteen, and for anything
    /// else.
    private static func decimal(_ text: RawSpan) -> Double? {
        let isNegative = text.byteCount > 0 && text.byte(at: 0) == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        guard 1...17 ~= text.byteCount - first else { return nil }
        var (mantissa, digitCount, point) = (Int64(0), 0, -1)
        for index in first..<text.byteCount {
            let byte = text.byte(at: index)
            if byte == UInt8(ascii: "."), point < 0, index > first {
                point = index
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            mantissa = mantissa * 10 + Int64(digit)
            digitCount += 1
        }
        let fraction = point < 0 ? 0 : text.byteCount - point - 1
        let wholeCount = digitCount - fraction
        let hasZeroAhead = wholeCount > 1 && text.byte(at: first) == UInt8(ascii: "0")
        guard 1...15 ~= digitCount, !hasZeroAhead, point < 0 || fraction > 0,
            !isNegative || mantissa != 0
        else { return nil }
        let number = Double(mantissa) / JSONScanner.powersOfTen[fraction]
        return isNegative ? -number : number
    }

    /// The next string, of printable ASCII without an escape; lent for the call.
    @inlinable
    public mutating func text<Value>(
        in bytes: RawSpan, _ body: (RawSpan) -> Value
    ) throws(IrregularForm) -> Value {
        guard takes("\"", in: bytes) else { throw IrregularForm() }
        let start = offset
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            if byte == UInt8(ascii: "\"") {
                offset += 1
                return body(bytes.extracting(start..<offset - 1))
            }
            guard 0x20..<0x7f ~= byte, byte != UInt8(ascii: "\\") else { break }
            offset += 1
        }
        throw IrregularForm()
    }

    /// The next string, of printable ASCII without an escape.
    public mutating func text(in bytes: RawSpan) throws(IrregularForm) -> String {
        try text(in: bytes) { $0.text() }
    }

    /// The next string as a UUID in capitals, as two numbers.
    public mutating func uuid(in bytes: RawSpan) throws(IrregularForm) -> (UInt64, UInt64) {
        guard bytes.byteCount - offset >= 38, takes("\"", in: bytes),
            let words = UUIDText.capitals(bytes.extracting(offset..<offset + 36)),
            bytes.byte(at: offset + 36) == UInt8(ascii: "\"")
        else { throw IrregularForm() }
        offset += 37
        return words
    }
}
