// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// A house on its street.
struct DraftHouse: Hashable, Comparable {
    var number: UInt32
    /// Into the list of suffixes.
    var suffix: UInt16
    /// Whether its town was inferred from its position, not stated by its source.
    var isTownInferred: Bool
    /// In 1e-7 degrees.
    var longitude: Int32
    var latitude: Int32

    /// At a longitude and latitude on the Earth.
    init(number: UInt32, suffix: UInt16, isTownInferred: Bool = false, _ location: Coordinate) {
        self.number = number
        self.suffix = suffix
        self.isTownInferred = isTownInferred
        longitude = Int32((location.x * 1e7).rounded())
        latitude = Int32((location.y * 1e7).rounded())
    }

    /// Whether number, suffix and position are the same.
    func isSamePoint(as other: DraftHouse) -> Bool {
        number == other.number && suffix == other.suffix && longitude == other.longitude
            && latitude == other.latitude
    }

    static func < (left: DraftHouse, right: DraftHouse) -> Bool {
        if left.number != right.number { return left.number < right.number }
        if left.suffix != right.suffix { return left.suffix < right.suffix }
        if left.longitude != right.longitude { return left.longitude < right.longitude }
        if left.latitude != right.latitude { return left.latitude < right.latitude }
        return !left.isTownInferred && right.isTownInferred
    }

    /// The houses of a street as they stand in the file: each once, and of several of one address those
    /// first that state their town, since the first is the answer.
    static func ordered(_ houses: [DraftHouse]) -> [DraftHouse] {
        var result: [DraftHouse] = []
        result.reserveCapacity(houses.count)
        for house in houses.sorted() {
            if let last = result.last, last.isSamePoint(as: house) { continue }
            result.append(house)
        }
        guard result.contains(where: \.isTownInferred) else { return result }
        result.sort { left, right in
            guard left.number == right.number, left.suffix == right.suffix,
                left.isTownInferred != right.isTownInferred
            else { return left < right }
            return right.isTownInferred
        }
        return result
    }
}

/// What tables of addresses say, before it becomes a locator: streets with their houses, and towns.
struct AddressGazetteer {
    /// A street of a town, under one postcode.
    struct Street {
        var name: String
        /// Folded, apostrophes parting words.
        var folded: [UInt8]
        var postal: String
        /// Into `towns` once they are settled, before that into the postal towns.
        var town: Int
        var houses: [DraftHouse] = []
        /// Positions without a house number, in 1e-7 degrees.
        var points: [DraftHouse] = []

        /// Its lines, in the order of the sources.
        var segments: [DraftSegment] = []

        /// The position that stands for the street: the house, point or vertex in the middle.
        var middle: DraftHouse? {
            let list = houses.isEmpty ? points : houses
            if !list.isEmpty { return list[list.count / 2] }
            guard !segments.isEmpty else { return nil }
            let line = segments[segments.count / 2].line
            return line[line.count / 2]
        }
    }

    /// A town as one postcode names it, on its way into ``Town``.
    private struct PostalTown {
        var name: String
        var folded: [UInt8]
        var country: String
        var region: String
        var postal: String
        var sumX = 0.0
        var sumY = 0.0
        var count = 0

        var center: Coordinate {
            Coordinate(x: sumX / Double(max(count, 1)), y: sumY / Double(max(count, 1)))
        }
    }

    /// A town with streets.
    struct Town {
        var name: String
        var folded: [UInt8]
        /// Alpha-2, or empty.
        var country: String
        /// As the source writes it; may be empty.
        var region: String
        var center: Coordinate
    }

    private(set) var streets: [Street] = []
    private(set) var towns: [Town] = []
    private(set) var suffixes: [String] = [""]
    private(set) var houseCount = 0
    private(set) var segmentCount = 0
    private var postalTowns: [PostalTown] = []
    private var suffixNumbers: [String: UInt16] = ["": 0]
    private var streetNumbers: [String: Int] = [:]
    private var foldedStreets: [FoldedKey: Int] = [:]
    private var townNumbers: [FoldedKey: Int] = [:]

    private struct FoldedKey: Hashable {
        var parts: [[UInt8]]
    }

    /// How far from one another the streets of a town are; towns of one name further apart are two.
    static let townReachMeters = 20_000.0
    /// How many different suffixes of house numbers fit into the file.
    static let mostSuffixes = 4_096
    static let mostNumber: UInt32 = (1 << 20) - 1

    var isEmpty: Bool { streets.isEmpty }

    /// One row; throws ``Unusable`` with the reason.
    mutating func add(
        street: String, city: String, isTownInferred: Bool = false, postal: String, region: String,
        country: String, house: (number: UInt32, suffix: String)?, location: Coordinate
    ) throws(Unusable) {
        var suffix: UInt16 = 0
        if let house, !house.suffix.isEmpty {
            if let known = suffixNumbers[house.suffix] {
                suffix = known
            } else {
                guard suffixes.count < Self.mostSuffixes else {
                    throw Unusable("more than \(Self.mostSuffixes) suffixes of house numbers")
                }
                suffix = UInt16(suffixes.count)
                suffixNumbers[house.suffix] = suffix
                suffixes.append(house.suffix)
            }
        }
        let number = try self.street(
            street, city: city, postal: postal, region: region, country: country)
        let point = DraftHouse(
            number: house?.number ?? 0, suffix: suffix, isTownInferred: isTownInferred, location)
        if house == nil {
            streets[number].points.append(point)
        } else {
            streets[number].houses.append(point)
            houseCount += 1
        }
        weigh(location, in: streets[number].town)
    }

