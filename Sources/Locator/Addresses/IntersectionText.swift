// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Where a text may say that two streets meet: `Cambridge St & Prospect St`, `corner of X and Y`,
/// `X / Y`, `X at Y`, `angle de la rue X et de la rue Y`.
struct IntersectionText {
    /// What stands before and after each sign or word that may join two streets, at most
    /// ``mostSplits``.
    private(set) var splits: [(first: String, second: String, isSign: Bool)] = []

    static let mostSplits = 4
    private static let words: Set<String> = ["and", "at", "et", "und", "y", "con"]
    private static let signs: Set<Character> = ["&", "@", "/", "+", "×"]
    /// Said before the first street, longest first.
    private static let openings: [[String]] = [
        ["at", "the", "corner", "of"], ["the", "corner", "of"], ["corner", "of"], ["corner"],
        ["at", "the", "intersection", "of"], ["the", "intersection", "of"],
        ["intersection", "of"], ["à", "l'angle", "de"], ["à", "l'angle"], ["l'angle"],
        ["angle"], ["au", "coin", "de"], ["coin"], ["croisement"], ["ecke"], ["esquina"],
    ]

    init(_ text: String) {
        // A fraction, `12 1/2`, is no crossing; signs without blanks become words of their own.
        var spaced = ""
        var last: Character = " "
        let characters = Array(text)
        for (number, character) in characters.enumerated() {
            let next = number + 1 < characters.count ? characters[number + 1] : " "
            if Self.signs.contains(character), !(last.isNumber && next.isNumber) {
                spaced += " \(character) "
            } else {
                spaced.append(character == "’" ? "'" : character)
            }
            last = character
        }
        var words = spaced.split(whereSeparator: \.isWhitespace).map(String.init)
        for opening in Self.openings
        where words.count > opening.count
            && zip(words, opening).allSatisfy({ $0.lowercased() == $1 })
        {
            words.removeFirst(opening.count)
            break
        }
        for (number, word) in words.enumerated() where number > 0 && number < words.count - 1 {
            let isSign = word.count == 1 && Self.signs.contains(Character(word))
            guard isSign || Self.words.contains(word.lowercased()) else { continue }
            splits.append(
                (
                    words[..<number].joined(separator: " "),
                    words[(number + 1)...].joined(separator: " "), isSign
                ))
            if splits.count == Self.mostSplits { break }
        }
    }
}
