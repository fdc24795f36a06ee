// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The words of a text, with the words of the vocabulary that each may stand for.
///
/// A set of words is a `UInt64` with two bits per word: a word that stands for two of the
/// vocabulary (`delagare`) gives each of them one.
struct AddressText {
    /// A match of words of the text with a word of the vocabulary.
    struct Entry {
        var word: Int
        /// The words of the text.
        var mask: UInt64
        /// 1 for an exact match, less for typos.
        var quality: Double
        /// Whether the words are a variant of it, by a dictionary.
        var isOther = false
    }

    let text: FoldedText
    let file: AddressFile
    let ranking: Ranking.Addresses
    let count: Int
    /// Whether the text is still being typed, so that words may be prefixes.
    let isUnfinished: Bool
    private(set) var weights: [Double] = []
    private(set) var isNumber: [Bool] = []
    /// The words that may be house numbers.
    private(set) var houseNumbers: [HouseNumberText] = []
    /// Sorted by word, then by quality, best first.
    private(set) var entries: [Entry] = []
    /// A bit per remainder of the words in ``entries``, as a filter: most words of a street are in
    /// no text.
    private var remainders = InlineArray<16, UInt64>(repeating: 0)
    /// The words, or pairs of words, that are postcodes.
    private(set) var postcodes: [(mask: UInt64, postcode: Int)] = []
    /// Total weight of all words of the text, including excess ones.
    private(set) var total = 0.0
    /// Words with an exact match, or one by a dictionary.
    private var known: UInt64 = 0
    /// Words that count for nothing where no name contains them.
    private(set) var silent: UInt64 = 0
    /// Single letters, which may be initials.
    private(set) var initials: [(letter: UInt8, mask: UInt64)] = []
    /// Words that specify a part of a house, `apt 12`, or of a postcode, `02139-1234`.
    private var units: UInt64 = 0
    /// Whether a word occurs twice.
    private(set) var hasRepeats = false

    /// - Parameter beginnings: Words of the vocabulary that the last word may be a prefix of, that
    ///   of a number as well; nil for all, of which the most frequent are used.
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
        // A number after `#` may be a flat, so other numbers come first.
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

    /// The total weight of a set of words.
    func weight(_ mask: UInt64) -> Double {
        var result = 0.0
        var rest = mask
        while rest != 0 {
            result += weights[rest.trailingZeroBitCount / 2] / 2
            rest &= rest - 1
        }
        return result
    }

    /// The entries of a vocabulary word; empty for none.
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

    /// Whether a word may be a misspelling of one of the vocabulary: it has the same initial (`pdt`
    /// for `president`), or ends with that word (`lacroix`).
    func mayBe(_ number: Int, _ name: Range<Int>, _ bytes: RawSpan) -> Bool {
        let word = text.bytes[text.words[number]]
        return word.first == name.first.map { bytes.byte(at: $0) }
            || word.count > name.count
                && zip(word.suffix(name.count), name).allSatisfy { $0 == bytes.byte(at: $1) }
    }

    /// Treats an unfinished last word as a prefix of some words of the vocabulary.
    mutating func addBeginnings(among words: [Int], _ bytes: RawSpan) {
        guard isUnfinished, text.endsInsideWord, count > 1, !isNumber[count - 1] else { return }
        addBeginnings(count - 1, among: words, bytes)
        sort()
    }

    /// Whether unmatched words of the text include a street type.
    func hasSort(in rest: UInt64, _ bytes: RawSpan) -> Bool {
        (0..<count).contains { number in
            rest & mask(number) == mask(number) && units & mask(number) == 0
                && text.letters[number] >= 2
                && (isSort(number, bytes) || isLastSort(number, rest))
        }
    }

    /// Whether a word is a street type, perhaps with a typo, and nothing else, here or in any
    /// language.
    private func isSort(_ number: Int, _ bytes: RawSpan) -> Bool {
        let all = entries.filter { $0.mask == mask(number) }
        let exact = all.filter { $0.quality == 1 }
        let own = exact.isEmpty ? all : exact
        let word = Array(text.bytes[text.words[number]])
        let mayBeSilent = AddressWords.searched.sorts.contains(word)
        let isOther = own.contains {
            let kind = file.kind(ofWord: $0.word, bytes)
            return kind != .type && !(mayBeSilent && kind == .silent)
        }
        if isOther { return false }
        return !own.isEmpty || AddressWords.searched.common[word] == .type || mayBeSilent
    }

    /// Whether a word is short for a street type behind a name, `12 Oak St`, and not before one.
    private func isLastSort(_ number: Int, _ rest: UInt64) -> Bool {
        guard number > 0, !isNumber[number - 1], text.segments[number - 1] == text.segments[number],
            AddressWords.searched.isLast(Array(text.bytes[text.words[number]]))
        else { return false }
        let after = number + 1
        return after >= count || text.segments[after] != text.segments[number] || isNumber[after]
            || rest & mask(after) == 0
    }

