// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

// What a name, with what contains its places, explains of the text, and what the rest of it costs.
extension GeocodeSearch {
    /// Weighs every place of a name as a reading of the text; whether one was kept.
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
            // Other names of hamlets and of points of interest weigh less than nothing.
            guard leastWeight == 0 || reading.weight >= leastWeight else { continue }
            if best[place].map({ reading.precedes($0) }) ?? true { best[place] = reading }
            isKept = true
        }
        return isKept
    }

    /// The score of a name with what contains it, whether every word was certain, and whether a
    /// division was supposed to contain it.
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

    /// What words of a text weigh for a place, or for a point of interest.
    func scoring(isPoint: Bool) -> Scoring { isPoint ? pointScoring : scoring }

    /// The words that are the same name again, as of a town in a division that is called like it,
    /// and whether commas part them from it.
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

    /// The words that are the name or letter by letter what contains it or is supposed to, those
    /// that name divisions which do not (of a point of interest also towns), and whether anything
    /// was supposed.
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

    /// Whether second-level divisions of its region may explain what a place is in: it is a
    /// settlement or less, in none that is known, and its name, letter by letter, says more than a
    /// sort of place or is the usual one.
    func takesParts(
        _ place: Int, _ role: NameRole, named: UInt64, quality: Double, chain: [Int],
        _ bytes: RawSpan
    ) -> Bool {
        quality == 1 && file.kind(place, bytes).rawValue >= PlaceKind.settlement.rawValue
            && (named & ~scoring.fillers != 0 || role == .name || role == .variant)
            && !chain.contains { file.kind($0, bytes) == .subregion }
    }

    /// Whether a qualifier behind the name is a second-level division of the place's region; in
    /// several words, or parted from the name by a comma, since single words are more often a part
    /// of a name.
    func isPart(_ qualifier: Qualifier, named: UInt64, chain: [Int]) -> Bool {
        let start = qualifier.span.lowerBound
        return named < scoring.mask(start..<start + 1)
            && chain.contains(where: qualifier.parts.contains)
            && (qualifier.span.count > 1
                || text.segments[start] != text.segments[named.trailingZeroBitCount])
    }

    /// Words that no name explains letter by letter: like the name of an area, or lost.
    struct Piece {
        var span: Range<Int>
        var area: Int?
        var contradicts: Bool
        var lost: Double
    }

    /// What words cost that no name of a containing division explains letter by letter.
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
            // A division that the place is not in contradicts; any other word is just unknown.
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

    /// How like a run of words is to a name of a division, 0…1: its beginning, or it with errors.
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

/// How many letters UTF-8 has, and how many of them are not ASCII: enough to see that two texts
/// differ by more than some errors.
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

    /// False where optimal string alignment has certainly more errors.
    func mayDiffer(from other: LetterCounts, by limit: Int) -> Bool {
        abs(letters - other.letters) <= limit && abs(beyondASCII - other.beyondASCII) <= limit
    }
}
