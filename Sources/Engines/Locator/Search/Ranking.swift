// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// The one ranking model: what readings lose, how scores are bounded, and what orders equal scores.
///
/// Its numbers are in `Data/ranking.json`, or a file given to the build, and carried inside the
/// locator file, so that an answer follows from the file alone. `Docs/locator-ranking.md` describes
/// each.
final class Ranking: Decodable, Sendable {
    /// Bounds of scores, 0 to 100.
    struct Scores: Decodable {
        /// Readings below are not answers.
        var least: Double
        /// Answers further below the best are left out.
        var gap: Double
        /// The most a reading gets that is not letter by letter.
        var uncertain: Double
        /// The most a reading gets whose text had to be written in Latin letters first.
        var transliterated: Double
        /// The most a reading gets of a text in parts that was read as one line.
        var mixedFields: Double
        /// A text in parts is read as one line as well where its best reading gets less.
        var fieldsAlone: Double
    }

    /// What words of a place's name lose of their weight, 0 to 1.
    struct Places: Decodable {
        var wholeWords: Double
        var insideWord: Double
        /// Divided by the letters typed, more.
        var insideWordByLetters: Double
        var words: Double
        var transliterated: Double
        var divisionBeginning: Double
        var unexplained: Double
        var otherDivision: Double
        /// Of the whole text: a reading of its words in another order.
        var rearranged: Double
        /// What a letter of a word weighs that says nothing about the place.
        var fillerWeight: Double
        /// Names whose best place weighs less may be slips for better known ones.
        var littleKnownBelow: Double
        /// Those weigh so much more.
        var betterKnownBy: Double
    }

    /// What words of an address lose of their weight.
    struct Addresses: Decodable {
        var unexplained: Double
        /// A town's name that is not this one's, where the text names this one as well.
        var otherTown: Double
        /// The same where nothing in the text says that it is this town.
        var onlyOtherTown: Double
        /// A word of the street's name that the text lacks.
        var missing: Double
        /// The same in a text that is still being typed.
        var missingYet: Double
        /// A word of the town's name that the text lacks although it has others of it.
        var missingOfTown: Double
        /// A number outside the ranges of the street.
        var outside: Double
        /// The same, more, the farther it is: so much at the farthest.
        var farOutside: Double
        /// Words before a whole address: `c/o Smith`.
        var beforeAddress: Double
        /// Words written together, or apart.
        var together: Double
        /// A word that may go on.
        var beginning: Double
        /// What a letter of a sort of street weighs.
        var typeWeight: Double
        /// What a letter of an article or preposition weighs.
        var littleWeight: Double
        /// Among equal scores: the share of the town's importance that counts.
        var importance: Double
    }

    /// What a name takes from its place's importance, by its role.
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

    /// What a place gains by lying near the location that is asked for.
    struct Nearness: Decodable {
        var most: Double
        /// Over so many powers of ten of kilometres it falls to none.
        var decades: Double
    }

    /// What kinds of places gain or lose beside a tenth of the logarithm of their population.
    struct Kinds: Decodable {
        var country: Double
        var region: Double
        var subregion: Double
        var capital: Double
        var regionSeat: Double
        var lowerSeat: Double
        var partOfTown: Double
        var former: Double
        /// Capitals and seats of regions count with so many people at least.
        var seatPeople: Double
    }

    let score: Scores
    let places: Places
    let addresses: Addresses
    let roles: Roles
    let suggestions: Roles
    let nearness: Nearness
    let importance: Kinds

    /// A model as it is written: members by their groups.
    private typealias Groups = [String: [String: Double]]

    /// The longest text of a model, in bytes.
    static let longestText = 65_536

    /// The model that comes with the program.
    static let shippedText: [UInt8] = PackageResources.ranking_json

    /// Reads and checks a model.
    ///
    /// Throws `Failure` (`invalidParameter`) with the source, the member and what was expected.
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

    /// Reads a model that a locator file carries: members that were not yet are the program's.
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

    /// The first member that is out of its range, in words.
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
