// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials

/// The words of one language for directions: a file of `Data`.
///
/// JSON: `code`, `name`; `phrases` by key, as `Phrase` reads them; `compass`, eight directions
/// clockwise from north; `ordinals` of exits from the first, `ordinal` for those beyond, with
/// `{n}`; `roads`, by class and form what a nameless road is called; `forms`, by form the rules for
/// what a street's name becomes, the first that fits; `joins`, what becomes of a word and the
/// beginning of the value behind it; `vowels`, letters before which words are elided; `decimal`,
/// `units`, `times`, `plurals`.
struct LanguageTable: Decodable, Sendable {
    /// A rule for names in a form.
    struct Rule: Decodable, Sendable {
        /// Whether it is for road numbers, else for names.
        var isRef: Bool?
        /// The beginning of the name; `becomes` replaces it.
        var starts: String?
        /// The end of a name of one word; `becomes` stands before it.
        var ends: String?
        var becomes: String

        /// The name in this form; nil where the rule does not fit.
        func form(of name: String, isRef: Bool) -> String? {
            guard (self.isRef ?? false) == isRef else { return nil }
            if let ends {
                let isOneWord = name.hasSuffix(ends) && !name.dropLast(ends.count).contains(" ")
                return isOneWord ? becomes + name : nil
            }
            guard name.hasPrefix(starts ?? "") else { return nil }
            return becomes + name.dropFirst(starts?.count ?? 0)
        }
    }

    /// What becomes of a word and the beginning of the value behind it: `de`, `le` to `du`.
    struct Join: Decodable, Sendable {
        /// The word, with the blank behind it.
        var before: String
        /// The beginning of the value; nil for any vowel, which stays.
        var starts: String?
        var becomes: String
    }

    /// The words for a number of units: the short one, and by plural category the long ones.
    struct Unit: Decodable, Sendable {
        var short: String
        var long: [String: String]
    }

    /// Which word goes with which number.
    enum Plurals: String, Decodable, Sendable {
        /// One; all others.
        case english
        /// Below two; all others.
        case french
        /// One; 2–4, 22–24, …; other whole numbers; fractions.
        case polish

        /// The category of a number that is written with or without a decimal.
        func category(tenths: Int64) -> String {
            let isWhole = tenths % 10 == 0
            let whole = tenths / 10
            switch self {
            case .english: return tenths == 10 ? "one" : "other"
            case .french: return tenths < 20 ? "one" : "other"
            case .polish:
                if !isWhole { return "other" }
                if whole == 1 { return "one" }
                return 2...4 ~= whole % 10 && !(12...14 ~= whole % 100) ? "few" : "many"
            }
        }

        /// The categories that long words need.
        var categories: [String] {
            self == .polish ? ["one", "few", "many", "other"] : ["one", "other"]
        }
    }

    let code: String
    let name: String
    let phrases: [String: String]
    let compass: [String]
    let ordinals: [String]
    let ordinal: String
    let roads: [String: [String: String]]
    let forms: [String: [Rule]]
    let joins: [Join]
    let vowels: String
    let decimal: String
    let units: [String: Unit]
    let times: [String: Unit]
    let plurals: Plurals

    /// The classes of roads that have a word of their own.
    static let namedRoads = ["motorway", "track", "cycleway", "footway", "path"]
    /// The keys of `units` and `times`.
    static let unitKeys = ["meter", "kilometer", "foot", "yard", "mile", "nauticalMile"]
    static let timeKeys = ["second", "minute", "hour", "day"]

    /// The tables that ship with the program.
    static let shipped: [LanguageTable] = [
        PackageResources.directions_de_json, PackageResources.directions_en_json,
        PackageResources.directions_es_json, PackageResources.directions_fr_json,
        PackageResources.directions_it_json, PackageResources.directions_nl_json,
        PackageResources.directions_pl_json, PackageResources.directions_pt_json,
    ].compactMap { try? JSONDecoder().decode(LanguageTable.self, from: Data($0)) }
}
