// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// The place search of one geocode: matches the words of a text with a name and its containing
/// places, in every way the names in the file allow, and keeps the best match of each place.
///
/// `Docs/locator-ranking.md` states the ranking. The order of the passes: exact names; then, only
/// if no place matches every word, prefixes of names, typos, and names that contain the words among
/// others.
struct GeocodeSearch {
    let file: LocatorFile
    let text: FoldedText
    let filter: PlaceFilter
    let wordCount: Int
    let scoring: Scoring
    /// The scoring of points of interest, in which a house number has its full weight.
    let pointScoring: Scoring
    let ranking: Ranking
    /// Runs of words that name countries, regions or second-level divisions.
    private(set) var qualifiers: [Qualifier] = []
    /// The key of every run of words that is a name.
    private(set) var names: [(span: Range<Int>, key: Int)] = []
    /// Runs of words for a kind of point of interest, with the numbers of categories.
    var kinds: [(span: Range<Int>, categories: Set<Int>)] = []
    var best: [Int: Reading] = [:]
    var likeness: [LikenessKey: Double] = [:]
    /// Whether a word occurs twice.
    let hasRepeats: Bool
    /// Rearranged or split variants of the text, each with its penalty as a share of the weight.
    private(set) var arrangements: [(text: FoldedText, lost: Double)] = []

    /// A match of the text with a place.
    struct Reading {
        var place: Int
        /// The score, 0…100.
        var score: Double
        var type: MatchType
        /// Tie-break between equal scores, greater first.
        var weight: Double
        /// The words of its name, the share of their weight that counts, and the posting of the
        /// name.
        var span = 0..<0
        var quality = 1.0
        var posting = 0
        var isBeginning = false
        /// The index in ``arrangements``; nil for the text as it is.
        var arrangement: Int?
        /// Whether it is kept despite a better match of every word: a better known place with a
        /// similar name.
        var isBetterKnown = false
        /// Points of interest follow all other places of the same score.
        var isPoint = false
        /// Whether it is only assumed to be in a second-level division of the text: its own is
        /// unknown.
        var isSupposed = false

        func precedes(_ other: Reading) -> Bool {
            if score != other.score { return score > other.score }
            if isPoint != other.isPoint { return other.isPoint }
            if isSupposed != other.isSupposed { return other.isSupposed }
            if weight != other.weight { return weight > other.weight }
            return place < other.place
        }
    }

    struct Qualifier {
        var span: Range<Int>
        /// Divisions and countries; in a file with points of interest settlements as well, which
        /// contain them.
        var places: Set<Int>
        /// Regions with second-level divisions of the name: they match for places in the region
        /// whose second-level division is unknown.
        var parts: Set<Int> = []
        /// Whether a division or country is among them, and whether an inhabited settlement is.
        var hasArea = false
        var hasTown = false
    }

    struct LikenessKey: Hashable {
        var area: Int
        var span: Range<Int>
    }

    /// Limit of words; further ones are ignored.
    static let mostWords = 32
    /// Limit of words looked up as one name.
    static let longestSpan = 10

    /// - Parameter isStreetUnknown: Whether no street matches the text, so that a street type and
    ///   the words next to it, between commas, have little weight for the place.
    init(
        file: LocatorFile, text: FoldedText, filter: PlaceFilter, isStreetUnknown: Bool = false
    ) {
        self.file = file
        self.text = text
        self.filter = filter
        wordCount = min(text.words.count, Self.mostWords)
        hasRepeats = Set(text.words.map { text.bytes[$0] }).count < text.words.count
        scoring = Scoring(
            text, file.ranking, knowsPostcodes: file.addresses != nil,
            isStreetUnknown: isStreetUnknown)
        pointScoring =
            file.points == nil
            ? scoring
            : Scoring(
                text, file.ranking, knowsPostcodes: file.addresses != nil, mayBeAddress: false)
        ranking = file.ranking
    }

    /// Finds the matches of the text, best first.
    ///
    /// - Parameter takesSlips: Whether to search for names with typos, missing spaces, or another
    ///   order.
    mutating func run(takesSlips: Bool = true, _ bytes: RawSpan) -> [Reading] {
        lookUpNames(bytes)
        lookUpKinds(bytes)
        for (span, key) in names { consider(key, span: span, quality: 1, type: .exact, bytes) }
        if bestComplete == nil { findKinds(bytes) }
        if let complete = bestComplete {
            addBetterKnown(than: complete, bytes)
        } else {
            let spans = nameSpans()
            findBeginnings(spans, bytes)
            if takesSlips { findTypos(spans, mostErrors: 1, bytes) }
            findWords(spans, bytes)
            if takesSlips {
                findGlued(bytes)
                if (best.values.map(\.score).max() ?? 0) < 85 {
                    findTypos(spans, mostErrors: 2, bytes)
                }
                findRearranged(bytes)
            }
        }
        return ranked()
    }

