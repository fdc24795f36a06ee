// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Platform

/// A JSON value in the relaxed syntax of clients.
enum RelaxedValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([RelaxedValue])
    case object([String: RelaxedValue])

    /// The member of that name; nil if it is absent or this is not an object.
    subscript(name: String) -> RelaxedValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The number; nil for anything else.
    var number: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }
}

/// The JSON that GIS clients write into parameters.
enum RelaxedJSON {
    /// Parses the whole text; throws `invalidParameter` with the byte offset of the error.
    static func parse(_ text: String) throws(Failure) -> RelaxedValue {
        do throws(JSONFault) {
            return RelaxedValue(try JSONTree(Array(text.utf8), .relaxed))
        } catch {
            throw Failure(.invalidParameter, "\(error)")
        }
    }
}

extension RelaxedValue {
    /// Numbers as doubles; the last of several members of one name.
    init(_ tree: JSONTree) {
        self =
            switch tree {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .number(Double(value))
            case .real(let value): .number(value)
            case .string(let text): .string(text)
            case .array, .positions: .array(tree.elements.map(RelaxedValue.init))
            case .object(let members):
                .object(
                    Dictionary(members.map { ($0.name, RelaxedValue($0.value)) }) { $1 })
            }
    }
}
