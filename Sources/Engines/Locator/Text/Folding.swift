// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import ICU

/// The folded form of a text for comparison: lower-case words without diacritics and punctuation.
///
/// Two texts that fold to the same bytes are the same name. The words are in `bytes`, each UTF-8,
/// separated by one space.
struct FoldedText: Hashable {
    /// The words, separated by single spaces.
    var bytes: [UInt8] = []
    /// The byte range of each word in `bytes`.
    var words: [Range<Int>] = []
    /// Number of letters (scalars) of each word.
    var letters: [Int] = []
    /// The comma-separated segment of each word, from 0, rising.
    var segments: [Int] = []
    /// The part of an address of each word; empty for a text without parts.
    var fields: [AddressPart] = []
    /// Whether the text ends inside its last word, which may be unfinished.
    var endsInsideWord = false
    /// The words that were joined with others in the text.
    var glued: Set<Int> = []
    /// The words after a `#`.
    var hashed: Set<Int> = []

    /// The byte range of a run of words, spaces between them included.
    func span(_ range: Range<Int>) -> Range<Int> {
        guard let first = range.first, let last = range.last else { return 0..<0 }
        return words[first].lowerBound..<words[last].upperBound
    }
}

extension FoldedText {
    /// The first words of a text, with some of them moved to the end as a segment of their own.
    func putting(_ last: Range<Int>, lastOf count: Int) -> FoldedText {
        var result = FoldedText()
        for number in Array(0..<last.lowerBound) + (last.upperBound..<count) + last {
            result.append(
                bytes[words[number]], letters: letters[number],
                segment: last.contains(number) ? 1 : 0)
        }
        return result
    }

    /// The text with one of its words split at byte offsets.
    func parting(_ word: Int, at borders: [Int]) -> FoldedText {
        var result = FoldedText()
        result.endsInsideWord = endsInsideWord
        for number in words.indices {
            var start = words[number].lowerBound
            for end in (number == word ? borders : []) + [words[number].upperBound] {
                result.append(
                    bytes[start..<end], letters: Self.letterCount(bytes[start..<end]),
                    segment: segments[number], field: fields.isEmpty ? nil : fields[number])
                start = end
            }
        }
        return result
    }

    /// Appends a word after a space.
    mutating func append(
        _ word: ArraySlice<UInt8>, letters count: Int, segment: Int, field: AddressPart? = nil
    ) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: " ")) }
        let start = bytes.count
        bytes += word
        words.append(start..<bytes.count)
        letters.append(count)
        segments.append(segment)
        if let field { fields.append(field) }
    }

    /// Number of letters in UTF-8, without continuation bytes, which start with the bits 10.
    static func letterCount(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.count { $0 & 0xC0 != 0x80 }
    }
}

/// Folds texts to words; the same for the names in the file and for searched texts.
struct Folder {
    private var result = FoldedText()
    private var segment = 0
    private var wordStart = 0
    private var letterCount = 0
    /// Letters since the start of the word or its last period: 1 marks an abbreviation such as
    /// `U.S.`.
    private var run = 0
    private var pendingPeriod = false
    private var isHashed = false
    /// Whether ä, ö, ü, å are folded to two letters, as in German and Danish without diacritics.
    private let expandsUmlauts: Bool

    /// Whether an apostrophe separates words, as in `l'Abbaye`; otherwise it is dropped.
    private let partsApostrophes: Bool

    private init(expandsUmlauts: Bool, partsApostrophes: Bool) {
        self.expandsUmlauts = expandsUmlauts
        self.partsApostrophes = partsApostrophes
    }

