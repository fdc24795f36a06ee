// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

extension LocatorDraft {
    /// A settlement of a vector source.
    public struct Place {
        /// Its usual name.
        public var name: String
        /// Other names.
        public var alternateNames: [String]
        /// Longitude and latitude.
        public var location: Coordinate
        /// Population; 0 when unknown.
        public var population: UInt64
        /// Whether it is a part of a town.
        public var isPart: Bool
        /// Whether it is the capital of its country.
        public var isCapital: Bool
        /// Code of the first-level division; empty for the one around.
        public var region = ""
        /// Alpha-2 code of the country; empty for the one around.
        public var country = ""
        /// Its id in the source; 0 when unknown.
        public var id: UInt32 = 0
        /// Its identifier in the source.
        public var identifier = SourceIdentifier.none
        /// Its names by language; each is also its usual name or among the other names.
        public var languageNames: [NameInLanguage] = []
        var source: UInt16 = 0
        var origin: Origin { Origin(source: source, id: identifier) }

        /// Creates a settlement.
        public init(
            name: String, alternateNames: [String] = [], location: Coordinate,
            population: UInt64 = 0, isPart: Bool = false, isCapital: Bool = false
        ) {
            self.name = name
            self.alternateNames = alternateNames
            self.location = location
            self.population = population
            self.isPart = isPart
            self.isCapital = isCapital
        }
    }
}

extension Gazetteer {
    /// Adds settlements; a duplicate from another source is merged into the known one, with its
    /// names and population.
    ///
    /// A duplicate is equally a part of a town or not, has a common name, is not known to be in
    /// another country, and is within 10 km; the nearest one counts.
    mutating func add(
        _ places: [LocatorDraft.Place], in borders: BorderDraft, country fallback: String
    ) {
        var known: [[UInt8]: [Int]] = [:]
        func names(_ name: String, _ others: [String]) -> Set<[UInt8]> {
            Set(([name] + others).map { Folder.fold($0).bytes })
        }
        for (number, settlement) in settlements.enumerated() {
            for name in names(
                settlement.name, settlement.alternateNames + [settlement.asciiName])
            where !name.isEmpty {
                known[name, default: []].append(number)
            }
        }
        for place in places {
            let around = borders.place(at: place.location)
            let country =
                [place.country, around.country].first { !$0.isEmpty } ?? fallback
            let region =
                place.region.isEmpty && country == around.country ? around.region : place.region
            let own = names(place.name, place.alternateNames)
            let same = Set(own.flatMap { known[$0] ?? [] }).sorted().filter { number in
                let other = settlements[number]
                return (other.feature == .partOfTown) == place.isPart
                    && (other.country.isEmpty || country.isEmpty
                        || Territories.areOne(other.country, country))
                    && Sphere.meters(from: other.location, to: place.location)
                        <= Self.sameMeters
            }.min {
                Sphere.meters(from: settlements[$0].location, to: place.location)
                    < Sphere.meters(from: settlements[$1].location, to: place.location)
            }
            if let same {
                var other = settlements[same]
                let present = names(other.name, other.alternateNames)
                other.alternateNames += ([place.name] + place.alternateNames).filter {
                    !present.contains(Folder.fold($0).bytes)
                }
                other.population = max(other.population, place.population)
                other.country =
                    other.country.isEmpty
                    ? country : Territories.narrower(other.country, country)
                other.origins.add(place.origin)
                other.languageNames.add(place.languageNames)
                settlements[same] = other
                continue
            }
            for name in own where !name.isEmpty {
                known[name, default: []].append(settlements.count)
            }
            var languageNames: [NameInLanguage] = []
            languageNames.add(place.languageNames)
            settlements.append(
                Settlement(
                    id: place.id, name: place.name, asciiName: "",
                    alternateNames: place.alternateNames,
                    location: place.location, country: country, region: region,
                    subregion: "",
                    feature: place.isPart ? .partOfTown : place.isCapital ? .capital : .other,
                    population: place.population, origins: Origins(place.origin),
                    languageNames: languageNames))
        }
    }

    /// Distance within which settlements of one name are duplicates, in metres.
    private static var sameMeters: Double { 10_000 }
}
