// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import ICU

/// A place in a draft.
struct DraftPlace {
    var kind: PlaceKind
    var settlement: SettlementKind = .other
    var name: String
    var asciiName = ""
    var alternateNames: [String] = []
    /// Codes and abbreviations, the displayed one first.
    var codes: [String] = []
    /// Its longitude and latitude.
    var location: Coordinate
    /// Extent around `location`; maxX may exceed 180 and minX fall below −180 across the
    /// antimeridian.
    var extent: Envelope
    var population: UInt64
    var id: UInt32
    /// Its code: `FR`, `US.TX`, `US.TX.113`; empty for settlements.
    var code = ""
    /// Codes of its divisions, for a division including itself; empty where unknown.
    var countryCode: String
    var regionCode = ""
    var subregionCode = ""
    var importance: UInt16 = 0
    /// The towns of addresses that correspond to it.
    var towns: [Int] = []
    /// For a settlement, its number in the gazetteer.
    var settlementNumber: Int?
    /// For a point of interest, the numbers of its category and of its settlement.
    var point: (category: Int, town: Int?, address: PointAddress?)?
    var origins = Origins()
    var languageNames: [NameInLanguage] = []
    /// For a point of interest, its category's name.
    var categoryName = ""
    /// For a region, names of its second-level divisions that are no places.
    var partNames: [String] = []
}

/// Converts a gazetteer to places, most important first.
struct PlaceDrafting {
    let gazetteer: Gazetteer
    private let kinds: Ranking.Kinds
    private let categoryNumbers: [String: Int]
    private(set) var places: [DraftPlace] = []
    /// The divisions and countries of the settlements, with their aggregates so far.
    private var areas: [String: Area] = [:]

    /// Aggregates of the settlements in a division or country.
    fileprivate struct Area {
        var population: UInt64 = 0
        var bounds = GeographicBounds()
        /// The best representative settlement: its seat, or else its largest.
        var seat: (rank: UInt64, location: Coordinate) = (0, Coordinate(x: 0, y: 0))
        /// Sum of unit vectors, weighted by population.
        var sum = UnitVector(x: 0, y: 0, z: 0)
        var members: [Int] = []
        /// The sources of the settlements.
        var origins = Origins()
    }

    init(_ gazetteer: Gazetteer, _ ranking: Ranking) {
        self.gazetteer = gazetteer
        kinds = ranking.importance
        categoryNumbers = Dictionary(
            uniqueKeysWithValues: gazetteer.orderedCategories.enumerated().map { ($1, $0) })
        for (number, settlement) in gazetteer.settlements.enumerated() {
            add(settlement)
            places[number].settlementNumber = number
        }
        for code in gazetteer.outlines.keys where areas[code] == nil { areas[code] = Area() }
        let parts = partNames()
        for (code, area) in areas.sorted(by: { $0.key < $1.key }) { add(area, code: code) }
        for (number, place) in places.enumerated() where place.kind == .region {
            places[number].partNames = parts[place.code] ?? []
        }
        for point in gazetteer.points { add(point) }
        sortPlaces()
    }

    /// Names of second-level divisions without a settlement, by the code of their region, where
    /// some settlements of the region have no second-level code.
    private func partNames() -> [String: [String]] {
        var regions: Set<String> = []
        for place in places where place.subregionCode.isEmpty && !place.regionCode.isEmpty {
            regions.insert(place.regionCode)
        }
        var result: [String: [String]] = [:]
        for (code, division) in gazetteer.subregions.sorted(by: { $0.key < $1.key })
        where areas[code] == nil {
            guard let period = code.lastIndex(of: "."), regions.contains(String(code[..<period]))
            else { continue }
            result[String(code[..<period]), default: []] += [division.name, division.asciiName]
        }
        return result
    }

    /// Sorts in place, since there may be millions.
    private mutating func sortPlaces() {
        let names = places.map { SortName($0.name) }
        let order = places.indices.sorted {
            Self.precedes((places[$0], names[$0]), (places[$1], names[$1]))
        }
        for number in places.indices {
            var from = order[number]
            // The previous element there has moved on.
            while from < number { from = order[from] }
            places.swapAt(number, from)
        }
    }

    /// Orders by importance, kind, category and population; ties are broken by name, in ICU's root
    /// collation.
    private static func precedes(
        _ first: (DraftPlace, SortName), _ second: (DraftPlace, SortName)
    ) -> Bool {
        let (left, right) = (first.0, second.0)
        if left.importance != right.importance { return left.importance > right.importance }
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        if let left = left.point?.category, let right = right.point?.category, left != right {
            return left < right
        }
        if left.population != right.population { return left.population > right.population }
        if first.1 != second.1 { return first.1 < second.1 }
        if left.id != right.id { return left.id < right.id }
        if left.code != right.code { return left.code < right.code }
        return (left.location.x, left.location.y) < (right.location.x, right.location.y)
    }

    private mutating func add(_ settlement: Gazetteer.Settlement) {
        let country = settlement.country
        let region =
            country.isEmpty || settlement.region.isEmpty ? "" : country + "." + settlement.region
        var subregion =
            region.isEmpty || settlement.subregion.isEmpty
            ? "" : region + "." + settlement.subregion
        if gazetteer.subregions[subregion] == nil { subregion = "" }
        let hasRegion = gazetteer.regions[region] != nil
        let radius = 1 + 0.012 * Double(settlement.population).squareRoot()
        places.append(
            DraftPlace(
                kind: .settlement, settlement: settlement.feature, name: settlement.name,
                asciiName: settlement.asciiName, alternateNames: settlement.alternateNames,
                location: settlement.location,
                extent: Sphere.envelope(
                    around: settlement.location, radiusMeters: min(radius, 40) * 1_000),
                population: settlement.population, id: settlement.id, countryCode: country,
                regionCode: hasRegion ? region : "", subregionCode: subregion,
                importance: Importance.of(
                    kind: .settlement, settlement: settlement.feature,
                    population: settlement.population, kinds), towns: settlement.towns,
                origins: settlement.origins, languageNames: settlement.languageNames))
        for code in [country, hasRegion ? region : "", subregion] where !code.isEmpty {
            areas[code, default: Area()].add(
                settlement, member: places.count - 1, isCountry: code == country)
        }
    }

