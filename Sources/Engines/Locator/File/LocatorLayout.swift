// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The numbers of the locator file's form; `Docs/locator-format.md` describes them byte by byte.
enum LocatorLayout {
    /// `CRNLOCTR`.
    static let magic = Array("CRNLOCTR".utf8)
    /// How many of the sections, from the first, a file of each version has.
    ///
    /// Version 1 has places, 2 addresses as well, 3 streets as lines with ranges of house numbers,
    /// 4 borders of areas and points of interest, 5 the sources of everything and names in
    /// languages, 6 steps from one house number to the next, 7 names of divisions that are no
    /// places. What is written has the last.
    static let sectionCounts = [14, 33, 36, 42, 52, 52, 52]
    static let version = UInt32(sectionCounts.count)
    static let placeSectionCount = sectionCounts[0]
    /// Before the table of sections.
    static let fixedHeaderByteCount = 64
    /// One entry of the table: offset and byte count.
    static let sectionEntryByteCount = 16
    /// Where the first section begins.
    static func headerByteCount(sections: Int) -> Int {
        fixedHeaderByteCount + sections * sectionEntryByteCount
    }
    /// How many rectangles of streets one of the level above encloses.
    static let rectangleFanout = 16
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
        /// The folded words of streets and towns in ascending order, UTF-8, end to end.
        case vocabularyText
        /// One record per word of the vocabulary, and a last one.
        case vocabulary
        /// The vocabulary as a path-compressed tree, in preorder.
        case vocabularyTree
        /// The words of the vocabulary in the order of their bytes read from the end.
        case vocabularyEndings
        /// What sort of word each is.
        case wordKinds
        /// The streets whose name has a word, ascending.
        case streetPostings
        /// Where the towns of each word begin in the next section; one more ends the last.
        case townPostingStarts
        /// The towns whose name has a word, ascending.
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
        /// One record per word with other writings, by its folded text, and a last one.
        case shortForms
        /// The words of the vocabulary that a short form may stand for.
        case longForms
        /// Rectangles around streets in the order of the next section; then around every 16, …
        case streetRectangles
        /// The streets along a curve that keeps near ones together.
        case streetOrder
        /// Where the segments of each street begin in the next section; one more ends the last.
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
        /// Where the sources of each set begin in the next section; one more ends the last.
        case originSets
        /// The sources of every set, ascending.
        case originSetSources
        /// Where the origins of each place begin in the next section; one more ends the last.
        case placeOriginStarts
        /// The sources that have a place, with its identifiers there.
        case placeOrigins
        /// The sets of sources of streets: one record for neighbours with the same.
        case streetOrigins
        /// The sets of sources of houses: one record for neighbours with the same.
        case houseOrigins
        /// One record per language of names, ascending by its tag.
        case languages
        /// The names of places in languages, by place, then language.
        case languageNames
        /// Streets and house numbers of points of interest, by place.
        case pointAddresses

        /// The bytes of one record.
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
    /// Anything else with a name: a shop, a station, a mountain.
    case pointOfInterest
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
    /// Of a region: a second-level division in it that is no place, because nothing says where it
    /// is. It explains what lies in the region, and is no answer.
    case part
}
