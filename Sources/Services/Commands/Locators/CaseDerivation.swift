// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Glibc
internal import ICU

/// Derives test cases from the places of a gazetteer: texts that people write for them.
struct CaseDerivation {
    private let gazetteer: CaseGazetteer
    private let count: Int
    private var random: CaseRandom
    private(set) var cases: [LocatorCase] = []

    /// At most `count` cases of each category.
    init(_ gazetteer: CaseGazetteer, count: Int, seed: UInt64) {
        self.gazetteer = gazetteer
        self.count = count
        random = CaseRandom(seed: seed)
        let derived: [(String, (inout Self, CaseGazetteer.Place) -> LocatorCase.Query?)] = [
            ("native_script", { $0.native($1).map { .text($0) } }),
            ("transliterated", { $0.transliterated($1).map { .text($0) } }),
            ("latin_alternate", { $0.latinAlternate($1).map { .text($0) } }),
            ("plain_ascii", { $0.plain($1).map { .text($0) } }),
            ("abbreviated", { $0.abbreviated($1).map { .text($0) } }),
            ("qualified_region", { $0.qualified($1, by: $0.gazetteer.regionNames[$1.region]) }),
            (
                "qualified_country",
                { $0.qualified($1, by: $0.gazetteer.countries[$1.country]?.name) }
            ),
            ("qualified_alpha2", { $0.qualified($1, by: $1.country) }),
            (
                "qualified_alpha3",
                { $0.qualified($1, by: $0.gazetteer.countries[$1.country]?.code3) }
            ),
            ("qualified_language", { $0.qualified($1, by: $0.countryElsewhere($1)) }),
            ("qualified_both", { $0.qualified($1, by: $0.both($1)) }),
            ("bare_ambiguous", { $0.bare($1) }),
            ("prefix", { $0.beginning($1) }),
            ("reverse", { .position($0.near($1, within: 2_000)) }),
            ("focus", { $0.lesser($1) }),
        ]
        for (category, query) in derived { derive(category, query) }
    }

    private mutating func derive(
        _ category: String, _ query: (inout Self, CaseGazetteer.Place) -> LocatorCase.Query?
    ) {
        var made = 0
        for place in gazetteer.places.shuffled(using: &random) where made < count {
            guard let query = query(&self, place) else { continue }
            var one = LocatorCase(
                id: cases.count + 1, category: category, query: query,
                expected: .init(
                    lat: place.location.y, lon: place.location.x, max_distance_m: 15_000))
            one.half = CaseRandom.isHeldOut("\(place.id)") ? .heldOut : .training
            switch category {
            case "prefix":
                one.kind = "suggest"
                one.limit = 5
            case "reverse":
                one.kind = "reverse"
                one.expected.max_distance_m = 20_000
                one.expected.country_code = place.country
                one.expected.isAnywhere = true
            case "focus":
                let near = near(place, within: 20_000)
                one.focus = [near.x, near.y]
            default: break
            }
            cases.append(one)
            made += 1
        }
    }

    /// Whether the place is the largest one with that name.
    private func isLargest(_ place: CaseGazetteer.Place, named name: String) -> Bool {
        gazetteer.bearers[name.lowercased()]?.first.map { gazetteer.places[$0].id } == place.id
    }

    private static func isLatin(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy { $0.value < 0x370 || 0x1E00..<0x1F00 ~= $0.value }
    }

    private mutating func native(_ place: CaseGazetteer.Place) -> String? {
        let names = place.alternateNames.filter {
            !Self.isLatin($0) && isLargest(place, named: $0)
        }
        return names.randomElement(using: &random)
    }

    private static let latin = Transliterator("Any-Latin; Latin-ASCII")
    private static let ascii = Transliterator("Latin-ASCII")

    private mutating func transliterated(_ place: CaseGazetteer.Place) -> String? {
        guard place.population >= 50_000, let native = native(place),
            let latin = Self.latin?.transliterated(native), latin.utf8.count > 3,
            gazetteer.bearers[latin.lowercased()] == nil
        else { return nil }
        return latin
    }

    private mutating func latinAlternate(_ place: CaseGazetteer.Place) -> String? {
        guard place.population >= 100_000 else { return nil }
        let names = place.alternateNames.filter {
            Self.isLatin($0) && $0.count > 3 && $0.lowercased() != place.name.lowercased()
                && isLargest(place, named: $0)
        }
        return names.randomElement(using: &random)
    }

