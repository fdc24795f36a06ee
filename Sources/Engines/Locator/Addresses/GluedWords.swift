// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension FoldedText {
    /// Inserts missing spaces into a text.
    ///
    /// Letters and a number (`26000valence`, `laurent75011`, `12rue`): only in words unknown to the
    /// file, with one boundary between digits and at least three letters, where the number is one
    /// of its postcodes, or comes first and the letters are a known word. Three or more words
    /// (`delagare`, `dugeneraldegaulle`): where they are consecutive in the name of a street or
    /// town. The last word of an unfinished text is left alone.
    func partingGlued(
        _ addresses: AddressFile, isUnfinished: Bool, _ bytes: RawSpan
    ) -> FoldedText {
        var borders: [[Int]] = []
        for (number, word) in words.enumerated() {
            let isOpen = isUnfinished && endsInsideWord && number == words.count - 1
            let bytesOfWord = self.bytes[word]
            borders.append(
                isOpen
                    ? []
                    : border(in: bytesOfWord, addresses, bytes).map { [$0] }
                        ?? addresses.borders(in: bytesOfWord, bytes))
        }
        guard borders.contains(where: { !$0.isEmpty }) else { return self }
        var result = FoldedText()
        result.endsInsideWord = endsInsideWord
        for (number, word) in words.enumerated() {
            let ends = borders[number] + [word.upperBound]
            if hashed.contains(number) { result.hashed.insert(result.words.count) }
            var start = word.lowerBound
            for end in ends {
                if ends.count > 2 { result.glued.insert(result.words.count) }
                let part = self.bytes[start..<end]
                result.append(
                    part, letters: Self.letterCount(part), segment: segments[number],
                    field: fields.isEmpty ? nil : fields[number])
                start = end
            }
        }
        return result
    }

    private static func isDigit(_ byte: UInt8?) -> Bool {
        byte.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
    }

    /// The boundary between a number and letters; nil for a single word.
    private func border(
        in word: ArraySlice<UInt8>, _ addresses: AddressFile, _ bytes: RawSpan
    ) -> Int? {
        let startsWithDigit = Self.isDigit(word.first)
        guard startsWithDigit || Self.isDigit(word.last),
            let border = word.firstIndex(where: { Self.isDigit($0) != startsWithDigit }),
            word[border...].allSatisfy({ Self.isDigit($0) != startsWithDigit })
        else { return nil }
        let (first, second) = (word[..<border], word[border...])
        let (digits, letters) = startsWithDigit ? (first, second) : (second, first)
        guard letters.count >= 3, addresses.postcode(word, bytes) == nil,
            addresses.vocabulary.number(of: word, bytes) == nil
        else { return nil }
        if digits.count >= 4, addresses.postcode(digits, bytes) != nil { return border }
        // `12bis` is a number with its suffix.
        let isSuffix = AddressWords.searched.suffixes.contains {
            $0.contains { $0[...] == letters }
        }
        return startsWithDigit && digits.count <= 4 && !isSuffix
            && addresses.vocabulary.number(of: letters, bytes) != nil ? border : nil
    }
}

extension AddressFile {
    /// The boundaries of a word unknown to the file: at least three consecutive words in the name
    /// of a street or town; empty without such a name.
    ///
    /// Examines names with one of the rarest words of at least four bytes inside the word.
    fileprivate func borders(in word: ArraySlice<UInt8>, _ bytes: RawSpan) -> [Int] {
        guard Self.gluedLength ~= word.count, vocabulary.number(of: word, bytes) == nil,
            longForms(of: word, bytes).isEmpty
        else { return [] }
        let inside = words(inside: word, bytes).prefix(Self.mostGluedWords)
        var best: [Int] = []
        for other in inside {
            for posting in streetPostings(other, bytes).prefix(Self.mostGluedNames) {
                let street = street(atPosting: posting, bytes)
                let found = borders(in: word, by: words(ofStreet: street, bytes), bytes)
                if found.count > best.count { best = found }
            }
            for posting in townPostings(other, bytes).prefix(Self.mostGluedNames) {
                let town = town(atPosting: posting, bytes)
                let found = borders(in: word, by: words(ofTown: town, bytes), bytes)
                if found.count > best.count { best = found }
            }
            if !best.isEmpty { break }
        }
        return best
    }

    /// Length of a word that may be split, in bytes.
    private static let gluedLength = 7...80
    /// Limit of contained words tried, and of names for each.
    private static let mostGluedWords = 6
    private static let mostGluedNames = 500

    /// Words of the vocabulary of at least four bytes inside another, by rising number of streets.
    private func words(inside word: ArraySlice<UInt8>, _ bytes: RawSpan) -> [Int] {
        var result: Set<Int> = []
        for start in word.indices.dropLast(3) {
            var end = start + 4
            while end <= word.endIndex {
                let first = vocabulary.first(from: word[start..<end], bytes)
                guard first < vocabulary.count,
                    vocabulary.name(first, beginsWith: word[start..<end], bytes)
                else { break }
                if vocabulary.text(first, bytes).count == end - start { result.insert(first) }
                end += 1
            }
        }
        func count(_ word: Int) -> Int {
            streetPostings(word, bytes).count + townPostings(word, bytes).count
        }
        return result.map { (count($0), $0) }.sorted { $0 < $1 }.map(\.1)
    }

    /// The ends of consecutive words of a name that compose a word, without the last; empty for
    /// fewer than three.
    private func borders(
        in word: ArraySlice<UInt8>, by name: Range<Int>, _ bytes: RawSpan
    ) -> [Int] {
        for first in name {
            var ends: [Int] = []
            var at = word.startIndex
            for entry in first..<name.upperBound {
                let text = vocabulary.text(self.word(at: entry, bytes), bytes)
                guard word.endIndex - at >= text.count,
                    zip(word[at...], text).allSatisfy({ $0 == bytes.byte(at: $1) })
                else { break }
                at += text.count
                if at == word.endIndex { return ends.count >= 2 ? ends : [] }
                ends.append(at)
            }
        }
        return []
    }
}