    private var bestComplete: Reading? {
        var result: Reading?
        for reading in best.values where reading.score == 100 {
            if result.map(reading.precedes) ?? true { result = reading }
        }
        return result
    }

    private func ranked() -> [Reading] {
        let sorted = best.values.sorted { $0.precedes($1) }
        guard let first = sorted.first else { return [] }
        if first.score == 100 {
            return sorted.filter {
                $0.score == 100 || $0.isBetterKnown
            }
        }
        let least = max(ranking.score.least, first.score - ranking.score.gap)
        return sorted.filter { $0.score >= least }
    }

    // MARK: Look-ups of names

    mutating func lookUpNames(_ bytes: RawSpan) {
        for start in 0..<wordCount {
            for end in start + 1...min(wordCount, start + Self.longestSpan) {
                let span = text.bytes[text.span(start..<end)]
                let key = file.firstKey(from: span, bytes)
                guard key < file.keyCount, file.key(key, beginsWith: span, bytes) else { break }
                guard file.keyText(key, bytes).count == span.count else { continue }
                names.append((start..<end, key))
                let qualifier = qualifier(of: key, at: start..<end, bytes)
                if !qualifier.places.isEmpty || !qualifier.parts.isEmpty {
                    qualifiers.append(qualifier)
                }
            }
        }
    }

    /// The containing places among the places of a name.
    private func qualifier(of key: Int, at span: Range<Int>, _ bytes: RawSpan) -> Qualifier {
        var result = Qualifier(span: span, places: [])
        for number in file.postings(key, bytes).prefix(Self.mostPostings) {
            let posting = file.posting(number, bytes)
            let place = posting.place
            let kind = posting.role == .part ? .subregion : file.kind(place, bytes)
            guard text.allows(kind, at: span) else { continue }
            if kind == .subregion, let region = file.region(place, bytes) {
                result.parts.insert(region)
            }
            guard posting.role != .part else { continue }
            switch kind {
            case .pointOfInterest: continue
            case .settlement:
                guard file.points != nil else { continue }
                if file.population(place, bytes) > 0 { result.hasTown = true }
            case .country, .region, .subregion: result.hasArea = true
            }
            result.places.insert(place)
        }
        return result
    }

    /// Limit of places examined per name, most important first.
    static let mostPostings = 4_096

    /// Spans of inexact names: between the borders of segments, and wherever the words before match
    /// containing places.
    private func nameSpans() -> [Range<Int>] {
        guard wordCount > 0 else { return [] }
        var covered = scoring.fillers
        for qualifier in qualifiers { covered |= scoring.mask(qualifier.span) }
        var result: [Range<Int>] = []
        for start in 0..<wordCount {
            let isFirst = start == 0 || text.segments[start] != text.segments[start - 1]
            let before = scoring.mask(0..<start)
            guard isFirst || before & ~covered == 0 else { continue }
            var end = start
            while end < min(wordCount, start + 6), text.segments[end] == text.segments[start] {
                end += 1
                result.append(start..<end)
            }
        }
        return Array(result.prefix(12))
    }

    // MARK: Passes

    /// Matches prefixes of names.
    private mutating func findBeginnings(_ spans: [Range<Int>], _ bytes: RawSpan) {
        for span in spans {
            let isAtEnd = span.upperBound == wordCount
            guard isAtEnd || text.segments[span.upperBound] != text.segments[span.lowerBound],
                !names.contains(where: { $0.span == span })
            else { continue }
            let wanted = text.bytes[text.span(span)]
            let letters = scoring.letters(span)
            guard letters >= 2 || wanted.count > 2 else { continue }
            var heaviest = HeaviestKeys(file.keys(beginningWith: wanted, bytes), of: file, bytes)
            var accepted = 0
            for _ in 0..<3_000 {
                guard accepted < 30, let (key, _) = heaviest.next(bytes) else { break }
                let text = file.keyText(key, bytes)
                if text.count == wanted.count { continue }
                let isWord = bytes.byte(at: text.lowerBound + wanted.count) == UInt8(ascii: " ")
                let quality =
                    1
                    - (isWord
                        ? ranking.places.wholeWords
                        : ranking.places.insideWord
                            + ranking.places.insideWordByLetters / Double(letters))
                if consider(key, span: span, quality: quality, type: .prefix, most: 32, bytes) {
                    accepted += 1
                }
            }
        }
    }

