// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// Words for categories of points of interest, such as `museum` or `Flughafen`, in all languages.
struct PointKinds: Sendable {
    /// Category names, as in points of interest.
    let categories: [[UInt8]]
    /// Category numbers by words, folded, separated by a space.
    private let categoriesOf: [[UInt8]: [Int]]
    /// Length, first and last byte of these words, as a filter: few other words have them.
    private let outlines: Set<WordOutline>

    /// Limit of words for one category.
    static let longest = 3

    static let shipped = PointKinds(String(decoding: PackageResources.kinds_txt, as: UTF8.self))

    /// Parses lines `Category: word other_words …`; `_` joins words.
    init(_ table: String) {
        var categories: [[UInt8]] = []
        var categoriesOf: [[UInt8]: [Int]] = [:]
        for line in table.split(separator: "\n") where line.first != "#" {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let number = categories.count
            categories.append(Array(parts[0].utf8).map { $0 == UInt8(ascii: "_") ? 0x20 : $0 })
            for word in parts[1].split(separator: " ") {
                let text = String(word.map { $0 == "_" ? " " : $0 })
                for folded in [Folder.fold(text), Folder.fold(text, expandingUmlauts: true)]
                where !(categoriesOf[folded.bytes] ?? []).contains(number) {
                    categoriesOf[folded.bytes, default: []].append(number)
                }
            }
        }
        self.categories = categories
        self.categoriesOf = categoriesOf
        outlines = Set(categoriesOf.keys.compactMap { WordOutline($0) })
    }

    /// The categories of words, or of their singular when they end in `s`.
    func categories(of words: ArraySlice<UInt8>) -> [Int] {
        if let found = exactCategories(of: words) { return found }
        guard words.count > 3, words.last == UInt8(ascii: "s") else { return [] }
        return exactCategories(of: words.dropLast()) ?? []
    }

    private func exactCategories(of words: ArraySlice<UInt8>) -> [Int]? {
        guard let outline = WordOutline(words), outlines.contains(outline) else { return nil }
        return categoriesOf[Array(words)]
    }

    /// The runs of words in a text that mean a category, the longer first at one start.
    func runs(in text: FoldedText, count: Int) -> [(span: Range<Int>, categories: [Int])] {
        var result: [(span: Range<Int>, categories: [Int])] = []
        for start in 0..<count {
            for end in (start + 1...min(count, start + Self.longest)).reversed() {
                let found = categories(of: text.bytes[text.span(start..<end)])
                if !found.isEmpty { result.append((start..<end, found)) }
            }
        }
        return result
    }

    /// A name without the words for its own category, and adjacent prepositions; nil where it has
    /// none, or little else.
    func nameAlone(_ name: FoldedText, category: String) -> [UInt8]? {
        let wanted = Array(category.utf8)
        let count = min(name.words.count, GeocodeSearch.longestSpan)
        guard count > 1, count == name.words.count else { return nil }
        let own = runs(in: name, count: count).first { run in
            run.categories.contains { categories[$0] == wanted }
                && (run.span.lowerBound == 0 || run.span.upperBound == count)
        }
        guard let span = own?.span, span.count < count else { return nil }
        var rest = span.lowerBound == 0 ? span.upperBound..<count : 0..<span.lowerBound
        func isLittle(_ word: Int) -> Bool { Scoring.isFiller(name.bytes[name.words[word]]) }
        while let first = rest.first, isLittle(first) { rest = first + 1..<rest.upperBound }
        while let last = rest.last, isLittle(last) { rest = rest.lowerBound..<last }
        guard !rest.isEmpty else { return nil }
        let bytes = Array(name.bytes[name.span(rest)])
        return bytes.count >= Self.shortestName ? bytes : nil
    }

    private static let shortestName = 4
}

// Searches for points of interest by category.
extension GeocodeSearch {
    /// Looks up the words for categories that the file has.
    mutating func lookUpKinds(_ bytes: RawSpan) {
        guard let points = file.points else { return }
        let table = PointKinds.shipped
        kinds = table.runs(in: text, count: wordCount).compactMap { run in
            let numbers = run.categories.compactMap {
                points.category(named: table.categories[$0], bytes)
            }
            return numbers.isEmpty ? nil : (run.span, Set(numbers))
        }
    }

