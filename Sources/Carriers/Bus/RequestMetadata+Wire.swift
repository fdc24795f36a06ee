// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

// The metadata of nearly every request is three plain words, so its JSON is written and read here
// directly; whatever has an escape or another form goes through the general coder.
extension RequestMetadata {
    /// The JSON that goes on the wire, keys in order.
    public func wireForm() throws(Failure) -> Data {
        guard isPlain(operation), isPlain(actor ?? ""), isPlain(map ?? "") else {
            return try CairnJSON.encode(self)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(96)
        bytes.append(UInt8(ascii: "{"))
        func add(_ key: String, _ value: String?) {
            guard let value else { return }
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: key.utf8)
            bytes.append(contentsOf: "\":\"".utf8)
            bytes.append(contentsOf: value.utf8)
            bytes.append(UInt8(ascii: "\""))
        }
        add("actor", actor)
        add("map", map)
        add("operation", operation)
        bytes.append(UInt8(ascii: "}"))
        return Data(bytes)
    }

    /// Reads the JSON of a request's metadata; throws `Failure` (`invalidParameter`).
    public init(wireForm: Data) throws(Failure) {
        if let plain = Self.readPlain(Array(wireForm)) {
            self = plain
        } else {
            self = try CairnJSON.decode(RequestMetadata.self, from: wireForm)
        }
    }

    private func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { Self.isPlain($0) }
    }

    /// Printable ASCII that JSON does not escape.
    private static func isPlain(_ byte: UInt8) -> Bool {
        0x20..<0x7f ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            && byte != UInt8(ascii: "/")
    }

    /// Parses `{"key":"value",…}` with known keys, no spaces and no escapes; nil for anything else.
    private static func readPlain(_ bytes: [UInt8]) -> RequestMetadata? {
        guard bytes.count > 2, bytes[0] == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else {
            return nil
        }
        var offset = 1
        func word() -> String? {
            guard bytes[offset] == UInt8(ascii: "\"") else { return nil }
            let start = offset + 1
            var end = start
            while end < bytes.count, isPlain(bytes[end]) { end += 1 }
            guard end + 1 < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
            offset = end + 1
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        var operation: String?
        var actor: String?
        var map: String?
        while true {
            guard let key = word(), bytes[offset] == UInt8(ascii: ":"), offset + 1 < bytes.count
            else { return nil }
            offset += 1
            guard let value = word() else { return nil }
            switch key {
            case "operation" where operation == nil: operation = value
            case "actor" where actor == nil: actor = value
            case "map" where map == nil: map = value
            default: return nil
            }
            guard bytes[offset] == UInt8(ascii: ",") else { break }
            offset += 1
        }
        guard offset == bytes.count - 1, let operation else { return nil }
        return RequestMetadata(operation: operation, actor: actor, map: map)
    }
}
