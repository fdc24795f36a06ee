// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// Completions of a text to intersections: `cambridge st & pro`.
///
/// The part before the separator is searched as complete streets; among the streets of their town
/// that intersect them, those are suggested that match the part after it, whose last word may be
/// unfinished.
struct IntersectionSuggestions {
    let file: LocatorFile
    let addresses: AddressFile
    private let filter: PlaceFilter
    /// The filter without its extent, which applies to intersections, not to streets.
    private let open: PlaceFilter

    /// An intersection with its sort keys.
    struct Found {
        var intersection: Intersection
        /// Its index among the intersections of both streets.
        var place: Int
        /// The score of the first street, 0…100.
        var score: Double
        /// Whether the second street's name starts with the text's word, not only contains it.
        var beginsSo: Bool
        /// Proximity to the request's location, greater for nearer.
        var nearness: Double
        /// Whether the separator is a sign, which is rare in a name.
        var isJoinedBySign: Bool

        private var streets: (Int, Int, Int) { (intersection.first, intersection.second, place) }

        /// Breaks ties in the order of a search for the text.
        func isBefore(_ other: Found) -> Bool { streets < other.streets }

        func precedes(_ other: Found) -> Bool {
            if score != other.score { return score > other.score }
            if beginsSo != other.beginsSo { return beginsSo }
            if nearness != other.nearness { return nearness > other.nearness }
            return isBefore(other)
        }
    }

    /// Limit of streets examined around the first ones, and of vertices of matching ones.
    private static let mostStreets = 20_000
    private static let mostVertices = 200_000

    init(file: LocatorFile, addresses: AddressFile, filter: PlaceFilter) {
        self.file = file
        self.addresses = addresses
        self.filter = filter
        var open = filter
        open.extent = nil
        self.open = open
    }

    /// The intersections, best first, at most `count`; for one name in one town the first.
    func run(_ line: String, count: Int, _ bytes: RawSpan) -> [Found] {
        var best: [[Int]: Found] = [:]
        for split in IntersectionText(line).splits {
            // A trailing blank means that the last word is complete.
            let isFinished = line.last?.isWhitespace ?? true
            let second = Folder.fold(
                split.second + (isFinished ? " " : ""), partingApostrophes: true)
            guard second.letters.reduce(0, +) >= 2 else { continue }
            var search = AddressSearch(
                file: file, addresses: addresses,
                text: Folder.fold(split.first + " ", partingApostrophes: true), filter: open,
                isUnfinished: true, bytes)
            let firsts = search.run(bytes).filter { $0.house == nil && $0.rest == 0 }
            for found in crossings(of: firsts, second, bytes) {
                var found = found
                found.isJoinedBySign = split.isSign
                let (one, other) = (found.intersection.first, found.intersection.second)
                let key =
                    [addresses.town(ofStreet: one, bytes)]
                    + addresses.nameWords(ofStreet: one, bytes)
                    + [-1] + addresses.nameWords(ofStreet: other, bytes)
                if best[key].map({ found.isBefore($0) }) ?? true { best[key] = found }
            }
        }
        return Array(best.values.sorted { $0.precedes($1) }.prefix(count))
    }

