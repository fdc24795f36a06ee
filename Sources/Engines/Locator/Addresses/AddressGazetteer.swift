// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// A house on its street.
struct DraftHouse {
    var number: UInt32
    private var suffixAndMark: UInt16
    /// The set of its sources; empty for a vertex.
    var origin: UInt16
    /// Position in 1e-7 degrees.
    var longitude: Int32
    var latitude: Int32

    /// Creates a house at a longitude and latitude.
    init(
        number: UInt32, suffix: UInt16, isTownInferred: Bool = false, _ location: Coordinate,
        origin: UInt16 = OriginSets.empty
    ) {
        self.number = number
        suffixAndMark = suffix | (isTownInferred ? Self.inferredMark : 0)
        self.origin = origin
        longitude = Int32((location.x * 1e7).rounded())
        latitude = Int32((location.y * 1e7).rounded())
    }

    /// Index in the list of suffixes.
    var suffix: UInt16 { suffixAndMark & ~Self.inferredMark }

    /// Whether its town was inferred from its position instead of stated by its source.
    var isTownInferred: Bool {
        get { suffixAndMark & Self.inferredMark != 0 }
        set { suffixAndMark = suffix | (newValue ? Self.inferredMark : 0) }
    }

    /// Above every suffix index (``AddressGazetteer/mostSuffixes``).
    private static let inferredMark: UInt16 = 0x8000

    var location: Coordinate {
        Coordinate(x: Double(longitude) / 1e7, y: Double(latitude) / 1e7)
    }

    /// Whether number, suffix and position are equal.
    func isSamePoint(as other: DraftHouse) -> Bool {
        number == other.number && suffix == other.suffix && longitude == other.longitude
            && latitude == other.latitude
    }

    /// Orders by number, suffix, position, a stated before an inferred town, and first occurrence.
    static func precedes(_ left: DraftHouse, _ right: DraftHouse) -> Bool {
        if left.number != right.number { return left.number < right.number }
        if left.suffix != right.suffix { return left.suffix < right.suffix }
        if left.longitude != right.longitude { return left.longitude < right.longitude }
        if left.latitude != right.latitude { return left.latitude < right.latitude }
        if left.isTownInferred != right.isTownInferred { return right.isTownInferred }
        return left.origin < right.origin
    }
}

/// The content of address tables before it becomes a locator: streets with their houses, and towns.
struct AddressGazetteer {
    /// A street of a town, under one postcode.
    struct Street {
        var name: String
        /// The folded name, split at apostrophes.
        var folded: [UInt8]
        var postal: String
        /// Index in `towns`; in the postal towns until they are settled.
        var town: Int
        var houses: [DraftHouse] = []
        /// Positions without a house number, in 1e-7 degrees.
        var points: [DraftHouse] = []

        /// Its lines, in order of the sources.
        var segments: [DraftSegment] = []
        /// The set of the sources of its rows and lines.
        var origin = OriginSets.empty

        /// The representative position, where that was settled before its lines got more vertices.
        var shown: DraftHouse?

        /// The representative position: the middle house, point or vertex.
        var middle: DraftHouse? {
            if let shown { return shown }
            let list = houses.isEmpty ? points : houses
            if !list.isEmpty { return list[list.count / 2] }
            guard !segments.isEmpty else { return nil }
            let line = segments[segments.count / 2].line
            return line[line.count / 2]
        }
    }

    /// A town under one postcode, before the merge into ``Town``.
    struct PostalTown {
        var name: String
        var folded: [UInt8]
        var country: String
        var region: String
        var postal: String
        var sumX = 0.0
        var sumY = 0.0
        var count = 0
        var origin = OriginSets.empty

        var center: Coordinate {
            Coordinate(x: sumX / Double(max(count, 1)), y: sumY / Double(max(count, 1)))
        }
    }

