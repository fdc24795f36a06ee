// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A JSON text (RFC 8259) being written: compact, each object's members sorted by the bytes of
/// their names, in whatever order they come.
///
/// Containers nest; a write into an outer one closes those inside it. It supports the forms of the
/// site's own values and gives up on others (``abandon()``), which are left to a full JSON writer:
/// names with characters to be escaped, duplicate names in an object. One thread at a time.
public struct JSONBuffer: ~Copyable {
    /// An object or an array that has been opened.
    public struct Container: Sendable {
        fileprivate let depth: Int
        fileprivate let number: Int
    }

    private struct Level {
        let number: Int
        let isObject: Bool
        /// Offset of its first member or element.
        let start: Int
        /// The first of its members in `members`.
        let firstMember: Int
        var isEmpty = true
        /// Whether the names so far are in order.
        var isSorted = true
        /// Number of its names beyond ASCII.
        var wideNameCount = 0
    }

    private struct Member {
        /// Offset of its name's quote.
        let start: Int
        let nameByteCount: Int

        var name: Range<Int> { start + 1..<start + 1 + nameByteCount }
    }

    private var bytes: [UInt8] = []
    private var levels: [Level] = []
    private var members: [Member] = []
    private var openedCount = 0
    /// Containers up to this depth are not to be written into: a value inside them has begun and
    /// not ended.
    private var floor = 0
    /// Whether the text is not to be used.
    public private(set) var isAbandoned = false

    /// Room for an ordinary value.
    public init() {
        bytes.reserveCapacity(512)
        levels.reserveCapacity(8)
        members.reserveCapacity(32)
    }

    /// Marks the text as left to a full JSON writer.
    public mutating func abandon() { isAbandoned = true }

    /// Number of bytes written.
    public var byteCount: Int { bytes.count }

    /// The text; nil when it was abandoned.
    public mutating func finish() -> [UInt8]? {
        close(downTo: 0)
        return isAbandoned ? nil : bytes
    }

    // MARK: Values

    /// A value that has begun.
    public struct Beginning: Sendable {
        /// Number of enclosing open containers.
        public let depth: Int
        /// Offset of its text.
        public let start: Int
        fileprivate let floor: Int
    }

    /// Begins a value; until it ends the containers around it are closed to writes.
    public mutating func beginValue() -> Beginning {
        defer { floor = levels.count }
        return Beginning(depth: levels.count, start: bytes.count, floor: floor)
    }

    /// Ends the value begun last, with the containers that it has opened; abandons the text for an
    /// empty value.
    public mutating func endValue(_ value: Beginning) {
        close(downTo: value.depth)
        floor = value.floor
        if bytes.count == value.start { abandon() }
    }

    /// The container that the value begun at a depth has opened, if it has.
    public func container(at depth: Int, isObject: Bool) -> Container? {
        guard levels.count > depth, levels[depth].isObject == isObject else { return nil }
        return Container(depth: depth, number: levels[depth].number)
    }

    /// Begins an object or an array.
    public mutating func open(isObject: Bool) -> Container {
        openedCount += 1
        bytes.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
        levels.append(
            Level(
                number: openedCount, isObject: isObject, start: bytes.count,
                firstMember: members.count))
        return Container(depth: levels.count - 1, number: openedCount)
    }

    /// Whether a write into a container is allowed; abandons the text if not.
    private mutating func enter(_ container: Container) -> Bool {
        let (depth, number) = (container.depth, container.number)
        guard depth >= floor, depth < levels.count, levels[depth].number == number else {
            abandon()
            return false
        }
        close(downTo: depth + 1)
        if levels[depth].isEmpty {
            levels[depth].isEmpty = false
        } else {
            bytes.append(UInt8(ascii: ","))
        }
        return true
    }

    /// Begins the next element of an array; false when the text is abandoned.
    public mutating func beginElement(of array: Container) -> Bool { enter(array) }

    /// Begins a member of an object; false when the text is abandoned.
    public mutating func beginMember(_ name: String, of object: Container) -> Bool {
        guard enter(object) else { return false }
        let member = Member(start: bytes.count, nameByteCount: name.utf8.count)
        let depth = object.depth
        switch quote(name) {
        case .escaped:
            abandon()
            return false
        case .wide: levels[depth].wideNameCount += 1
        case .ascii: break
        }
        bytes.append(UInt8(ascii: ":"))
        if levels[depth].isSorted, members.count > levels[depth].firstMember {
            levels[depth].isSorted = isName(members[members.count - 1], before: member)
        }
        members.append(member)
        return true
    }

