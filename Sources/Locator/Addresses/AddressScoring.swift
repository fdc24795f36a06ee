// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// One way to read a text as an address.
struct AddressReading {
    var street: Int
    /// Nil where the text has no house number, or the street no such house.
    var house: Int?
    /// 0…100.
    var score: Double
    /// Whether every word is explained letter by letter.
    var isCertain: Bool
    /// How often the words of the street's name do not follow each other in the text as in the name.
    var breaks: Int
    /// Whether the text names its town or postcode.
    var confirmsTown: Bool
    /// The words that nothing explains.
    var rest: UInt64
    /// Among equal scores the greater comes first.
    var weight: Double

    func precedes(_ other: AddressReading) -> Bool {
        if score != other.score { return score > other.score }
        if breaks != other.breaks { return breaks < other.breaks }
        if confirmsTown != other.confirmsTown { return confirmsTown }
        if weight != other.weight { return weight > other.weight }
        return street < other.street
    }
}

/// Reads a text as one street after the other.
struct AddressScoring {
    let file: LocatorFile
    let addresses: AddressFile
    let filter: PlaceFilter
    /// The writings of suffixes of house numbers that stand for each other.
    let suffixes: [[[UInt8]]]
    /// What a word of a street's name costs that the text lacks.
    private let missing: Double
    private let losses: Ranking.Addresses
    /// Words that are divisions' or countries' names, with the places they are.
    private(set) var areas: [(mask: UInt64, places: Set<Int>)] = []
    /// Words that are a town's name, in the vocabulary or among the places.
    private(set) var towns: UInt64 = 0

    init(
        file: LocatorFile, addresses: AddressFile, text: AddressText, filter: PlaceFilter,
        _ bytes: RawSpan
    ) {
        self.file = file
        self.addresses = addresses
        self.filter = filter
        suffixes = AddressWords.shipped.suffixes
        losses = file.ranking.addresses
        missing = text.isUnfinished ? losses.missingYet : losses.missing
        for entry in text.entries
        where entry.quality == 1 && !addresses.townPostings(entry.word, bytes).isEmpty
            && addresses.kind(ofWord: entry.word, bytes) == .plain
        { towns |= entry.mask }
        for start in 0..<text.count {
            for end in start + 1...min(text.count, start + 5) {
                let span = text.text.bytes[text.text.span(start..<end)]
                guard let key = file.key(span, bytes) else { continue }
                var places: Set<Int> = []
                for number in file.postings(key, bytes).prefix(256) {
                    let place = file.posting(number, bytes).place
                    if file.kind(place, bytes) != .settlement {
                        places.insert(place)
                    } else if file.population(place, bytes) > 0 {
                        towns |= text.mask(start..<end)
                    }
                }
                if !places.isEmpty { areas.append((text.mask(start..<end), places)) }
            }
        }
    }

    /// The reading of a text as a street and perhaps a house of it; nil where no word of the street's
    /// name is in the text, or the filter refuses it.
    func reading(of street: Int, _ text: AddressText, _ bytes: RawSpan) -> AddressReading? {
        var used: UInt64 = 0
        var lost = 0.0
        var isCertain = true
        var breaks = 0
        guard match(street: street, text, &used, &lost, &isCertain, &breaks, bytes) else {
            return nil
        }
        let town = addresses.town(ofStreet: street, bytes)
        let place = addresses.place(ofTown: town, bytes)
        var confirms = false
        if let code = addresses.postcode(ofStreet: street, bytes) {
            for entry in text.postcodes where entry.postcode == code && entry.mask & used == 0 {
                used |= entry.mask
                confirms = true
                break
            }
        }
        if match(town: town, text, &used, &lost, &isCertain, bytes) { confirms = true }
        useAreas(around: place, &used, bytes)
        let house = house(on: street, text, &used, bytes)
        guard filter.accepts(address: house, street: street, place: place, file, bytes) else {
            return nil
        }
        let rest = text.mask(0..<text.count) & ~used
        guard
            let score = score(
                text, used: used, lost: lost, isCertain: &isCertain, confirms: confirms)
        else { return nil }
        return AddressReading(
            street: street, house: house, score: score,
            isCertain: isCertain, breaks: breaks, confirmsTown: confirms, rest: rest,
            weight: weight(of: street, in: place, bytes))
    }

