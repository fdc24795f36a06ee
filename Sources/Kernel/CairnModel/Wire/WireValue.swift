// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import Platform

/// A fault of bytes that are not a value's fixed layout.
public enum WireFault: Error, Hashable, Sendable {
    /// Truncated.
    case truncated
    /// A number without a meaning at its place; the text names the value being read.
    case meaningless(String)
    /// Nesting deeper than that of any real value.
    case tooDeep
}

/// A value with a fixed layout: its parts one after the other, little-endian, without names.
///
/// A part is added by one line in `write` and one in `init`, in the same place of both. The layout
/// is that of one build; its version in `FixedLayout` lets another one be refused and not misread.
protocol WireValue {
    /// Appends the parts.
    func write(to wire: inout WireOutput)
    /// Reads the parts; throws, and never traps, for bytes that are no such value.
    init(from wire: inout WireInput) throws(WireFault)
}

/// The output of encoding.
struct WireOutput {
    var bytes = ByteWriter(capacity: 512)
    /// The attribute names of the last feature: those of the next one are mostly the same.
    var names: [String] = []

    mutating func put(_ value: some WireValue) { value.write(to: &self) }
}

/// The input of decoding.
struct WireInput {
    /// Largest depth of nested groups.
    static let depthBound = 64

    var bytes: WireReader
    /// The attribute names of the feature read last.
    var names: [String] = []
    var depth = 0

    mutating func get<Value: WireValue>(
        _ type: Value.Type = Value.self
    ) throws(WireFault) -> Value {
        try Value(from: &self)
    }

    /// A count of things of at least `byteCount` bytes each.
    mutating func count(eachAtLeast byteCount: Int) throws(WireFault) -> Int {
        do throws(ByteReader.OutOfBounds) { return try bytes.count(eachAtLeast: byteCount) } catch {
            throw .truncated
        }
    }

    /// Decodes a value that may nest its own kind.
    mutating func descend<Value>(
        _ body: (inout WireInput) throws(WireFault) -> Value
    ) throws(WireFault) -> Value {
        guard depth < Self.depthBound else { throw .tooDeep }
        depth += 1
        let value = try body(&self)
        depth -= 1
        return value
    }
}

/// A value encoded as its JSON, as one text: rare, or requested by people.
protocol JSONWireValue: WireValue, Codable {
    /// Name in the fault of malformed bytes.
    static var wireName: String { get }
}

extension JSONWireValue {
    func write(to wire: inout WireOutput) {
        let json = (try? CairnJSON.encode(self)) ?? Data()
        wire.put(String(decoding: json, as: UTF8.self))
    }

    init(from wire: inout WireInput) throws(WireFault) {
        let json = Data(try wire.get(String.self).utf8)
        guard let value = try? CairnJSON.decode(Self.self, from: json) else {
            throw .meaningless(Self.wireName)
        }
        self = value
    }
}

extension WireValue where Self: RawRepresentable, RawValue == String {
    func write(to wire: inout WireOutput) { wire.put(rawValue) }

    init(from wire: inout WireInput) throws(WireFault) {
        guard let value = Self(rawValue: try wire.get()) else {
            throw .meaningless("\(Self.self)")
        }
        self = value
    }
}

extension WireValue where Self: RawRepresentable, RawValue == Int {
    func write(to wire: inout WireOutput) { wire.put(rawValue) }

    init(from wire: inout WireInput) throws(WireFault) {
        guard let value = Self(rawValue: try wire.get()) else {
            throw .meaningless("\(Self.self)")
        }
        self = value
    }
}

extension UInt8: WireValue {
    func write(to wire: inout WireOutput) { wire.bytes.append(self) }
    init(from wire: inout WireInput) throws(WireFault) {
        do throws(ByteReader.OutOfBounds) { self = try wire.bytes.byte() } catch {
            throw .truncated
        }
    }
}

extension Int64: WireValue {
    func write(to wire: inout WireOutput) { wire.bytes.append(self) }
    init(from wire: inout WireInput) throws(WireFault) {
        do throws(ByteReader.OutOfBounds) { self = try wire.bytes.number() } catch {
            throw .truncated
        }
    }
}

extension Int: WireValue {
    func write(to wire: inout WireOutput) { wire.put(Int64(self)) }
    init(from wire: inout WireInput) throws(WireFault) { self = Int(try wire.get(Int64.self)) }
}

extension Double: WireValue {
    func write(to wire: inout WireOutput) { wire.bytes.append(self) }
    init(from wire: inout WireInput) throws(WireFault) {
        do throws(ByteReader.OutOfBounds) { self = try wire.bytes.real() } catch {
            throw .truncated
        }
    }
}

extension Bool: WireValue {
    func write(to wire: inout WireOutput) { wire.put(UInt8(self ? 1 : 0)) }
    init(from wire: inout WireInput) throws(WireFault) {
        switch try wire.get(UInt8.self) {
        case 0: self = false
        case 1: self = true
        default: throw .meaningless("a flag")
        }
    }
}

extension String: WireValue {
    func write(to wire: inout WireOutput) { wire.bytes.append(counted: self) }
    init(from wire: inout WireInput) throws(WireFault) {
        do throws(ByteReader.OutOfBounds) { self = try wire.bytes.text() } catch {
            throw .truncated
        }
    }
}

extension Optional: WireValue where Wrapped: WireValue {
    func write(to wire: inout WireOutput) {
        wire.put(self != nil)
        if let self { wire.put(self) }
    }
    init(from wire: inout WireInput) throws(WireFault) {
        self = try wire.get(Bool.self) ? .some(try wire.get()) : nil
    }
}

extension Array: WireValue where Element: WireValue {
    func write(to wire: inout WireOutput) {
        wire.bytes.append(count: count)
        for element in self { wire.put(element) }
    }
    init(from wire: inout WireInput) throws(WireFault) {
        self = []
        for _ in 0..<(try wire.count(eachAtLeast: 1)) { append(try wire.get()) }
    }
}

extension Dictionary: WireValue where Key == LayerID, Value: WireValue {
    func write(to wire: inout WireOutput) {
        wire.bytes.append(count: count)
        for key in keys.sorted() {
            wire.put(key)
            wire.put(self[key])
        }
    }
    init(from wire: inout WireInput) throws(WireFault) {
        self = [:]
        for _ in 0..<(try wire.count(eachAtLeast: 9)) {
            let key: LayerID = try wire.get()
            self[key] = try wire.get(Value?.self)
        }
    }
}