    private enum Alphabet { case ascii, wide, escaped }

    /// Writes a text with its quotes.
    @discardableResult
    private mutating func quote(_ text: String) -> Alphabet {
        bytes.append(UInt8(ascii: "\""))
        let alphabet = Self.alphabet(text)
        if alphabet == .escaped { escape(text) } else { bytes.append(contentsOf: text.utf8) }
        bytes.append(UInt8(ascii: "\""))
        return alphabet
    }

    private static func alphabet(_ text: String) -> Alphabet {
        let utf8 = text.utf8.span
        var all: UInt8 = 0
        for index in utf8.indices {
            let byte = utf8[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                return .escaped
            }
            all |= byte
        }
        return all < 0x80 ? .ascii : .wide
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private mutating func escape(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0..<0x20:
                bytes += "\\u00".utf8
                bytes += [Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
    }

    /// Writes a text with the escapes that JSON demands.
    public mutating func string(_ text: String) { quote(text) }

    /// Writes a whole number.
    public mutating func integer(_ value: Int64) { DecimalText.append(value, to: &bytes) }

    /// Writes a whole number.
    public mutating func integer(_ value: UInt64) {
        guard let small = Int64(exactly: value) else { return bytes += value.description.utf8 }
        integer(small)
    }

    /// Writes a number, the shortest text that reads back equal, whole ones without a fraction;
    /// abandons the text for NaN and infinity.
    public mutating func real(_ value: Double) {
        guard value.isFinite else { return abandon() }
        if value == 0, value.sign == .minus { bytes.append(UInt8(ascii: "-")) }
        DecimalText.append(value, to: &bytes)
        dropFraction()
    }

    /// Writes a single-precision number.
    public mutating func real(_ value: Float) {
        guard value.isFinite else { return abandon() }
        bytes += value.description.utf8
        dropFraction()
    }

    private mutating func dropFraction() {
        guard bytes.count > 2, bytes[bytes.count - 1] == UInt8(ascii: "0"),
            bytes[bytes.count - 2] == UInt8(ascii: ".")
        else { return }
        bytes.removeLast(2)
    }

    /// Writes one of the three words.
    public mutating func bool(_ value: Bool) { bytes += (value ? "true" : "false").utf8 }

    /// Writes one of the three words.
    public mutating func null() { bytes += "null".utf8 }

    // MARK: Members in order

    /// Ends the containers below a depth.
    private mutating func close(downTo depth: Int) {
        while levels.count > depth, let level = levels.popLast() {
            guard level.isObject else {
                bytes.append(UInt8(ascii: "]"))
                continue
            }
            if level.wideNameCount > 1 { compareNames(level) }
            if !level.isSorted { sort(level) }
            members.removeLast(members.count - level.firstMember)
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Two names that are the same to a reader may be different bytes.
    private mutating func compareNames(_ level: Level) {
        let own = members[level.firstMember...]
        let names = Set(own.map { String(decoding: bytes[$0.name], as: UTF8.self) })
        if names.count < own.count { abandon() }
    }

    private func isName(_ first: Member, before second: Member) -> Bool {
        let (first, second) = (first.name, second.name)
        for offset in 0..<min(first.count, second.count) {
            let (one, other) = (
                bytes[first.lowerBound + offset], bytes[second.lowerBound + offset]
            )
            if one != other { return one < other }
        }
        return first.count < second.count
    }

    private mutating func sort(_ level: Level) {
        let own = members[level.firstMember...]
        let ends = own.dropFirst().map { $0.start - 1 } + [bytes.count]
        let parts = zip(own, ends).sorted { isName($0.0, before: $1.0) }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count - level.start)
        var last: Member?
        for (member, end) in parts {
            if let last {
                if !isName(last, before: member) { abandon() }
                text.append(UInt8(ascii: ","))
            }
            last = member
            text.append(contentsOf: bytes[member.start..<end])
        }
        bytes.replaceSubrange(level.start..., with: text)
    }
}
