// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension WhereClause {
    /// The clause in SQL that every server reads: fields beside numbers and texts, `UPPER` and
    /// `LOWER` of a field, `IN`, `BETWEEN`, `LIKE`, `IS NULL`, `AND`, `OR` and `NOT`.
    ///
    /// Nil for a clause with anything else in it: arithmetic, functions and moments, whose syntax
    /// differs between servers; names that are words of SQL somewhere; texts with a control
    /// character or a backslash, and patterns with a bracket, which are special to some. Case
    /// sensitivity in a comparison of texts is up to the server.
    public var standardSQL: String? { StandardSQL(names: fieldNames).text(condition) }
}

/// Writes conditions as SQL.
private struct StandardSQL {
    /// By the number of a field.
    let names: [String]

    func text(_ condition: Condition) -> String? {
        switch condition {
        case .comparison(let comparison, let left, let right):
            return joined([text(left), comparison.rawValue, text(right)])
        case .isNull(let operand, let negated):
            return joined([text(operand), negated ? "IS NOT NULL" : "IS NULL"])
        case .isOneOf(let operand, let items, let negated):
            guard let list = all(items.lazy.map(text)) else { return nil }
            let word = negated ? "NOT IN" : "IN"
            return joined([text(operand), "\(word) (\(list.joined(separator: ", ")))"])
        case .isBetween(let operand, let low, let high, let negated):
            let word = negated ? "NOT BETWEEN" : "BETWEEN"
            return joined([text(operand), word, text(low), "AND", text(high)])
        case .isLike(let operand, .fixed(let pattern), let negated):
            return joined([text(operand), negated ? "NOT LIKE" : "LIKE", text(pattern)])
        case .isLike(_, .computed, _): return nil
        case .not(let inner): return text(inner).map { "NOT (\($0))" }
        case .all(let parts): return text(parts, joinedBy: " AND ")
        case .any(let parts): return text(parts, joinedBy: " OR ")
        }
    }

    private func text(_ parts: [Condition], joinedBy word: String) -> String? {
        all(parts.lazy.map(text))?.map { "(\($0))" }.joined(separator: word)
    }

    private func text(_ operand: Operand) -> String? {
        switch operand {
        case .field(let reference):
            let name = names[reference.index]
            return name.isPlainName ? name : nil
        case .call(.upper, let arguments): return call("UPPER", arguments[0])
        case .call(.lower, let arguments): return call("LOWER", arguments[0])
        case .literal(.null): return "NULL"
        case .literal(.integer(let number)): return "\(number)"
        case .literal(.real(let number)):
            // Neither infinite, nor written with an exponent.
            return 1e-4...1e15 ~= abs(number) || number == 0 ? "\(number)" : nil
        case .literal(.string(let text)): return quoted(text)
        case .literal(.date), .call, .negated, .arithmetic, .later, .part, .cast: return nil
        }
    }

    private func call(_ function: String, _ operand: Operand) -> String? {
        guard case .field = operand else { return nil }
        return text(operand).map { "\(function)(\($0))" }
    }

    /// The pattern as text, with `!` to escape special characters.
    private func text(_ pattern: LikePattern) -> String? {
        var text = ""
        var isEscaped = false
        for element in pattern.elements {
            switch element {
            case .run: text += "%"
            case .one: text += "_"
            case .exactly(let scalar) where "[]^".unicodeScalars.contains(scalar): return nil
            case .exactly(let scalar):
                if "%_!".unicodeScalars.contains(scalar) {
                    text += "!"
                    isEscaped = true
                }
                text.unicodeScalars.append(scalar)
            }
        }
        return quoted(text).map { isEscaped ? $0 + " ESCAPE '!'" : $0 }
    }

    private func quoted(_ text: String) -> String? {
        let isPlain = text.unicodeScalars.allSatisfy {
            $0 != "\\" && $0.properties.generalCategory != .control
        }
        return isPlain ? "'" + text.replacing("'", with: "''") + "'" : nil
    }

    private func joined(_ parts: [String?]) -> String? { all(parts)?.joined(separator: " ") }

    /// Nil where one of them is.
    private func all(_ parts: some Sequence<String?>) -> [String]? {
        var result: [String] = []
        for part in parts {
            guard let part else { return nil }
            result.append(part)
        }
        return result
    }
}
