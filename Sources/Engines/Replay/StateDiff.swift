// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import MapState

/// The differences between two states of a site, part by part and field by field.
public struct StateDiff: Hashable, Sendable {
    /// A part that differs.
    public struct Part: Hashable, Sendable {
        /// Its name, such as `map/World`.
        public var name: String
        /// Its last change in the first state; nil where it is absent there.
        public var before: Int64?
        /// Its last change in the second state; nil where it is absent there.
        public var after: Int64?
        /// Its differing fields, in the order of names; one without a path where the part is absent
        /// in one state.
        public var changes: [FieldChange]
    }

    /// The differing parts, in byte order of their names; empty for equal states.
    public let parts: [Part]

    /// Compares two states by their parts.
    public init(from first: [StatePart], to second: [StatePart]) throws(Failure) {
        let old = Dictionary(uniqueKeysWithValues: first.map { ($0.name, $0) })
        let new = Dictionary(uniqueKeysWithValues: second.map { ($0.name, $0) })
        let names = Set(old.keys).union(new.keys).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        var parts: [Part] = []
        for name in names where old[name]?.bytes != new[name]?.bytes {
            let (one, two) = (try old[name]?.value(), try new[name]?.value())
            parts.append(
                Part(
                    name: name, before: old[name]?.sequence, after: new[name]?.sequence,
                    changes: FieldChange.between(one, two)))
        }
        self.parts = parts
    }
}

extension StatePart {
    /// The canonical form as a value.
    public func value() throws(Failure) -> JSONValue {
        try CairnJSON.decode(JSONValue.self, from: bytes)
    }
}
