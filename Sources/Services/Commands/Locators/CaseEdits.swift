// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Common variations of a text; nil where one does not apply.
enum CaseEdit: String, CaseIterable {
    case typoInEachLongWord = "typo_each_word"
    case twoTyposInVeryLongWords = "typo_two_in_long"
    case doubledLetter = "doubled_letter"
    case swappedLetters = "swapped_letters"
    case missingLetter = "missing_letter"
    case missingWord = "missing_word"
    case swappedWords = "swapped_words"
    case joinedWords = "joined_words"
    case splitWord = "split_word"

    func applied(to text: String, using random: inout CaseRandom) -> String? {
        var words = text.split(separator: " ").map(Array.init)
        switch self {
        case .typoInEachLongWord:
            words = words.map { $0.letterCount >= 5 ? random.typo($0) : $0 }
        case .twoTyposInVeryLongWords:
            words = words.map { $0.letterCount >= 9 ? random.typo(random.typo($0)) : $0 }
        case .doubledLetter:
            guard let (number, at) = Self.letter(in: words, least: 4, using: &random) else {
                return nil
            }
            words[number].insert(words[number][at], at: at)
        case .swappedLetters:
            guard let (number, at) = Self.letter(in: words, least: 4, using: &random),
                at + 1 < words[number].count, words[number][at + 1].isLetter
            else { return nil }
            words[number].swapAt(at, at + 1)
        case .missingLetter:
            guard let (number, at) = Self.letter(in: words, least: 5, using: &random) else {
                return nil
            }
            words[number].remove(at: at)
        case .missingWord:
            // In an address a word of the street is edited; numbers and the last word locate it.
            let ends =
                text.contains(",") ? words.firstIndex { $0.last == "," } ?? 0 : words.count - 1
            let numbers = words.indices.filter { $0 < ends && words[$0].letterCount > 0 }
            guard words.count > 3, numbers.count > 1,
                let number = numbers.randomElement(using: &random)
            else { return nil }
            words.remove(at: number)
        case .swappedWords:
            guard words.count > 1 else { return nil }
            let at = Int.random(in: 0..<words.count - 1, using: &random)
            words.swapAt(at, at + 1)
        case .joinedWords:
            let numbers = words.indices.dropLast().filter {
                words[$0].letterCount == words[$0].count && words[$0 + 1].letterCount > 2
            }
            guard let at = numbers.randomElement(using: &random) else { return nil }
            words[at] += words.remove(at: at + 1)
        case .splitWord:
            let numbers = words.indices.filter { words[$0].letterCount >= 8 }
            guard let number = numbers.randomElement(using: &random) else { return nil }
            let at = Int.random(in: 3...words[number].letterCount - 3, using: &random)
            words[number].insert(" ", at: at)
        }
        let result = String(words.joined(separator: [" "]))
        return result == text ? nil : result
    }

    /// A letter inside one of the sufficiently long words.
    private static func letter(
        in words: [[Character]], least: Int, using random: inout CaseRandom
    ) -> (word: Int, at: Int)? {
        let numbers = words.indices.filter { words[$0].letterCount >= least }
        guard let number = numbers.randomElement(using: &random) else { return nil }
        let letters = words[number].indices.filter { words[number][$0].isLetter }
        return letters.randomElement(using: &random).map { (number, $0) }
    }
}

extension [Character] {
    fileprivate var letterCount: Int { count { $0.isLetter } }
}

/// SplitMix64, for reproducible cases.
struct CaseRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// A word with one letter wrong, missing, added, or swapped with the next; never the same word.
    mutating func typo(_ word: [Character]) -> [Character] {
        let places = word.indices.filter { word[$0].isLetter }
        guard let at = places.randomElement(using: &self) else { return word }
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        while true {
            var result = word
            let letter = letters[Int.random(in: 0..<26, using: &self)]
            switch Int.random(in: 0..<4, using: &self) {
            case 0: result[at] = letter
            case 1: result.remove(at: at)
            case 2: result.insert(letter, at: at)
            default: if at + 1 < result.count, result[at + 1].isLetter { result.swapAt(at, at + 1) }
            }
            if result.map({ $0.lowercased() }) != word.map({ $0.lowercased() }) { return result }
        }
    }

    /// The half that a record's cases belong to, independent of the seed.
    static func isHeldOut(_ record: String) -> Bool {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in record.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var mixed = CaseRandom(seed: hash)
        return mixed.next() & 1 == 1
    }
}
