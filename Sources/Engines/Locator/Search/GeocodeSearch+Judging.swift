// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

// Scores names with their containing places: matched words, and the penalty of the rest.
extension GeocodeSearch {
    /// Scores every place of a name as a match of the text; returns whether one was kept.
    @discardableResult
    mutating func consider(
        _ key: Int, span: Range<Int>, quality: Double, type: MatchType, leastWeight: Double = 0,
        most: Int = GeocodeSearch.mostPostings, _ bytes: RawSpan
    ) -> Bool {
        var isKept = false
        for number in file.postings(key, bytes).prefix(most) {
            let posting = file.posting(number, bytes)
            let place = posting.place
            guard posting.role != .part, filter.accepts(place, file, bytes),
                text.allows(file.kind(place, bytes), at: span)
            else { continue }
            let chain = file.containers(place, bytes)
            let isPoint = file.kind(place, bytes) == .pointOfInterest
            var quality =
                posting.isTransliterated ? quality * (1 - ranking.places.transliterated) : quality
            if isPoint, quality == 1, lacksKind(key, posting, named: scoring.mask(span), bytes) {
                quality -= ranking.places.words
            }
            let kind = isPoint ? kindWords(of: place, named: scoring.mask(span), bytes) : 0
            var (score, isCertain, isSupposed) = score(
                span: span, quality: quality, chain: chain, isPoint: isPoint, kind: kind,
                takesParts: takesParts(
                    place, posting.role, named: scoring.mask(span), quality: quality,
                    chain: chain, bytes), bytes)
            if !isCertain { score = min(score, ranking.score.uncertain) }
            guard score >= ranking.score.least,
                isCertain || scoring(isPoint: isPoint).street & scoring.mask(span) == 0
            else { continue }
            var reading = Reading(
                place: place, score: score, type: type,
                weight: filter.weight(
                    of: place,
                    less: filter.penalty(ranking.roles, posting, number, file, bytes), file, bytes),
                span: span, quality: quality, posting: number, isBeginning: type == .prefix,
                isBetterKnown: leastWeight > 0, isPoint: isPoint, isSupposed: isSupposed)
            if type == .exact {
                let isOwnName = posting.role == .name || posting.role == .variant
                reading.type =
                    posting.isTransliterated
                    ? .alternateName : !isCertain ? .fuzzy : isOwnName ? .exact : .alternateName
            }
            // Alternate names of hamlets and of points of interest have negative weight.
            guard leastWeight == 0 || reading.weight >= leastWeight else { continue }
            if best[place].map({ reading.precedes($0) }) ?? true { best[place] = reading }
            isKept = true
        }
        return isKept
    }

    /// The score of a name with its containing places, whether every word matched exactly, and
    /// whether a containing division was assumed.
    private mutating func score(
        span: Range<Int>, quality: Double, chain: [Int], isPoint: Bool, kind: UInt64,
        takesParts: Bool, _ bytes: RawSpan
    ) -> (score: Double, isCertain: Bool, isSupposed: Bool) {
        let again = repeats(of: span)
        var (explained, divisions, isSupposed) = masks(
            named: scoring.mask(span), takesParts: takesParts, chain: chain, isPoint: isPoint)
        explained |= kind
        let isAgain = again.mask & ~explained != 0
        if isAgain { explained |= again.mask }
        let scoring = scoring(isPoint: isPoint)
        var lost = scoring.weight(span) * (1 - quality)
        let rest = scoring.all & ~explained
        var isCertain = rest == 0 && quality == 1 && (again.isApart || !isAgain)
        for run in scoring.runs(of: rest) {
            var pieces: [Piece] = []
            lost += lostByRun(
                run, chain: chain, divisions: divisions, scoring, &pieces, bytes)
            isCertain = false
        }
        return (scoring.score(lost: lost), isCertain, isSupposed)
    }

    /// The weights of words for a place, or for a point of interest.
    func scoring(isPoint: Bool) -> Scoring { isPoint ? pointScoring : scoring }

    /// The words that repeat the name, as for a town in a division of the same name, and whether
    /// commas separate them from it.
    func repeats(of span: Range<Int>) -> (mask: UInt64, isApart: Bool) {
        guard hasRepeats, text.fields.isEmpty else { return (0, true) }
        var result: (mask: UInt64, isApart: Bool) = (0, true)
        let name = text.bytes[text.span(span)]
        for (other, _) in names
        where other.count == span.count && !other.overlaps(span)
            && result.mask & scoring.mask(other) == 0 && text.bytes[text.span(other)] == name
        {
            result.mask |= scoring.mask(other)
            if text.segments[other.lowerBound] == text.segments[span.lowerBound] {
                result.isApart = false
            }
        }
        return result
    }

    /// The words that match the name or exactly a containing place, known or assumed, those that
    /// name other divisions (for a point of interest also towns), and whether a division was
    /// assumed.
    func masks(
        named: UInt64, takesParts: Bool, chain: [Int], isPoint: Bool
    ) -> (explained: UInt64, divisions: UInt64, isSupposed: Bool) {
        var explained = named
        var divisions: UInt64 = 0
        var isSupposed = false
        for qualifier in qualifiers {
            let mask = scoring.mask(qualifier.span)
            if mask & named != 0 { continue }
            if chain.contains(where: qualifier.places.contains) {
                explained |= mask
            } else if takesParts && isPart(qualifier, named: named, chain: chain) {
                explained |= mask
                isSupposed = true
            } else if qualifier.hasArea || isPoint && qualifier.hasTown {
                divisions |= mask
            }
        }
        return (explained, divisions, isSupposed)
    }