    /// Folds a text, in linear time.
    static func fold(
        _ text: String, expandingUmlauts: Bool = false, partingApostrophes: Bool = false
    ) -> FoldedText {
        var folder = Folder(
            expandsUmlauts: expandingUmlauts, partsApostrophes: partingApostrophes)
        folder.result.bytes.reserveCapacity(text.utf8.count)
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            for byte in text.utf8 { folder.take(Unicode.Scalar(byte)) }
        } else {
            for scalar in Self.casefold(text).unicodeScalars { folder.take(scalar) }
        }
        folder.result.endsInsideWord = folder.letterCount > 0
        folder.endWord()
        return folder.result
    }

    /// NFKC_Casefold of the characters in Unicode 15; later ones separate words, so that every
    /// version of ICU folds alike.
    private static func casefold(_ text: String) -> String {
        var known = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            // Its compatibility form would be a space and a mark.
            case 0xB4: known.append("'")
            case 0..<0x250: known.append(scalar)
            default: known.append(1...15 ~= Characters.age(of: scalar) ? scalar : " ")
            }
        }
        return Characters.casefold(String(known))
    }

    private mutating func take(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x61...0x7A, 0x30...0x39: append(UInt8(scalar.value))
        case 0x41...0x5A: append(UInt8(scalar.value) | 0x20)
        case 0x2E: takePeriod()
        case 0x23:
            endWord()
            isHashed = true
        case 0x27, 0x60: if partsApostrophes { endWord() }
        case 0x26:
            endWord()
            for byte in "and".utf8 { append(byte) }
            endWord()
        case 0x2C, 0x3B, 0x0A, 0x0D, 0x7C: endSegment()
        case 0..<0x80: endWord()
        default: takeWide(scalar)
        }
    }

    private mutating func takePeriod() {
        if run == 1 { pendingPeriod = true } else { endWord() }
    }

    private mutating func takeWide(_ scalar: Unicode.Scalar) {
        if expandsUmlauts, let pair = Self.umlaut(scalar) {
            append(pair)
            append(UInt8(ascii: "e"))
            return
        }
        switch scalar.value {
        case 0x3001, 0x060C, 0x061B: endSegment()
        case 0x2018, 0x2019, 0x201B, 0x2032: if partsApostrophes { endWord() }
        case let value where Self.isIgnored(value): break
        case let value where Self.takesMarks(value):
            guard let letters = Characters.decomposition(of: scalar) else {
                return takeLetter(scalar)
            }
            for letter in letters.unicodeScalars where !Self.isIgnored(letter.value) {
                takeLetter(letter)
            }
        default: takeLetter(scalar)
        }
    }

    private mutating func takeLetter(_ scalar: Unicode.Scalar) {
        if let replacement = FoldingTable.replacements[scalar] {
            for letter in replacement { append(letter) }
            return
        }
        switch scalar.properties.generalCategory {
        case .decimalNumber:
            if let digit = Characters.digit(scalar) {
                append(UInt8(ascii: "0") + UInt8(digit))
            } else {
                append(scalar)
            }
        case .uppercaseLetter, .titlecaseLetter, .lowercaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .enclosingMark, .letterNumber:
            append(scalar)
        default: endWord()
        }
    }

    private mutating func append(_ byte: UInt8) {
        // `д.7` is two words, `d.c.` one.
        if pendingPeriod, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { endWord() }
        openWord()
        result.bytes.append(byte)
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        openWord()
        result.bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }

    private mutating func openWord() {
        if letterCount == 0 {
            if !result.bytes.isEmpty { result.bytes.append(UInt8(ascii: " ")) }
            wordStart = result.bytes.count
        }
        if pendingPeriod {
            pendingPeriod = false
            run = 0
        }
        letterCount += 1
        run += 1
    }

    private mutating func endWord() {
        pendingPeriod = false
        run = 0
        guard letterCount > 0 else { return }
        if isHashed { result.hashed.insert(result.words.count) }
        isHashed = false
        result.words.append(wordStart..<result.bytes.count)
        result.letters.append(letterCount)
        result.segments.append(segment)
        letterCount = 0
    }

    private mutating func endSegment() {
        endWord()
        segment = (result.segments.last ?? -1) + 1
    }

    private static func umlaut(_ scalar: Unicode.Scalar) -> UInt8? {
        switch scalar {
        case "ä": UInt8(ascii: "a")
        case "ö", "ø": UInt8(ascii: "o")
        case "ü": UInt8(ascii: "u")
        default: nil
        }
    }

    /// Whether letters are compared without diacritics: Latin, Greek, Cyrillic, Hebrew and Arabic.
    private static func takesMarks(_ value: UInt32) -> Bool {
        switch value {
        case 0xC0..<0x530, 0x590..<0x780, 0x1E00...0x1FFF: true
        default: false
        }
    }

    /// Diacritics of Latin, Greek, Cyrillic, Hebrew and Arabic, apostrophes, joiners and direction
    /// signs.
    ///
    /// Marks of other scripts act as letters and are kept.
    private static func isIgnored(_ value: UInt32) -> Bool {
        switch value {
        case 0x0300...0x036F, 0x0483...0x0487, 0x0591...0x05BD, 0x05BF...0x05C7, 0x0610...0x061A,
            0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06ED, 0x1AB0...0x1AFF,
            0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F:
            true
        case 0xAD, 0xB7, 0x02B9...0x02BF, 0x02C8, 0x2018, 0x2019, 0x201B, 0x2027, 0x2032,
            0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F, 0xFEFF:
            true
        default: false
        }
    }
}
