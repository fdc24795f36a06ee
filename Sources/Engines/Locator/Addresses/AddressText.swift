// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The words of a text, and the words of the vocabulary that each may stand for.
///
/// A set of words is a `UInt64` with two bits per word: a word that stands for two of the
/// vocabulary (`delagare`) gives each of them one.
struct AddressText {
    /// A word of the vocabulary that words of the text stand for.
    struct Entry {
        var word: Int
        /// The words of the text.
        var mask: UInt64
        /// 1 letter by letter, less for slips.
        var quality: Double
        /// Whether the words are another writing of it, by a dictionary.
        var isOther = false
    }

    let text: FoldedText
    let file: AddressFile
    let ranking: Ranking.Addresses
    let count: Int
    /// Whether the text is still being typed, so that names may go on.
    let isUnfinished: Bool
    private(set) var weights: [Double] = []
    private(set) var isNumber: [Bool] = []
    /// The house numbers that words may be.
    private(set) var houseNumbers: [HouseNumberText] = []
    /// Ascending by word; of one word the best quality first.
    private(set) var entries: [Entry] = []
    /// A bit for each remainder of the words in ``entries``: most words of a street are in no text.
    private var remainders = InlineArray<16, UInt64>(repeating: 0)
    /// The postcodes that words, or two words together, are.
    private(set) var postcodes: [(mask: UInt64, postcode: Int)] = []
    /// What all words of the text weigh, those that are not read included.
    private(set) var total = 0.0
    /// Words with a meaning found letter by letter, or by a dictionary.
    private var known: UInt64 = 0
    /// Words that say nothing where no name has them.
    private(set) var silent: UInt64 = 0
    /// Single letters, which may be initials.
    private(set) var initials: [(letter: UInt8, mask: UInt64)] = []
    /// Words that say which part of a house is meant, `apt 12`, or of a postcode, `02139-1234`.
    private var units: UInt64 = 0
    /// Whether a word stands twice.
    private(set) var hasRepeats = false

    /// - Parameter beginnings: Words of the vocabulary of which the last word may be the beginning,
    ///   that of a number as well; nil for all, of which the most frequent are taken.
    init(
        _ text: FoldedText, file: AddressFile, _ ranking: Ranking.Addresses,
        isUnfinished: Bool = false, beginnings: [Int]? = nil, _ bytes: RawSpan
    ) {
        self.text = text
        self.ranking = ranking
        self.isUnfinished = isUnfinished
        self.file = file
        count = min(text.words.count, GeocodeSearch.mostWords)
        for number in 0..<count {
            let word = text.bytes[text.words[number]]
            isNumber.append(UInt8(ascii: "0")...UInt8(ascii: "9") ~= word.first ?? 0)
            let kind = addExact(number, word, bytes)
            let letters = Double(text.letters[number])
            weights.append(isNumber[number] ? max(2, letters) : letters * kind.weight(ranking))
        }
        for number in 0..<count where units & mask(number) == 0 { findUnit(number) }
        for number in 0..<count where units & mask(number) == 0 { findZipExtension(number) }
        for number in 0..<count where text.letters[number] == 1 && !isNumber[number] {
            let word = text.bytes[text.words[number]]
            if let letter = word.first, word.count == 1, units & mask(number) == 0 {
                initials.append((letter, mask(number)))
            }
        }
        total =
            weights.reduce(0, +)
            + text.letters.dropFirst(count).reduce(0) { $0 + Double($1) }
        // What `#` stands before may be a flat, so other numbers come first.
        for isHashed in [false, true] {
            for number in 0..<count
            where isNumber[number] && units & mask(number) == 0
                && text.hashed.contains(number) == isHashed
            { addHouseNumber(number) }
        }
        hasRepeats =
            Set((0..<count).map { text.bytes[text.words[$0]] }).count < count
        for number in 0..<count { addJoined(number, bytes) }
        if isUnfinished, text.endsInsideWord, count > 0 {
            if let beginnings {
                addBeginnings(count - 1, among: beginnings, bytes)
            } else {
                addBeginnings(count - 1, bytes)
            }
        }
        for number in 0..<count where !isNumber[number] && known & mask(number) == 0 {
            addSplit(number, bytes)
            addTypos(number, bytes)
        }
        sort()
    }

    /// All bits of a word.
    func mask(_ number: Int) -> UInt64 { 3 << UInt64(2 * number) }

    func mask(_ span: Range<Int>) -> UInt64 { span.reduce(0) { $0 | mask($1) } }

    /// What the words of a set weigh.
    func weight(_ mask: UInt64) -> Double {
        var result = 0.0
        var rest = mask
        while rest != 0 {
            result += weights[rest.trailingZeroBitCount / 2] / 2
            rest &= rest - 1
        }
        return result
    }

