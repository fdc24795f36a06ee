// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

// Every event has metadata, and nearly always it is ids and plain words: its JSON is written here
// directly. What has an escape goes through the general coder; the bytes are the same.
extension EventMetadata {
    /// The JSON that the log stores, keys in order.
    ///
    /// Throws as `CairnJSON.encode`.
    public func storedForm() throws(Failure) -> [UInt8] {
        guard Self.isPlain(actor), Self.isPlain(producer) else {
            return Array(try CairnJSON.encode(self))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            128 + (actor?.utf8.count ?? 0) + (producer?.utf8.count ?? 0))
        func add(_ name: String, _ value: String?) {
            guard let value else { return }
            bytes.append(bytes.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
            bytes.append(contentsOf: name.utf8)
            bytes.append(contentsOf: value.utf8)
            bytes.append(UInt8(ascii: "\""))
        }
        add("\"actor\":\"", actor)
        add("\"causation\":\"", causation?.capitalText)
        add("\"correlation\":\"", correlation?.capitalText)
        add("\"producer\":\"", producer)
        if bytes.isEmpty { bytes.append(UInt8(ascii: "{")) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// Printable ASCII that JSON does not escape.
    private static func isPlain(_ text: String?) -> Bool {
        text?.utf8.allSatisfy {
            0x20..<0x7f ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        } ?? true
    }
}

extension UUID {
    /// What `uuidString` gives, without the C library's general formatter, which takes a microsecond.
    fileprivate var capitalText: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 {
                text.append(UInt8(ascii: "-"))
            }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
