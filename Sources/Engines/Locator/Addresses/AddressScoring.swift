// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform

/// An interpretation of a text as an address.
struct AddressReading {
    var street: Int
    /// Nil where the text has no house number, or the street no such house.
    var house: AddressHouse?
    /// The quality of the house match; the lowest without a house.
    var likeness = HouseLikeness.range
    /// The score, 0…100.
    var score: Double
    /// Whether every word matches exactly.
    var isCertain: Bool
    /// Number of adjacent name words that are not adjacent, or in another order, in the text.
    var breaks: Int
    /// Whether the text contains its town or postcode.
    var confirmsTown: Bool
    /// Unmatched words.
    var rest: UInt64
    /// Tie-break between equal scores, greater first.
    var weight: Double
    /// Number of words of the street's name that match by a variant.
    var otherWritings: Int
    /// Whether it is a house despite another street type in the text.
    var isOtherSort = false
    /// Whether it is a house of a street whose type the text lacks, or whose name it misspells.
    var isLoose = false

    func precedes(_ other: AddressReading) -> Bool {
        if score != other.score { return score > other.score }
        if isOtherSort != other.isOtherSort { return other.isOtherSort }
        if house != nil, other.house != nil, likeness != other.likeness {
            return likeness > other.likeness
        }
        if breaks != other.breaks { return breaks < other.breaks }
        if confirmsTown != other.confirmsTown { return confirmsTown }
        if weight != other.weight { return weight > other.weight }
        if otherWritings != other.otherWritings { return otherWritings < other.otherWritings }
        return street < other.street
    }
}

/// Matches a text against streets.
///
/// A class, because a search calls it for thousands of streets, and a structure would be copied
/// each time.
final class AddressScoring {
    let file: LocatorFile
    let addresses: AddressFile
    let filter: PlaceFilter
    /// Excluded roles of words in a text in parts.
    let forbidden: ForbiddenWords
    /// Groups of equivalent suffixes of house numbers.
    let suffixes: [[[UInt8]]]
    /// Penalty per missing word of a street's name.
    private let missing: Double
    private let losses: Ranking.Addresses
    /// Words that name divisions or countries, with their places.
    let areas: [(mask: UInt64, places: [Int], parts: [Int])]
    /// Words that name a town, in the vocabulary or among the places.
    let towns: UInt64

    init(
        file: LocatorFile, addresses: AddressFile, text: AddressText, filter: PlaceFilter,
        _ bytes: RawSpan
    ) {
        self.file = file
        self.addresses = addresses
        self.filter = filter
        suffixes = AddressWords.searched.suffixes
        losses = file.ranking.addresses
        forbidden = ForbiddenWords(text.text, count: text.count)
        missing = text.isUnfinished ? losses.missingYet : losses.missing
        var areas: [(mask: UInt64, places: [Int], parts: [Int])] = []
        var towns: UInt64 = 0
        // Typos were searched only for words without an exact match.
        for entry in text.entries
        where (entry.quality == 1 || !text.isUnfinished)
            && !addresses.townPostings(entry.word, bytes).isEmpty
            && addresses.kind(ofWord: entry.word, bytes) == .plain
        { towns |= entry.mask }
        for start in 0..<text.count {
            for end in start + 1...min(text.count, start + 5) {
                let span = text.text.bytes[text.text.span(start..<end)]
                guard let key = file.key(span, bytes) else { continue }
                var places: [Int] = []
                // Regions with a second-level division of the name.
                var parts: [Int] = []
                for number in file.postings(key, bytes).prefix(256) {
                    let posting = file.posting(number, bytes)
                    let place = posting.place
                    let kind = file.kind(place, bytes)
                    if kind == .subregion || posting.role == .part {
                        if let region = file.region(place, bytes) { parts.append(region) }
                    }
                    guard posting.role != .part else { continue }
                    switch kind {
                    case .country, .region, .subregion: places.append(place)
                    case .settlement:
                        if file.population(place, bytes) > 0 { towns |= text.mask(start..<end) }
                    case .pointOfInterest: break
                    }
                }
                if !places.isEmpty || !parts.isEmpty {
                    areas.append((text.mask(start..<end), places, parts))
                }
            }
        }
        self.areas = areas
        self.towns = towns
    }

