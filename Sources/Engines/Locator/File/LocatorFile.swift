// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import ICU
internal import Platform

/// An opened, validated locator file.
///
/// The bytes are passed to each call. Every offset and index was validated on opening, so reads
/// stay within the file.
struct LocatorFile: Sendable {
    let placeCount: Int
    /// The folded names, called keys here.
    let names: StoredNames
    /// Streets and houses; nil in a file of places only.
    let addresses: AddressFile?
    /// Borders of countries and divisions; nil in a file without.
    let borders: BorderFile?
    /// Points of interest; nil in a file without any.
    let points: PointFile?
    /// The origins of its records; nil in a file without.
    let origins: OriginFile?
    /// Names by language; nil in a file without any.
    let languages: LanguageFile?
    /// Streets and house numbers of points of interest.
    let pointAddresses: PointAddressFile?
    /// The languages of labels, by preference; empty for usual names.
    private(set) var shown: (languages: [Int], code: String) = ([], "")
    let wordCount: Int
    /// The settlements.
    let nearest: StoredPositions
    let countryCount: Int
    let regionCount: Int
    let postingCount: Int
    let endingCount: Int
    /// First entry of each level of weights; level 0 is the keys' own.
    let weightLevels: [Int]
    private let starts: InlineArray<14, Int>
    /// The ranking model of its answers.
    let ranking: Ranking

    init(
        sections: [Range<Int>], weightLevels: [Int], ranking: Ranking, borders: BorderFile?
    ) {
        self.ranking = ranking
        self.borders = borders
        func count(_ section: LocatorLayout.Section) -> Int {
            sections[section.rawValue].count / section.recordByteCount
        }
        starts = InlineArray { sections[$0].lowerBound }
        placeCount = count(.places)
        names = StoredNames(
            count: count(.keys) - 1, nodeCount: count(.trie),
            textStart: sections[LocatorLayout.Section.keyText.rawValue].lowerBound,
            recordStart: sections[LocatorLayout.Section.keys.rawValue].lowerBound,
            treeStart: sections[LocatorLayout.Section.trie.rawValue].lowerBound,
            endingsStart: sections[LocatorLayout.Section.endings.rawValue].lowerBound)
        wordCount = count(.words) - 1
        nearest = StoredPositions(sections[LocatorLayout.Section.nearest.rawValue])
        countryCount = count(.countries)
        regionCount = count(.regions)
        postingCount = count(.postings)
        endingCount = count(.endings)
        self.weightLevels = weightLevels
        let hasAddresses =
            sections.count > LocatorLayout.placeSectionCount
            && !sections[LocatorLayout.Section.streets.rawValue].isEmpty
        addresses = hasAddresses ? AddressFile(sections: sections) : nil
        let points = LocatorLayout.Section.points.rawValue
        let hasPoints = sections.count > points && !sections[points].isEmpty
        self.points = hasPoints ? PointFile(sections: sections) : nil
        let tellsOrigins = sections.count > LocatorLayout.Section.sources.rawValue
        origins = tellsOrigins ? OriginFile(sections: sections) : nil
        languages = tellsOrigins ? LanguageFile(sections: sections) : nil
        pointAddresses = tellsOrigins ? PointAddressFile(sections: sections) : nil
    }

    /// The same file with labels in a language, as far as places have a name in it.
    func shown(in tag: LanguageTag?, _ bytes: RawSpan) -> LocatorFile {
        guard let tag, let languages else { return self }
        var file = self
        file.shown = (languages.languages(for: tag, bytes), tag.bibliographic)
        return file
    }

    /// The name of a place in the language of labels; nil for none.
    func nameInLanguage(_ place: Int, _ bytes: RawSpan) -> String? {
        shown.languages.isEmpty
            ? nil : languages?.name(of: place, in: shown.languages, bytes)
    }

    var keyCount: Int { names.count }

    /// Byte offset of a record in a section.
    @inline(__always)
    func offset(_ section: LocatorLayout.Section, _ record: Int = 0) -> Int {
        starts[section.rawValue] + record * section.recordByteCount
    }

    // MARK: Places

    func location(_ place: Int, _ bytes: RawSpan) -> Coordinate {
        let at = offset(.places, place)
        return Coordinate(x: bytes.double(at: at), y: bytes.double(at: at + 8))
    }

    /// The extent around the place; longitudes may pass ±180.
    func extent(_ place: Int, _ bytes: RawSpan) -> Envelope {
        let at = offset(.places, place)
        let center = location(place, bytes)
        func delta(_ number: Int) -> Double {
            Double(Float(bitPattern: bytes.uint32(at: at + 16 + 4 * number)))
        }
        return Envelope(
            minX: center.x - delta(0), minY: max(-90, center.y - delta(1)),
            maxX: center.x + delta(2), maxY: min(90, center.y + delta(3)))
    }

    func population(_ place: Int, _ bytes: RawSpan) -> UInt64 {
        bytes.uint64(at: offset(.places, place) + 32)
    }

    func sourceID(_ place: Int, _ bytes: RawSpan) -> UInt32 {
        bytes.uint32(at: offset(.places, place) + 40)
    }

    func name(_ place: Int, _ bytes: RawSpan) -> String {
        let at = offset(.places, place)
        return text(Int(bytes.uint32(at: at + 44)), Int(bytes.uint16(at: at + 48)), bytes)
    }

    func kind(_ place: Int, _ bytes: RawSpan) -> PlaceKind {
        PlaceKind(rawValue: bytes.byte(at: offset(.places, place) + 50)) ?? .settlement
    }

