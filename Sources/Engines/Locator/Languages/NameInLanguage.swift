// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ICU

/// What a place is called in a language.
public struct NameInLanguage: Hashable, Sendable {
    /// BCP 47, `zh-Hant`.
    let language: String
    let name: String

    /// The longest name that is taken, in bytes.
    static let longestName = 400

    /// Of a language's code as sources write it (``LanguageTag``); nil for what is none, and for a
    /// name that is empty or of more than 400 bytes.
    public init?(language: String, name: String) {
        guard let tag = LanguageTag(language), 1...Self.longestName ~= name.utf8.count else {
            return nil
        }
        self.init(tag: tag.text, name: name)
    }

    init(tag: String, name: String) {
        language = tag
        self.name = name
    }
}

extension [NameInLanguage] {
    /// Adds names in languages that it has none in yet.
    mutating func add(_ names: [NameInLanguage]) {
        for name in names where !contains(where: { $0.language == name.language }) {
            append(name)
        }
    }
}
