// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A street, as it is named.
public struct Street: Hashable, Sendable {
    /// The name; empty for none.
    public var name: String
    /// The road's numbers, separated by semicolons; empty for none.
    public var ref: String

    /// Makes a street; nameless by default.
    public init(name: String = "", ref: String = "") {
        self.name = name
        self.ref = ref
    }

    /// Whether it has neither a name nor a number.
    public var isNameless: Bool { name.isEmpty && ref.isEmpty }

    /// The road's numbers, one by one.
    public var refs: [String] {
        ref.split(separator: ";").map { Self.trimmed($0) }.filter { !$0.isEmpty }
    }

    /// The name, or else the numbers.
    public var label: String { name.isEmpty ? refs.joined(separator: "/") : name }

    /// Whether both have one name, or a number in common.
    func goesOn(as other: Street) -> Bool {
        if !name.isEmpty, !other.name.isEmpty {
            if name == other.name || name.lowercased() == other.name.lowercased() { return true }
        }
        guard !ref.isEmpty, !other.ref.isEmpty else { return false }
        return !Set(refs).isDisjoint(with: other.refs)
    }

    static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