    func settlementKind(_ place: Int, _ bytes: RawSpan) -> SettlementKind {
        SettlementKind(rawValue: bytes.byte(at: offset(.places, place) + 51)) ?? .other
    }

    /// The country of a place, itself for a country; nil when unknown.
    func country(_ place: Int, _ bytes: RawSpan) -> Int? { container(place, 52, bytes) }

    /// The region of a place, itself for a region; nil when unknown.
    func region(_ place: Int, _ bytes: RawSpan) -> Int? { container(place, 56, bytes) }

    /// The second-level division of a place; nil when unknown.
    func subregion(_ place: Int, _ bytes: RawSpan) -> Int? { container(place, 60, bytes) }

    /// The places that contain a place, from the largest: country, region, second-level division,
    /// each itself included, and for a point of interest its town.
    func containers(_ place: Int, _ bytes: RawSpan) -> [Int] {
        [
            country(place, bytes), region(place, bytes), subregion(place, bytes),
            town(ofPoint: place, bytes),
        ].compactMap(\.self)
    }

    /// The town of a point of interest; nil for other places and where unknown.
    func town(ofPoint place: Int, _ bytes: RawSpan) -> Int? {
        guard let points, kind(place, bytes) == .pointOfInterest else { return nil }
        return points.town(place, bytes)
    }

    private func container(_ place: Int, _ field: Int, _ bytes: RawSpan) -> Int? {
        let number = bytes.uint32(at: offset(.places, place) + field)
        return number == LocatorLayout.none ? nil : Int(number)
    }

    func importance(_ place: Int, _ bytes: RawSpan) -> UInt16 {
        bytes.uint16(at: offset(.places, place) + 64)
    }

    /// The keys of all its names.
    func keys(ofPlace place: Int, _ bytes: RawSpan) -> [Int] {
        let at = offset(.places, place)
        let count = Int(bytes.uint16(at: at + 66))
        let first = offset(.placeKeys, Int(bytes.uint32(at: at + 68)))
        return (0..<count).map { Int(bytes.uint32(at: first + 4 * $0)) }
    }

    func text(_ start: Int, _ count: Int, _ bytes: RawSpan) -> String {
        let at = offset(.text) + start
        return String(decoding: bytes.copy(at..<at + count), as: UTF8.self)
    }

    // MARK: Countries and regions

    /// Alpha-2 and alpha-3 code of a country; empty where unknown.
    func countryCodes(_ place: Int, _ bytes: RawSpan) -> (alpha2: String, alpha3: String) {
        guard let at = find(place, .countries, countryCount, bytes) else { return ("", "") }
        func code(_ range: Range<Int>) -> String {
            String(decoding: bytes.copy(range).prefix { $0 != 0 }, as: UTF8.self)
        }
        return (code(at + 4..<at + 6), code(at + 6..<at + 12))
    }

    /// The abbreviation of a region; empty for none.
    func abbreviation(_ place: Int, _ bytes: RawSpan) -> String {
        guard let at = find(place, .regions, regionCount, bytes) else { return "" }
        return text(Int(bytes.uint32(at: at + 8)), Int(bytes.uint16(at: at + 14)), bytes)
    }

    private func find(
        _ place: Int, _ section: LocatorLayout.Section, _ count: Int, _ bytes: RawSpan
    ) -> Int? {
        var range = 0..<count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let found = Int(bytes.uint32(at: offset(section, middle)))
            if found == place { return offset(section, middle) }
            range = found < place ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    // MARK: Names

    /// The byte range of a key.
    @inline(__always)
    func keyText(_ key: Int, _ bytes: RawSpan) -> Range<Int> { names.text(key, bytes) }

    /// The posting list of a key.
    func postings(_ key: Int, _ bytes: RawSpan) -> Range<Int> { names.postings(key, bytes) }

    func posting(_ number: Int, _ bytes: RawSpan) -> Posting {
        let at = offset(.postings, number)
        return Posting(
            number: number, place: Int(bytes.uint32(at: at)),
            role: NameRole(rawValue: bytes.byte(at: at + 10)) ?? .alternate,
            isTransliterated: bytes.byte(at: at + 11) == 1)
    }

    /// The display text of a posting.
    func text(ofPosting number: Int, _ bytes: RawSpan) -> String {
        let at = offset(.postings, number)
        return text(Int(bytes.uint32(at: at + 4)), Int(bytes.uint16(at: at + 8)), bytes)
    }

    /// A name of a place.
    struct Posting {
        var number: Int
        var place: Int
        var role: NameRole
        /// Whether the key is a romanisation of the name.
        var isTransliterated: Bool
    }

    // MARK: Words

    /// The byte range of a word.
    func wordText(_ word: Int, _ bytes: RawSpan) -> Range<Int> {
        let at = offset(.words, word)
        let start = offset(.keyText) + Int(bytes.uint32(at: at))
        return start..<start + Int(bytes.uint32(at: at + 4))
    }

    /// The posting list of a word in the list of keys.
    func wordPostings(_ word: Int, _ bytes: RawSpan) -> Range<Int> {
        let at = offset(.words, word)
        return Int(bytes.uint32(at: at + 8))..<Int(bytes.uint32(at: at + 20))
    }

    func key(atWordPosting number: Int, _ bytes: RawSpan) -> Int {
        Int(bytes.uint32(at: offset(.wordPostings, number)))
    }
}