    private func plain(_ place: CaseGazetteer.Place) -> String? {
        guard isLargest(place, named: place.name),
            let ascii = Self.ascii?.transliterated(place.name),
            ascii != place.name, ascii.utf8.allSatisfy({ $0 < 0x80 }),
            gazetteer.bearers[ascii.lowercased()].map({ gazetteer.places[$0[0]].id == place.id })
                ?? true
        else { return nil }
        return ascii
    }

    private static let shortForms = [
        "Saint": "St", "Sankt": "St.", "Sainte": "Ste", "Mount": "Mt", "Fort": "Ft", "St.": "Saint",
        "Mt.": "Mount", "Ft.": "Fort", "St": "Saint",
    ]

    private func abbreviated(_ place: CaseGazetteer.Place) -> String? {
        var words = place.name.split(whereSeparator: { $0 == " " || $0 == "-" }).map(String.init)
        guard words.count > 1, isLargest(place, named: place.name),
            let short = Self.shortForms[words[0]]
        else { return nil }
        words[0] = short
        return words.joined(separator: " ")
    }

    private mutating func qualified(
        _ place: CaseGazetteer.Place, by container: String?
    ) -> LocatorCase.Query? {
        guard let container, !container.isEmpty, container != place.name,
            let first = gazetteer.namesakes[place.name.lowercased()]?.first(where: {
                gazetteer.places[$0].country == place.country
            }), gazetteer.places[first].id == place.id
        else { return nil }
        return .text(place.name + (Bool.random(using: &random) ? ", " : " ") + container)
    }

    private mutating func countryElsewhere(_ place: CaseGazetteer.Place) -> String? {
        let languages = [
            "fr", "de", "es", "it", "pt", "nl", "pl", "ru", "zh", "ja", "ar", "tr", "sv",
        ]
        return languages.randomElement(using: &random).flatMap {
            CountryNames.name(of: place.country, in: $0)
        }
    }

    private func both(_ place: CaseGazetteer.Place) -> String? {
        guard let region = gazetteer.regionNames[place.region],
            let country = gazetteer.countries[place.country]
        else { return nil }
        // Only the codes of the United States are in common use.
        let isState = place.country == "US"
        return (isState ? String(place.region.dropFirst(3)) : region) + ", "
            + (isState ? country.code3 : country.name)
    }

    /// An ambiguous name, whose largest bearer is at least twice as large as the next.
    private func bare(_ place: CaseGazetteer.Place) -> LocatorCase.Query? {
        guard let all = gazetteer.namesakes[place.name.lowercased()], all.count > 1,
            gazetteer.places[all[0]].id == place.id, isLargest(place, named: place.name),
            gazetteer.places[all[1]].population * 2 <= place.population
        else { return nil }
        return .text(place.name)
    }

    private mutating func beginning(_ place: CaseGazetteer.Place) -> LocatorCase.Query? {
        guard place.population >= 500_000, place.name.count > 4 else { return nil }
        let letters = Int.random(in: 4...max(4, place.name.count * 2 / 3), using: &random)
        return .text(String(place.name.prefix(letters)))
    }

    /// A smaller, distant place that shares its name with a larger one.
    private func lesser(_ place: CaseGazetteer.Place) -> LocatorCase.Query? {
        guard let all = gazetteer.namesakes[place.name.lowercased()], all.count > 1,
            gazetteer.places[all[0]].id != place.id
        else { return nil }
        let others = all.map { gazetteer.places[$0] }.filter { $0.id != place.id }
        let isAlone = others.allSatisfy {
            abs($0.location.y - place.location.y) > 3 || abs($0.location.x - place.location.x) > 3
        }
        return isAlone ? .text(place.name) : nil
    }

    private mutating func near(_ place: CaseGazetteer.Place, within meters: Double) -> Coordinate {
        let angle = Double.random(in: 0..<(2 * .pi), using: &random)
        let reach = Double.random(in: 0...meters, using: &random) / 111_195
        let narrowing = max(0.01, cos(place.location.y * .pi / 180))
        return Coordinate(
            x: place.location.x + reach * cos(angle) / narrowing,
            y: place.location.y + reach * sin(angle))
    }
}
