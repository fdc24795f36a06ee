// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension FoldedText {
    /// The text with a space put between letters and a number that were written without one:
    /// `26000valence`, `laurent75011`, `12rue`.
    ///
    /// Only words that the file does not know, with one border between digits and three letters or more,
    /// where the number is one of its postcodes, or stands first and the letters are a word of it. The last
    /// word of a text that is still being typed stays.
    func partingNumbers(
        _ addresses: AddressFile, isUnfinished: Bool, _ bytes: RawSpan
    ) -> FoldedText {
        var borders: [Int?] = []
        for (number, word) in words.enumerated() {
            let isOpen = isUnfinished && endsInsideWord && number == words.count - 1
            borders.append(isOpen ? nil : border(in: self.bytes[word], addresses, bytes))
        }
        guard borders.contains(where: { $0 != nil }) else { return self }
        var result = FoldedText()
        result.endsInsideWord = endsInsideWord
        func append(_ part: ArraySlice<UInt8>, _ count: Int, _ number: Int) {
            if !result.bytes.isEmpty { result.bytes.append(UInt8(ascii: " ")) }
            let start = result.bytes.count
            result.bytes += part
            result.words.append(start..<result.bytes.count)
            result.letters.append(count)
            result.segments.append(segments[number])
            if !fields.isEmpty { result.fields.append(fields[number]) }
        }
        for (number, word) in words.enumerated() {
            guard let border = borders[number] else {
                append(self.bytes[word], letters[number], number)
                continue
            }
            let first = self.bytes[word.lowerBound..<border]
            let second = self.bytes[border..<word.upperBound]
            // A digit is a byte.
            let count = Self.isDigit(first.first) ? first.count : letters[number] - second.count
            append(first, count, number)
            append(second, letters[number] - count, number)
        }
        return result
    }

    private static func isDigit(_ byte: UInt8?) -> Bool {
        byte.map { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ?? false
    }

    /// Where a word is a number and letters; nil where it is one word.
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