    /// Interprets a text as a street and possibly a house of it; nil where the text has no word of
    /// the street's name, or the filter excludes it.
    ///
    /// - Parameter step: Called after each step with what was matched, and the words and penalties
    ///   so far.
    func reading(
        of street: Int, _ text: AddressText, _ bytes: RawSpan,
        step: (_ meaning: Explanation.Meaning, _ used: UInt64, _ lost: Double) -> Void = {
            _, _, _ in
        }
    ) -> AddressReading? {
        var used: UInt64 = 0
        var lost = 0.0
        var isCertain = true
        var breaks = 0
        var otherWritings = 0
        guard
            match(street: street, text, &used, &lost, &isCertain, &breaks, &otherWritings, bytes)
        else {
            return nil
        }
        step(.street, used, lost)
        let town = addresses.town(ofStreet: street, bytes)
        let place = addresses.place(ofTown: town, bytes)
        var confirms = false
        if let code = addresses.postcode(ofStreet: street, bytes) {
            for entry in text.postcodes
            where entry.postcode == code && entry.mask & (used | forbidden.postcode) == 0 {
                used |= entry.mask
                confirms = true
                break
            }
        }
        step(.postcode, used, lost)
        let namesTown = match(town: town, text, &used, &lost, &isCertain, bytes)
        if namesTown { confirms = true }
        step(.town, used, lost)
        useAreas(around: place, &used, bytes)
        step(.area, used, lost)
        let withoutHouse = used
        let (house, likeness) = house(on: street, text, &used, bytes) ?? (nil, .range)
        let isOtherSort = house != nil && self.isOtherSort(street, text, used, bytes)
        if likeness == .beginning { isCertain = false }
        if case .range(let match, let words)? = house, !match.isPlain {
            isCertain = false
            let share = Double(match.gap) / Double(AddressFile.widestGap)
            let factor = losses.outside + losses.farOutside * share
            if match.gap > 0 { lost += text.weight(words) * factor }
        }
        step(.house, used, lost)
        if text.silent & ~used != 0 {
            used |= text.silent
            step(.street, used, lost)
        }
        guard filter.accepts(address: house, street: street, place: place, file, bytes) else {
            return nil
        }
        let rest = text.mask(0..<text.count) & ~used
        if isOtherNumber(street, text, used, bytes) { return nil }
        if house != nil, confirms {
            // Words before a complete address weigh little.
            let before = text.wordsBefore(used, house: used & ~withoutHouse)
            if before != 0, !lacksName(street, text, bytes) {
                isCertain = false
                lost += text.weight(before) * losses.beforeAddress
                used |= before
                step(.unexplained, used, lost)
            }
        }
        guard
            var score = score(
                text, used: used, lost: lost, isCertain: &isCertain, confirms: confirms)
        else { return nil }
        if isOtherSort { score = min(score, file.ranking.score.otherSort) }
        if house != nil, isOther(street, text, rest, bytes) { return nil }
        if !namesTown, isTown(street, text, rest, isTogether: breaks == 0, bytes) { return nil }
        if house != nil, breaks > 0, takesTown(street, of: town, text, rest, bytes) { return nil }
        return AddressReading(
            street: street, house: house, likeness: likeness, score: score,
            isCertain: isCertain, breaks: breaks, confirmsTown: confirms, rest: rest,
            weight: weight(of: street, in: place, bytes), otherWritings: otherWritings,
            isOtherSort: isOtherSort,
            isLoose: house != nil && (isOtherSort || isLoose(street, text, bytes)))
    }

    /// Whether a text means another numbered street: it has a number that does not belong to this
    /// street, and none of the street's name.
    private func isOtherNumber(
        _ street: Int, _ text: AddressText, _ used: UInt64, _ bytes: RawSpan
    ) -> Bool {
        let hasOther = (0..<text.count).contains {
            used & text.mask($0) == 0 && text.mayBeOrdinal($0)
        }
        guard hasOther else { return false }
        var isMissing = false
        for at in addresses.words(ofStreet: street, bytes) {
            let word = addresses.word(at: at, bytes)
            let name = addresses.vocabulary.text(word, bytes)
            let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes.byte(at: name.lowerBound)
            let isUsed = text.entries(ofWord: word).contains {
                text.entries[$0].mask & ~used == 0
            }
            if isUsed, !isDigit { continue }
            guard isDigit || AddressWords.searched.isNumeral(name, bytes) else {
                continue
            }
            if isUsed || text.isNumberBeginning(name, bytes) { return false }
            isMissing = true
        }
        return isMissing
    }

