// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Writes compact JSON text, value after value, without building a tree.
///
/// The caller opens and closes objects and arrays with closures, so the text is always well-formed.
public struct JSONWriter: Sendable {
    /// The text so far, UTF-8.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Room for an ordinary answer.
    public init() { bytes.reserveCapacity(1_024) }

    /// Reserves room for further bytes.
    public mutating func makeRoom(for byteCount: Int) {
        if byteCount > 0 { bytes.reserveCapacity(bytes.count + byteCount) }
    }

    /// Continues another writer's output: after a value, or before the first of an array.
    public init(isContinued: Bool) { needsComma = isContinued }

    /// Begins an object that ends with ``closeObject()``.
    public mutating func openObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Begins an array of that name that ends with ``closeArray()``.
    public mutating func openArray(_ name: String) {
        key(name)
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Begins an array that ends with ``closeArray()``.
    public mutating func openArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Ends the innermost object that was opened.
    public mutating func closeObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Ends the innermost array that was opened.
    public mutating func closeArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Appends text as it is, without a comma before it.
    public mutating func raw(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

    /// Appends text as it is, without a comma before it.
    public mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Takes back all but the first bytes.
    public mutating func cut(to byteCount: Int) {
        bytes.removeLast(max(0, bytes.count - byteCount))
    }

    /// Writes the name of the member that follows, quoted and escaped already, with its colon.
    public mutating func key(written text: [UInt8]) {
        separate()
        bytes.append(contentsOf: text)
        needsComma = false
    }

    /// Writes `[[x,y],…]`, null for a number that is not finite.
    ///
    /// `pairs` holds the two ordinates of each position, sixteen bytes.
    public mutating func positions(
        _ pairs: RawSpan, isReversed: Bool = false, isSecondFirst: Bool = false
    ) {
        openArray()
        DecimalText.append(
            positions: pairs, isReversed: isReversed, isSecondFirst: isSecondFirst, to: &bytes)
        closeArray()
    }

    /// Writes text with the escapes JSON demands, ill-formed UTF-8 repaired.
    public mutating func string(utf8 text: borrowing Span<UInt8>) {
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x80, !Self.isEscaped(byte) else {
                var copy: [UInt8] = []
                copy.reserveCapacity(text.count)
                for index in text.indices { copy.append(text[index]) }
                return string(String(decoding: copy, as: UTF8.self))
            }
        }
        separate()
        bytes.append(UInt8(ascii: "\""))
        for index in text.indices { bytes.append(text[index]) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes `{…}`.
    public mutating func object(_ members: (inout JSONWriter) -> Void) {
        enclose(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
    }

    /// Writes `[…]`.
    public mutating func array(_ elements: (inout JSONWriter) -> Void) {
        enclose(UInt8(ascii: "["), UInt8(ascii: "]"), elements)
    }

    /// Writes `[…]` with one value for each element.
    public mutating func array<Element>(
        of elements: some Sequence<Element>, _ each: (inout JSONWriter, Element) -> Void
    ) {
        array { writer in for element in elements { each(&writer, element) } }
    }

    /// Writes a value that is JSON already, compact and well-formed.
    public mutating func json(_ text: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: text)
    }

    /// Writes the name of the member that follows.
    public mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member that is text.
    public mutating func member(_ name: String, _ text: String) {
        key(name)
        string(text)
    }

    /// Writes a member that is a whole number.
    public mutating func member(_ name: String, _ number: Int) {
        key(name)
        integer(Int64(number))
    }

    /// Writes a member that is a number.
    public mutating func member(_ name: String, _ value: Double) {
        key(name)
        number(value)
    }

    /// Writes a member that is true or false.
    public mutating func member(_ name: String, _ flag: Bool) {
        key(name)
        bool(flag)
    }

    /// Writes a member that is null.
    public mutating func nullMember(_ name: String) {
        key(name)
        null()
    }

    /// Writes a member that is an object.
    public mutating func member(_ name: String, _ members: (inout JSONWriter) -> Void) {
        key(name)
        object(members)
    }

    /// Writes a member that is an array.
    public mutating func member<Element>(
        _ name: String, array elements: some Sequence<Element>,
        _ each: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        array(of: elements, each)
    }

    /// Writes text with the escapes JSON demands.
    public mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        guard Self.hasEscapes(text) else {
            bytes.append(contentsOf: text.utf8)
            bytes.append(UInt8(ascii: "\""))
            return
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a number: shortest text that reads back equal, whole numbers without a fraction; null
    /// for NaN and infinity, which JSON lacks.
    public mutating func number(_ value: Double) {
        guard value.isFinite else {
            null()
            return
        }
        separate()
        DecimalText.append(value, to: &bytes)
    }

    /// Writes a whole number.
    public mutating func integer(_ value: Int64) {
        separate()
        DecimalText.append(value, to: &bytes)
    }

    /// Writes true or false.
    public mutating func bool(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes null.
    public mutating func null() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    @inline(__always)
    private static func hasEscapes(_ text: String) -> Bool {
        let span = text.utf8.span
        for index in span.indices where isEscaped(span[index]) { return true }
        return false
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func enclose(
        _ open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void
    ) {
        separate()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    /// Reformats JSON with line breaks and two spaces for each level (`f=pjson`).
    public static func pretty(_ compact: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var level = 0
        var isInString = false
        var isEscaped = false
        func breakLine() -> [UInt8] { [0x0A] + [UInt8](repeating: 0x20, count: level * 2) }
        for (offset, byte) in compact.enumerated() {
            if isInString {
                result.append(byte)
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                result.append(byte)
                level += 1
                let next = offset + 1 < compact.count ? compact[offset + 1] : 0
                if next != byte + 2 { result += breakLine() }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                level -= 1
                if result.last != byte - 2 { result += breakLine() }
                result.append(byte)
            case UInt8(ascii: ","): result += [byte] + breakLine()
            case UInt8(ascii: ":"): result += [byte, 0x20]
            default:
                result.append(byte)
                isInString = byte == UInt8(ascii: "\"")
            }
        }
        return result
    }
}
