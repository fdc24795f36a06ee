// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

extension LocatorDraft {
    /// A settlement of a vector source.
    public struct Place {
        /// How it is usually called.
        public var name: String
        /// Other names.
        public var alternateNames: [String]
        /// Longitude and latitude.
        public var location: Coordinate
        /// How many live there; 0 when unknown.
        public var population: UInt64
        /// Whether it is a part of a town.
        public var isPart: Bool
        /// Whether it is the capital of its country.
        public var isCapital: Bool

        /// Makes a settlement.
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

    /// A country, division or municipality with its borders.
    public struct Area {
        /// How it is called.
        public var name: String
        /// OpenStreetMap's level: 2 countries, 4 first-level divisions, 7 and 8 municipalities.
        public var level: Int
        /// ISO 3166-1 alpha-2 of a country, ISO 3166-2 of a division; empty when unknown.
        public var code: String
        /// Its polygon, longitude and latitude.
        public var shape: Shape

        /// Makes an area.
        public init(name: String, level: Int, code: String, shape: Shape) {
            self.name = name
            self.level = level
            self.code = code
            self.shape = shape
        }
    }
}

/// Areas by squares of a quarter of a degree, and what they say of a position.
struct AreaGrid {
    private struct Cell: Hashable {
        var x: Int
        var y: Int
    }

    /// What contains a position.
    struct Place {
        /// Alpha-2; empty when unknown.
        var country = ""
        /// The first-level code inside the country; empty when unknown.
        var region = ""
        /// The municipality; empty when unknown.
        var city = ""
    }

    private let areas: [LocatorDraft.Area]
    private let shapes: [PreparedShape]
    private var cells: [Cell: [Int]] = [:]
    private static let cellsPerDegree = 4.0

    init(_ areas: [LocatorDraft.Area]) {
        self.areas = areas
        shapes = areas.map { PreparedShape($0.shape) }
        for (number, shape) in shapes.enumerated() {
            let box = shape.envelope
            guard !box.isEmpty, box.isFinite else { continue }
            let (first, last) = (
                Self.cell(Coordinate(x: box.minX, y: box.minY)),
                Self.cell(Coordinate(x: box.maxX, y: box.maxY))
            )
            for x in first.x...last.x {
                for y in first.y...last.y { cells[Cell(x: x, y: y), default: []].append(number) }
            }
        }
    }

    private static func cell(_ location: Coordinate) -> Cell {
        func number(_ degrees: Double) -> Int {
            Int((min(720, max(-720, degrees)) * cellsPerDegree).rounded(.down))
        }
        return Cell(x: number(location.x), y: number(location.y))
    }

    /// The areas around a position, of each level the first.
    func place(at location: Coordinate) -> Place {
        var found: [Int: Int] = [:]
        for number in cells[Self.cell(location)] ?? []
        where found[areas[number].level] == nil && shapes[number].contains(location) {
            found[areas[number].level] = number
        }
        var result = Place()
        if let country = found[2] { result.country = areas[country].code }
        if let region = found[4] {
            // `US-MD`
            let parts = areas[region].code.split(separator: "-")
            if parts.count == 2 {
                result.region = String(parts[1])
                if result.country.isEmpty { result.country = String(parts[0]) }
            }
        }
        if let city = found[8] ?? found[7] { result.city = areas[city].name }
        return result
    }
}

extension Gazetteer {
    /// Adds what areas say of countries and first-level divisions, where no other source did; an area
    /// that another source knows by its name gets that one's code.
    mutating func add(_ areas: inout [LocatorDraft.Area]) {
        var known: [[UInt8]: String] = [:]
        for (code, region) in regions.sorted(by: { $0.key < $1.key }) {
            known[Folder.fold(code.prefix(2) + " " + region.name).bytes] = String(code)
        }
        for (number, area) in areas.enumerated() {
            let code = area.code.uppercased()
            if area.level == 2, code.utf8.count == 2, countries[code] == nil {
                countries[code] = Country(
                    code: code, code3: "", name: area.name, capital: "", population: 0, id: 0)
            } else if area.level == 4, code.utf8.count > 3, code.utf8.dropFirst(2).first == 0x2D {
                let name = Folder.fold(code.prefix(2) + " " + area.name).bytes
                let key = known[name] ?? "\(code.prefix(2)).\(code.dropFirst(3))"
                areas[number].code = "\(code.prefix(2))-\(key.dropFirst(3))"
                if regions[key] == nil {
                    regions[key] = Division(code: key, name: area.name, asciiName: "", id: 0)
                }
            }
        }
    }

    /// Adds settlements; one that another source has already gives that one its names and people.
    ///
    /// The same is one that is a part of a town as the other is, or is none as the other, bears one of
    /// its names, is not known to be in another country, and lies within 10 km: the nearest such.
    mutating func add(
        _ places: [LocatorDraft.Place], in areas: AreaGrid, country fallback: String
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
            let around = areas.place(at: place.location)
            let country = around.country.isEmpty ? fallback : around.country
            let own = names(place.name, place.alternateNames)
            let same = Set(own.flatMap { known[$0] ?? [] }).sorted().filter { number in
                let other = settlements[number]
                return (other.feature == .partOfTown) == place.isPart
                    && (other.country.isEmpty || country.isEmpty || other.country == country)
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
                if other.country.isEmpty { other.country = country }
                settlements[same] = other
                continue
            }
            for name in own where !name.isEmpty {
                known[name, default: []].append(settlements.count)
            }
            settlements.append(
                Settlement(
                    id: 0, name: place.name, asciiName: "", alternateNames: place.alternateNames,
                    location: place.location, country: country, region: around.region,
                    subregion: "",
                    feature: place.isPart ? .partOfTown : place.isCapital ? .capital : .other,
                    population: place.population))
        }
    }

    /// How near two settlements of one name are the same.
    private static var sameMeters: Double { 10_000 }
}
