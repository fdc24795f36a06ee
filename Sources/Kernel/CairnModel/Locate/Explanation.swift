// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The ranking of a geocode candidate, explained.
///
/// The score is 100 × (1 − lost ÷ weight), lowered to the model's bounds where something is
/// uncertain; `Docs/locator-ranking.md` states the model.
public struct Explanation: Hashable, Sendable, Codable {
    /// The interpretation of the text's words, in the order of matching.
    public var words: [Words]
    /// Weight of all words of the text: about their number of letters.
    public var weight: Double
    /// Lost weight of the reading, the sum over `words`.
    public var lost: Double
    /// The order among candidates of equal scores; the sum counts.
    public var order: Order

    /// Neighbouring or scattered words with one meaning.
    public struct Words: Hashable, Sendable, Codable {
        /// The words, folded, in the order of the text; empty where it lacks them.
        public var text: String
        /// Meaning of the words.
        public var meaning: Meaning
        /// Kind of match; nil for unexplained words.
        public var match: Match?
        /// The matched name as spelled; nil where it is not kept.
        public var name: String?
        /// Lost weight of the words.
        public var lost: Double

        /// States them.
        public init(
            text: String, meaning: Meaning, match: Match?, name: String?, lost: Double
        ) {
            self.text = text
            self.meaning = meaning
            self.match = match
            self.name = name
            self.lost = lost
        }
    }

    /// A meaning of words.
    public enum Meaning: String, Hashable, Sendable, Codable {
        /// The name of the place.
        case name
        /// Names or codes of the containing area.
        case country, region, subregion
        /// Parts of an address.
        case street, town, postcode, house
        /// A division around the address.
        case area
        /// The name of a division or town that the candidate is not in.
        case contradiction
        /// No known meaning.
        case unexplained
    }

    /// A kind of match between words and a name.
    public enum Match: String, Hashable, Sendable, Codable {
        /// Letter by letter, by a dictionary included.
        case exact
        /// The beginning of a name, or some of its words.
        case beginning
        /// With letters too many, missing, wrong or exchanged; or written together or apart.
        case slips
        /// A name in Latin letters that it is not written in.
        case transliterated
        /// The words of the text put in another order first.
        case rearranged
    }

    /// The terms of the weight among equal scores.
    public struct Order: Hashable, Sendable, Codable {
        /// Prominence of the place, 0…1, or the share of it that counts.
        public var importance: Double
        /// Deduction for the kind of name.
        public var role: Double
        /// Bonus for distance to the requested location.
        public var nearness: Double
        /// The sum.
        public var weight: Double

        /// Adds them up.
        public init(importance: Double, role: Double, nearness: Double) {
            self.importance = importance
            self.role = role
            self.nearness = nearness
            weight = importance - role + nearness
        }
    }

    /// States one.
    public init(words: [Words], weight: Double, lost: Double, order: Order) {
        self.words = words
        self.weight = weight
        self.lost = lost
        self.order = order
    }
}