    /// Whether a word of a street's name has a match in the text, and none but typos.
    ///
    /// - Parameter ofOtherEnding: Whether it is a compound of another street type than the text's.
    func isMistyped(_ word: Int, ofOtherEnding: Bool = false, _ bytes: RawSpan) -> Bool {
        let own = entries(ofWord: word).map { entries[$0] }
        guard !own.isEmpty, own.allSatisfy({ $0.quality < 1 - ranking.together }) else {
            return false
        }
        guard ofOtherEnding else { return true }
        let name = bytes.copy(file.vocabulary.text(word, bytes))
        return own.allSatisfy { entry in
            let number = entry.mask.trailingZeroBitCount / 2
            return entry.mask == mask(number)
                && AddressWords.searched.hasOtherEnding(
                    text.bytes[text.words[number]], than: name[...])
        }
    }

    /// Whether a word is a number of up to four digits, or an ordinal.
    func mayBeOrdinal(_ number: Int) -> Bool {
        isNumber[number] && (text.letters[number] <= 4 || isOrdinal(number))
    }

    /// Whether a number of the text, possibly unfinished, is a prefix of a word of the vocabulary.
    func isNumberBeginning(_ name: Range<Int>, _ bytes: RawSpan) -> Bool {
        guard isUnfinished, text.endsInsideWord, count > 0, isNumber[count - 1] else {
            return false
        }
        let word = text.bytes[text.words[count - 1]]
        return word.count < name.count && zip(word, name).allSatisfy { $0 == bytes.byte(at: $1) }
    }

    /// The words before the first match, if they are a part of their own, or precede the house
    /// number: `c/o Smith`, `3rd floor`.
    func wordsBefore(_ used: UInt64, house: UInt64) -> UInt64 {
        guard text.fields.isEmpty, used != 0 else { return 0 }
        let first = used.trailingZeroBitCount / 2
        guard first > 0, first < count,
            text.segments[first - 1] != text.segments[first] || house & mask(first) != 0
        else { return 0 }
        return mask(0..<first)
    }

    /// Adds typo matches for words that have exact ones, too.
    mutating func addTyposOfKnown(_ bytes: RawSpan) {
        for number in 0..<count where !isNumber[number] && known & mask(number) != 0 {
            // `lafayette` may be the `la fayette` of one street and a single word of another.
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

    /// Detects a word with the number or letter after it (`apt 12`, `bât b`), or the ordinal before
    /// it (`3rd floor`), as a part of a house: then they are no house number, and weigh next to
    /// nothing.
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

    /// Detects the four digits after a postcode of five, in a text with another number: then they
    /// are no house number, and weigh next to nothing.
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

    /// Adds the word itself, its long forms, and its postcode.
    private mutating func addExact(
        _ number: Int, _ word: ArraySlice<UInt8>, _ bytes: RawSpan
    ) -> AddressWordKind {
        var kind: AddressWordKind?
        let quality = text.glued.contains(number) ? 1 - ranking.together : 1
        let itself = file.vocabulary.number(of: word, bytes)
        var others = otherForms(of: word, bytes)
        // Variants of an ordinal: `5e`, `5eme`, `5`.
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

    /// Adds two adjacent words that form one of the vocabulary, or a postcode.
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

    /// Adds a word that consists of two of the vocabulary, split where the shorter part is longest.
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

    /// The street type that the last part of a compound abbreviates.
    private func typeShort(_ word: ArraySlice<UInt8>, _ bytes: RawSpan) -> Int? {
        guard AddressWords.searched.isEnding(word) else { return nil }
        return file.longForms(of: word, bytes).first { file.kind(ofWord: $0, bytes) == .type }
    }

    /// Adds words with the last one as a prefix: those of most streets, and those of most towns.
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

    /// Adds all of some words with the last one as a prefix.
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
        // In three letters one may be missing, none wrong.
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
        // A typo before a short ending: `haupstr`.
        for other in AddressWords.searched.compounds(of: word) {
            var search = TypoSearch(other[...], limit: 1)
            for key in search.run(file.vocabulary, bytes).map(\.key).sorted().prefix(Self.mostTypos)
            {
                entries.append(
                    Entry(word: key, mask: mask(number), quality: 1 - 1 / Double(letters)))
            }
        }
    }

    /// Limit of typos, or completions, of one word.
    private static let mostTypos = 64
    /// Limit of completions examined.
    private static let mostBeginnings = 4_096
}

extension AddressWordKind {
    /// The weight per letter of such a word.
    func weight(_ ranking: Ranking.Addresses) -> Double {
        switch self {
        case .plain: 1
        case .type, .silent: ranking.typeWeight
        case .little: ranking.littleWeight
        }
    }
}