    /// A town with streets.
    struct Town {
        var name: String
        var folded: [UInt8]
        /// Alpha-2; empty when unknown.
        var country: String
        /// The region as in the source; may be empty.
        var region: String
        var center: Coordinate
        /// The set of the sources of its addresses.
        var origin = OriginSets.empty
    }

    var streets: [Street] = []
    var towns: [Town] = []
    private(set) var suffixes: [String] = [""]
    private(set) var houseCount = 0
    private(set) var segmentCount = 0
    var origins = OriginSets()
    var postalTowns: [PostalTown] = []
    private var suffixNumbers: [String: UInt16] = ["": 0]
    private var streetNumbers: [String: Int] = [:]
    private var foldedStreets: [FoldedKey: Int] = [:]
    private var townNumbers: [FoldedKey: Int] = [:]

    private struct FoldedKey: Hashable {
        var parts: [[UInt8]]
    }

    /// Largest distance between streets of one town, in metres; beyond it, equal names are separate
    /// towns.
    static let townReachMeters = 20_000.0
    /// Limit of distinct suffixes of house numbers in the file.
    static let mostSuffixes = 4_096
    static let mostNumber: UInt32 = (1 << 20) - 1

    var isEmpty: Bool { streets.isEmpty }

    /// Adds one row; throws ``Unusable`` with the reason.
    mutating func add(
        street: String, city: String, isTownInferred: Bool = false, postal: String, region: String,
        country: String, house: (number: UInt32, suffix: String)?, location: Coordinate,
        source: UInt16 = 0
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
            street, city: city, postal: postal, region: region, country: country,
            source: source)
        let point = DraftHouse(
            number: house?.number ?? 0, suffix: suffix, isTownInferred: isTownInferred, location,
            origin: origins.set(of: source))
        if house == nil {
            streets[number].points.append(point)
        } else {
            streets[number].houses.append(point)
            houseCount += 1
        }
        weigh(location, in: streets[number].town)
    }

    /// Adds one line of a street with the house numbers along its sides; throws ``Unusable`` with
    /// the reason.
    ///
    /// Sides under different postcodes become segments of two streets.
    mutating func add(
        street: String, city: String, region: String, country: String, left: DraftSide,
        right: DraftSide, line: [Coordinate], isApart: Bool = false, source: UInt16 = 0
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
                street, city: city, postal: postal, region: region, country: country,
                source: source)
            streets[number].segments.append(segment)
            streets[number].segments[streets[number].segments.count - 1].isApart = isApart
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
        _ name: String, city: String, postal: String, region: String, country: String,
        source: UInt16
    ) throws(Unusable) -> Int {
        let number = try streetNumber(
            name, city: city, postal: postal, region: region, country: country)
        let origin = origins.set(of: source)
        streets[number].origin = origins.union(streets[number].origin, origin)
        let town = streets[number].town
        postalTowns[town].origin = origins.union(postalTowns[town].origin, origin)
        return number
    }

    private mutating func streetNumber(
        _ name: String, city: String, postal: String, region: String, country: String
    ) throws(Unusable) -> Int {
        let written = [name, city, postal, region, country].joined(separator: "\u{0}")
        if let known = streetNumbers[written] { return known }
        let folded = AddressWords.searched.endingInFull(
            Folder.fold(name, partingApostrophes: true).bytes)
        guard !folded.isEmpty else { throw Unusable("the street has no letter") }
        let town = try self.town(city, postal: postal, region: region, country: country)
        let key = FoldedKey(parts: [folded, Array(String(town).utf8)])
        let number: Int
        if let known = foldedStreets[key] {
            number = known
            // A spelling with small letters is preferred.
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

    /// Fills in missing countries and regions of towns from the area around the middle of their
    /// addresses.
    mutating func settle(in borders: BorderDraft) {
        guard !borders.isEmpty else { return }
        for number in postalTowns.indices {
            var (country, region) = (postalTowns[number].country, postalTowns[number].region)
            borders.complete(&country, &region, at: postalTowns[number].center)
            (postalTowns[number].country, postalTowns[number].region) = (country, region)
        }
    }
}
