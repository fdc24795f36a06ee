// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Platform

/// Expressions of a style as MapLibre evaluates them; one that fails does not hold.
public struct MapLibreEvaluator {
    private enum Value: Equatable {
        case null
        case flag(Bool)
        case number(Double)
        case text(String)
    }

    private struct Fault: Error {}

    private let id: Int64
    private let attribute: (String) -> AttributeValue

    /// Evaluates for the feature of a tile with these attributes, null where there is none.
    public init(id: Int64, attribute: @escaping (String) -> AttributeValue) {
        self.id = id
        self.attribute = attribute
    }

    /// Whether a filter takes the feature.
    public func holds(_ filter: JSONTree) -> Bool { (try? value(filter)) == .flag(true) }

    private func value(_ tree: JSONTree) throws -> Value {
        switch tree {
        case .string(let text): return .text(text)
        case .integer(let number): return .number(Double(number))
        case .real(let number): return .number(number)
        case .bool(let flag): return .flag(flag)
        case .array(let parts):
            guard let name = parts.first?.text else { throw Fault() }
            return try call(name, Array(parts.dropFirst()))
        default: throw Fault()
        }
    }

    private func flag(_ tree: JSONTree) throws -> Bool {
        guard case .flag(let flag) = try value(tree) else { throw Fault() }
        return flag
    }

    private func text(_ tree: JSONTree) throws -> String {
        guard case .text(let text) = try value(tree) else { throw Fault() }
        return text
    }

    private func call(_ name: String, _ parts: [JSONTree]) throws -> Value {
        switch name {
        case "all": return .flag(try parts.allSatisfy(flag))
        case "any": return .flag(try parts.contains(where: flag))
        case "!": return .flag(try !flag(parts[0]))
        case "id": return .number(Double(id))
        case "has": return .flag(attribute(parts[0].text ?? "") != .null)
        case "get": return read(attribute(parts[0].text ?? ""))
        case "==": return .flag(try value(parts[0]) == value(parts[1]))
        case "!=": return .flag(try value(parts[0]) != value(parts[1]))
        case "<", "<=", ">", ">=": return .flag(try compare(name, parts))
        case "in": return .flag(try text(parts[1]).contains(text(parts[0])))
        case "slice": return .text(try slice(parts))
        case "match":
            let input = try value(parts[0])
            let labels = parts[1].elements.isEmpty ? [parts[1]] : parts[1].elements
            return try value(try labels.contains { try value($0) == input } ? parts[2] : parts[3])
        case "case": return try value(flag(parts[0]) ? parts[1] : parts[2])
        case "concat": return .text(try parts.map(text).joined())
        case "to-string":
            switch try value(parts[0]) {
            case .null: return .text("")
            case .flag(let flag): return .text("\(flag)")
            case .number(let number): return .text(AttributeValue.real(number).text ?? "")
            case .text(let text): return .text(text)
            }
        default: throw Fault()
        }
    }

    private func read(_ value: AttributeValue) -> Value {
        switch value {
        case .integer(let number): .number(Double(number))
        case .real(let number): .number(number)
        case .string, .date: .text(value.text ?? "")
        case .null: .null
        }
    }

    private func compare(_ name: String, _ parts: [JSONTree]) throws -> Bool {
        func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
            switch name {
            case "<": left < right
            case "<=": left <= right
            case ">": left > right
            default: left >= right
            }
        }
        switch (try value(parts[0]), try value(parts[1])) {
        case (.number(let left), .number(let right)): return holds(left, right)
        case (.text(let left), .text(let right)):
            return left == right ? name.hasSuffix("=") : holds(left, right)
        default: throw Fault()
        }
    }

    private func slice(_ parts: [JSONTree]) throws -> String {
        guard case .number(let start) = try value(parts[1]) else { throw Fault() }
        let units = Array(try text(parts[0]).utf16)
        if start < 0 { return String(decoding: units.suffix(Int(-start)), as: UTF16.self) }
        guard start == 0, case .number(let end) = try value(parts[2]) else { throw Fault() }
        return String(decoding: units.prefix(Int(end)), as: UTF16.self)
    }
}
