// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// One step from the form that an event type had in one schema to that of the next.
///
/// Pure: the same members always give the same members. Older forms are brought to the current one
/// step by step before they are decoded, so a type reads its current form only.
public enum Upcast: Sendable {
    /// The older form is a valid newer form, which may have more members.
    case unchanged
    /// The members are rewritten; throws `Failure` when they are not those of the older form.
    case rewritten(@Sendable ([String: JSONValue]) throws(Failure) -> [String: JSONValue])

    /// Migrates a payload of an older schema to the newest that the steps lead to.
    ///
    /// Throws `Failure`: `corrupt` for a schema that never was, and for a payload not in its
    /// schema's form.
    @usableFromInline
    static func apply(
        _ steps: [Upcast], to data: Data, from schema: Int
    ) throws(Failure) -> Data {
        guard 1...steps.count + 1 ~= schema else {
            throw Failure(.corrupt, "schema \(schema) never was")
        }
        let rest = steps[(schema - 1)...]
        guard rest.contains(where: \.isRewritten) else { return data }
        var members = try CairnJSON.decode([String: JSONValue].self, from: data)
        for case .rewritten(let rewrite) in rest { members = try rewrite(members) }
        return try CairnJSON.encode(members)
    }

    private var isRewritten: Bool {
        if case .rewritten = self { true } else { false }
    }
}
