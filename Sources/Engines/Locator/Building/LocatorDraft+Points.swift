// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

extension LocatorDraft {
    /// A named feature that need not be inhabited: a shop, station, mountain.
    public struct PointOfInterest {
        /// Its usual name.
        public var name: String
        /// Other names.
        public var alternateNames: [String] = []
        /// Longitude and latitude.
        public var location: Coordinate
        /// Its extent, longitude and latitude.
        public var extent: Envelope
        /// Its category, as displayed and queried; `Other` where unknown.
        public var category: String
        /// Tie-break between points of one name, lower first.
        public var categoryRank = Int.max
        /// The town in the source; empty for the one around.
        public var city = ""
        /// Code of the first-level division; empty for the one around.
        public var region = ""
        /// Alpha-2; empty for the one around.
        public var country = ""
        /// Population; 0 when unknown.
        public var population: UInt64 = 0
        /// Its id in the source; 0 when unknown.
        public var id: UInt32 = 0
        /// Its identifier in the source.
        public var identifier = SourceIdentifier.none
        /// Its names by language; each is also its usual name or among the other names.
        public var languageNames: [NameInLanguage] = []
        /// Its own street and house number.
        public var address: PointAddress?
        var source: UInt16 = 0
        var origin: Origin { Origin(source: source, id: identifier) }

        /// The category of a point without one.
        public static let unknownCategory = "Other"
        /// Half the side of a default extent, in metres.
        private static let reachMeters = 100.0

        /// Creates a point at a position of the first of its shapes, all in longitude and latitude;
        /// nil for shapes without a position there.
        public init?(name: String, category: String, shapes: [Shape]) {
            guard let shape = shapes.first, let location = shape.pointOnSurface,
                abs(location.x) <= 180, abs(location.y) <= 90
            else { return nil }
            self.name = name
            self.location = location
            self.category = category.isEmpty ? Self.unknownCategory : category
            let box = PreparedShape(shape, isIndexed: false).envelope
            extent = Sphere.envelope(around: location, radiusMeters: Self.reachMeters)
            if box.isFinite, abs(box.minX) <= 180, abs(box.maxX) <= 180 { extent.include(box) }
        }

        /// Why it is unusable; nil when it is usable.
        var fault: String? {
            if name.isEmpty { return "the name is empty" }
            if name.utf8.count > AddressReader.longestName {
                return "the name is longer than \(AddressReader.longestName) bytes"
            }
            if Folder.fold(name).bytes.isEmpty { return "the name has no letter or digit" }
            if category.utf8.count > 60 { return "the category is longer than 60 bytes" }
            return nil
        }
    }
}

extension Gazetteer {
    /// Adds a point of interest; a duplicate from another source is merged into the known one, with
    /// its names.
    ///
    /// A duplicate has a common name, an equal or missing category, and is within 200 m or in the
    /// other's extent.
    mutating func add(
        _ point: LocatorDraft.PointOfInterest, in borders: BorderDraft, near grid: SettlementGrid,
        country fallback: String
    ) {
        let around = borders.place(at: point.location)
        let own = ([point.name] + point.alternateNames).map { Folder.fold($0).bytes }
        let known = own.compactMap { self.point(named: $0, like: point) }
        if let same = known.first {
            let present = Set(
                ([points[same].name] + points[same].alternateNames).map { Folder.fold($0).bytes })
            points[same].alternateNames += zip([point.name] + point.alternateNames, own)
                .filter { !present.contains($0.1) }.map(\.0)
            points[same].extent.include(point.extent)
            points[same].population = max(points[same].population, point.population)
            points[same].origins.add(point.origin)
            points[same].languageNames.add(point.languageNames)
            points[same].address = points[same].address ?? point.address
            return
        }
        var country = point.country.utf8.count == 2 ? point.country.uppercased() : ""
        if country.isEmpty { country = around.country }
        if country.isEmpty { country = fallback }
        var region = point.region
        if region.isEmpty, country == around.country { region = around.region }
        let city = point.city.isEmpty ? around.city : point.city
        var town: Int?
        if city.isEmpty {
            town = grid.nearest(
                to: point.location, within: LocatorDraft.townReachMeters, country: country)
        }
        if let town {
            if country.isEmpty { country = settlements[town].country }
            if region.isEmpty, country == settlements[town].country {
                region = settlements[town].region
            }
        }
        var languageNames: [NameInLanguage] = []
        languageNames.add(point.languageNames)
        for name in own where !name.isEmpty {
            pointNumbers[PointKey(name, point.location), default: []].append(points.count)
        }
        categories[point.category] = min(
            categories[point.category] ?? .max, point.categoryRank)
        points.append(
            PointOfInterest(
                id: point.id, name: point.name, alternateNames: point.alternateNames,
                location: point.location, extent: point.extent, category: point.category,
                city: city, country: country, region: region, population: point.population,
                town: town, address: point.address, origins: Origins(point.origin),
                languageNames: languageNames))
    }

