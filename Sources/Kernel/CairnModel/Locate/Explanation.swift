// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Why a candidate of a geocode stands where it does.
///
/// The score is 100 × (1 − lost ÷ weight), lowered to the model's bounds where something is
/// uncertain; `Docs/locator-ranking.md` states the model.
public struct Explanation: Hashable, Sendable, Codable {
    /// What words of the text were taken for, in the order they were taken.
    public var words: [Words]
    /// What all words of the text weigh: about their letters.
    public var weight: Double
    /// What the reading loses of it, that of all `words` together.
    public var lost: Double
    /// What orders candidates of equal scores; the sum counts.
    public var order: Order

    /// Neighbouring or scattered words with one meaning.
    public struct Words: Hashable, Sendable, Codable {
        /// The words, folded, in the order of the text; empty where it lacks them.
        public var text: String
        /// What they are.
        public var meaning: Meaning
        /// How they matched; nil for words that are not explained.
        public var match: Match?
        /// What they matched, as it is written; nil where it is not kept.
        public var name: String?
        /// What they lose of the weight.
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

    /// What words are.
    public enum Meaning: String, Hashable, Sendable, Codable {
        /// The name of the place.
        case name
        /// Names or codes of what contains it.
        case country, region, subregion
        /// Parts of an address.
        case street, town, postcode, house
        /// A division around the address.
        case area
        /// The name of a division or town that the candidate is not in.
        case contradiction
        /// Nothing that is known.
        case unexplained
    }

    /// How words matched a name.
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
        /// How well known the place is, 0…1, or the share of it that counts.
        public var importance: Double
        /// What the kind of name takes from it.
        public var role: Double
        /// What it gains by lying near the location that was asked for.
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
