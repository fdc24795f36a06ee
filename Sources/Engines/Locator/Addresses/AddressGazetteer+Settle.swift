// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

extension AddressGazetteer {
    /// Merges nearby postal towns of one name, and sorts everything for the file.
    ///
    /// Called once, after the last row.
    mutating func settle() {
        let names = postalTowns.map { SortName(String(decoding: $0.folded, as: UTF8.self)) }
        let order = postalTowns.indices.sorted { left, right in
            Self.precedes((postalTowns[left], names[left]), (postalTowns[right], names[right]))
        }
        var townOf = [Int](repeating: 0, count: postalTowns.count)
        var first = 0
        for number in order {
            let next = postalTowns[number]
            if let last = towns.last,
                last.folded != next.folded || last.country != next.country
                    || last.region != next.region
            {
                first = towns.count
            }
            let known = (first..<towns.count).first {
                Sphere.meters(from: towns[$0].center, to: next.center) <= Self.townReachMeters
            }
            townOf[number] = known ?? towns.count
            if let known {
                towns[known].origin = origins.union(towns[known].origin, next.origin)
            } else {
                towns.append(
                    Town(
                        name: next.name, folded: next.folded, country: next.country,
                        region: next.region, center: next.center, origin: next.origin))
            }
        }
        for number in streets.indices {
            streets[number].town = townOf[streets[number].town]
            let houses = streets[number].houses
            streets[number].houses = merged(houses)
            streets[number].points.sort(by: DraftHouse.precedes)
        }
        sortStreets()
        mergeAcrossPostcodes()
        var crossings = StreetCrossings()
        crossings.join(&streets)
    }

    /// Sorts by town, then by name, primarily in ICU's root collation, then by postcode.
    private mutating func sortStreets() {
        streets.sort { $0.town < $1.town }
        var start = 0
        while start < streets.count {
            let end = streets[start...].firstIndex { $0.town != streets[start].town }
            let town = start..<(end ?? streets.count)
            let sorted = streets[town].map {
                ($0, SortName(String(decoding: $0.folded, as: UTF8.self)))
            }
            .sorted { left, right in
                if left.1 != right.1 { return left.1 < right.1 }
                let (first, second) = (left.0.postal, right.0.postal)
                // Ties are broken towards the street with a postcode.
                if first.isEmpty != second.isEmpty { return second.isEmpty }
                return first < second
            }
            streets.replaceSubrange(town, with: sorted.lazy.map(\.0))
            start = town.upperBound
        }
    }

    /// Distance within which houses of one number in two sources are equal, in metres.
    private static let sameMeters = 50.0
    /// Limit of comparisons among houses of one number, against a table with one number for all.
    private static let mostOfOneNumber = 64

    /// The houses of a street by number, deduplicated: those at one position, and those of two
    /// sources with one number and suffix that are near each other, at the position of the first
    /// source.
    private mutating func merged(_ houses: [DraftHouse]) -> [DraftHouse] {
        var result: [DraftHouse] = []
        result.reserveCapacity(houses.count)
        for house in houses.sorted(by: DraftHouse.precedes) {
            var same: Int?
            for known in result.indices.suffix(Self.mostOfOneNumber).reversed() {
                let other = result[known]
                guard other.number == house.number, other.suffix == house.suffix else { break }
                let isThere = other.isSamePoint(as: house)
                // Houses of one source are all kept.
                let isShared = origins.union(other.origin, house.origin) == other.origin
                if isThere
                    || !isShared
                        && Sphere.meters(from: other.location, to: house.location)
                            <= Self.sameMeters
                {
                    same = known
                    if isThere { break }
                }
            }
            guard let same else {
                result.append(house)
                continue
            }
            let all = origins.union(result[same].origin, house.origin)
            if origins.first(of: house.origin) ?? 0 < origins.first(of: result[same].origin) ?? 0 {
                (result[same].longitude, result[same].latitude) = (house.longitude, house.latitude)
            }
            result[same].origin = all
            result[same].isTownInferred = result[same].isTownInferred && house.isTownInferred
        }
        guard result.contains(where: \.isTownInferred) else { return result }
        // Ties of one address are broken towards a house whose source states its town.
        result.sort { left, right in
            guard left.number == right.number, left.suffix == right.suffix,
                left.isTownInferred != right.isTownInferred
            else { return DraftHouse.precedes(left, right) }
            return right.isTownInferred
        }
        return result
    }

    /// Distance within which houses of one number on one street are equal despite different
    /// postcodes in two sources, in metres.
    private static let samePostcodeMeters = 10.0

    /// A house, by street, index there, and first source.
    private struct HousePlace {
        var street: Int
        var house: Int
        var source: UInt16
    }

