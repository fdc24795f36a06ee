// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

/// One suggest: completions of a text to places.
///
/// Either the whole text is a prefix of a name, or its first words are a name and the others its
/// containing places, the last possibly unfinished: `paris, tex`.
struct SuggestSearch {
    let file: LocatorFile
    let text: FoldedText
    let filter: PlaceFilter

    /// A place with the suggested name.
    struct Found {
        var place: Int
        var posting: Int
        var role: NameRole
        var weight: Double

        func precedes(_ other: Found) -> Bool {
            weight != other.weight ? weight > other.weight : place < other.place
        }
    }

    /// Number of names that are then ranked by proximity as well.
    private static let mostFound = 300
    /// Limit of names examined for a restrictive filter.
    private static let mostKeys = 50_000

    /// The places, best first, at most `count`.
    func run(count: Int, _ bytes: RawSpan) -> [Found] {
        guard !text.words.isEmpty else { return [] }
        var best: [Int: Found] = [:]
        let wanted = filter.location == nil ? count : max(count, Self.mostFound)
        addBeginnings(to: &best, wanted: wanted, bytes)
        addQualified(to: &best, bytes)
        keepPointsBehind(&best, bytes)
        return Array(best.values.sorted { $0.precedes($1) }.prefix(count))
    }

    /// Adds names with the whole text as a prefix.
    private func addBeginnings(to best: inout [Int: Found], wanted: Int, _ bytes: RawSpan) {
        var prefix = text.bytes
        let isFinished = !text.endsInsideWord
        var ranges = [file.keys(beginningWith: prefix[...], bytes)]
        if isFinished {
            // After a space the last word is complete: the name itself, or it and further words.
            let exact = file.key(prefix[...], bytes).map { $0..<$0 + 1 }
            prefix.append(UInt8(ascii: " "))
            ranges = [file.keys(beginningWith: prefix[...], bytes)] + (exact.map { [$0] } ?? [])
        }
        for range in ranges {
            var heaviest = HeaviestKeys(range, of: file, bytes)
            var accepted = 0
            for _ in 0..<Self.mostKeys {
                guard let (key, weight) = heaviest.next(bytes) else { break }
                // The following names are lighter than all found so far.
                if accepted >= wanted, Double(weight) / 65_535 < leastOf(best, wanted) { break }
                for number in file.postings(key, bytes).prefix(64)
                where add(number, to: &best, bytes) { accepted += 1 }
                if accepted >= Self.mostFound { break }
            }
        }
    }

    /// Ranks points of interest last among places of exactly the typed name.
    private func keepPointsBehind(_ best: inout [Int: Found], _ bytes: RawSpan) {
        guard file.points != nil, let key = file.key(text.bytes[...], bytes) else { return }
        let places = file.postings(key, bytes).prefix(4_096).map {
            file.posting($0, bytes).place
        }.filter { best[$0] != nil }
        let others = places.filter { file.kind($0, bytes) != .pointOfInterest }
        guard let least = others.compactMap({ best[$0]?.weight }).min() else { return }
        for place in places where file.kind(place, bytes) == .pointOfInterest {
            guard let weight = best[place]?.weight, weight > least else { continue }
            best[place]?.weight = least
        }
    }

    private func leastOf(_ best: [Int: Found], _ wanted: Int) -> Double {
        let sorted = best.values.sorted { $0.precedes($1) }
        return sorted.count < wanted ? 0 : sorted[wanted - 1].weight
    }

    private func add(
        _ number: Int, to best: inout [Int: Found], _ bytes: RawSpan
    ) -> Bool {
        let posting = file.posting(number, bytes)
        guard !posting.isTransliterated, posting.role != .part,
            filter.accepts(posting.place, file, bytes)
        else {
            return false
        }
        let penalty = filter.penalty(file.ranking.suggestions, posting, number, file, bytes)
        let weight = filter.weight(
            of: posting.place, less: penalty, file, bytes)
        let found = Found(
            place: posting.place, posting: number, role: posting.role, weight: weight)
        let isNew = best[posting.place] == nil
        if best[posting.place].map({ found.precedes($0) }) ?? true { best[posting.place] = found }
        return isNew
    }

    /// Adds complete names followed by containing places.
    private func addQualified(to best: inout [Int: Found], _ bytes: RawSpan) {
        let words = text.words.count
        guard words > 1, words <= GeocodeSearch.mostWords else { return }
        for end in 1..<words {
            guard let key = file.key(text.bytes[text.span(0..<end)], bytes) else { continue }
            for number in file.postings(key, bytes).prefix(4_096) {
                let place = file.posting(number, bytes).place
                let chain = Array(file.containers(place, bytes).reversed())
                if explains(end..<words, by: chain, bytes) {
                    _ = add(number, to: &best, bytes)
                }
            }
        }
    }

    /// Whether the words are names of containing divisions, from the smallest up, the last possibly
    /// unfinished.
    private func explains(_ rest: Range<Int>, by chain: [Int], _ bytes: RawSpan) -> Bool {
        if rest.isEmpty { return true }
        for (number, area) in chain.enumerated() {
            for key in file.keys(ofPlace: area, bytes) {
                let whole = text.bytes[text.span(rest)]
                if text.endsInsideWord, file.key(key, beginsWith: whole, bytes) { return true }
                let length = file.keyText(key, bytes).count
                for end in rest.lowerBound + 1...rest.upperBound {
                    let span = text.bytes[text.span(rest.lowerBound..<end)]
                    guard span.count == length, file.key(key, beginsWith: span, bytes) else {
                        continue
                    }
                    let further = Array(chain[(number + 1)...])
                    if explains(end..<rest.upperBound, by: further, bytes) { return true }
                }
            }
        }
        return false
    }
}
