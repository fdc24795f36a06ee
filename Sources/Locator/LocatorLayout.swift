// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The numbers of the locator file's form; `Docs/locator.md` describes them byte by byte.
enum LocatorLayout {
    /// `CRNLOCTR`.
    static let magic = Array("CRNLOCTR".utf8)
    static let version: UInt32 = 1
    /// Before the table of sections.
    static let fixedHeaderByteCount = 64
    /// One entry of the table: offset and byte count.
    static let sectionEntryByteCount = 16
    /// Where the first section begins.
    static var headerByteCount: Int {
        fixedHeaderByteCount + Section.allCases.count * sectionEntryByteCount
    }
    /// Stands for "none" where a place, region or country is named.
    static let none = UInt32.max
    /// How many entries of a level of weights one entry of the level above sums up.
    static let weightFanout = 16

    /// The sections in the order of the file.
    enum Section: Int, CaseIterable {
        /// Display texts, UTF-8, end to end.
        case text
        /// Folded names in ascending order, UTF-8, end to end.
        case keyText
        /// One record per place, most important first.
        case places
        /// One record per country: place, alpha-2, alpha-3.
        case countries
        /// One record per region: place, code, abbreviation.
        case regions
        /// The keys of every place, end to end.
        case placeKeys
        /// One record per folded name, and a last one that ends the last.
        case keys
        /// Which places have a name.
        case postings
        /// The greatest weight of each key, then of every 16 keys, and so on.
        case weights
        /// The names as a path-compressed tree, in preorder.
        case trie
        /// The keys in the order of their bytes read from the end.
        case endings
        /// One record per word of names of several words, and a last one.
        case words
        /// The keys that have a word, heaviest first.
        case wordPostings
        /// Settlements as a balanced tree over the unit sphere.
        case nearest

        /// The bytes of one record.
        var recordByteCount: Int {
            switch self {
            case .text, .keyText: 1
            case .weights: 2
            case .placeKeys, .wordPostings, .endings: 4
            case .keys: 8
            case .postings, .trie, .words, .countries: 12
            case .regions: 16
            case .nearest: 32
            case .places: 72
            }
        }
    }
}

/// What sort of thing a place is.
enum PlaceKind: UInt8 {
    /// A sovereign state or dependent territory with a country code.
    case country = 1
    /// A first-level division.
    case region
    /// A second-level division.
    case subregion
    /// A city, town, village or part of one.
    case settlement
}

/// How a name belongs to a place.
enum NameRole: UInt8 {
    /// The usual name.
    case name = 0
    /// The usual name in another writing: ASCII, `ue` for `ü`, `St` for `Saint`.
    case variant
    /// Another name that begins like the usual one: `Roma` for `Rome`, `Naples` for `Napoli`.
    case cognate
    /// Another name, in any language and script.
    case alternate
    /// A code or abbreviation: `DE`, `DEU`, `TX`.
    case code

    /// What the name takes from the place's importance when it is weighed as an answer.
    ///
    /// Old and foreign names of big cities stand behind the towns that bear them today, unless the
    /// city is a hundred times their size.
    var answerPenalty: Double {
        switch self {
        case .name, .variant: 0
        case .cognate: 0.10
        case .alternate: 0.20
        case .code: 0.35
        }
    }

    /// What the name takes from the place's importance in suggestions, in its units.
    var suggestionPenalty: UInt16 {
        switch self {
        case .name, .variant: 0
        case .cognate: 5_243
        case .alternate: 16_384
        case .code: 22_938
        }
    }
}