    /// Whether the text has another street type, and lacks this one's.
    private func isOtherSort(
        _ street: Int, _ text: AddressText, _ used: UInt64, _ bytes: RawSpan
    ) -> Bool {
        let rest = text.mask(0..<text.count) & ~used
        if rest != 0, lacksSort(street, text, bytes), text.hasSort(in: rest, bytes) { return true }
        return addresses.words(ofStreet: street, bytes).contains {
            text.isMistyped(addresses.word(at: $0, bytes), ofOtherEnding: true, bytes)
        }
    }

    /// Whether a street's name has street types, and the text none of them.
    private func lacksSort(_ street: Int, _ text: AddressText, _ bytes: RawSpan) -> Bool {
        var hasSort = false
        for at in addresses.words(ofStreet: street, bytes) {
            let word = addresses.word(at: at, bytes)
            guard addresses.kind(ofWord: word, bytes) == .type else { continue }
            if !text.entries(ofWord: word).isEmpty { return false }
            hasSort = true
        }
        return hasSort
    }

    /// Whether the text lacks a street's type, or misspells its name.
    private func isLoose(_ street: Int, _ text: AddressText, _ bytes: RawSpan) -> Bool {
        lacksSort(street, text, bytes)
            || addresses.words(ofStreet: street, bytes).contains {
                text.isMistyped(addresses.word(at: $0, bytes), bytes)
            }
    }

    /// Whether the text has a street's whole name without a typo, and its street type if it has one
    /// as a word.
    func isNamed(_ street: Int, _ text: AddressText, _ bytes: RawSpan) -> Bool {
        addresses.words(ofStreet: street, bytes).allSatisfy { at in
            let word = addresses.word(at: at, bytes)
            guard addresses.kind(ofWord: word, bytes) != .little else { return true }
            return text.entries(ofWord: word).contains {
                text.entries[$0].quality >= 1 - losses.together
            }
        }
    }

    /// Whether the text lacks a significant word of the street's name.
    private func lacksName(_ street: Int, _ text: AddressText, _ bytes: RawSpan) -> Bool {
        addresses.words(ofStreet: street, bytes).contains { at in
            let word = addresses.word(at: at, bytes)
            return addresses.kind(ofWord: word, bytes) == .plain
                && text.entries(ofWord: word).isEmpty
        }
    }

    /// Whether a text is more likely a street of another name: a word of the name is missing, and
    /// unmatched words of the text cannot be it.
    private func isOther(
        _ street: Int, _ text: AddressText, _ rest: UInt64, _ bytes: RawSpan
    ) -> Bool {
        let left = (0..<text.count).filter { !text.isNumber[$0] && rest & text.mask($0) != 0 }
        guard !left.isEmpty else { return false }
        for at in addresses.words(ofStreet: street, bytes) {
            let word = addresses.word(at: at, bytes)
            guard addresses.kind(ofWord: word, bytes) == .plain,
                text.entries(ofWord: word).isEmpty
            else { continue }
            let name = addresses.vocabulary.text(word, bytes)
            if !left.contains(where: { text.mayBe($0, name, bytes) }) { return true }
        }
        return false
    }

    /// Whether a text is more likely a town named by the words of this street's name: its street
    /// type is missing or elsewhere, and other words of the text are unmatched, as in `Damrak 1,
    /// Amsterdam` for a `Rue d'Amsterdam`.
    private func isTown(
        _ street: Int, _ text: AddressText, _ rest: UInt64, isTogether: Bool, _ bytes: RawSpan
    ) -> Bool {
        let isLeft = (0..<text.count).contains {
            !text.isNumber[$0] && text.text.letters[$0] >= 4 && rest & text.mask($0) != 0
        }
        guard isLeft else { return false }
        var isWhole = isTogether
        for at in addresses.words(ofStreet: street, bytes) {
            let word = addresses.word(at: at, bytes)
            let entries = text.entries(ofWord: word)
            switch addresses.kind(ofWord: word, bytes) {
            case .plain:
                let isTown = entries.contains {
                    text.entries[$0].mask & towns == text.entries[$0].mask
                }
                guard isTown else { return false }
            case .type: if entries.isEmpty { isWhole = false }
            case .little, .silent: break
            }
        }
        return !isWhole
    }

