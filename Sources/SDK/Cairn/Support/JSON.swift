// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A JSON value as servers and documents have it; members keep their order.
typealias JSON = JSONTree

extension JSONTree {
    /// The whole number as `Int`; nil where it is none, or does not fit.
    var int: Int? { whole.flatMap { Int(exactly: $0) } }

    var isNull: Bool { if case .null = self { true } else { false } }

    /// True, false, or nil where it is neither; text and numbers as servers write them count.
    var flag: Bool? {
        switch self {
        case .bool(let flag): flag
        case .integer(let number): number != 0
        case .string(let text): ["true": true, "false": false][text.lowercased()]
        default: nil
        }
    }

    /// The text of a member; nil where there is none.
    func text(_ name: String) -> String? { self[name]?.text }

    /// The member, nil also where it is null.
    func member(_ name: String) -> JSONTree? {
        guard let value = self[name], !value.isNull else { return nil }
        return value
    }

    /// The scale that a member states; nil also for 0, by which services have no bound.
    func scale(_ name: String) -> Double? { self[name]?.number.flatMap { $0 > 0 ? $0 : nil } }

    /// An object of those members that are there.
    static func object(of members: KeyValuePairs<String, JSONTree?>) -> JSONTree {
        .object(members.compactMap { name, value in value.map { (name: name, value: $0) } })
    }

    /// The value of an attribute; nil for null.
    ///
    /// Dates are milliseconds since 1970, as the REST writes them.
    init(attribute value: (any Sendable)?) {
        switch value {
        case nil: self = .null
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .integer(Int64(value))
        case let value as Int16: self = .integer(Int64(value))
        case let value as Int32: self = .integer(Int64(value))
        case let value as Int64: self = .integer(value)
        case let value as Float: self = .real(Double(value))
        case let value as Double: self = .real(value)
        case let value as String: self = .string(value)
        case let value as Date: self = .integer(value.millisecondsSince1970)
        case let value as UUID: self = .string(value.globalIDText)
        case let value as [any Sendable]: self = .array(value.map { JSONTree(attribute: $0) })
        case let value as [String: any Sendable]:
            self = .object(
                value.sorted { $0.key < $1.key }.map { ($0.key, JSONTree(attribute: $0.value)) })
        default: self = .string("\(value ?? "")")
        }
    }

    /// The value as an app has it where no field gives its type; nil for null.
    var untyped: (any Sendable)? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .integer(let value): Int(exactly: value) ?? value
        case .real(let value): value
        case .string(let value): value
        case .array, .positions: elements.map { $0.untyped ?? "" as any Sendable }
        case .object(let members):
            Dictionary(
                members.compactMap { name, value in value.untyped.map { (name, $0) } },
                uniquingKeysWith: { first, _ in first })
        }
    }
}

extension Date {
    /// Milliseconds since 1970, clamped to what 64 bits hold.
    var millisecondsSince1970: Int64 {
        let value = (timeIntervalSince1970 * 1_000).rounded()
        return value.isFinite
            ? Int64(clamping: Int(exactly: value) ?? (value < 0 ? .min : .max)) : 0
    }

    init(millisecondsSince1970 value: Double) {
        self.init(timeIntervalSince1970: value / 1_000)
    }
}