    /// Whether second-level divisions of its region may be assumed to contain a place: it is a
    /// settlement or less, its own is unknown, and its name matches exactly and is more than a
    /// generic word or the usual one.
    func takesParts(
        _ place: Int, _ role: NameRole, named: UInt64, quality: Double, chain: [Int],
        _ bytes: RawSpan
    ) -> Bool {
        quality == 1 && file.kind(place, bytes).rawValue >= PlaceKind.settlement.rawValue
            && (named & ~scoring.fillers != 0 || role == .name || role == .variant)
            && !chain.contains { file.kind($0, bytes) == .subregion }
    }

    /// Whether a qualifier behind the name is a second-level division of the place's region; in
    /// several words, or separated from the name by a comma, since single words are more often a
    /// part of a name.
    func isPart(_ qualifier: Qualifier, named: UInt64, chain: [Int]) -> Bool {
        let start = qualifier.span.lowerBound
        return named < scoring.mask(start..<start + 1)
            && chain.contains(where: qualifier.parts.contains)
            && (qualifier.span.count > 1
                || text.segments[start] != text.segments[named.trailingZeroBitCount])
    }

    /// Words without an exact match: similar to the name of an area, or lost.
    struct Piece {
        var span: Range<Int>
        var area: Int?
        var contradicts: Bool
        var lost: Double
    }

    /// The penalty of words that match no name of a containing division exactly.
    mutating func lostByRun(
        _ run: Range<Int>, chain: [Int], divisions: UInt64, _ scoring: Scoring,
        _ pieces: inout [Piece], _ bytes: RawSpan
    ) -> Double {
        var like: (value: Double, area: Int?) = (0, nil)
        for area in chain {
            let value = likeness(of: run, to: area, bytes)
            if value > like.value { like = (value, area) }
        }
        if like.value > 0 {
            let lost = scoring.weight(run) * (1 - like.value)
            pieces.append(Piece(span: run, area: like.area, contradicts: false, lost: lost))
            return lost
        }
        if run.count == 1 {
            // The name of another division contradicts; any other word is merely unknown.
            let contradicts = scoring.mask(run) & divisions != 0
            let lost =
                scoring.weight(run)
                * (contradicts ? ranking.places.otherDivision : ranking.places.unexplained)
            pieces.append(Piece(span: run, area: nil, contradicts: contradicts, lost: lost))
            return lost
        }
        var lost = 0.0
        for word in run {
            lost += lostByRun(
                word..<word + 1, chain: chain, divisions: divisions, scoring, &pieces, bytes)
        }
        return lost
    }

    /// The similarity of a run of words to a name of a division, 0…1: a prefix, or typos.
    private mutating func likeness(of run: Range<Int>, to area: Int, _ bytes: RawSpan) -> Double {
        let known = LikenessKey(area: area, span: run)
        if let value = likeness[known] { return value }
        let letters = scoring.letters(run)
        let wanted = text.bytes[text.span(run)]
        var value = 0.0
        if letters >= 3, text.allows(file.kind(area, bytes), at: run) {
            let limit = TypoSearch.allowedErrors(letters: letters)
            let measure = LetterCounts(wanted)
            for key in file.keys(ofPlace: area, bytes) {
                if file.key(key, beginsWith: wanted, bytes) {
                    value = max(value, 1 - ranking.places.divisionBeginning)
                }
                guard limit > 0 else { continue }
                let range = file.keyText(key, bytes)
                // A letter has four bytes at most.
                guard abs(range.count - wanted.count) <= 4 * limit,
                    measure.mayDiffer(from: LetterCounts(range, bytes), by: limit)
                else { continue }
                let name = file.keyBytes(key, bytes)
                if let errors = TypoSearch.errors(wanted, name[...], limit: limit) {
                    value = max(value, 1 - Double(errors) / Double(letters))
                }
            }
        }
        likeness[known] = value
        return value
    }
}

/// Numbers of letters and of non-ASCII letters in UTF-8: a cheap lower bound of the edit distance.
private struct LetterCounts {
    private var letters = 0
    private var beyondASCII = 0

    init(_ text: ArraySlice<UInt8>) {
        for byte in text { add(byte) }
    }

    init(_ range: Range<Int>, _ bytes: RawSpan) {
        for offset in range { add(bytes.byte(at: offset)) }
    }

    private mutating func add(_ byte: UInt8) {
        if byte & 0xC0 != 0x80 { letters += 1 }
        if byte >= 0xC0 { beyondASCII += 1 }
    }

    /// False where the optimal string alignment distance certainly exceeds the limit.
    func mayDiffer(from other: LetterCounts, by limit: Int) -> Bool {
        abs(letters - other.letters) <= limit && abs(beyondASCII - other.beyondASCII) <= limit
    }
}