    /// Takes the words that name a division or country around a place.
    func useAreas(around place: Int, _ used: inout UInt64, _ bytes: RawSpan) {
        let chain = [
            file.country(place, bytes), file.region(place, bytes), file.subregion(place, bytes),
        ]
        for area in areas where area.mask & used == 0 {
            if chain.contains(where: { $0.map(area.places.contains) ?? false }) {
                used |= area.mask
            }
        }
    }

    /// The score of a text of which these words are explained; nil where it is too low for an answer.
    ///
    /// - Parameter confirms: Whether the text says that it is this town.
    func score(
        _ text: AddressText, used: UInt64, lost: Double, isCertain: inout Bool, confirms: Bool
    ) -> Double? {
        guard text.total > 0 else { return nil }
        var lost = lost
        var rest = text.mask(0..<text.count) & ~used
        if rest != 0 { isCertain = false }
        while rest != 0 {
            let bit = rest & (~rest + 1)
            let factor =
                towns & bit == 0
                ? losses.unexplained
                : confirms ? losses.otherTown : losses.onlyOtherTown
            lost += text.weight(bit) * factor
            rest &= rest - 1
        }
        var score = (10_000 * max(0, 1 - lost / text.total)).rounded() / 100
        if !isCertain || text.text.words.count > text.count {
            score = min(score, file.ranking.score.uncertain)
        }
        return score >= file.ranking.score.least ? score : nil
    }

    /// How an address stands among equal scores: by nearness, and a little by its town's importance.
    private func weight(of street: Int, in place: Int, _ bytes: RawSpan) -> Double {
        losses.importance * Double(file.importance(place, bytes)) / 65_535
            + filter.nearness(of: addresses.location(ofStreet: street, bytes), file.ranking)
    }

    /// Gives each word of the street's name the best word of the text that is left; whether the name
    /// is in the text: one word that says something, or all of a name that has no such word.
    private func match(
        street: Int, _ text: AddressText, _ used: inout UInt64, _ lost: inout Double,
        _ isCertain: inout Bool, _ breaks: inout Int, _ bytes: RawSpan
    ) -> Bool {
        var next: Int?
        var hasPlain = false
        var foundPlain = false
        var isWhole = true
        for at in addresses.words(ofStreet: street, bytes) {
            let word = addresses.word(at: at, bytes)
            let kind = addresses.kind(ofWord: word, bytes)
            if kind == .plain { hasPlain = true }
            if let entry = entry(for: word, text, used) {
                used |= entry.mask
                lost += text.weight(entry.mask) * (1 - entry.quality)
                if entry.quality < 1 { isCertain = false }
                if kind == .plain { foundPlain = true }
                let first = entry.mask.trailingZeroBitCount
                if let next, first != next { breaks += 1 }
                next = 64 - entry.mask.leadingZeroBitCount
            } else {
                let letters = addresses.vocabulary.text(word, bytes).count
                lost += Double(letters) * kind.weight(losses) * missing
                isCertain = false
                isWhole = false
            }
        }
        return foundPlain || !hasPlain && isWhole
    }

    /// The same for the town's name; whether any word of it is in the text.
    func match(
        town: Int, _ text: AddressText, _ used: inout UInt64, _ lost: inout Double,
        _ isCertain: inout Bool, _ bytes: RawSpan
    ) -> Bool {
        var isFound = false
        var missing = 0.0
        for at in addresses.words(ofTown: town, bytes) {
            let word = addresses.word(at: at, bytes)
            let kind = addresses.kind(ofWord: word, bytes)
            if let entry = entry(for: word, text, used) {
                used |= entry.mask
                lost += text.weight(entry.mask) * (1 - entry.quality)
                if entry.quality < 1 { isCertain = false }
                if kind != .little { isFound = true }
            } else {
                missing +=
                    Double(addresses.vocabulary.text(word, bytes).count) * kind.weight(losses)
            }
        }
        if isFound, missing > 0 {
            lost += missing * losses.missingOfTown
            isCertain = false
        }
        return isFound
    }

