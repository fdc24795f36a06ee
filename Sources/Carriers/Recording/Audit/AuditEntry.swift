// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
public import FoundationEssentials
internal import Platform

/// A question that a gateway answered, with the user, the address, the moment, the state that
/// answered and the features that the answer showed.
public struct AuditEntry: Hashable, Sendable {
    /// When it was answered.
    public var at: Timestamp
    /// The sequence number of the state that answered; nil where the answer depends on none.
    public var sequence: Int64?
    /// The operation, as on the bus: `identify`, `query`, `geocode`.
    public var operation: String
    /// The map; nil for questions to locators.
    public var map: String?
    /// The features that an identify showed, by layer; nil where only the question says it.
    public var shown: [Shown]?
    /// The user; nil for anonymous callers.
    public var user: String?
    /// The numeric address of the client; empty where it is unknown, or masked.
    public var address: String
    /// The question; nil where it is masked.
    public var question: Question?
    /// Whether the user, the address and the question have been removed since.
    public var isRedacted = false

    /// Features of one layer.
    public struct Shown: Hashable, Sendable, Codable {
        /// The layer.
        public var layer: LayerID
        /// Their object ids.
        public var ids: [Int64]

        /// Makes it.
        public init(layer: LayerID, ids: [Int64]) {
            self.layer = layer
            self.ids = ids
        }
    }

    /// What was asked.
    public enum Question: Hashable, Sendable {
        /// A place: x, y, and the WKID of their spatial reference, 0 for the map's.
        case point(x: Double, y: Double, wkid: Int32)
        /// The request as JSON, as on the bus.
        case request(Data)
    }

    /// Makes an entry.
    public init(
        at: Timestamp, sequence: Int64?, operation: String, map: String?, shown: [Shown]?,
        user: String?, address: String, question: Question?
    ) {
        self.at = at
        self.sequence = sequence
        self.operation = operation
        self.map = map
        self.shown = shown
        self.user = user
        self.address = address
        self.question = question
    }

    /// Whether the answer showed that feature; nil where only asking the question again says it.
    public func shows(_ feature: Int64, of layer: LayerID) -> Bool? {
        shown?.contains { $0.layer == layer && $0.ids.contains(feature) }
    }
}

// MARK: Bytes

/// The bytes of an entry in a file: an open part; then a personal part, which begins with 16 random
/// bytes so that its digest tells nothing, and is replaced by that digest when it is redacted.
///
/// Numbers are little-endian. Open: flags, kind of question (0 none, 1 point, 2 request), 2 zero
/// bytes, byte count of the open part (4); microseconds (8); sequence number, -1 for none (8);
/// operation and map, each a length (2) and UTF-8, 65535 for none; number of layers (4, all ones
/// for unknown), for each its id (4), the number of features (4) and their ids (8 each). Personal:
/// random (16); user and address as texts above; the question's byte count (4) and bytes; zeros up
/// to 32 bytes.
extension AuditEntry {
    private static let redactedFlag: UInt8 = 1
    private static let digestByteCount = 32

    /// The bytes; `salt` has 16.
    func bytes(salt: ArraySlice<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(192)
        out += [0, question?.kind ?? 0, 0, 0, 0, 0, 0, 0]
        out.append(integer: at.microseconds)
        out.append(integer: sequence ?? -1)
        out.append(text: operation)
        out.append(text: map)
        out.append(integer: shown.map { UInt32(clamping: $0.count) } ?? .max)
        for group in shown ?? [] {
            out.append(integer: Int32(clamping: group.layer))
            out.append(integer: UInt32(clamping: group.ids.count))
            for id in group.ids { out.append(integer: id) }
        }
        let open = UInt32(out.count)
        for byte in 0..<4 { out[4 + byte] = UInt8(truncatingIfNeeded: open >> (8 * byte)) }
        out += salt
        out.append(text: user)
        out.append(text: address)
        switch question {
        case nil: out.append(integer: UInt32(0))
        case .point(let x, let y, let wkid)?:
            out.append(integer: UInt32(20))
            out.append(integer: x.bitPattern)
            out.append(integer: y.bitPattern)
            out.append(integer: wkid)
        case .request(let data)?:
            out.append(integer: UInt32(clamping: data.count))
            out += data
        }
        while out.count < Int(open) + Self.digestByteCount { out.append(0) }
        return out
    }

