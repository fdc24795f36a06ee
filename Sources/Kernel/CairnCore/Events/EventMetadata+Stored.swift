// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Platform

// Every event has metadata, nearly always ids and plain words: its JSON is written here directly.
// Texts with an escape go through the general coder; the bytes are the same.
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
        add("\"causation\":\"", causation.map(Self.text))
        add("\"correlation\":\"", correlation.map(Self.text))
        add("\"producer\":\"", producer)
        if bytes.isEmpty { bytes.append(UInt8(ascii: "{")) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func text(_ id: UUID) -> String { UUIDText.text(id.words, inCapitals: true) }

    /// Printable ASCII that JSON does not escape.
    private static func isPlain(_ text: String?) -> Bool {
        text?.utf8.allSatisfy {
            0x20..<0x7f ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        } ?? true
    }
}

extension EventMetadata {
    /// Parses the subset of `storedForm` with plain words and members in order; throws for any
    /// other text, which may be valid metadata all the same.
    static func plain(_ bytes: RawSpan) throws(CanonicalJSONCursor.IrregularForm) -> EventMetadata {
        var json = CanonicalJSONCursor()
        var metadata = EventMetadata()
        var isFirst = true
        func comes(_ first: StaticString, _ later: StaticString) -> Bool {
            guard json.takes(isFirst ? first : later, in: bytes) else { return false }
            isFirst = false
            return true
        }
        try json.pass("{", in: bytes)
        if comes("\"actor\":", ",\"actor\":") { metadata.actor = try json.text(in: bytes) }
        if comes("\"causation\":", ",\"causation\":") {
            metadata.causation = UUID(words: try json.uuid(in: bytes))
        }
        if comes("\"correlation\":", ",\"correlation\":") {
            metadata.correlation = UUID(words: try json.uuid(in: bytes))
        }
        if comes("\"producer\":", ",\"producer\":") {
            metadata.producer = try json.text(in: bytes)
        }
        try json.pass("}", in: bytes)
        try json.end(bytes)
        return metadata
    }

    /// Whether these bytes equal the output of `storedForm` for plain words: they can be stored as
    /// they are.
    static func isPlain(_ bytes: RawSpan) -> Bool {
        var json = CanonicalJSONCursor()
        var isFirst = true
        func comes(_ first: StaticString, _ later: StaticString) -> Bool {
            guard json.takes(isFirst ? first : later, in: bytes) else { return false }
            isFirst = false
            return true
        }
        do throws(CanonicalJSONCursor.IrregularForm) {
            try json.pass("{", in: bytes)
            if comes("\"actor\":", ",\"actor\":") { try json.text(in: bytes) { _ in } }
            if comes("\"causation\":", ",\"causation\":") { _ = try json.uuid(in: bytes) }
            if comes("\"correlation\":", ",\"correlation\":") { _ = try json.uuid(in: bytes) }
            if comes("\"producer\":", ",\"producer\":") { try json.text(in: bytes) { _ in } }
            try json.pass("}", in: bytes)
            try json.end(bytes)
            return true
        } catch {
            return false
        }
    }
}
