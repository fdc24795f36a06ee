// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A JSON text (RFC 8259) parsed in one pass: values by number, a container before its contents, a
/// member's name before its value.
///
/// It supports the forms written by the site's own programs and leaves others to a full JSON
/// reader: `init` is nil for malformed text, and for names with escapes or beyond ASCII, `\u`
/// escapes, duplicate names in an object, nesting beyond `depthLimit`. Numbers and strings are
/// decoded on access. One thread at a time.
@safe
public final class JSONScanner {
    /// The kind of a value.
    public enum Kind: UInt8, Sendable {
        /// The three words.
        case null, `false`, `true`
        /// A number, a string.
        case number, string
        /// Containers.
        case array, object
        /// The name of a member; its value comes next.
        case name
    }

    /// Containers inside each other.
    public static let depthLimit = 64
    /// Bytes of a text.
    public static let byteLimit = 64 << 20

    @safe
    struct Node {
        var kind: Kind
        var hasEscapes = false
        /// Offset of its bytes, for a string and a name after the quote.
        var offset: UInt32
        /// Its bytes; of a container how many elements or members it has.
        var count: UInt32 = 0
        /// The number of the node after it and all its contents.
        var next: UInt32 = 0
        /// Of an object, the first member to compare: the one after the last access.
        var cursor: UInt32 = 0
        /// Of a name, its first eight bytes.
        var head: UInt64 = 0
    }

    /// The text and eight zeros.
    private let bytes: UnsafeMutablePointer<UInt8>
    private let byteCount: Int
    private var nodes: UnsafeMutablePointer<Node>
    private var nodeCount = 0
    private var nodeCapacity: Int
    private var place = 0

    /// Whether an access may differ from that of a full reader: the result must be discarded.
    public private(set) var isAbandoned = false