    private func point(named name: [UInt8], like other: LocatorDraft.PointOfInterest) -> Int? {
        guard !name.isEmpty else { return nil }
        let unknown = LocatorDraft.PointOfInterest.unknownCategory
        let center = PointKey(name, other.location)
        for x in center.x - 1...center.x + 1 {
            for y in center.y - 1...center.y + 1 {
                for number in pointNumbers[PointKey(name: name, x: x, y: y)] ?? [] {
                    let point = points[number]
                    guard
                        point.category == other.category || point.category == unknown
                            || other.category == unknown
                    else { continue }
                    if point.extent.contains(other.location)
                        || other.extent.contains(point.location)
                        || Sphere.meters(from: point.location, to: other.location) <= 200
                    {
                        return number
                    }
                }
            }
        }
        return nil
    }

    /// Links points of interest with a town's name to a nearby settlement of that name, else to a
    /// new one.
    mutating func settlePoints() {
        pointNumbers = [:]
        let names = points.map { point in
            point.town == nil && !point.city.isEmpty
                ? Folder.fold(point.city, partingApostrophes: true).bytes : []
        }
        var index = TownIndex(self, named: Set(names))
        var made: Set<Int> = []
        for (number, name) in names.enumerated() where !name.isEmpty {
            let point = points[number]
            let town = index.settlement(
                named: name, country: point.country, near: point.location, in: self)
            points[number].town = town ?? settlements.count
            if let town {
                if point.country.isEmpty { points[number].country = settlements[town].country }
                if point.region.isEmpty { points[number].region = settlements[town].region }
                // A town known from points of interest only has the origins of all of them.
                if made.contains(town) { settlements[town].origins.add(point.origins.withoutIDs) }
                continue
            }
            index.add(settlements.count, named: name)
            made.insert(settlements.count)
            settlements.append(
                Settlement(
                    id: 0, name: point.city, asciiName: "", alternateNames: [],
                    location: point.location, country: point.country,
                    region: regions[point.country + "." + point.region] == nil ? "" : point.region,
                    subregion: "", feature: .other, population: 0,
                    origins: point.origins.withoutIDs))
        }
    }
}

extension Envelope {
    /// Enlarges the extent to include another.
    fileprivate mutating func include(_ other: Envelope) {
        extend(to: Coordinate(x: other.minX, y: other.minY))
        extend(to: Coordinate(x: other.maxX, y: other.maxY))
    }
}

/// The grid square of a name of a point of interest, of a tenth of a degree.
struct PointKey: Hashable {
    var name: [UInt8]
    var x: Int
    var y: Int

    init(name: [UInt8], x: Int, y: Int) {
        self.name = name
        self.x = x
        self.y = y
    }

    init(_ name: [UInt8], _ location: Coordinate) {
        self.init(
            name: name, x: Int((location.x * 10).rounded(.down)),
            y: Int((location.y * 10).rounded(.down)))
    }
}
