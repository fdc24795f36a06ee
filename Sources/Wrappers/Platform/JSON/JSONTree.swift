// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A JSON value as it was written: members keep their order, whole numbers their digits.
public enum JSONTree: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONTree])
    case object([(name: String, value: JSONTree)])
    /// Lists of positions, only where they were asked for as such.
    indirect case positions(JSONPositions)

    /// The member of that name; nil for anything else.
    public subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The elements of an array; empty for anything else.
    public var elements: [JSONTree] {
        switch self {
        case .array(let elements): elements
        case .positions(let positions): positions.elements
        default: []
        }
    }

    /// The members of an object; empty for anything else.
    public var members: [(name: String, value: JSONTree)] {
        if case .object(let members) = self { members } else { [] }
    }

    /// The text; nil for anything else.
    public var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The number, also one written as text.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .string(let text): Double(text)
        default: nil
        }
    }

    /// The whole number, also one written as text.
    public var whole: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// Whether it is `true`.
    public var isTrue: Bool { if case .bool(true) = self { true } else { false } }

    /// The JSON text, without spaces; a number that is not finite is null.
    public var jsonText: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let flag): writer.bool(flag)
        case .integer(let number): writer.integer(number)
        case .real(let number): number.isFinite ? writer.number(number) : writer.null()
        case .string(let text): writer.string(text)
        case .array(let elements):
            writer.openArray()
            for element in elements { element.write(to: &writer) }
            writer.closeArray()
        case .positions(let positions): Self.array(positions.elements).write(to: &writer)
        case .object(let members):
            writer.openObject()
            for member in members {
                writer.key(member.name)
                member.value.write(to: &writer)
            }
            writer.closeObject()
        }
    }

    /// Reads a text; nil when it is no JSON, or nested more than 64 deep.
    ///
    /// With `packsPositions` the `rings`, `paths` and `points` of objects are ``positions(_:)``
    /// where all their positions have the same count of plain numbers.
    public init?(_ bytes: [UInt8], packsPositions: Bool = false) {
        var reader = JSONReader(bytes, .strict, packsPositions: packsPositions)
        guard let tree = try? reader.document() else { return nil }
        self = tree
    }

    /// Reads a text in a syntax; throws at the first byte that it does not allow.
    public init(_ bytes: [UInt8], _ syntax: JSONSyntax) throws(JSONFault) {
        var reader = JSONReader(bytes, syntax)
        self = try reader.document()
    }
}
