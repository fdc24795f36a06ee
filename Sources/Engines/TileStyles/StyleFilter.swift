// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Filters of a style: expressions of MapLibre, in those forms that QGIS 3.22 reads too.
///
/// QGIS has `!` before `has` alone, and neither `in` nor `case`: negations are carried inwards, and
/// lists of values are `match`.
enum StyleFilter {
    /// Holds for every feature; no filter has it inside.
    static let always = JSONTree.array([.string("all")])
    /// Holds for no feature; no filter has it inside.
    static let never = JSONTree.array([.string("any")])

    static func isAlways(_ filter: JSONTree) -> Bool { isEmpty(filter, "all") }
    static func isNever(_ filter: JSONTree) -> Bool { isEmpty(filter, "any") }

    private static func isEmpty(_ filter: JSONTree, _ name: String) -> Bool {
        let parts = filter.elements
        return parts.count == 1 && parts[0].text == name
    }

    /// Holds where all do.
    static func all(_ filters: [JSONTree]) -> JSONTree { joined(filters, "all", "any") }

    /// Holds where one does.
    static func any(_ filters: [JSONTree]) -> JSONTree { joined(filters, "any", "all") }

    /// Parts of the same kind are taken out of their brackets; `other`, empty, decides it.
    private static func joined(_ filters: [JSONTree], _ name: String, _ other: String) -> JSONTree {
        var parts: [JSONTree] = [.string(name)]
        for filter in filters {
            if isEmpty(filter, other) { return filter }
            let own = filter.elements
            if own.first?.text == name { parts += own.dropFirst() } else { parts.append(filter) }
        }
        return parts.count == 2 ? parts[1] : .array(parts)
    }

    /// Holds where the filter does not.
    static func not(_ filter: JSONTree) -> JSONTree {
        let parts = filter.elements
        guard let name = parts.first?.text else { return StyleLayer.call("!", filter) }
        let arguments = Array(parts.dropFirst())
        switch name {
        case "all": return any(arguments.map(not))
        case "any": return all(arguments.map(not))
        case "!": return arguments.first.map(plain) ?? never
        case "match" where arguments.count == 4:
            return .array([parts[0]] + arguments[..<2] + [arguments[3], arguments[2]])
        case "==", "!=", "<", "<=", ">", ">=":
            // An order is looked at behind `has` alone: there is no third outcome.
            let opposite = ["==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"]
            return .array([.string(opposite[name] ?? name)] + arguments)
        default: return StyleLayer.call("!", filter)
        }
    }

    /// The same filter, its negations carried inwards, without what always or never holds.
    static func plain(_ filter: JSONTree) -> JSONTree {
        let parts = filter.elements
        switch parts.first?.text {
        case "all": return all(parts.dropFirst().map(plain))
        case "any": return any(parts.dropFirst().map(plain))
        case "!" where parts.count == 2: return not(plain(parts[1]))
        default: return filter
        }
    }
}
