// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials

/// One field that differs between two JSON values.
public struct FieldChange: Hashable, Sendable, Codable {
    /// Member names on the way to the field; empty for the whole value.
    ///
    /// An element of a list is named by its `id` where ids rise along the list, else by its index.
    public var path: [String]
    /// Its value in the first; nil where it is absent.
    public var before: JSONValue?
    /// Its value in the second; nil where it is absent.
    public var after: JSONValue?

    /// Creates a change.
    public init(path: [String], before: JSONValue?, after: JSONValue?) {
        self.path = path
        self.before = before
        self.after = after
    }

    /// The path as a JSON Pointer (RFC 6901) without the first slash: `layers/3/isVisible`.
    public var pointer: String {
        path.map {
            $0.replacing("~", with: "~0").replacing("/", with: "~1")
        }.joined(separator: "/")
    }

    /// All differing fields, in the order of names; none for equal values.
    ///
    /// Lists of scalars are one field, and so are lists whose elements have ids that do not rise.
    /// Numbers that differ by no more than `tolerance`, absolutely or relative to the greater one,
    /// are equal.
    public static func between(
        _ first: JSONValue?, _ second: JSONValue?, tolerance: Double = 0
    ) -> [FieldChange] {
        var comparison = Comparison(tolerance: tolerance)
        comparison.compare(first, second, at: [])
        return comparison.changes
    }

    /// The second value, from the first and all differing fields.
    public static func apply(_ changes: [FieldChange], to first: JSONValue?) -> JSONValue? {
        changes.reduce(first) { value, change in
            replace(value, change.path[...], by: change.after)
        }
    }

    private static func replace(
        _ value: JSONValue?, _ path: ArraySlice<String>, by new: JSONValue?
    ) -> JSONValue? {
        guard let name = path.first else { return new }
        let rest = path.dropFirst()
        if case .array(let elements)? = value {
            return .array(replace(in: elements, name, rest, by: new))
        }
        var members: [String: JSONValue] = [:]
        if case .object(let known)? = value { members = known }
        members[name] = replace(members[name], rest, by: new)
        return .object(members)
    }

    private static func replace(
        in elements: [JSONValue], _ name: String, _ rest: ArraySlice<String>, by new: JSONValue?
    ) -> [JSONValue] {
        var elements = elements
        let ids = elements.risingIDs
        let wanted = Int64(name) ?? 0
        // The elements decide whether a list is keyed by ids, or the new one where it is empty.
        let isKeyed = ids != nil && (!elements.isEmpty || new?.id == wanted)
        let place =
            isKeyed ? ids?.firstIndex { $0 >= wanted } ?? elements.count : Int(wanted)
        let isThere = isKeyed ? ids?.contains(wanted) == true : place < elements.count
        let result = replace(isThere ? elements[place] : nil, rest, by: new)
        switch (isThere, result) {
        case (true, let value?): elements[place] = value
        case (true, nil): elements.remove(at: place)
        case (false, let value?): elements.insert(value, at: min(place, elements.count))
        case (false, nil): break
        }
        return elements
    }
}

private struct Comparison {
    let tolerance: Double
    var changes: [FieldChange] = []

    mutating func compare(_ first: JSONValue?, _ second: JSONValue?, at path: [String]) {
        switch (first, second) {
        case (.object(let one)?, .object(let two)?):
            for name in Set(one.keys).union(two.keys).sorted() {
                compare(one[name], two[name], at: path + [name])
            }
        case (.array(let one)?, .array(let two)?):
            compare(one, two, at: path)
        default:
            if !areEqual(first, second) {
                changes.append(FieldChange(path: path, before: first, after: second))
            }
        }
    }

    private mutating func compare(_ one: [JSONValue], _ two: [JSONValue], at path: [String]) {
        if let first = one.risingIDs, let second = two.risingIDs {
            let (old, new) = (
                Dictionary(uniqueKeysWithValues: zip(first, one)),
                Dictionary(uniqueKeysWithValues: zip(second, two))
            )
            for id in Set(first).union(second).sorted() {
                compare(old[id], new[id], at: path + ["\(id)"])
            }
        } else if (one + two).contains(where: { $0.id != nil })
            || (one + two).allSatisfy(\.isPlain)
        {
            let isSame = one.count == two.count && zip(one, two).allSatisfy { areEqual($0, $1) }
            if !isSame {
                changes.append(
                    FieldChange(path: path, before: .array(one), after: .array(two)))
            }
        } else {
            for index in 0..<min(one.count, two.count) {
                compare(one[index], two[index], at: path + ["\(index)"])
            }
            // From the end, so that indices stay valid during removal.
            for index in (two.count..<max(one.count, two.count)).reversed() {
                compare(one[index], nil, at: path + ["\(index)"])
            }
            for index in one.count..<max(one.count, two.count) {
                compare(nil, two[index], at: path + ["\(index)"])
            }
        }
    }

    private func areEqual(_ first: JSONValue?, _ second: JSONValue?) -> Bool {
        if first == second { return true }
        guard tolerance > 0, let one = first?.number, let two = second?.number else {
            return false
        }
        return abs(one - two) <= tolerance * max(1, abs(one), abs(two))
    }
}

extension JSONValue {
    fileprivate var id: Int64? {
        if case .object(let members) = self, case .integer(let id)? = members["id"] {
            id
        } else {
            nil
        }
    }

    fileprivate var isPlain: Bool {
        switch self {
        case .array(let elements): elements.allSatisfy(\.isPlain)
        case .object: false
        case .null, .bool, .integer, .real, .string: true
        }
    }

    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }
}

extension [JSONValue] {
    /// The `id` of every element, where all have one and they rise; empty for an empty list.
    fileprivate var risingIDs: [Int64]? {
        let ids = compactMap(\.id)
        guard ids.count == count, zip(ids, ids.dropFirst()).allSatisfy({ $0 < $1 }) else {
            return nil
        }
        return ids
    }
}