    /// One line of a street with the house numbers along its sides; throws ``Unusable`` with the
    /// reason.
    ///
    /// Sides under different postcodes become segments of two streets.
    mutating func add(
        street: String, city: String, region: String, country: String, left: DraftSide,
        right: DraftSide, line: [Coordinate]
    ) throws(Unusable) {
        guard line.count >= 2 else { throw Unusable("the line has no length") }
        let vertices = line.map { DraftHouse(number: 0, suffix: 0, $0) }
        let segments =
            left.postal == right.postal || left.postal.isEmpty || right.postal.isEmpty
            ? [
                (
                    left.postal.isEmpty ? right.postal : left.postal,
                    DraftSegment(left: left.range, right: right.range, line: vertices)
                )
            ]
            : [
                (left.postal, DraftSegment(left: left.range, right: nil, line: vertices)),
                (right.postal, DraftSegment(left: nil, right: right.range, line: vertices)),
            ]
        for (postal, segment) in segments {
            let number = try self.street(
                street, city: city, postal: postal, region: region, country: country)
            streets[number].segments.append(segment)
            segmentCount += 1
            weigh(line[line.count / 2], in: streets[number].town)
        }
    }

    private mutating func weigh(_ location: Coordinate, in town: Int) {
        postalTowns[town].sumX += location.x
        postalTowns[town].sumY += location.y
        postalTowns[town].count += 1
    }

    private mutating func street(
        _ name: String, city: String, postal: String, region: String, country: String
    ) throws(Unusable) -> Int {
        let written = [name, city, postal, region, country].joined(separator: "\u{0}")
        if let known = streetNumbers[written] { return known }
        let folded = Folder.fold(name, partingApostrophes: true).bytes
        guard !folded.isEmpty else { throw Unusable("the street has no letter") }
        let town = try self.town(city, postal: postal, region: region, country: country)
        let key = FoldedKey(parts: [folded, Array(String(town).utf8)])
        let number: Int
        if let known = foldedStreets[key] {
            number = known
            // Of two writings the one with small letters is shown.
            if !Self.hasSmallLetters(streets[known].name), Self.hasSmallLetters(name) {
                streets[known].name = name
            }
        } else {
            number = streets.count
            streets.append(Street(name: name, folded: folded, postal: postal, town: town))
            foldedStreets[key] = number
        }
        streetNumbers[written] = number
        return number
    }

    private static func hasSmallLetters(_ text: String) -> Bool {
        text.utf8.contains { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 }
    }

    private mutating func town(
        _ name: String, postal: String, region: String, country: String
    ) throws(Unusable) -> Int {
        let folded = Folder.fold(name, partingApostrophes: true).bytes
        guard !folded.isEmpty else { throw Unusable("the city has no letter") }
        let key = FoldedKey(
            parts: [folded, Array(postal.utf8), Array(region.utf8), Array(country.utf8)])
        if let known = townNumbers[key] { return known }
        townNumbers[key] = postalTowns.count
        postalTowns.append(
            PostalTown(
                name: name, folded: folded, country: country, region: region, postal: postal))
        return postalTowns.count - 1
    }

    /// Gives towns without a country or region that of the area around the middle of their addresses;
    /// what a source says stays.
    mutating func settle(in borders: BorderDraft) {
        guard !borders.isEmpty else { return }
        for number in postalTowns.indices {
            var (country, region) = (postalTowns[number].country, postalTowns[number].region)
            borders.complete(&country, &region, at: postalTowns[number].center)
            (postalTowns[number].country, postalTowns[number].region) = (country, region)
        }
    }

    /// Joins the postal towns of one name that lie near each other, and orders all as in the file.
    ///
    /// Called once, after the last row.
    mutating func settle() {
        let order = postalTowns.indices.sorted { Self.precedes(postalTowns[$0], postalTowns[$1]) }
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
            if known == nil {
                towns.append(
                    Town(
                        name: next.name, folded: next.folded, country: next.country,
                        region: next.region, center: next.center))
            }
        }
        for number in streets.indices {
            streets[number].town = townOf[streets[number].town]
            streets[number].houses = DraftHouse.ordered(streets[number].houses)
            streets[number].points.sort()
        }
        streets.sort { left, right in
            if left.town != right.town { return left.town < right.town }
            if left.folded != right.folded {
                return left.folded.lexicographicallyPrecedes(right.folded)
            }
            // Where nothing else decides, the first of two is the answer: the one that says more.
            if left.postal.isEmpty != right.postal.isEmpty { return right.postal.isEmpty }
            return left.postal < right.postal
        }
    }

    private static func precedes(_ left: PostalTown, _ right: PostalTown) -> Bool {
        if left.country != right.country { return left.country < right.country }
        if left.region != right.region { return left.region < right.region }
        if left.folded != right.folded {
            return left.folded.lexicographicallyPrecedes(right.folded)
        }
        return left.postal < right.postal
    }

    /// Gives every town a settlement of the gazetteer: the one of its name near it, or that has its name
    /// among others, else a new one.
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
            gazetteer.settlements.append(
                Gazetteer.Settlement(
                    id: 0, name: town.name, asciiName: "", alternateNames: [],
                    location: town.center, country: town.country,
                    region: isRegion ? town.region : "", subregion: "", feature: .other,
                    population: 0, towns: [number]))
        }
    }
}
