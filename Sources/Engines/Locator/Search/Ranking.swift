// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// The ranking model: penalties, caps of scores, and tie-breaks.
///
/// Its numbers are in `Data/ranking.json`, or a file given to the build, and embedded in the
/// locator file, so that an answer is a function of the file alone. `Docs/locator-ranking.md`
/// describes each.
final class Ranking: Decodable, Sendable {
    /// Thresholds and caps of scores, 0 to 100.
    struct Scores: Decodable {
        /// Threshold of an answer.
        var least: Double
        /// Largest difference from the best answer.
        var gap: Double
        /// Cap of a match that is not exact.
        var uncertain: Double
        /// Cap of a match by romanisation of the text.
        var transliterated: Double
        /// Cap of a text in parts that was searched as one line.
        var mixedFields: Double
        /// Cap of a house on a street of another type than the text's.
        var otherSort: Double
        /// Least difference of such a house from the street of that type, where no town is
        /// confirmed.
        var behindSort: Double
        /// A text in parts is searched as one line as well where its best score is below.
        var fieldsAlone: Double
    }

    /// Penalties of words in a place's name, as shares of their weight, 0 to 1.
    struct Places: Decodable {
        var wholeWords: Double
        var insideWord: Double
        /// Additional penalty, divided by the number of letters typed.
        var insideWordByLetters: Double
        var words: Double
        var transliterated: Double
        var divisionBeginning: Double
        var unexplained: Double
        var otherDivision: Double
        /// Penalty of the whole text in another order of words.
        var rearranged: Double
        /// Weight per letter of a filler word.
        var fillerWeight: Double
        /// Weight of a name's best place below which similar, better known names are added.
        var littleKnownBelow: Double
        /// Required difference of weight of those.
        var betterKnownBy: Double
    }

    /// Penalties of words in an address, as shares of their weight.
    struct Addresses: Decodable {
        var unexplained: Double
        /// The name of another town, where the text has this one's as well.
        var otherTown: Double
        /// The name of another town, where nothing in the text confirms this one.
        var onlyOtherTown: Double
        /// A word of the street's name that the text lacks.
        var missing: Double
        /// ``missing`` in a text that is still being typed.
        var missingYet: Double
        /// A word of the town's name that the text lacks although it has others of it.
        var missingOfTown: Double
        /// A number outside the ranges of the street.
        var outside: Double
        /// Additional penalty that grows with the distance from the range, at its largest.
        var farOutside: Double
        /// Words before a complete address: `c/o Smith`.
        var beforeAddress: Double
        /// Words joined, or split.
        var together: Double
        /// A prefix of a word.
        var beginning: Double
        /// Weight per letter of a street type.
        var typeWeight: Double
        /// Weight per letter of an article or preposition.
        var littleWeight: Double
        /// Share of the town's importance in the tie-break.
        var importance: Double
    }

    /// Penalties on the importance of a place by the role of the name.
    struct Roles: Decodable {
        var name: Double
        var variant: Double
        var cognate: Double
        var alternate: Double
        var code: Double
        var transliterated: Double

        func penalty(_ role: NameRole, isTransliterated: Bool) -> Double {
            if isTransliterated { return transliterated }
            return switch role {
            case .name: name
            case .variant: variant
            case .cognate: cognate
            case .alternate: alternate
            case .code, .part: code
            }
        }
    }

    /// Bonus of a place near the location of the request.
    struct Nearness: Decodable {
        var most: Double
        /// Number of decades of kilometres over which it falls to zero.
        var decades: Double
    }

    /// Bonuses by kind of place, added to a tenth of the logarithm of the population.
    struct Kinds: Decodable {
        var country: Double
        var region: Double
        var subregion: Double
        var capital: Double
        var regionSeat: Double
        var lowerSeat: Double
        var partOfTown: Double
        var former: Double
        /// Minimum population assumed of capitals and seats of regions.
        var seatPeople: Double
    }

    let score: Scores
    let places: Places
    let addresses: Addresses
    let roles: Roles
    let suggestions: Roles
    let nearness: Nearness
    let importance: Kinds

    /// An encoded model: members by group.
    private typealias Groups = [String: [String: Double]]

    /// Size limit of a model, in bytes.
    static let longestText = 65_536

    /// The default model.
    static let shippedText: [UInt8] = PackageResources.ranking_json

    /// Parses and validates a model.
    ///
    /// Throws `Failure` (`invalidParameter`) with the source, the member and the expected value.
    static func reading(_ json: [UInt8], source: String) throws(Failure) -> Ranking {
        guard json.count <= longestText else {
            throw Failure(
                .tooLarge, "'\(source)': a ranking has at most \(longestText) bytes")
        }
        let ranking: Ranking
        let members: Groups
        do {
            ranking = try JSONDecoder().decode(Ranking.self, from: Data(json))
            members = try JSONDecoder().decode(Groups.self, from: Data(json))
        } catch DecodingError.keyNotFound(let key, let context) {
            throw Failure(
                .invalidParameter,
                "'\(source)': '\(path(context.codingPath + [key]))' is missing; expected a number")
        } catch DecodingError.typeMismatch(_, let context) {
            throw Failure(
                .invalidParameter, "'\(source)': '\(path(context.codingPath))': expected a number")
        } catch {
            throw Failure(
                .invalidParameter, "'\(source)': expected JSON with the members of a ranking")
        }
        if let fault = fault(in: members) {
            throw Failure(.invalidParameter, "'\(source)': \(fault)")
        }
        return ranking
    }

    /// Parses the model of a locator file: newer members take their default.
    static func carried(_ json: [UInt8]) throws(Failure) -> Ranking {
        let decoder = JSONDecoder()
        guard json.count <= longestText,
            let own = try? decoder.decode(Groups.self, from: Data(json)),
            let shipped = try? decoder.decode(Groups.self, from: Data(shippedText)),
            let whole = try? JSONEncoder().encode(
                shipped.merging(own) { $0.merging($1) { $1 } })
        else { throw Failure(.corrupt, "its ranking is not JSON with groups of numbers") }
        return try reading(Array(whole), source: "its ranking")
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map(\.stringValue).joined(separator: ".")
    }

    /// The first member out of range, as an error message.
    private static func fault(in model: Groups) -> String? {
        for (group, range) in ranges {
            for (name, value) in model[group, default: [:]].sorted(by: { $0.key < $1.key }) {
                let member = "\(group).\(name)"
                let range = exceptions[member] ?? range
                guard !(range ~= value) else { continue }
                return
                    "'\(member)' is \(value); expected \(range.lowerBound) to \(range.upperBound)"
            }
        }
        return nil
    }

    private static let ranges: KeyValuePairs<String, ClosedRange<Double>> = [
        "score": 0...100, "places": 0...1, "addresses": 0...1, "roles": 0...1, "suggestions": 0...1,
        "nearness": 0...1, "importance": -1...1,
    ]

    private static let exceptions: [String: ClosedRange<Double>] = [
        "places.otherDivision": 0...2, "addresses.otherTown": 0...2,
        "addresses.onlyOtherTown": 0...2, "nearness.decades": 0.1...10,
        "importance.seatPeople": 1...1e9,
    ]
}