    @inline(__always)
    private func entry(for word: Int, _ text: AddressText, _ used: UInt64) -> AddressText.Entry? {
        for number in text.entries(ofWord: word) {
            let entry = text.entries[number]
            if entry.mask & used == 0 { return entry }
        }
        return nil
    }

    /// The house that the first number left is, with the suffix in it or after it, or a range of which
    /// it is the beginning or the end.
    private func house(
        on street: Int, _ text: AddressText, _ used: inout UInt64, _ bytes: RawSpan
    ) -> Int? {
        for number in 0..<text.count where text.isNumber[number] && used & text.mask(number) == 0 {
            let word = text.text.bytes[text.text.words[number]]
            let digits = word.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            guard digits.count <= 7 else { continue }
            let wanted = digits.reduce(0) { $0 * 10 + Int($1 & 15) }
            let houses = addresses.houses(wanted, ofStreet: street, bytes)
            let isNextFree = number + 1 < text.count && used & text.mask(number + 1) == 0
            let next =
                isNextFree ? text.text.bytes[text.text.words[number + 1]] : ArraySlice<UInt8>()
            let attached = word.dropFirst(digits.count)
            if !attached.isEmpty {
                if let house = self.house(houses, suffix: attached, bytes) {
                    used |= text.mask(number)
                    return house
                }
                continue
            }
            if !next.isEmpty, let house = self.house(houses, suffix: next, bytes) {
                used |= text.mask(number..<number + 2)
                return house
            }
            if isSuffix(next) {
                // `12 bis` without such a house is not number 12.
                continue
            }
            let isRange = isNextFree && text.isNumber[number + 1] && isEnd(next, after: wanted)
            if let house = houses.first(where: { addresses.suffix(ofHouse: $0, bytes) == 0 }) {
                used |= text.mask(number)
                if isRange { used |= text.mask(number + 1) }
                return house
            }
        }
        return nil
    }

    /// Of houses of one number the one with a suffix, or another writing of it.
    private func house(_ houses: Range<Int>, suffix: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        var writings = [suffix]
        for group in suffixes where group.contains(where: { $0[...] == suffix }) {
            writings += group.filter { $0[...] != suffix }.map { $0[...] }
        }
        for writing in writings {
            for house in houses {
                let own = addresses.suffix(ofHouse: house, bytes)
                if own != 0, addresses.suffix(own, is: writing, bytes) { return house }
            }
        }
        return nil
    }

    /// Whether a word after a number belongs to it: `bis`, or a letter that no elision leaves alone.
    private func isSuffix(_ word: ArraySlice<UInt8>) -> Bool {
        if word.count == 1, let letter = word.first {
            return UInt8(ascii: "a")...UInt8(ascii: "z") ~= letter
                && !"adlns".utf8.contains(letter)
        }
        return suffixes.contains { $0.contains { $0[...] == word } }
    }

    /// Whether a word may be the second number of `12-14`.
    private func isEnd(_ word: ArraySlice<UInt8>, after first: Int) -> Bool {
        let end = word.reduce(0) { min($0 * 10 + Int($1 & 15), 10_000_000) }
        return end > first && end <= first + 100
    }
}

extension PlaceFilter {
    /// Whether an address in a town may be an answer, where addresses are wanted at all.
    func accepts(
        address house: Int?, street: Int, place: Int, _ file: LocatorFile, _ bytes: RawSpan
    ) -> Bool {
        guard let addresses = file.addresses else { return false }
        if let countries {
            guard let country = file.country(place, bytes), countries.contains(country) else {
                return false
            }
        }
        guard let extent else { return true }
        let location =
            house.map { addresses.location(ofHouse: $0, bytes) }
            ?? addresses.location(ofStreet: street, bytes)
        return Sphere.envelope(extent, contains: location)
    }
}