    /// Adds a point of interest; all have the least importance, so that they follow the
    /// settlements.
    private mutating func add(_ point: Gazetteer.PointOfInterest) {
        let region = point.country + "." + point.region
        let town = point.town.map { places[$0] }
        let isInRegion = town?.regionCode == region
        places.append(
            DraftPlace(
                kind: .pointOfInterest, name: point.name, alternateNames: point.alternateNames,
                location: point.location, extent: point.extent, population: point.population,
                id: point.id, countryCode: point.country,
                regionCode: gazetteer.regions[region] == nil ? "" : region,
                subregionCode: isInRegion ? town?.subregionCode ?? "" : "",
                point: (categoryNumbers[point.category] ?? 0, point.town, point.address),
                origins: point.origins, languageNames: point.languageNames,
                categoryName: point.category))
    }

    private mutating func add(_ area: Area, code: String) {
        let parts = code.split(separator: ".", omittingEmptySubsequences: false)
        let kind: PlaceKind = [.country, .region, .subregion][min(parts.count, 3) - 1]
        let seat =
            gazetteer.seats[code] ?? (area.seat.rank == 0 ? gazetteer.outlines[code] : nil)
        var place = DraftPlace(
            kind: kind, name: code, location: seat?.location ?? area.seat.location,
            extent: seat?.extent ?? area.bounds.envelope(marginDegrees: 0.1),
            population: max(area.population, seat?.population ?? 0), id: 0, code: code,
            countryCode: String(parts[0]))
        let told = gazetteer.areas[code]
        place.alternateNames = (seat?.alternateNames ?? []) + (told?.alternateNames ?? [])
        place.languageNames = told?.languageNames ?? []
        // A division without a record of its own takes the sources of its settlements.
        place.origins = told?.origins ?? area.origins
        switch kind {
        case .country: describe(&place, asCountry: code, area: area, seat: seat)
        case .region:
            place.regionCode = code
            describe(&place, as: gazetteer.regions[code])
            let known = WellKnownNames.regions[code] ?? []
            let suffix = String(parts[1])
            let isAbbreviation = suffix.utf8.count <= 3 && suffix.utf8.allSatisfy { $0 > 0x40 }
            place.codes = (known.first.map { [$0] } ?? []) + (isAbbreviation ? [suffix] : [])
            place.alternateNames += known.dropFirst()
        case .subregion, .settlement, .pointOfInterest:
            place.regionCode = parts.prefix(2).joined(separator: ".")
            place.subregionCode = code
            describe(&place, as: gazetteer.subregions[code])
        }
        place.importance = Importance.of(
            kind: kind, settlement: .other, population: place.population, kinds)
        if !Sphere.envelope(place.extent, contains: place.location) {
            place.extent.extend(to: place.location)
        }
        places.append(place)
    }

    private func describe(_ place: inout DraftPlace, as division: Gazetteer.Division?) {
        guard let division else { return }
        place.name = division.name
        place.asciiName = division.asciiName
        place.id = division.id
    }

    private func describe(
        _ place: inout DraftPlace, asCountry code: String, area: Area, seat: Gazetteer.Seat?
    ) {
        place.codes = [code]
        if let country = gazetteer.countries[code] {
            place.name = country.name
            place.id = country.id
            place.population = max(country.population, place.population)
            if !country.code3.isEmpty { place.codes.append(country.code3) }
        }
        place.alternateNames += WellKnownNames.countries[code] ?? []
        for language in WellKnownNames.languages {
            if let name = CountryNames.name(of: code, in: language) {
                place.alternateNames.append(name)
                place.languageNames.add([NameInLanguage(tag: language, name: name)])
            }
        }
        if seat == nil { place.location = area.middle(of: places) ?? place.location }
    }
}

extension PlaceDrafting.Area {
    fileprivate mutating func add(
        _ settlement: Gazetteer.Settlement, member: Int, isCountry: Bool
    ) {
        // A part of a town is included in the town's population.
        if settlement.feature != .partOfTown { population += settlement.population }
        bounds.add(settlement.location)
        origins.add(settlement.origins.withoutIDs)
        let isSeat =
            settlement.feature == .capital || !isCountry && settlement.feature == .regionSeat
        let rank = settlement.population + 1 + (isSeat ? 1 << 40 : 0)
        if rank > seat.rank { seat = (rank, settlement.location) }
        guard isCountry else { return }
        let weight = Double(settlement.population + 1)
        let vector = UnitVector(settlement.location)
        sum = UnitVector(
            x: sum.x + vector.x * weight, y: sum.y + vector.y * weight,
            z: sum.z + vector.z * weight)
        members.append(member)
    }

    /// The settlement nearest to the centre of population.
    fileprivate func middle(of places: [DraftPlace]) -> Coordinate? {
        let length = (sum.x * sum.x + sum.y * sum.y + sum.z * sum.z).squareRoot()
        guard length > 0 else { return nil }
        let center = UnitVector(x: sum.x / length, y: sum.y / length, z: sum.z / length)
        var best: (distance: Double, location: Coordinate)?
        for member in members {
            let location = places[member].location
            let distance = center.squaredChord(to: UnitVector(location))
            if distance < best?.distance ?? .infinity { best = (distance, location) }
        }
        return best?.location
    }
}