    /// Entries of a word; empty when nothing stands for it.
    func entries(ofWord word: Int) -> Range<Int> {
        guard remainders[word >> 6 & 15] & 1 << UInt64(word & 63) != 0 else { return 0..<0 }
        var range = 0..<entries.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if entries[middle].word < word {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        var end = range.lowerBound
        while end < entries.count, entries[end].word == word { end += 1 }
        return range.lowerBound..<end
    }

    /// Whether a word may be a bad writing of one of the vocabulary: it begins with the same letter
    /// (`pdt` for `president`), or ends with that word (`lacroix`).
    func mayBe(_ number: Int, _ name: Range<Int>, _ bytes: RawSpan) -> Bool {
        let word = text.bytes[text.words[number]]
        return word.first == name.first.map { bytes.byte(at: $0) }
            || word.count > name.count
                && zip(word.suffix(name.count), name).allSatisfy { $0 == bytes.byte(at: $1) }
    }

    /// Lets the last word, where it is still being typed, begin any of some words of the
    /// vocabulary.
    mutating func addBeginnings(among words: [Int], _ bytes: RawSpan) {
        guard isUnfinished, text.endsInsideWord, count > 1, !isNumber[count - 1] else { return }
        addBeginnings(count - 1, among: words, bytes)
        sort()
    }

    /// Whether words of the text that are left name a sort of street.
    func hasSort(in rest: UInt64, _ bytes: RawSpan) -> Bool {
        (0..<count).contains { number in
            rest & mask(number) == mask(number) && units & mask(number) == 0
                && text.letters[number] >= 2
                && isSort(number, bytes)
        }
    }

    /// Whether a word is a sort of street and nothing else, here or in any language.
    private func isSort(_ number: Int, _ bytes: RawSpan) -> Bool {
        let own = entries.filter { $0.mask == mask(number) && $0.quality == 1 }
        if own.contains(where: { file.kind(ofWord: $0.word, bytes) != .type }) { return false }
        return !own.isEmpty
            || AddressWords.searched.common[Array(text.bytes[text.words[number]])] == .type
    }

    /// Whether a word is a number of up to four digits, or an ordinal.
    func mayBeOrdinal(_ number: Int) -> Bool {
        isNumber[number] && (text.letters[number] <= 4 || isOrdinal(number))
    }

    /// Whether a number of the text, perhaps still being typed, begins a word of the vocabulary.
    func isNumberBeginning(_ name: Range<Int>, _ bytes: RawSpan) -> Bool {
        guard isUnfinished, text.endsInsideWord, count > 0, isNumber[count - 1] else {
            return false
        }
        let word = text.bytes[text.words[count - 1]]
        return word.count < name.count && zip(word, name).allSatisfy { $0 == bytes.byte(at: $1) }
    }

    /// The words before the first that is used where they are a part of their own, or stand before
    /// the house number: `c/o Smith`, `3rd floor`.
    func wordsBefore(_ used: UInt64, house: UInt64) -> UInt64 {
        guard text.fields.isEmpty, used != 0 else { return 0 }
        let first = used.trailingZeroBitCount / 2
        guard first > 0, first < count,
            text.segments[first - 1] != text.segments[first] || house & mask(first) != 0
        else { return 0 }
        return mask(0..<first)
    }

    /// Adds misspelt words for those that were found letter by letter as well.
    mutating func addTyposOfKnown(_ bytes: RawSpan) {
        for number in 0..<count where !isNumber[number] && known & mask(number) != 0 {
            // `lafayette` may be a street's `la fayette` though another is called so.
            if !text.glued.contains(number) { addSplit(number, bytes) }
            addTypos(number, bytes)
        }
        sort()
    }

    private mutating func sort() {
        entries.sort {
            if $0.word != $1.word { return $0.word < $1.word }
            if $0.quality != $1.quality { return $0.quality > $1.quality }
            let (left, right) = ($0.mask.nonzeroBitCount, $1.mask.nonzeroBitCount)
            if left != right { return left > right }
            return $0.isOther != $1.isOther ? $1.isOther : $0.mask < $1.mask
        }
        for entry in entries { remainders[entry.word >> 6 & 15] |= 1 << UInt64(entry.word & 63) }
    }

    /// Finds whether a word and the number or letter after it (`apt 12`, `bât b`), or the ordinal
    /// before it (`3rd floor`), are a part of a house: then they are no house number, and say next
    /// to nothing.
    private mutating func findUnit(_ number: Int) {
        guard AddressWords.searched.units.contains(Array(text.bytes[text.words[number]])) else {
            return
        }
        var found = mask(number)
        let after = number + 1
        if number > 0, isNumber[number - 1], isOrdinal(number - 1) {
            found |= mask(number - 1)
        } else if after < count, text.letters[after] <= 4,
            text.segments[after] == text.segments[number],
            isNumber[after] || text.letters[after] == 1,
            !postcodes.contains(where: { $0.mask == mask(after) })
        {
            found |= mask(after)
        } else {
            return
        }
        units |= found
        for word in max(0, number - 1)...min(count - 1, after) where found & mask(word) != 0 {
            weights[word] = min(
                weights[word], Double(text.letters[word]) * ranking.littleWeight)
        }
    }

    /// Finds whether a word is the four digits behind a postcode of five, in a text with another
    /// number: then they are no house number, and say next to nothing.
    private mutating func findZipExtension(_ number: Int) {
        func isDigits(_ number: Int, _ digits: Int) -> Bool {
            let word = text.bytes[text.words[number]]
            return word.count == digits
                && word.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        }
        guard number > 0, isDigits(number, 4), isDigits(number - 1, 5),
            text.segments[number] == text.segments[number - 1],
            !postcodes.contains(where: { $0.mask & mask(number) != 0 }),
            (0..<number - 1).contains(where: { isNumber[$0] })
        else { return }
        units |= mask(number)
        weights[number] = Double(text.letters[number]) * ranking.littleWeight
    }

    /// Whether a word is an ordinal: `3rd`, `2eme`.
    private func isOrdinal(_ number: Int) -> Bool {
        let letters = text.bytes[text.words[number]].drop {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        }
        return AddressWords.searched.ordinals.contains(Array(letters))
    }

    private mutating func addHouseNumber(_ number: Int) {
        func word(_ at: Int) -> ArraySlice<UInt8> {
            at < count ? text.bytes[text.words[at]] : []
        }
        let found = HouseNumberText(
            word(number), mask: mask(number), next: word(number + 1),
            isNumber: number + 1 < count && isNumber[number + 1]
                && text.hashed.isDisjoint(with: [number, number + 1]),
            after: word(number + 2),
            suffixes: AddressWords.searched.suffixes)
        if let found { houseNumbers.append(found) }
    }

    /// The word itself, what it is short for, and the postcode it is.
    private mutating func addExact(
        _ number: Int, _ word: ArraySlice<UInt8>, _ bytes: RawSpan
    ) -> AddressWordKind {
        var kind: AddressWordKind?
        let quality = text.glued.contains(number) ? 1 - ranking.together : 1
        let itself = file.vocabulary.number(of: word, bytes)
        var others = otherForms(of: word, bytes)
        // Another ending of an ordinal, or none: `5e`, `5eme`, `5`.
        if isNumber[number], let digits = AddressWords.searched.digitsOfOrdinal(word) {
            let forms =
                file.longForms(of: digits, bytes)
                + [file.vocabulary.number(of: digits, bytes)].compactMap(\.self)
            for form in forms where form != itself && !others.contains(form) {
                others.append(form)
            }
        }
        for word in (itself.map { [$0] } ?? []) + others {
            entries.append(
                Entry(
                    word: word, mask: mask(number), quality: quality, isOther: word != itself))
            known |= mask(number)
            let other = file.kind(ofWord: word, bytes)
            if other == .silent { silent |= mask(number) }
            if kind == nil || other == .plain { kind = other }
        }
        if let code = file.postcode(word, bytes) { postcodes.append((mask(number), code)) }
        return kind ?? .plain
    }

    /// The words of the vocabulary that a word stands for by a dictionary, or as a compound.
    private func otherForms(of word: ArraySlice<UInt8>, _ bytes: RawSpan) -> [Int] {
        var result = file.longForms(of: word, bytes)
        for other in AddressWords.searched.compounds(of: word) {
            if let found = file.vocabulary.number(of: other[...], bytes) { result.append(found) }
        }
        return result
    }

    /// Two neighbouring words that are one of the vocabulary, or a postcode.
    private mutating func addJoined(_ number: Int, _ bytes: RawSpan) {
        guard number + 1 < count else { return }
        let joined =
            text.bytes[text.words[number]] + text.bytes[text.words[number + 1]]
        let mask = mask(number) | mask(number + 1)
        if let code = file.postcode(joined[...], bytes) { postcodes.append((mask, code)) }
        guard !isNumber[number] else { return }
        if let word = file.vocabulary.number(of: joined[...], bytes) {
            entries.append(Entry(word: word, mask: mask, quality: 1 - ranking.together))
        }
        // `пр-т`, `p.zza`, and `haupt str`.
        let isShort = text.letters[number] + text.letters[number + 1] <= 4
        for word in otherForms(of: joined[...], bytes) {
            entries.append(
                Entry(word: word, mask: mask, quality: isShort ? 1 : 1 - ranking.together))
        }
    }

    /// A word that is two of the vocabulary: the division whose shorter part is longest.
    private mutating func addSplit(_ number: Int, _ bytes: RawSpan) {
        let word = text.bytes[text.words[number]]
        var best: (shorter: Int, first: Int, second: Int)?
        for at in word.indices.dropFirst() {
            let shorter = min(at - word.startIndex, word.endIndex - at)
            guard shorter > best?.shorter ?? 0,
                let first = file.vocabulary.number(of: word[..<at], bytes),
                let second = file.vocabulary.number(of: word[at...], bytes)
                    ?? typeShort(word[at...], bytes)
            else { continue }
            best = (shorter, first, second)
        }
        guard let best else { return }
        let bit = UInt64(1) << UInt64(2 * number)
        entries.append(Entry(word: best.first, mask: bit, quality: 1 - ranking.together))
        entries.append(Entry(word: best.second, mask: bit << 1, quality: 1 - ranking.together))
    }

    /// The sort of street that the last part of a compound is short for.
    private func typeShort(_ word: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        guard AddressWords.searched.isEnding(word) else { return nil }
        return file.longForms(of: word, bytes).first { file.kind(ofWord: $0, bytes) == .type }
    }

    /// Words that begin with the last one: those of most streets, and those of most towns.
    private mutating func addBeginnings(_ number: Int, _ bytes: RawSpan) {
        let word = text.bytes[text.words[number]]
        guard text.letters[number] >= 2 || number > 0, !isNumber[number] else { return }
        let range = file.vocabulary.range(beginningWith: word, bytes)
        var found: [(streets: Int, towns: Int, word: Int)] = []
        for other in range.prefix(Self.mostBeginnings)
        where file.vocabulary.text(other, bytes).count > word.count {
            found.append(
                (
                    file.streetPostings(other, bytes).count, file.townPostings(other, bytes).count,
                    other
                ))
        }
        found.sort { ($1.streets, $0.word) < ($0.streets, $1.word) }
        var words = found.prefix(Self.mostTypos).map(\.word)
        found.sort { ($1.towns, $0.word) < ($0.towns, $1.word) }
        words += found.prefix(Self.mostTypos).map(\.word).filter { !words.contains($0) }
        for other in words {
            entries.append(
                Entry(word: other, mask: mask(number), quality: 1 - ranking.beginning))
            known |= mask(number)
        }
    }

    /// Of some words all that begin with the last one.
    private mutating func addBeginnings(_ number: Int, among words: [Int], _ bytes: RawSpan) {
        let word = text.bytes[text.words[number]]
        for other in words {
            let name = file.vocabulary.text(other, bytes)
            guard name.count > word.count,
                zip(word, name).allSatisfy({ $0 == bytes.byte(at: $1) }),
                !entries.contains(where: { $0.word == other && $0.mask == mask(number) })
            else { continue }
            entries.append(
                Entry(word: other, mask: mask(number), quality: 1 - ranking.beginning))
            known |= mask(number)
        }
    }

    private mutating func addTypos(_ number: Int, _ bytes: RawSpan) {
        let letters = text.letters[number]
        // Of three letters one may be missing, none wrong.
        let isShort = letters == 3 && !isUnfinished
        let most = isShort ? 1 : TypoSearch.allowedErrors(letters: letters)
        guard most > 0 else { return }
        let word = text.bytes[text.words[number]]
        for limit in 1...most {
            var search = TypoSearch(word, limit: limit)
            let found = search.run(file.vocabulary, bytes).filter {
                $0.errors > 0
                    && (!isShort || file.vocabulary.text($0.key, bytes).count > word.count)
            }
            for (word, errors) in found.sorted(by: {
                ($0.errors, $0.key) < ($1.errors, $1.key)
            }).prefix(Self.mostTypos) {
                entries.append(
                    Entry(
                        word: word, mask: mask(number),
                        quality: 1 - Double(errors) / Double(letters)))
            }
            if !found.isEmpty { return }
        }
        // A slip in what comes before a short ending: `haupstr`.
        for other in AddressWords.searched.compounds(of: word) {
            var search = TypoSearch(other[...], limit: 1)
            for key in search.run(file.vocabulary, bytes).map(\.key).sorted().prefix(Self.mostTypos)
            {
                entries.append(
                    Entry(word: key, mask: mask(number), quality: 1 - 1 / Double(letters)))
            }
        }
    }

    /// How many misspelt, or longer, words one word of the text may stand for.
    private static let mostTypos = 64
    /// How many words that begin with one are looked at.
    private static let mostBeginnings = 4_096
}

extension AddressWordKind {
    /// What a letter of such a word weighs.
    func weight(_ ranking: Ranking.Addresses) -> Double {
        switch self {
        case .plain: 1
        case .type, .silent: ranking.typeWeight
        case .little: ranking.littleWeight
        }
    }
}
