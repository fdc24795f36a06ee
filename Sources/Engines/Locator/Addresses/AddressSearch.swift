// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The street search of one geocode: selects candidate streets, and matches the text against each.
///
/// First the streets of the towns and postcodes in the text; then, unless one of them matches every
/// word, those with the rarest words of the text anywhere; then both again with typos. Every step
/// is bounded, so the cost does not grow with the number of addresses.
struct AddressSearch {
    let file: LocatorFile
    let addresses: AddressFile
    private(set) var text: AddressText
    let scoring: AddressScoring
    /// One bit per examined street.
    private var seen: [UInt64]
    private var best: [AddressReading] = []
    /// Remaining number of streets to examine.
    private var left = Int.max
    /// The streets around the location of the request.
    private let near: [Int]

    /// Limit of interpretations kept.
    static let mostReadings = 64
    /// Limit of towns by the words of a text.
    private static let mostTowns = 64
    /// Limit of postings examined for them.
    private static let mostTownPostings = 8_192
    /// Limit of words that may be postcodes.
    private static let mostPostcodes = 8
    /// In a town with more streets, only those with a word of the text are examined.
    private static let fewStreets = 48
    /// Limit of streets examined for words alone, or for one word within one town.
    private static let mostStreets = 6_000
    /// Limit of streets examined around the location of the request.
    private static let mostNearStreets = 500
    /// Limit of streets examined, in each of two halves, for a text that is still being typed: the
    /// next letter repeats the search.
    private static let mostStreetsYet = 600

    init(
        file: LocatorFile, addresses: AddressFile, text: FoldedText, filter: PlaceFilter,
        isUnfinished: Bool = false, _ bytes: RawSpan
    ) {
        self.file = file
        self.addresses = addresses
        self.text = AddressText(
            text.partingGlued(addresses, isUnfinished: isUnfinished, bytes), file: addresses,
            file.ranking.addresses, isUnfinished: isUnfinished, bytes)
        near =
            filter.location.map {
                addresses.streets(near: $0, most: Self.mostNearStreets, bytes)
            } ?? []
        if isUnfinished { Self.addBeginnings(to: &self.text, addresses, near: near, bytes) }
        scoring = AddressScoring(
            file: file, addresses: addresses, text: self.text, filter: filter, bytes)
        seen = [UInt64](repeating: 0, count: addresses.streetCount / 64 + 1)
    }

    /// Treats the unfinished word as a prefix of words of likely streets: those near the location,
    /// and those with the rarest other word.
    private static func addBeginnings(
        to text: inout AddressText, _ addresses: AddressFile, near: [Int], _ bytes: RawSpan
    ) {
        var streets = near
        let others = text.entries.filter {
            $0.quality == 1 && addresses.kind(ofWord: $0.word, bytes) == .plain
                && $0.mask & text.mask(text.count - 1) == 0
        }
        let counts = others.map {
            (count: addresses.streetPostings($0.word, bytes).count, word: $0.word)
        }.filter { $0.count > 0 }
        if let rarest = counts.min(by: { ($0.count, $0.word) < ($1.count, $1.word) }) {
            streets += addresses.streetPostings(rarest.word, bytes)
                .prefix(mostStreetsYet).map { addresses.street(atPosting: $0, bytes) }
        }
        var words: Set<Int> = []
        for street in streets {
            for at in addresses.words(ofStreet: street, bytes) {
                words.insert(addresses.word(at: at, bytes))
            }
        }
        text.addBeginnings(among: words.sorted(), bytes)
    }

    /// Searches for streets and houses, best first.
    mutating func run(_ bytes: RawSpan) -> [AddressReading] {
        pass(bytes)
        if !isExplained {
            text.addTyposOfKnown(bytes)
            best = []
            for index in seen.indices { seen[index] = 0 }
            pass(bytes)
        }
        if best.contains(where: \.isLoose) { putOthersBehind(bytes) }
        return best
    }

    /// Drops houses of streets whose type the text lacks, or whose name it misspells, where the
    /// street that it names is known in its town; where no town is confirmed they stay well below
    /// that street.
    private mutating func putOthersBehind(_ bytes: RawSpan) {
        let named = best.filter { !$0.isLoose && scoring.isNamed($0.street, text, bytes) }
        best = best.compactMap { reading in
            guard reading.isLoose else { return reading }
            let rivals = named.filter { explainsWords($0, besides: reading.rest) }
            guard let first = rivals.first else { return reading }
            if rivals.contains(where: \.confirmsTown) { return nil }
            var behind = reading
            behind.score = min(reading.score, first.score - file.ranking.score.behindSort)
            return behind.score < file.ranking.score.least ? nil : behind
        }
        best.sort { $0.precedes($1) }
    }

    /// Whether an interpretation's street, with its type, and its town are named by the text, and
    /// only a number or another street type is left.
    func isKnownStreet(_ reading: AddressReading, _ bytes: RawSpan) -> Bool {
        guard reading.confirmsTown else { return false }
        if reading.isOtherSort {
            return (0..<text.count).allSatisfy {
                text.isNumber[$0] || reading.rest & text.mask($0) == 0
                    || text.hasSort(in: reading.rest & text.mask($0), bytes)
            }
        }
        return reading.house == nil && explainsWords(reading)
            && scoring.isNamed(reading.street, text, bytes)
    }

    /// The interpretations of the text as a postcode, best first.
    func postcodes(_ bytes: RawSpan) -> [PostcodeReading] {
        text.postcodes.prefix(Self.mostPostcodes)
            .compactMap { scoring.reading(ofPostcode: $0.postcode, $0.mask, text, bytes) }
            .sorted { ($1.score, $0.postcode) < ($0.score, $1.postcode) }
    }

