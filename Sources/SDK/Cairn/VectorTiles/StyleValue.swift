// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A value in an expression of a style.
enum StyleValue: Sendable, Hashable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case color(StyleColor)
    case list([StyleValue])
    case object([String: StyleValue])

    /// A JSON value as it is.
    init(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .bool(let flag): self = .flag(flag)
        case .integer(let number): self = .number(Double(number))
        case .real(let number): self = .number(number)
        case .string(let text): self = .text(text)
        case .array, .positions: self = .list(json.elements.map { StyleValue($0) })
        case .object(let members):
            self = .object(
                Dictionary(
                    members.map { ($0.name, StyleValue($0.value)) }, uniquingKeysWith: { $1 }))
        }
    }

    /// The name that `typeof` gives its type.
    var typeName: String {
        switch self {
        case .null: return "null"
        case .flag: return "boolean"
        case .number: return "number"
        case .text: return "string"
        case .color: return "color"
        case .object: return "object"
        case .list(let elements):
            let kinds = Set(elements.map(\.typeName))
            return
                "array<\(kinds.count == 1 ? kinds.first ?? "value" : "value"), \(elements.count)>"
        }
    }

    /// The text that `to-string` and `concat` make of it.
    var shownText: String {
        switch self {
        case .null: ""
        case .flag(let flag): flag ? "true" : "false"
        case .number(let number): number.scriptText
        case .text(let text): text
        case .color(let color): color.css
        case .list, .object: json.jsonText
        }
    }

    private var json: JSON {
        switch self {
        case .null: .null
        case .flag(let flag): .bool(flag)
        case .number(let number):
            Int64(exactly: number).map { .integer($0) } ?? .real(number)
        case .text(let text): .string(text)
        case .color(let color): .string(color.css)
        case .list(let elements): .array(elements.map(\.json))
        case .object(let members):
            .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
        }
    }

    /// Whether `to-boolean` makes it true.
    var isTruthy: Bool {
        switch self {
        case .null: false
        case .flag(let flag): flag
        case .number(let number): number != 0 && !number.isNaN
        case .text(let text): !text.isEmpty
        case .color, .list, .object: true
        }
    }

    /// The number that `to-number` makes of it; nil for none.
    var convertedNumber: Double? {
        switch self {
        case .null: return 0
        case .flag(let flag): return flag ? 1 : 0
        case .number(let number): return number
        case .text(let text):
            let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !trimmed.isEmpty else { return 0 }
            guard trimmed.utf8.allSatisfy({ Self.numberBytes.contains($0) }) else { return nil }
            return Double(trimmed)
        case .color, .list, .object: return nil
        }
    }

    private static let numberBytes = Set("0123456789+-.eE".utf8)

    /// The color that it is, or that it is a text of; nil for none.
    var convertedColor: StyleColor? {
        switch self {
        case .color(let color): return color
        case .text(let text): return StyleColor(css: text)
        case .list(let elements):
            let parts = elements.compactMap { element -> Double? in
                if case .number(let number) = element { number } else { nil }
            }
            guard parts.count == elements.count, 3...4 ~= parts.count else { return nil }
            return StyleColor(
                bytes: parts[0], parts[1], parts[2], alpha: parts.count > 3 ? parts[3] : 1)
        default: return nil
        }
    }
}

extension Double {
    /// The number as ECMAScript writes it: without a fraction where it has none, with an exponent
    /// from 1e21 on and below 1e-6.
    var scriptText: String {
        guard isFinite else { return isNaN ? "NaN" : self < 0 ? "-Infinity" : "Infinity" }
        guard self != 0 else { return "0" }
        let parts = Self.decimal(of: description.drop { $0 == "-" })
        let text = plain(digits: parts.digits, point: parts.point)
        return self < 0 ? "-" + text : text
    }

    /// Digits without zeros at either end, and how many of them are in front of the point.
    private static func decimal(of text: Substring) -> (digits: String, point: Int) {
        let sides = text.split(separator: "e")
        let exponent = sides.count > 1 ? Int(sides[1]) ?? 0 : 0
        let halves = sides[0].split(separator: ".", omittingEmptySubsequences: false)
        let whole = String(halves[0])
        let fraction = halves.count > 1 ? String(halves[1]) : ""
        let all = whole + fraction
        let leading = all.prefix { $0 == "0" }.count
        var digits = String(all.dropFirst(leading))
        while digits.hasSuffix("0") { digits.removeLast() }
        return (digits, whole.count + exponent - leading)
    }

    private func plain(digits: String, point: Int) -> String {
        let count = digits.count
        switch point {
        case count...21:
            return digits + String(repeating: "0", count: point - count)
        case 1...21:
            return digits.prefix(point) + "." + digits.dropFirst(point)
        case -5...0:
            return "0." + String(repeating: "0", count: -point) + digits
        default:
            let exponent = point - 1
            let mantissa = count > 1 ? digits.prefix(1) + "." + digits.dropFirst() : digits
            return mantissa + (exponent < 0 ? "e-" : "e+") + String(exponent.magnitude)
        }
    }
}