    /// Merges houses of one street, town, number and suffix that disjoint sources place near each
    /// other under different postcodes.
    ///
    /// The first source's house is kept, at its position and under its postcode; without one, under
    /// the postcode of the other. A street that loses its last house under a postcode is removed
    /// with it. The streets are in the order of the file.
    private mutating func mergeAcrossPostcodes() {
        var start = 0
        var isEmptied = false
        while start < streets.count {
            var end = start + 1
            while end < streets.count, streets[end].town == streets[start].town,
                streets[end].folded == streets[start].folded
            {
                end += 1
            }
            if end - start > 1 { isEmptied = mergeAcrossPostcodes(start..<end) || isEmptied }
            start = end
        }
        guard isEmptied else { return }
        streets.removeAll { $0.houses.isEmpty && $0.points.isEmpty && $0.segments.isEmpty }
    }

    /// Merges among the streets of one name in a town; returns whether one of them has lost its
    /// last house.
    private mutating func mergeAcrossPostcodes(_ named: Range<Int>) -> Bool {
        var places: [HousePlace] = []
        for street in named {
            for (house, one) in streets[street].houses.enumerated() {
                places.append(
                    HousePlace(
                        street: street, house: house, source: origins.first(of: one.origin) ?? 0))
            }
        }
        func house(_ place: HousePlace) -> DraftHouse { streets[place.street].houses[place.house] }
        places.sort { left, right in
            let (one, other) = (house(left), house(right))
            if one.number != other.number { return one.number < other.number }
            if one.suffix != other.suffix { return one.suffix < other.suffix }
            return (left.source, left.street, left.house)
                < (right.source, right.street, right.house)
        }
        // Kept houses of one number; and removed ones, by street.
        var kept: [HousePlace] = []
        var gone: [Int: Set<Int>] = [:]
        var last: DraftHouse?
        for place in places {
            let own = house(place)
            if last?.number != own.number || last?.suffix != own.suffix { kept = [] }
            last = own
            let same = kept.suffix(Self.mostOfOneNumber).firstIndex { known in
                known.street != place.street
                    && origins.areApart(house(known).origin, own.origin)
                    && Sphere.meters(from: house(known).location, to: own.location)
                        <= Self.samePostcodeMeters
            }
            guard let same else {
                kept.append(place)
                continue
            }
            let first = kept[same]
            // A house with a postcode precedes one without.
            let stays =
                streets[first.street].postal.isEmpty && !streets[place.street].postal.isEmpty
                ? place : first
            let goes = stays.street == first.street ? place : first
            merge(house(first), own, into: stays)
            gone[goes.street, default: []].insert(goes.house)
            kept[same] = stays
        }
        for (street, houses) in gone {
            streets[street].houses = streets[street].houses.enumerated()
                .filter { !houses.contains($0.offset) }.map(\.element)
        }
        return gone.keys.contains { streets[$0].houses.isEmpty }
    }

    /// Merges a house of two sources, at the position of the first.
    private mutating func merge(_ first: DraftHouse, _ second: DraftHouse, into place: HousePlace) {
        let all = origins.union(first.origin, second.origin)
        var house = streets[place.street].houses[place.house]
        (house.longitude, house.latitude) = (first.longitude, first.latitude)
        house.origin = all
        house.isTownInferred = first.isTownInferred && second.isTownInferred
        streets[place.street].houses[place.house] = house
        streets[place.street].origin = origins.union(streets[place.street].origin, all)
    }

    private static func precedes(
        _ left: (town: PostalTown, name: SortName), _ right: (town: PostalTown, name: SortName)
    ) -> Bool {
        let (first, second) = (left.town, right.town)
        if first.country != second.country { return first.country < second.country }
        if first.region != second.region { return first.region < second.region }
        if left.name != right.name { return left.name < right.name }
        return first.postal < second.postal
    }

    /// Links every town to a settlement of the gazetteer: a nearby one with its name or an
    /// alternate name, else a new one.
    func settle(in gazetteer: inout Gazetteer) {
        let index = TownIndex(gazetteer, named: Set(towns.map(\.folded)))
        for (number, town) in towns.enumerated() {
            let largest = index.settlement(
                named: town.folded, country: town.country, near: town.center, in: gazetteer)
            if let largest {
                gazetteer.settlements[largest].towns.append(number)
                continue
            }
            let isRegion = gazetteer.regions[town.country + "." + town.region] != nil
            var madeFrom = Origins()
            for source in origins.sets[Int(town.origin)] { madeFrom.add(Origin(source: source)) }
            gazetteer.settlements.append(
                Gazetteer.Settlement(
                    id: 0, name: town.name, asciiName: "", alternateNames: [],
                    location: town.center, country: town.country,
                    region: isRegion ? town.region : "", subregion: "", feature: .other,
                    population: 0, towns: [number], origins: madeFrom))
        }
    }
}