    /// Whether a detached word of the street's name more likely belongs to its town, with other
    /// words of the text unmatched: `Rue Wolfram, Bogny-sur-Meuse` for a `Rue de la Meuse`.
    private func takesTown(
        _ street: Int, of town: Int, _ text: AddressText, _ rest: UInt64, _ bytes: RawSpan
    ) -> Bool {
        let isLeft = (0..<text.count).contains {
            !text.isNumber[$0] && text.text.letters[$0] >= 4 && rest & text.mask($0) != 0
        }
        guard isLeft else { return false }
        let own = Set(addresses.words(ofTown: town, bytes).map { addresses.word(at: $0, bytes) })
        return addresses.words(ofStreet: street, bytes).contains { at in
            let word = addresses.word(at: at, bytes)
            return addresses.kind(ofWord: word, bytes) == .plain && own.contains(word)
        }
    }

    /// Matches the words that name a division or country around a place.
    func useAreas(around place: Int, _ used: inout UInt64, _ bytes: RawSpan) {
        for area in areas where area.mask & (used | forbidden.area) == 0 {
            if file.country(place, bytes).map(area.places.contains) ?? false
                || file.region(place, bytes).map(area.places.contains) ?? false
                || file.subregion(place, bytes).map(area.places.contains)
                    ?? (file.region(place, bytes).map(area.parts.contains) ?? false)
            {
                used |= area.mask
            }
        }
    }

    /// The score of a text with these words matched; nil below the threshold of an answer.
    ///
    /// - Parameter confirms: Whether the text confirms the town.
    func score(
        _ text: AddressText, used: UInt64, lost: Double, isCertain: inout Bool, confirms: Bool
    ) -> Double? {
        guard text.total > 0 else { return nil }
        var lost = lost
        var rest = text.mask(0..<text.count) & ~used
        if rest != 0 { isCertain = false }
        while rest != 0 {
            lost += self.lost(rest & (~rest + 1), text, confirms: confirms)
            rest &= rest - 1
        }
        var score = (10_000 * max(0, 1 - lost / text.total)).rounded() / 100
        if !isCertain || text.text.words.count > text.count {
            score = min(score, file.ranking.score.uncertain)
        }
        return score >= file.ranking.score.least ? score : nil
    }

    /// The penalty of unmatched words of one meaning.
    func lost(_ mask: UInt64, _ text: AddressText, confirms: Bool) -> Double {
        text.weight(mask)
            * (towns & mask == 0
                ? losses.unexplained : confirms ? losses.otherTown : losses.onlyOtherTown)
    }

    /// The tie-break between addresses: by proximity, and slightly by the town's importance.
    private func weight(of street: Int, in place: Int, _ bytes: RawSpan) -> Double {
        losses.importance * Double(file.importance(place, bytes)) / 65_535
            + filter.nearness(of: addresses.location(ofStreet: street, bytes), file.ranking)
    }

    /// Matches each word of the street's name with the best unused word of the text; returns
    /// whether the name is in the text: one significant word, or all but articles of a name without
    /// any.
    private func match(
        street: Int, _ text: AddressText, _ used: inout UInt64, _ lost: inout Double,
        _ isCertain: inout Bool, _ breaks: inout Int, _ otherWritings: inout Int,
        _ bytes: RawSpan
    ) -> Bool {
        var next: Int?
        var hasPlain = false
        var foundPlain = false
        var found = false
        var isWhole = true
        var own: UInt64 = 0
        var hasInitial = false
        for at in addresses.words(ofStreet: street, bytes) {
            let word = addresses.word(at: at, bytes)
            let kind = addresses.kind(ofWord: word, bytes)
            if kind == .plain { hasPlain = true }
            if let entry = entry(for: word, text, used | forbidden.street, after: next) {
                used |= entry.mask
                own |= entry.mask
                lost += text.weight(entry.mask) * (1 - entry.quality)
                if entry.quality < 1 { isCertain = false }
                found = true
                if entry.isOther { otherWritings += 1 }
                if kind == .plain { foundPlain = true }
                let first = entry.mask.trailingZeroBitCount
                if let next, first != next { breaks += 1 }
                next = 64 - entry.mask.leadingZeroBitCount
            } else if kind != .silent {
                let letters = addresses.vocabulary.text(word, bytes).count
                lost += Double(letters) * kind.weight(losses) * missing
                isCertain = false
                if kind != .little { isWhole = false }
                if kind == .plain { hasInitial = hasInitial || !text.initials.isEmpty }
            }
        }
        if foundPlain, hasInitial { takeInitials(of: street, text, own, &used, &lost, bytes) }
        return foundPlain || found && !hasPlain && isWhole
    }

