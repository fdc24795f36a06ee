// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Constants of the locator file format; `Docs/locator-format.md` describes it byte by byte.
enum LocatorLayout {
    /// `CRNLOCTR`.
    static let magic = Array("CRNLOCTR".utf8)
    /// Number of sections, from the first, in a file of each version.
    ///
    /// Version 1 has places, 2 adds addresses, 3 streets as lines with ranges of house numbers, 4
    /// borders of areas and points of interest, 5 origins and names by language, 6 differences of
    /// consecutive house numbers, 7 names of divisions that are no places. The last one is written.
    static let sectionCounts = [14, 33, 36, 42, 52, 52, 52]
    static let version = UInt32(sectionCounts.count)
    static let placeSectionCount = sectionCounts[0]
    /// Size of the header before the table of sections.
    static let fixedHeaderByteCount = 64
    /// One entry of the table: offset and byte count.
    static let sectionEntryByteCount = 16
    /// Byte offset of the first section.
    static func headerByteCount(sections: Int) -> Int {
        fixedHeaderByteCount + sections * sectionEntryByteCount
    }
    /// Number of street rectangles in one rectangle of the next level.
    static let rectangleFanout = 16
    /// Null value of a place, region or country.
    static let none = UInt32.max
    /// Number of weights in one entry of the next level.
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
        /// The places with a name.
        case postings
        /// The greatest weight of each key, then of every 16 keys, and so on.
        case weights
        /// The names as a path-compressed tree, in preorder.
        case trie
        /// The keys sorted by reversed text.
        case endings
        /// One record per word of names of several words, and a last one.
        case words
        /// The keys with a word, heaviest first.
        case wordPostings
        /// Settlements as a balanced tree over the unit sphere.
        case nearest
        /// The folded words of streets and towns in ascending order, UTF-8, end to end.
        case vocabularyText
        /// One record per word of the vocabulary, and a last one.
        case vocabulary
        /// The vocabulary as a path-compressed tree, in preorder.
        case vocabularyTree
        /// The words of the vocabulary sorted by reversed text.
        case vocabularyEndings
        /// The kind of each word.
        case wordKinds
        /// The streets with a word in their name, ascending.
        case streetPostings
        /// First entry of each word's towns in the next section; one more ends the last.
        case townPostingStarts
        /// The towns with a word in their name, ascending.
        case townPostings
        /// One record per town, and a last one.
        case towns
        /// One record per street, by town and name, and a last one.
        case streets
        /// The words of every street and then of every town, in the order of their names.
        case nameWords
        /// One record per house, by street, number and suffix.
        case houses
        /// One record per suffix of house numbers.
        case suffixes
        /// One record per postcode, by its folded text, and a last one.
        case postcodes
        /// The streets of every postcode, ascending.
        case postcodeStreets
        /// One record per word with variants, by its folded text, and a last one.
        case shortForms
        /// The words of the vocabulary that a short form may stand for.
        case longForms
        /// Rectangles around streets in the order of the next section; then around every 16, …
        case streetRectangles
        /// The streets along a space-filling curve.
        case streetOrder
        /// First entry of each street's segments in the next section; one more ends the last.
        case segmentStarts
        /// One record per segment of a street, by street, and a last one.
        case segments
        /// The vertices of every segment, in the direction of its line.
        case vertices
        /// One record per country and first-level division with borders, the smaller first.
        case areas
        /// The vertices of the areas' rings, area by area.
        case areaVertices
        /// The index over the areas, as `SpatialIndex` writes it.
        case areaIndex
        /// One record per point of interest, by place.
        case points
        /// One record per category of points of interest, well known ones first.
        case categories
        /// Points of interest as a balanced tree over the unit sphere.
        case nearestPoints
        /// One record per source of the build, in its order.
        case sources
        /// First entry of each set's sources in the next section; one more ends the last.
        case originSets
        /// The sources of every set, ascending.
        case originSetSources
        /// First entry of each place's origins in the next section; one more ends the last.
        case placeOriginStarts
        /// The sources of a place, with its identifiers there.
        case placeOrigins
        /// The sets of sources of streets, run-length encoded.
        case streetOrigins
        /// The sets of sources of houses, run-length encoded.
        case houseOrigins
        /// One record per language of names, ascending by its tag.
        case languages
        /// The names of places by place, then language.
        case languageNames
        /// Streets and house numbers of points of interest, by place.
        case pointAddresses

        /// Size of one record in bytes.
        var recordByteCount: Int {
            switch self {
            case .text, .keyText, .vocabularyText, .wordKinds, .areaIndex: 1
            case .weights: 2
            case .placeKeys, .wordPostings, .endings, .vocabularyEndings, .streetPostings,
                .townPostingStarts, .townPostings, .nameWords, .postcodeStreets, .longForms,
                .streetOrder, .segmentStarts, .originSets, .originSetSources, .placeOriginStarts:
                4
            case .keys, .vocabulary, .suffixes, .vertices, .categories, .streetOrigins,
                .houseOrigins, .languages:
                8
            case .postings, .trie, .words, .countries, .vocabularyTree, .towns, .houses, .postcodes,
                .shortForms, .areas, .points, .languageNames:
                12
            case .regions, .streetRectangles, .areaVertices, .placeOrigins: 16
            case .pointAddresses: 20
            case .segments: 24
            case .nearest, .nearestPoints, .streets, .sources: 32
            case .places: 72
            }
        }
    }
}

/// The kind of a place.
enum PlaceKind: UInt8 {
    /// A sovereign state or dependent territory with a country code.
    case country = 1
    /// A first-level division.
    case region
    /// A second-level division.
    case subregion
    /// A city, town, village or part of one.
    case settlement
    /// Any other named feature: a shop, a station, a mountain.
    case pointOfInterest
}

/// The relation of a name to its place.
enum NameRole: UInt8 {
    /// The usual name.
    case name = 0
    /// A variant of the usual name: ASCII, `ue` for `ü`, `St` for `Saint`.
    case variant
    /// Another name with the same first letters: `Roma` for `Rome`, `Naples` for `Napoli`.
    case cognate
    /// Another name, in any language and script.
    case alternate
    /// A code or abbreviation: `DE`, `DEU`, `TX`.
    case code
    /// For a region, a second-level division in it that is no place, because its position is
    /// unknown. It matches words of a text as context, and is no answer.
    case part
}
