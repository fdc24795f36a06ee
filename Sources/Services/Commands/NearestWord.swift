// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The known word nearest to an unknown one, for errors.
enum NearestWord {
    /// ` (did you mean 'World'?)`; empty where no known word is near.
    static func sentence(for word: String, among known: some Sequence<String>) -> String {
        nearest(to: word, among: known).map { " (did you mean '\($0)'?)" } ?? ""
    }

    /// The first of the nearest words within a third of the word's length, ignoring case.
    static func nearest(to word: String, among known: some Sequence<String>) -> String? {
        let wanted = Array(word.lowercased().prefix(lengthLimit))
        guard !wanted.isEmpty else { return nil }
        var best: (word: String, distance: Int)?
        for each in known {
            let distance = distance(wanted, Array(each.lowercased().prefix(lengthLimit)))
            if distance < best?.distance ?? .max { best = (each, distance) }
        }
        guard let best, best.distance <= max(1, wanted.count / 3) else { return nil }
        return best.word
    }

    private static let lengthLimit = 80

    /// Number of letters inserted, removed, replaced, or exchanged with their neighbours.
    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var (before, above) = ([Int](), Array(0...other.count))
        for row in one.indices {
            var current = [row + 1]
            for column in other.indices {
                let same = one[row] == other[column] ? 0 : 1
                var least = min(current[column] + 1, above[column + 1] + 1, above[column] + same)
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column]
                {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, above) = (above, current)
        }
        return above[other.count]
    }
}