    /// Reads an entry; nil for damaged bytes.
    init?(_ bytes: [UInt8]) {
        guard let open = Self.openByteCount(bytes) else { return nil }
        var reader = AuditBytes(bytes[8..<open])
        guard let at: Int64 = reader.integer(), let sequence: Int64 = reader.integer(),
            let operation = reader.text(), let map = reader.text(),
            let count: UInt32 = reader.integer()
        else { return nil }
        var shown: [Shown]? = count == .max ? nil : []
        for _ in 0..<(count == .max ? 0 : count) {
            guard let layer: Int32 = reader.integer(), let idCount: UInt32 = reader.integer(),
                reader.count >= Int(idCount) * 8
            else { return nil }
            var ids: [Int64] = []
            for _ in 0..<idCount {
                if let id: Int64 = reader.integer() { ids.append(id) }
            }
            shown?.append(Shown(layer: LayerID(layer), ids: ids))
        }
        self.init(
            at: Timestamp(microseconds: at), sequence: sequence < 0 ? nil : sequence,
            operation: operation ?? "", map: map, shown: shown, user: nil, address: "",
            question: nil)
        if bytes[0] & Self.redactedFlag != 0 {
            isRedacted = true
            return
        }
        var personal = AuditBytes(bytes[(open + 16)...])
        guard let user = personal.text(), let address = personal.text(),
            let length: UInt32 = personal.integer(), personal.count >= Int(length)
        else { return nil }
        self.user = user
        self.address = address ?? ""
        switch bytes[1] {
        case 1:
            guard let x: UInt64 = personal.integer(), let y: UInt64 = personal.integer(),
                let wkid: Int32 = personal.integer()
            else { return nil }
            question = .point(
                x: Double(bitPattern: x), y: Double(bitPattern: y), wkid: wkid)
        case 2: question = .request(Data(personal.take(Int(length))))
        default: break
        }
    }

    private static func openByteCount(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 8 + digestByteCount else { return nil }
        let open = (0..<4).reduce(0) { $0 | Int(bytes[4 + $1]) << ($1 * 8) }
        return open >= 24 && open + digestByteCount <= bytes.count ? open : nil
    }

    /// The digest of an entry's bytes, the same before and after a redaction; nil for damaged ones.
    static func digest(_ bytes: [UInt8]) -> [UInt8]? {
        guard let open = openByteCount(bytes) else { return nil }
        let personal =
            bytes[0] & redactedFlag != 0
            ? Array(bytes[open..<(open + digestByteCount)])
            : SHA256.digest(Array(bytes[open...])).bytes
        return SHA256.digest([bytes[0] & ~redactedFlag] + bytes[1..<open] + personal).bytes
    }

    /// The bytes without the personal part, as many as before; nil for damaged or redacted ones.
    static func redacted(_ bytes: [UInt8]) -> [UInt8]? {
        guard let open = openByteCount(bytes), bytes[0] & redactedFlag == 0 else { return nil }
        var bytes = bytes
        let digest = SHA256.digest(Array(bytes[open...])).bytes
        for place in open..<bytes.count { bytes[place] = 0 }
        bytes.replaceSubrange(open..<(open + digestByteCount), with: digest)
        bytes[0] |= redactedFlag
        return bytes
    }
}

extension AuditEntry.Question {
    fileprivate var kind: UInt8 {
        switch self {
        case .point: 1
        case .request: 2
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(integer value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    fileprivate mutating func append(text: String?) {
        guard var text else { return append(integer: UInt16.max) }
        text.makeContiguousUTF8()
        let bytes = text.utf8.prefix(Int(UInt16.max) - 1)
        append(integer: UInt16(bytes.count))
        append(contentsOf: bytes)
    }
}

/// Reads what the functions above append.
private struct AuditBytes {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var count: Int { rest.count }

    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func integer<Value: FixedWidthInteger>() -> Value? {
        let size = MemoryLayout<Value>.size
        guard rest.count >= size else { return nil }
        return take(size).reversed().reduce(Value(0)) { $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    /// A text, nil for none; nil for too few bytes.
    mutating func text() -> String?? {
        guard let length: UInt16 = integer() else { return nil }
        if length == .max { return .some(nil) }
        guard rest.count >= Int(length) else { return nil }
        return String(decoding: take(Int(length)), as: UTF8.self)
    }
}