    /// The words for the category of a point of interest, with prepositions, outside its name.
    func kindWords(of place: Int, named: UInt64, _ bytes: RawSpan) -> UInt64 {
        guard !kinds.isEmpty, let own = file.points?.category(place, bytes) else { return 0 }
        var result: UInt64 = 0
        for kind in kinds
        where kind.categories.contains(own) && scoring.mask(kind.span) & (named | result) == 0 {
            result |= scoring.mask(kind.span)
        }
        return result == 0 ? 0 : result | scoring.fillers & ~named
    }

    /// Whether a name is that of a point of interest without the words for its category, which the
    /// text lacks, too.
    func lacksKind(
        _ key: Int, _ posting: LocatorFile.Posting, named: UInt64, _ bytes: RawSpan
    ) -> Bool {
        guard posting.role == .variant, kindWords(of: posting.place, named: named, bytes) == 0,
            let category = file.pointCategory(posting.place, bytes)
        else { return false }
        let name = Folder.fold(file.name(posting.place, bytes))
        return PointKinds.shipped.nameAlone(name, category: category)
            == Array(bytes.copy(file.keyText(key, bytes)))
    }

    /// Matches the text with a category and a place: `museums in Paris`; with the category alone
    /// around the location of the request.
    mutating func findKinds(_ bytes: RawSpan) {
        guard let points = file.points, text.fields.isEmpty else { return }
        for kind in kinds.prefix(Self.mostKinds) {
            let said = scoring.mask(kind.span) | scoring.fillers
            if scoring.all & ~said == 0 {
                if let location = filter.location {
                    add(kind.categories, points, in: nil, around: location, bytes)
                }
                continue
            }
            var found: (place: Int, weight: Double)?
            for (span, key) in names where scoring.mask(span) & scoring.mask(kind.span) == 0 {
                for number in file.postings(key, bytes).prefix(Self.mostKindPlaces) {
                    let posting = file.posting(number, bytes)
                    guard posting.role != .part, !posting.isTransliterated,
                        file.kind(posting.place, bytes) != .pointOfInterest
                    else { continue }
                    let (explained, _, _) = masks(
                        named: scoring.mask(span), takesParts: false,
                        chain: file.containers(posting.place, bytes), isPoint: false)
                    guard scoring.all & ~(explained | said) == 0 else { continue }
                    let weight = filter.weight(
                        of: posting.place,
                        less: ranking.roles.penalty(posting.role, isTransliterated: false), file,
                        bytes)
                    if weight > found?.weight ?? -.infinity { found = (posting.place, weight) }
                }
            }
            if let place = found?.place {
                let center = filter.location ?? file.location(place, bytes)
                add(kind.categories, points, in: place, around: center, bytes)
            }
        }
    }

    /// Adds the points of interest of some categories in a place, nearest first.
    private mutating func add(
        _ categories: Set<Int>, _ points: PointFile, in place: Int?, around center: Coordinate,
        _ bytes: RawSpan
    ) {
        let extent = place.flatMap {
            file.kind($0, bytes) == .settlement ? file.extent($0, bytes) : nil
        }
        var found: [(meters: Double, place: Int)] = []
        for category in categories.sorted() {
            for point in points.places(ofCategory: category, bytes) {
                let point = Int(point)
                let location = file.location(point, bytes)
                if let place {
                    let isInside =
                        extent.map { Sphere.envelope($0, contains: location) } ?? false
                        || file.containers(point, bytes).contains(place)
                    guard isInside else { continue }
                }
                guard filter.accepts(point, file, bytes) else { continue }
                let meters = Sphere.meters(from: center, to: location)
                if place == nil, meters > Self.farthestKind { continue }
                found.append((meters, point))
            }
        }
        found.sort { ($0.meters, $0.place) < ($1.meters, $1.place) }
        for (meters, point) in found.prefix(Self.mostOfKind) {
            let reading = Reading(
                place: point, score: ranking.score.uncertain, type: .prefix,
                weight: 1 - min(1, meters / Self.farthestKind), isPoint: true)
            if best[point].map({ reading.precedes($0) }) ?? true { best[point] = reading }
        }
    }

    /// Limit of category words tried, and of places of one name.
    private static let mostKinds = 6
    private static let mostKindPlaces = 256
    /// Limit of results of one category.
    private static let mostOfKind = 50
    /// Limit of the distance from the location, in metres.
    private static let farthestKind = 50_000.0
}
