// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ICU

/// The name of a place in a language.
public struct NameInLanguage: Hashable, Sendable {
    /// The language in BCP 47, such as `zh-Hant`.
    let language: String
    let name: String

    /// Limit of a name, in bytes.
    static let longestName = 400

    /// Creates a name from a source's language code (``LanguageTag``); nil for an invalid code, and
    /// for a name that is empty or longer than 400 bytes.
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
    /// Adds names in languages without one.
    mutating func add(_ names: [NameInLanguage]) {
        for name in names where !contains(where: { $0.language == name.language }) {
            append(name)
        }
    }
}