    /// The intersections of found streets with one that matches a text.
    private func crossings(
        of firsts: [AddressReading], _ second: FoldedText, _ bytes: RawSpan
    ) -> [Found] {
        var around: [(reading: AddressReading, streets: [Int])] = []
        var left = Self.mostStreets
        for reading in firsts where left > 0 {
            around.append((reading, streets(around: reading.street, &left, bytes)))
        }
        var words: Set<Int> = []
        for street in Set(around.flatMap(\.streets)) {
            for at in addresses.words(ofStreet: street, bytes) {
                words.insert(addresses.word(at: at, bytes))
            }
        }
        for town in Set(around.map { addresses.town(ofStreet: $0.reading.street, bytes) }) {
            for at in addresses.words(ofTown: town, bytes) {
                words.insert(addresses.word(at: at, bytes))
            }
        }
        let text = AddressText(
            second, file: addresses, file.ranking.addresses, isUnfinished: true,
            beginnings: words.sorted(), bytes)
        guard text.count == second.words.count else { return [] }
        let scoring = AddressScoring(
            file: file, addresses: addresses, text: text, filter: open, bytes)
        var explained: [Int: Bool?] = [:]
        var result: [Found] = []
        var vertices = Self.mostVertices
        for (reading, streets) in around {
            for other in streets {
                let known = explained[other]
                let beginsSo = known ?? explanation(of: other, text, scoring, bytes)
                if known == nil { explained[other] = .some(beginsSo) }
                guard let beginsSo, vertices > 0 else { continue }
                let meetings = IntersectionSearch.meetings(
                    reading.street, other, addresses, &vertices, bytes)
                for (place, location) in meetings.enumerated()
                where filter.extent.map({ Sphere.envelope($0, contains: location) }) ?? true {
                    result.append(
                        Found(
                            intersection: Intersection(
                                first: reading.street, second: other, location: location),
                            place: place, score: reading.score, beginsSo: beginsSo,
                            nearness: filter.nearness(of: location, file.ranking),
                            isJoinedBySign: false))
                }
            }
        }
        return result
    }

    /// The streets of the same town whose rectangles meet a street's.
    private func streets(around street: Int, _ left: inout Int, _ bytes: RawSpan) -> [Int] {
        let vertices = addresses.vertices(
            ofStreet: street, most: IntersectionSearch.mostVertices, bytes)
        guard let first = vertices.first else { return [] }
        var box = Sphere.envelope(around: first, radiusMeters: IntersectionSearch.reachMeters)
        for vertex in vertices {
            let near = Sphere.envelope(
                around: vertex, radiusMeters: IntersectionSearch.reachMeters)
            box.extend(to: Coordinate(x: near.minX, y: near.minY))
            box.extend(to: Coordinate(x: near.maxX, y: near.maxY))
        }
        let town = addresses.town(ofStreet: street, bytes)
        var result: [Int] = []
        addresses.visitStreets(in: box, bytes) { other in
            left -= 1
            if other != street, addresses.town(ofStreet: other, bytes) == town {
                result.append(other)
            }
            return left > 0
        }
        return result
    }

    /// Whether every word of a text matches a street, its town or what contains it, and at least
    /// one its name: true where the name starts with the text's first word, false where not, nil
    /// for no match.
    private func explanation(
        of street: Int, _ text: AddressText, _ scoring: AddressScoring, _ bytes: RawSpan
    ) -> Bool? {
        var used: UInt64 = 0
        var beginsSo = false
        func take(_ words: Range<Int>, _ body: (Int, UInt64) -> Void = { _, _ in }) {
            for at in words {
                let entries = text.entries(ofWord: addresses.word(at: at, bytes))
                guard let entry = entries.first(where: { text.entries[$0].mask & used == 0 }) else {
                    continue
                }
                used |= text.entries[entry].mask
                body(at, text.entries[entry].mask)
            }
        }
        let name = addresses.words(ofStreet: street, bytes)
        take(name) { at, mask in
            if at == name.lowerBound, mask & text.mask(0) != 0 { beginsSo = true }
        }
        guard used != 0 else { return nil }
        if let code = addresses.postcode(ofStreet: street, bytes) {
            let entry = text.postcodes.first { $0.postcode == code && $0.mask & used == 0 }
            used |= entry?.mask ?? 0
        }
        let town = addresses.town(ofStreet: street, bytes)
        take(addresses.words(ofTown: town, bytes))
        scoring.useAreas(around: addresses.place(ofTown: town, bytes), &used, bytes)
        used |= text.silent
        return text.mask(0..<text.count) & ~used == 0 ? beginsSo : nil
    }
}