    /// Whether the best interpretation leaves only numbers unmatched.
    private var isExplained: Bool {
        guard let first = best.first else { return false }
        return first.isCertain || first.score >= 90 && explainsWords(first)
    }

    /// Whether an interpretation leaves only numbers unmatched, and words that another one leaves
    /// as well.
    func explainsWords(_ reading: AddressReading, besides rest: UInt64 = 0) -> Bool {
        (0..<text.count).allSatisfy {
            text.isNumber[$0] || reading.rest & ~rest & text.mask($0) == 0
        }
    }

    /// Whether the words include a number.
    var hasNumber: Bool { text.isNumber.contains(true) }

    private mutating func pass(_ bytes: RawSpan) {
        for street in near { read(street, bytes) }
        if text.isUnfinished { left = Self.mostStreetsYet }
        readTowns(bytes)
        readPostcodes(bytes)
        if text.isUnfinished { left = Self.mostStreetsYet }
        if best.first?.isCertain != true { readAnywhere(bytes) }
    }

    // MARK: Towns and postcodes

    private mutating func readTowns(_ bytes: RawSpan) {
        var found: [(town: Int, mask: UInt64)] = []
        for entry in text.entries {
            guard addresses.kind(ofWord: entry.word, bytes) != .little else { continue }
            for posting in addresses.townPostings(entry.word, bytes)
            where found.count < Self.mostTownPostings {
                found.append((addresses.town(atPosting: posting, bytes), entry.mask))
            }
        }
        found.sort { ($0.town, $0.mask) < ($1.town, $1.mask) }
        var towns: [(town: Int, weight: Double)] = []
        var start = 0
        while start < found.count {
            var mask: UInt64 = 0
            var end = start
            while end < found.count, found[end].town == found[start].town {
                mask |= found[end].mask
                end += 1
            }
            towns.append((found[start].town, text.weight(mask)))
            start = end
        }
        towns.sort { $0.weight != $1.weight ? $0.weight > $1.weight : $0.town < $1.town }
        for (town, _) in towns.prefix(Self.mostTowns) {
            let streets = addresses.streets(ofTown: town, bytes)
            if streets.count <= Self.fewStreets {
                for street in streets { read(street, bytes) }
            } else {
                readWords(within: streets, bytes)
            }
        }
    }

    private mutating func readPostcodes(_ bytes: RawSpan) {
        for (_, postcode) in text.postcodes.prefix(Self.mostPostcodes) {
            let entries = addresses.streetEntries(ofPostcode: postcode, bytes)
            guard let start = entries.first, let end = entries.last else { continue }
            if entries.count <= Self.fewStreets {
                for entry in entries {
                    read(addresses.street(atPostcodeEntry: entry, bytes), bytes)
                }
                continue
            }
            // The streets of a postcode are in few towns, so there is little else between the first
            // and the last.
            let first = addresses.street(atPostcodeEntry: start, bytes)
            let last = addresses.street(atPostcodeEntry: end, bytes)
            guard first <= last else { continue }
            readWords(within: first..<last + 1, under: postcode, bytes)
        }
    }

    /// Examines the streets in a range that have a significant word of the text; unless one of them
    /// matches all, also those with a street type, which can be a whole name.
    private mutating func readWords(
        within range: Range<Int>, under postcode: Int? = nil, _ bytes: RawSpan
    ) {
        for kind in [AddressWordKind.plain, .type]
        where kind == .plain || best.first?.isCertain != true {
            for entry in text.entries where addresses.kind(ofWord: entry.word, bytes) == kind {
                var count = 0
                let postings = addresses.streetPostings(entry.word, bytes)
                let first = firstPosting(from: range.lowerBound, in: postings, bytes)
                for posting in first..<postings.upperBound {
                    let street = addresses.street(atPosting: posting, bytes)
                    guard street < range.upperBound, count < Self.mostStreets, left > 0 else {
                        break
                    }
                    count += 1
                    if let postcode, addresses.postcode(ofStreet: street, bytes) != postcode {
                        continue
                    }
                    read(street, bytes)
                }
            }
        }
    }

    private func firstPosting(from street: Int, in postings: Range<Int>, _ bytes: RawSpan) -> Int {
        var range = postings
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if addresses.street(atPosting: middle, bytes) < street {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound
    }

    // MARK: Anywhere

    /// Examines the streets with the rarest words of the text, anywhere.
    private mutating func readAnywhere(_ bytes: RawSpan) {
        var words: [(count: Int, entry: Int)] = []
        for number in text.entries.indices {
            let word = text.entries[number].word
            let count = addresses.streetPostings(word, bytes).count
            if count > 0, addresses.kind(ofWord: word, bytes) == .plain {
                words.append((count, number))
            }
        }
        words.sort { ($0.count, $0.entry) < ($1.count, $1.entry) }
        left = min(left, Self.mostStreets)
        for (_, number) in words {
            for posting in addresses.streetPostings(text.entries[number].word, bytes).prefix(left) {
                read(addresses.street(atPosting: posting, bytes), bytes)
            }
        }
    }

    private mutating func read(_ street: Int, _ bytes: RawSpan) {
        let bit = UInt64(1) << UInt64(street % 64)
        guard seen[street / 64] & bit == 0, left > 0 else { return }
        seen[street / 64] |= bit
        left -= 1
        guard let reading = scoring.reading(of: street, text, bytes),
            !text.isUnfinished || explainsWords(reading)
        else { return }
        if best.count == Self.mostReadings {
            guard let last = best.last, reading.precedes(last) else { return }
            best.removeLast()
        }
        let place = best.firstIndex { reading.precedes($0) } ?? best.endIndex
        best.insert(reading, at: place)
    }
}