    /// Copies a text and takes it apart; nil when it is not for this reader.
    public init?(_ text: RawSpan) {
        byteCount = text.byteCount
        unsafe bytes = .allocate(capacity: byteCount + 8)
        nodeCapacity = min(byteCount / 2 + 2, 32)
        unsafe nodes = .allocate(capacity: nodeCapacity)
        guard byteCount <= Self.byteLimit else { return nil }
        let (bytes, byteCount) = unsafe (bytes, byteCount)
        unsafe text.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(start: bytes, count: byteCount)
                .copyMemory(from: source)
        }
        unsafe (bytes + byteCount).initialize(repeating: 0, count: 8)
        guard value(depth: 0) else { return nil }
        skipSpace()
        guard place == byteCount, isUTF8 else { return nil }
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe nodes.deallocate()
    }

    /// Marks the text as left to a full JSON reader.
    public func abandon() { isAbandoned = true }

    // MARK: Taking apart

    private var isUTF8: Bool {
        var all: UInt64 = 0
        for offset in stride(from: 0, to: byteCount, by: 8) {
            all |= unsafe UnsafeRawPointer(bytes).loadUnaligned(
                fromByteOffset: offset, as: UInt64.self)
        }
        guard all & 0x8080_8080_8080_8080 != 0 else { return true }
        let text = unsafe UnsafeBufferPointer(start: bytes, count: byteCount)
        return unsafe String(validating: text, as: UTF8.self) != nil
    }

    private func add(_ node: Node) -> Int {
        if nodeCount == nodeCapacity {
            let larger = UnsafeMutablePointer<Node>.allocate(capacity: nodeCapacity * 2)
            unsafe larger.moveInitialize(from: nodes, count: nodeCount)
            unsafe nodes.deallocate()
            unsafe nodes = larger
            nodeCapacity *= 2
        }
        unsafe (nodes + nodeCount).initialize(to: node)
        nodeCount += 1
        return nodeCount - 1
    }

    private func skipSpace() {
        while true {
            switch unsafe bytes[place] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                place += 1
            default: return
            }
        }
    }

    private func value(depth: Int) -> Bool {
        skipSpace()
        switch unsafe bytes[place] {
        case UInt8(ascii: "{"): return depth < Self.depthLimit && object(depth: depth)
        case UInt8(ascii: "["): return depth < Self.depthLimit && array(depth: depth)
        case UInt8(ascii: "\""): return string(.string)
        case UInt8(ascii: "t"): return word("true", .true)
        case UInt8(ascii: "f"): return word("false", .false)
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private func word(_ text: StaticString, _ kind: Kind) -> Bool {
        let count = text.utf8CodeUnitCount
        for index in 0..<count
        where unsafe bytes[place + index] != text.utf8Start[index] { return false }
        let node = add(Node(kind: kind, offset: UInt32(place)))
        unsafe nodes[node].next = UInt32(nodeCount)
        place += count
        return true
    }

    /// Scans from after the quote to the next one.
    private func string(_ kind: Kind) -> Bool {
        let start = place + 1
        var end = start
        var hasEscapes = false
        while true {
            let byte = unsafe bytes[end]
            if byte == UInt8(ascii: "\"") { break }
            // The zeros behind the text end here too.
            guard byte >= 0x20 else { return false }
            if byte == UInt8(ascii: "\\") {
                hasEscapes = true
                guard Self.escaped(unsafe bytes[end + 1]) != nil else { return false }
                end += 1
            }
            if kind == .name, byte >= 0x80 { return false }
            end += 1
        }
        if kind == .name, hasEscapes { return false }
        let node = add(
            Node(
                kind: kind, hasEscapes: hasEscapes, offset: UInt32(start),
                count: UInt32(end - start)))
        unsafe nodes[node].next = UInt32(nodeCount)
        if kind == .name { unsafe nodes[node].head = head(at: start, count: end - start) }
        place = end + 1
        return true
    }

    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 8
        case UInt8(ascii: "t"): 9
        case UInt8(ascii: "n"): 10
        case UInt8(ascii: "f"): 12
        case UInt8(ascii: "r"): 13
        default: nil
        }
    }

    private func head(at offset: Int, count: Int) -> UInt64 {
        let word = unsafe UnsafeRawPointer(bytes).loadUnaligned(
            fromByteOffset: offset, as: UInt64.self)
        return count >= 8 ? word : word.littleEndian & (1 << UInt64(8 * count) - 1)
    }

    private func number() -> Bool {
        let start = place
        var end = place
        func isDigit(_ offset: Int) -> Bool {
            unsafe bytes[offset] &- UInt8(ascii: "0") < 10
        }
        func digits() -> Bool {
            guard isDigit(end) else { return false }
            while isDigit(end) { end += 1 }
            return true
        }
        if unsafe bytes[end] == UInt8(ascii: "-") { end += 1 }
        if unsafe bytes[end] == UInt8(ascii: "0") {
            end += 1
        } else if !digits() {
            return false
        }
        if unsafe bytes[end] == UInt8(ascii: ".") {
            end += 1
            guard digits() else { return false }
        }
        if unsafe bytes[end] | 0x20 == UInt8(ascii: "e") {
            end += 1
            let sign = unsafe bytes[end]
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { end += 1 }
            guard digits() else { return false }
        }
        let node = add(
            Node(kind: .number, offset: UInt32(start), count: UInt32(end - start)))
        unsafe nodes[node].next = UInt32(nodeCount)
        place = end
        return true
    }

    private func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard unsafe bytes[place] == byte else { return false }
        place += 1
        return true
    }

    private func array(depth: Int) -> Bool {
        let node = add(Node(kind: .array, offset: UInt32(place)))
        place += 1
        var count: UInt32 = 0
        if !take(UInt8(ascii: "]")) {
            repeat {
                guard value(depth: depth + 1) else { return false }
                count += 1
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { return false }
        }
        unsafe nodes[node].count = count
        unsafe nodes[node].next = UInt32(nodeCount)
        return true
    }

    private func object(depth: Int) -> Bool {
        let node = add(Node(kind: .object, offset: UInt32(place)))
        unsafe nodes[node].cursor = UInt32(nodeCount)
        place += 1
        var count: UInt32 = 0
        if !take(UInt8(ascii: "}")) {
            repeat {
                skipSpace()
                guard unsafe bytes[place] == UInt8(ascii: "\""), string(.name),
                    take(UInt8(ascii: ":")), value(depth: depth + 1)
                else { return false }
                count += 1
            } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "}")) else { return false }
        }
        unsafe nodes[node].count = count
        unsafe nodes[node].next = UInt32(nodeCount)
        return hasDistinctNames(node)
    }

    /// Names in rising order are; few others are compared, many are not for this reader.
    private func hasDistinctNames(_ object: Int) -> Bool {
        let count = unsafe Int(nodes[object].count)
        guard count > 1 else { return true }
        var isRising = true
        var last = object + 1
        for _ in 1..<count {
            let name = unsafe Int(nodes[last + 1].next)
            if !isBefore(last, name) { isRising = false }
            last = name
        }
        if isRising { return true }
        guard count <= 16 else { return false }
        var name = object + 1
        for left in 1..<count {
            var other = name
            for _ in left..<count {
                other = unsafe Int(nodes[other + 1].next)
                if isEqual(name, other) { return false }
            }
            name = unsafe Int(nodes[name + 1].next)
        }
        return true
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = unsafe (nodes[left], nodes[right])
        if a.head != b.head { return a.head.byteSwapped < b.head.byteSwapped }
        let common = Int(min(a.count, b.count))
        for index in 0..<common {
            let (x, y) = unsafe (bytes[Int(a.offset) + index], bytes[Int(b.offset) + index])
            if x != y { return x < y }
        }
        return a.count < b.count
    }

    private func isEqual(_ left: Int, _ right: Int) -> Bool {
        let (a, b) = unsafe (nodes[left], nodes[right])
        guard a.count == b.count, a.head == b.head else { return false }
        for index in 0..<Int(a.count)
        where unsafe bytes[Int(a.offset) + index] != bytes[Int(b.offset) + index] { return false }
        return true
    }

    // MARK: Access

    private func node(_ number: Int) -> Node {
        precondition(number >= 0 && number < nodeCount, "a JSON text has no value \(number)")
        return unsafe nodes[number]
    }

    /// The kind of a value; the first is number 0.
    public func kind(_ value: Int) -> Kind { node(value).kind }

    /// Number of elements or members of a container.
    public func count(_ container: Int) -> Int { Int(node(container).count) }

    /// The number of the value after this one and all it holds.
    public func next(after value: Int) -> Int { Int(node(value).next) }

    /// The member of that name; nil when the object has none.
    public func member(_ name: String, of object: Int) -> Int? {
        let container = node(object)
        guard container.count > 0 else { return nil }
        var name = name
        return name.withUTF8 { wanted in
            var first: UInt64 = 0
            unsafe withUnsafeMutableBytes(of: &first) {
                unsafe $0.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(wanted).prefix(8))
                )
            }
            var place = Int(container.cursor)
            for _ in 0..<container.count {
                if place == Int(container.next) { place = object + 1 }
                let node = unsafe nodes[place]
                if node.head == first, unsafe isName(node, wanted) {
                    unsafe nodes[object].cursor = nodes[place + 1].next
                    return place + 1
                }
                place = unsafe Int(nodes[place + 1].next)
            }
            return nil
        }
    }

    private func isName(_ node: Node, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        guard Int(node.count) == wanted.count else { return false }
        guard wanted.count > 8 else { return true }
        for index in 8..<wanted.count
        where unsafe bytes[Int(node.offset) + index] != wanted[index] { return false }
        return true
    }

    /// The names of an object's members, in their order.
    public func names(of object: Int) -> [String] {
        var names: [String] = []
        var place = object + 1
        for _ in 0..<count(object) {
            names.append(string(place))
            place = next(after: place + 1)
        }
        return names
    }

    /// The text of a string or a name.
    public func string(_ value: Int) -> String {
        let node = node(value)
        let text = unsafe UnsafeBufferPointer(
            start: bytes + Int(node.offset), count: Int(node.count))
        guard node.hasEscapes else { return unsafe String(decoding: text, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var isEscaped = false
        for index in 0..<text.count {
            let byte = unsafe text[index]
            if isEscaped {
                plain.append(Self.escaped(byte) ?? byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                plain.append(byte)
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// Lends the bytes of a number; nil for another value.
    func withNumber<Number>(
        _ value: Int, _ body: (borrowing Span<UInt8>) -> Number?
    ) -> Number? {
        let node = node(value)
        guard node.kind == .number else { return nil }
        let digits = unsafe UnsafeBufferPointer(
            start: bytes + Int(node.offset), count: Int(node.count))
        return unsafe body(digits.span)
    }

    /// A string that is the 36 characters of a UUID, as two numbers; nil for any other.
    public func uuid(_ value: Int) -> (UInt64, UInt64)? {
        let node = node(value)
        guard node.kind == .string, node.count == 36, !node.hasEscapes else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digitCount = 0
        for index in 0..<36 {
            let byte = unsafe bytes[Int(node.offset) + index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            if digitCount < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
            digitCount += 1
        }
        return halves
    }
}
