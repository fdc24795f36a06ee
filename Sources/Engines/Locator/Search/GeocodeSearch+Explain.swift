// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

extension GeocodeSearch {
    /// Explains the rank of a candidate: the match of each word, and the tie-breaks.
    mutating func explanation(of reading: Reading, _ bytes: RawSpan) -> Explanation {
        if let arrangement = reading.arrangement {
            let (text, share) = arrangements[arrangement]
            var search = GeocodeSearch(file: file, text: text, filter: filter)
            search.lookUpNames(bytes)
            search.lookUpKinds(bytes)
            var inner = reading
            inner.arrangement = nil
            var result = search.explanation(of: inner, bytes)
            let more = result.weight * share
            result.words.append(
                Explanation.Words(
                    text: "", meaning: .unexplained, match: .rearranged, name: nil, lost: more))
            result.lost += more
            return result
        }
        guard !reading.span.isEmpty else { return kindExplanation(of: reading, bytes) }
        let posting = file.posting(reading.posting, bytes)
        let chain = file.containers(reading.place, bytes)
        let scoring = scoring(isPoint: reading.isPoint)
        let named = scoring.mask(reading.span)
        let match: Explanation.Match =
            posting.isTransliterated
            ? .transliterated
            : reading.quality == 1 ? .exact : reading.isBeginning ? .beginning : .slips
        var words = [
            Explanation.Words(
                text: text(of: reading.span), meaning: .name, match: match,
                name: file.text(ofPosting: reading.posting, bytes),
                lost: scoring.weight(reading.span) * (1 - reading.quality))
        ]
        let takesParts = takesParts(
            reading.place, posting.role, named: named, quality: reading.quality, chain: chain,
            bytes)
        var explained = named
        for qualifier in qualifiers.sorted(by: { $0.span.count > $1.span.count })
        where scoring.mask(qualifier.span) & explained == 0 {
            let area = chain.first(where: qualifier.places.contains)
            let isPart =
                area == nil && takesParts
                && isPart(qualifier, named: named, chain: chain)
            guard area != nil || isPart else { continue }
            explained |= scoring.mask(qualifier.span)
            words.append(
                Explanation.Words(
                    text: text(of: qualifier.span),
                    meaning: area.map { meaning(of: $0, bytes) } ?? .subregion, match: .exact,
                    name: area.map { file.name($0, bytes) }, lost: 0))
        }
        let (all, divisions, _) = masks(
            named: named, takesParts: takesParts, chain: chain, isPoint: reading.isPoint)
        let again = repeats(of: reading.span).mask
        let kind =
            reading.isPoint ? kindWords(of: reading.place, named: named, bytes) & ~(all | again) : 0
        for run in scoring.runs(of: kind) {
            words.append(
                Explanation.Words(
                    text: text(of: run), meaning: .name, match: .exact,
                    name: file.pointCategory(reading.place, bytes), lost: 0))
        }
        for run in scoring.runs(of: scoring.all & ~(all | again | kind)) {
            var pieces: [Piece] = []
            _ = lostByRun(run, chain: chain, divisions: divisions, scoring, &pieces, bytes)
            words += pieces.map { piece in
                Explanation.Words(
                    text: text(of: piece.span),
                    meaning: piece.area.map { meaning(of: $0, bytes) }
                        ?? (piece.contradicts ? .contradiction : .unexplained),
                    match: piece.area == nil ? nil : .slips,
                    name: piece.area.map { file.name($0, bytes) }, lost: piece.lost)
            }
        }
        let role = filter.penalty(ranking.roles, posting, reading.posting, file, bytes)
        return Explanation(
            words: words, weight: scoring.total, lost: words.reduce(0) { $0 + $1.lost },
            order: Explanation.Order(
                importance: Double(file.importance(reading.place, bytes)) / 65_535, role: role,
                nearness: filter.nearness(of: file.location(reading.place, bytes), ranking)))
    }

    /// The explanation of the category of a point of interest, where the text has one.
    private func kindExplanation(of reading: Reading, _ bytes: RawSpan) -> Explanation {
        let nearness = filter.nearness(of: file.location(reading.place, bytes), ranking)
        return Explanation(
            words: [
                Explanation.Words(
                    text: text(of: 0..<wordCount), meaning: .name, match: .exact,
                    name: file.pointCategory(reading.place, bytes), lost: 0)
            ],
            weight: scoring.total, lost: 0,
            order: Explanation.Order(importance: 0, role: 0, nearness: nearness))
    }

    private func text(of span: Range<Int>) -> String {
        String(decoding: text.bytes[text.span(span)], as: UTF8.self)
    }

    private func meaning(of area: Int, _ bytes: RawSpan) -> Explanation.Meaning {
        switch file.kind(area, bytes) {
        case .country: .country
        case .region: .region
        case .subregion: .subregion
        case .settlement, .pointOfInterest: .town
        }
    }
}
