// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A language in which directions are written.
public struct DirectionsLanguage: Sendable {
    private let table: LanguageTable?
    private let phrases: [String: Phrase]

    /// The code of ISO 639-1: `en`.
    public var code: String { table?.code ?? "en" }
    /// The language's own name: `English`.
    public var name: String { table?.name ?? "English" }

    /// All languages, by code.
    public static let all: [DirectionsLanguage] = LanguageTable.shipped.map {
        DirectionsLanguage($0)
    }
    private static let byCode = Dictionary(all.map { ($0.code, $0) }) { first, _ in first }

    /// The language of a tag (`de`, `de-AT`, `pt_BR`), in any case; English where it is unknown,
    /// which ``code`` says.
    public static func named(_ tag: String) -> DirectionsLanguage {
        let primary = tag.prefix { $0 != "-" && $0 != "_" }.lowercased()
        return byCode[primary] ?? byCode["en"] ?? DirectionsLanguage(nil)
    }

    private init(_ table: LanguageTable?) {
        self.table = table
        phrases = (table?.phrases ?? [:]).compactMapValues(Phrase.init)
    }

    /// The phrase of a key with its values, empty where one is missing.
    func text(_ key: String, value: (Phrase.Slot) -> String) -> String {
        phrases[key]?.text(value: value, append: append) ?? ""
    }

    /// The phrase of a key whose values have no forms.
    func text(_ key: String, _ values: [String: String] = [:]) -> String {
        text(key) { values[$0.name] ?? "" }
    }

    /// Puts a value behind a text, with what becomes of both.
    private func append(_ value: String, to text: inout String) {
        for join in table?.joins ?? [] where text.hasSuffix(join.before) {
            let head = text.dropLast(join.before.count)
            guard head.isEmpty || head.last == " " else { continue }
            if let starts = join.starts {
                guard value.hasPrefix(starts) else { continue }
                text = head + join.becomes + value.dropFirst(starts.count)
                return
            }
            guard let first = value.first, table?.vowels.contains(first) == true else { continue }
            text = head + join.becomes + value
            return
        }
        text += value
    }

    /// A street in a form: its name, else its numbers, else a word for its class; empty for none.
    func street(_ street: Street, class road: String?, form: String) -> String {
        let label = street.label
        if label.isEmpty { return road.flatMap { table?.roads[$0]?[form] } ?? "" }
        let isRef = street.name.isEmpty
        for rule in table?.forms[form] ?? [] {
            if let text = rule.form(of: label, isRef: isRef) { return text }
        }
        return label
    }

    /// The nearest of eight directions: degrees clockwise from north.
    func compass(_ bearing: Double) -> String {
        guard let words = table?.compass, words.count == 8 else { return "" }
        return words[Int((Heading.whole(bearing) / 45).rounded()) % 8]
    }

    /// The number of an exit in words.
    func ordinal(_ number: Int) -> String {
        guard let table else { return "\(number)" }
        if table.ordinals.indices.contains(number - 1) { return table.ordinals[number - 1] }
        return Phrase(table.ordinal)?.text(value: { _ in "\(number)" }, append: append)
            ?? "\(number)"
    }

    // MARK: - Quantities

    /// A number of tenths with its unit; the long word, or else the short one.
    func quantity(tenths: Int64, unit: String, isLong: Bool) -> String {
        let number =
            tenths % 10 == 0
            ? "\(tenths / 10)" : "\(tenths / 10)\(table?.decimal ?? ".")\(tenths % 10)"
        guard let table, let words = table.units[unit] ?? table.times[unit] else {
            return number + " " + unit
        }
        let long = words.long[table.plurals.category(tenths: tenths)]
        return number + "\u{a0}" + (isLong ? long ?? words.short : words.short)
    }
}
