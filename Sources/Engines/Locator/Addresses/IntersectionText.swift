// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Splits a text at separators of intersections: `Cambridge St & Prospect St`, `corner of X and Y`,
/// `X / Y`, `X at Y`, `angle de la rue X et de la rue Y`.
struct IntersectionText {
    /// The parts before and after each separator, at most ``mostSplits``.
    private(set) var splits: [(first: String, second: String, isSign: Bool)] = []

    static let mostSplits = 4
    private static let words: Set<String> = ["and", "at", "et", "und", "y", "con"]
    /// Phrases before the first street, longest first.
    private static let openings: [[String]] = [
        ["at", "the", "corner", "of"], ["the", "corner", "of"], ["corner", "of"], ["corner"],
        ["at", "the", "intersection", "of"], ["the", "intersection", "of"],
        ["intersection", "of"], ["à", "l'angle", "de"], ["à", "l'angle"], ["l'angle"],
        ["angle"], ["au", "coin", "de"], ["coin"], ["croisement"], ["ecke"], ["esquina"],
    ]

    init(_ text: String) {
        var words = Self.parted(text).split(whereSeparator: \.isWhitespace).map(String.init)
        var small = words.map { $0.lowercased() }
        for opening in Self.openings
        where small.count > opening.count && small.starts(with: opening) {
            words.removeFirst(opening.count)
            small.removeFirst(opening.count)
            break
        }
        for number in words.indices.dropFirst().dropLast() {
            let isSign = words[number].unicodeScalars.allSatisfy(Self.isSign)
            guard isSign || Self.words.contains(small[number]) else { continue }
            splits.append(
                (
                    words[..<number].joined(separator: " "),
                    words[(number + 1)...].joined(separator: " "), isSign
                ))
            if splits.count == Self.mostSplits { break }
        }
    }

    /// The text with signs as separate words; a fraction, `12 1/2`, is no intersection.
    private static func parted(_ text: String) -> String {
        var parted = String.UnicodeScalarView()
        var last: Unicode.Scalar = " "
        let scalars = text.unicodeScalars
        for place in scalars.indices {
            let scalar = scalars[place]
            if isSign(scalar),
                !(isNumber(last) && isNumber(scalars[scalars.index(after: place)...].first))
            {
                parted.append(contentsOf: [" ", scalar, " "])
            } else {
                parted.append(scalar == "’" ? "'" : scalar)
            }
            last = scalar
        }
        return String(parted)
    }

    private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "&", "@", "/", "+", "×": true
        default: false
        }
    }

    private static func isNumber(_ scalar: Unicode.Scalar?) -> Bool {
        scalar?.properties.numericType != nil
    }
}