    /// Matches names with typos.
    private mutating func findTypos(
        _ spans: [Range<Int>], mostErrors: Int, leastWeight: Double = 0, _ bytes: RawSpan
    ) {
        for span in spans {
            let letters = scoring.letters(span)
            guard TypoSearch.allowedErrors(letters: letters) >= mostErrors else { continue }
            var search = TypoSearch(text.bytes[text.span(span)], limit: mostErrors)
            for (key, errors) in search.run(file.names, bytes) where errors > 0 {
                let quality = 1 - Double(errors) / Double(letters)
                consider(
                    key, span: span, quality: quality, type: .fuzzy, leastWeight: leastWeight,
                    most: 256, bytes)
            }
        }
    }

    /// Matches names that contain all the words, in any order.
    private mutating func findWords(_ spans: [Range<Int>], _ bytes: RawSpan) {
        for span in spans + spansOverSegments()
        where scoring.letters(span) >= 4 && !names.contains(where: { $0.span == span }) {
            let words = span.map { text.bytes[text.words[$0]] }
            let found = words.compactMap { file.word($0, bytes) }
            guard found.count == words.count,
                let rarest = found.min(by: {
                    file.wordPostings($0, bytes).count < file.wordPostings($1, bytes).count
                })
            else { continue }
            var accepted = 0
            for number in file.wordPostings(rarest, bytes).prefix(2_000) where accepted < 30 {
                let key = file.key(atWordPosting: number, bytes)
                guard words.allSatisfy({ file.key(key, hasWord: $0, bytes) }) else { continue }
                if consider(
                    key, span: span, quality: 1 - ranking.places.words, type: .prefix, most: 32,
                    bytes)
                {
                    accepted += 1
                }
            }
        }
    }

    /// The first words up to each place where only names of divisions follow, over segments.
    private func spansOverSegments() -> [Range<Int>] {
        guard wordCount > 1 else { return [] }
        var covered: UInt64 = 0
        for qualifier in qualifiers { covered |= scoring.mask(qualifier.span) }
        return (2...min(wordCount, 6)).filter { end in
            text.segments[end - 1] != text.segments[0]
                && scoring.mask(end..<wordCount) & ~covered == 0
        }.map { 0..<$0 }
    }

    /// Matches names with the name of a division between their words: `Miami Florida Beach`.
    private mutating func findRearranged(_ bytes: RawSpan) {
        for qualifier in qualifiers.prefix(Self.mostArrangements)
        where text.fields.isEmpty && qualifier.hasArea && qualifier.span.lowerBound > 0
            && qualifier.span.upperBound < wordCount
        {
            find(text.putting(qualifier.span, lastOf: wordCount), ranking.places.rearranged, bytes)
        }
    }

    /// Matches names with missing spaces, also together with a division's: `santacruzdetenerife`,
    /// `lisbonportugal`.
    private mutating func findGlued(_ bytes: RawSpan) {
        for number in 0..<wordCount
        where text.letters[number] >= 6
            && !names.contains(where: { $0.span == number..<number + 1 })
        {
            for borders in file.partings(of: text.bytes[text.words[number]], bytes) {
                find(text.parting(number, at: borders), ranking.addresses.together, bytes)
            }
        }
    }

    /// Searches for a variant of the text, of which every word must match exactly.
    ///
    /// - Parameter lost: Its penalty as a share of the text's weight.
    private mutating func find(_ other: FoldedText, _ lost: Double, _ bytes: RawSpan) {
        var search = GeocodeSearch(file: file, text: other, filter: filter)
        search.lookUpNames(bytes)
        for (span, key) in search.names {
            search.consider(key, span: span, quality: 1, type: .exact, bytes)
        }
        let number = arrangements.count
        for var reading in search.best.values where reading.score == 100 {
            if arrangements.count == number { arrangements.append((other, lost)) }
            reading.score = scoring.score(lost: scoring.total * lost)
            reading.type = .fuzzy
            reading.arrangement = number
            if best[reading.place].map({ reading.precedes($0) }) ?? true {
                best[reading.place] = reading
            }
        }
    }

    /// Limit of qualifiers tried at the end of the text.
    private static let mostArrangements = 4

    /// Adds well known places whose names are within typos of a bare, little known one.
    private mutating func addBetterKnown(than complete: Reading, _ bytes: RawSpan) {
        let all = 0..<wordCount
        guard complete.weight < ranking.places.littleKnownBelow, wordCount <= 6,
            names.contains(where: { $0.span == all }),
            text.segments[wordCount - 1] == text.segments[0]
        else { return }
        findTypos(
            [all], mostErrors: 1, leastWeight: complete.weight + ranking.places.betterKnownBy,
            bytes)
    }
}
