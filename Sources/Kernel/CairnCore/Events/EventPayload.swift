// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials
public import Platform

/// A domain event with its stable name and form.
public protocol EventPayload: Codable, Hashable, Sendable {
    /// The stable type name, lower-case, dotted, past tense: `map.layer.added`.
    static var eventType: String { get }
    /// The version of the form, from 1; it grows when a change is more than an optional addition.
    static var schema: Int { get }
    /// The schema version of this event: the lowest that can express it, so that older builds still
    /// read it.
    var writtenSchema: Int { get }
    /// The way from every older schema to the current one: the first leads from schema 1 to schema
    /// 2.
    ///
    /// There is one less than ``schema``; they are as old as the logs that need them and never
    /// change.
    static var upcasts: [Upcast] { get }
    /// A fast path for the exact text that this build writes of an ordinary event; throws for any
    /// other text, which falls back to the general reader.
    ///
    /// Only frequent kinds of events have it. Both readers give equal values.
    static func plain(_ bytes: RawSpan) throws(CanonicalJSONCursor.IrregularForm) -> Self
}

extension EventPayload {
    /// Version 1.
    public static var schema: Int { 1 }

    /// The default: no fast path.
    public static func plain(_ bytes: RawSpan) throws(CanonicalJSONCursor.IrregularForm) -> Self {
        throw CanonicalJSONCursor.IrregularForm()
    }

    /// The current version.
    public var writtenSchema: Int { Self.schema }

    /// The default: no older version.
    public static var upcasts: [Upcast] { [] }

    /// The event for appending: JSON with sorted keys, so equal payloads are equal bytes.
    public func newEvent(id: UUID, metadata: EventMetadata) throws(Failure) -> NewEvent {
        NewEvent(
            id: id, type: Self.eventType, schema: writtenSchema, data: try CairnJSON.encode(self),
            metadata: metadata)
    }

    /// Decodes a record's payload; throws `Failure`: `newerVersion` for an unknown schema,
    /// `corrupt` for malformed bytes.
    ///
    /// Inlinable: a fold of the log spends a third of its time here unless it is specialised.
    @inlinable
    public static func decode(_ event: NewEvent) throws(Failure) -> Self {
        guard event.schema <= Self.schema else {
            throw Failure(
                .newerVersion,
                "event \(event.id) of type \(event.type) has schema \(event.schema); this build "
                    + "knows schema \(Self.schema)")
        }
        if event.schema == Self.schema, let payload = try? plain(event.data.bytes) {
            return payload
        }
        do {
            let data =
                event.schema == Self.schema
                ? event.data : try Upcast.apply(upcasts, to: event.data, from: event.schema)
            return try CairnJSON.decode(Self.self, from: data)
        } catch {
            throw Failure(
                .corrupt, "event \(event.id) of type \(event.type): \(error.message)")
        }
    }
}

/// The JSON of every payload and wire body: sorted keys, slashes unescaped, no NaN or infinity.
public enum CairnJSON {
    /// Encodes with sorted keys; throws `Failure` (`invalidParameter`) for NaN or infinity.
    public static func encode(_ value: some Encodable) throws(Failure) -> Data {
        if let text = JSONValueEncoder.encode(value) { return text }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(value)
        } catch {
            throw Failure(.invalidParameter, "cannot be written as JSON: \(describe(error))")
        }
    }

    /// Decodes a value; throws `Failure` (`invalidParameter`) that names the path and the expected
    /// type.
    public static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data
    ) throws(Failure) -> Value {
        if let value = JSONValueDecoder.decode(type, from: data) { return value }
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.invalidParameter, describe(error))
        }
    }

    private static func describe(_ error: any Error) -> String {
        func place(_ path: [any CodingKey], _ text: String) -> String {
            let name = path.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }
                .joined(separator: ".")
            return name.isEmpty ? text : "at '\(name)': \(text)"
        }
        switch error {
        case DecodingError.dataCorrupted(let context):
            return place(context.codingPath, context.debugDescription)
        case DecodingError.keyNotFound(let key, let context):
            return place(context.codingPath, "'\(key.stringValue)' is missing")
        case DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            return place(context.codingPath, context.debugDescription)
        case EncodingError.invalidValue(_, let context):
            return place(context.codingPath, context.debugDescription)
        default: return "\(error)"
        }
    }
}