    /// Matches initials in the text, next to other words of the street's name, with missing words
    /// of it: `J. Clément` for `Jean-Baptiste Clément`.
    ///
    /// - Parameter own: The words of the text that are the street's name.
    private func takeInitials(
        of street: Int, _ text: AddressText, _ own: UInt64, _ used: inout UInt64,
        _ lost: inout Double, _ bytes: RawSpan
    ) {
        var own = own
        for at in addresses.words(ofStreet: street, bytes) {
            let word = addresses.word(at: at, bytes)
            guard addresses.kind(ofWord: word, bytes) == .plain else { continue }
            // A word with an entry in the text is used already, or the entry is another word's.
            let isFound = text.entries(ofWord: word).contains {
                text.entries[$0].mask & own == text.entries[$0].mask
            }
            guard !isFound else { continue }
            let name = addresses.vocabulary.text(word, bytes)
            for initial in text.initials
            where initial.mask & (used | forbidden.street) == 0
                && (initial.mask << 2 | initial.mask >> 2) & own != 0
                && initial.letter == name.first.map({ bytes.byte(at: $0) })
            {
                used |= initial.mask
                own |= initial.mask
                lost -= Double(name.count) * missing
                lost += text.weight(initial.mask) * losses.beginning
                break
            }
        }
    }

    /// Matches the town's name; returns whether any word of it is in the text.
    func match(
        town: Int, _ text: AddressText, _ used: inout UInt64, _ lost: inout Double,
        _ isCertain: inout Bool, _ bytes: RawSpan
    ) -> Bool {
        var isFound = false
        var missing = 0.0
        for at in addresses.words(ofTown: town, bytes) {
            let word = addresses.word(at: at, bytes)
            let kind = addresses.kind(ofWord: word, bytes)
            if let entry = entry(for: word, text, used | forbidden.town) {
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
        } else if isFound, text.hasRepeats {
            takeAgain(town: town, text, &used, bytes)
        }
        return isFound
    }

    /// Matches a second occurrence of a town's name, as a whole.
    private func takeAgain(
        town: Int, _ text: AddressText, _ used: inout UInt64, _ bytes: RawSpan
    ) {
        var again: UInt64 = 0
        for at in addresses.words(ofTown: town, bytes) {
            let word = addresses.word(at: at, bytes)
            guard let entry = entry(for: word, text, used | forbidden.town | again),
                entry.quality == 1
            else { return }
            again |= entry.mask
        }
        used |= again
    }

    /// The best unused words of the text for one of the vocabulary: ties are broken towards those
    /// after the match of the name's previous word, so that `8 rue du VIII mai` keeps its number.
    @inline(__always)
    private func entry(
        for word: Int, _ text: AddressText, _ used: UInt64, after last: Int? = nil
    ) -> AddressText.Entry? {
        var best: AddressText.Entry?
        for number in text.entries(ofWord: word) {
            let entry = text.entries[number]
            guard entry.mask & used == 0 else { continue }
            guard let last else { return entry }
            if let best, entry.quality < best.quality { break }
            if entry.mask.trailingZeroBitCount == last { return entry }
            if best == nil { best = entry }
        }
        return best
    }
}

extension PlaceFilter {
    /// Whether an address in a town passes the filter, given that addresses are allowed.
    func accepts(
        address house: AddressHouse?, street: Int, place: Int, _ file: LocatorFile, _ bytes: RawSpan
    ) -> Bool {
        guard let addresses = file.addresses else { return false }
        if let countries {
            guard let country = file.country(place, bytes), countries.contains(country) else {
                return false
            }
        }
        guard let extent else { return true }
        let location =
            house.map { addresses.location(of: $0, bytes) }
            ?? addresses.location(ofStreet: street, bytes)
        return Sphere.envelope(extent, contains: location)
    }
}
