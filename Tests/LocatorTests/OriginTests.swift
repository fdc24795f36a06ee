// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import TestKit
import Testing

@testable import Locator

@Suite struct OriginTests {
    private static let headings = "id\tname\tlatitude\tlongitude\tcountry\tpopulation\n"

    private func first(_ text: String, in locator: Locator) throws -> Candidate {
        try #require(
            try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first, "\(text)")
    }

    /// Builds from files of those names in a directory of their own.
    private func build(
        _ files: [(name: String, text: String)], vectors: LocatorBuilder.VectorReader? = nil
    ) throws -> (built: BuiltLocator, locator: Locator, path: String) {
        let source = Scratch.directory("origins")
        let directory = Scratch.directory("built")
        let paths = try files.map { file in
            let path = source + "/" + file.name
            try Data(file.text.utf8).write(to: URL(filePath: path))
            return path
        }
        let built = try LocatorBuilder.build(sources: paths, vectors: vectors, into: directory)
        let path = directory + "/" + built.id.rawValue + "/locator.bin"
        return (built, try Locator(path: path, id: built.id), path)
    }

    @Test func `the same sources in two directories give the same file, other names another`()
        throws
    {
        let files = zip(["countries.tsv", "regions.tsv", "places.tsv"], Tiny.all).map { ($0, $1) }
        let once = try build(files)
        let again = try build(files)
        let renamed = try build([("c.tsv", files[0].1)] + files.dropFirst())
        #expect(once.path != again.path)
        #expect(once.built.id == again.built.id)
        #expect(once.built.id != renamed.built.id)
        #expect(once.locator.sources == once.built.sources)
        #expect(once.locator.sources.map(\.name) == files.map(\.0))
        #expect(once.locator.sources.map(\.recordCount) == [3, 2, 6])
        #expect(
            once.locator.sources.map(\.form) == [
                "table of countries", "table of divisions", "table of places",
            ])
    }

    @Test func `forms of sources say whom to name`() throws {
        let dump =
            "11\tles Escaldes\t\t\t42.5\t1.5\tP\tPPLA\tAD\t\t08\t\t\t\t15853\t\t1033\tEurope\t2008\n"
            + "12\tTossal\t\t\t42.49\t1.49\tT\tMT\tAD\t\t00\t\t\t\t0\t\t2657\tEurope\t2010\n"
        let bano = "1,12,Rue Haute,08200,Sedan,C+O,49.70,4.94\n"
        let (_, locator, _) = try build([("dump.txt", dump), ("bano-08.csv", bano)])
        #expect(
            locator.sources == [
                LocatorSource(
                    name: "dump.txt", form: "GeoNames dump", attribution: "GeoNames, CC BY 4.0",
                    recordCount: 1),
                LocatorSource(
                    name: "bano-08.csv", form: "addresses (BANO)",
                    attribution: "source: BANO, ODbL",
                    recordCount: 1),
            ])
        #expect(try first("les Escaldes", in: locator).text("Origins") == "dump.txt#11")
        #expect(try first("12 rue haute sedan", in: locator).text("Origins") == "bano-08.csv")
        // The origins of a town known only from addresses are theirs, those of the country its
        // settlement's.
        #expect(try first("Sedan", in: locator).text("Origins") == "bano-08.csv")
        #expect(try first("AD", in: locator).text("Origins") == "dump.txt")
        #expect(try first("48.5, 2.5", in: locator).text("Origins") == "")
    }

    /// Places in one table and two vector sources; which source has which is drawn, and what must
    /// come out follows from that alone.
    @Test func `merged places have exactly the union of their origins`() throws {
        var random = SeededGenerator(seed: 5)
        var has: [[Bool]] = []
        var table = Self.headings
        for place in 0..<60 {
            var row = (0..<3).map { _ in Bool.random(using: &random) }
            if !row.contains(true) { row[place % 3] = true }
            has.append(row)
            if row[0] { table += "\(place + 1)\tOrt\(place)x\t\(place)\t10\tDE\t5\n" }
        }
        let places = has
        let (_, locator, _) = try build(
            [("table.tsv", table), ("b.json", "{}"), ("c.json", "{}")],
            vectors: { (path, draft, _) throws(Failure) in
                let source = path.hasSuffix("b.json") ? 1 : 2
                for (number, row) in places.enumerated() where row[source] {
                    // A kilometre away or less; every second one is a point of interest as well.
                    let location = Coordinate(x: 10.005 * Double(1), y: Double(number) + 0.003)
                    var place = LocatorDraft.Place(name: "Ort\(number)x", location: location)
                    place.identifier = source == 1 ? .node(UInt64(number)) : .text("k\(number)")
                    draft.add(place)
                    guard
                        var point = LocatorDraft.PointOfInterest(
                            name: "Markt\(number)y", category: "Market",
                            shapes: [.point(location)])
                    else { continue }
                    point.identifier = .way(UInt64(10_000 * source + number))
                    draft.add(point, source: path, number: number + 1)
                }
            })
        for (number, row) in places.enumerated() {
            let wanted = [
                row[0] ? "table.tsv#\(number + 1)" : nil, row[1] ? "b.json#node/\(number)" : nil,
                row[2] ? "c.json#k\(number)" : nil,
            ].compactMap(\.self)
            let found = try first("Ort\(number)x", in: locator)
            #expect(found.text("Origins") == wanted.joined(separator: "; "), "\(number)")
            guard row[1] || row[2] else { continue }
            let points = (1...2).filter { row[$0] }.map {
                ["", "b.json", "c.json"][$0] + "#way/\(10_000 * $0 + number)"
            }
            let point = try first("Markt\(number)y", in: locator)
            #expect(point.text("Origins") == points.joined(separator: "; "), "\(number)")
        }
        #expect(
            locator.sources.map(\.recordCount)
                == [
                    places.count { $0[0] }, 2 * places.count { $0[1] }, 2 * places.count { $0[2] },
                ])
    }

    /// Two tables of one street; of every number each may have none, one, or one some metres away.
    @Test func `houses of two tables are one where they are near, and know both`() throws {
        var random = SeededGenerator(seed: 6)
        var tables = ["", ""]
        var wanted: [(number: Int, origins: [String])] = []
        for number in 1...80 {
            let offsets = (0..<2).map { _ in [nil, 0, 20, 300].randomElement(using: &random) ?? nil
            }
            for (table, meters) in offsets.enumerated() {
                guard let meters else { continue }
                let y = 49.7 + 0.01 * Double(number) + Double(meters) / 111_195
                tables[table] += "x,\(number),Rue Haute,08200,Sedan,C+O,\(y),4.94\n"
            }
            switch (offsets[0], offsets[1]) {
            case (nil, nil): break
            case (nil, _?): wanted.append((number, ["b.csv"]))
            case (_?, nil): wanted.append((number, ["a.csv"]))
            case (let first?, let second?):
                wanted.append(
                    (number, abs(first - second) <= 50 ? ["a.csv; b.csv"] : ["a.csv", "b.csv"]))
            }
        }
        let (_, locator, path) = try build([("a.csv", tables[0]), ("b.csv", tables[1])])
        #expect(locator.addressCount.houses == wanted.reduce(0) { $0 + $1.origins.count })
        for (number, origins) in wanted {
            let found = try locator.geocode(
                GeocodeRequest(singleLine: "\(number) rue haute 08200 sedan")
            ).candidates.filter { $0.text("Addr_type") == "PointAddress" }
            let first = try #require(found.first)
            #expect(origins.contains(first.text("Origins")), "\(number)")
            if origins == ["a.csv; b.csv"] {
                // At the position of the first table.
                let row = try #require(
                    tables[0].split(separator: "\n").first { $0.hasPrefix("x,\(number),") })
                let y = try #require(Double(row.split(separator: ",")[6]))
                #expect(abs(first.location.y - y) < 1e-6)
            }
            // A reverse search there returns the same.
            let near = try locator.reverse(
                ReverseGeocodeRequest(location: first.location, maxDistanceMeters: 5))
            #expect(near.candidate?.text("Origins") == first.text("Origins"))
        }
        let street = try first("rue haute sedan", in: locator)
        #expect(street.text("Origins") == "a.csv; b.csv")
        #expect(try houseOriginBytes(path) > 8)
    }

    /// A house as a source has it.
    private struct SourceHouse {
        var table: Int
        var metersNorth: Double
        var postal: String
    }

    /// A house as it must come out.
    private struct MergedHouse: Hashable {
        var origins: String
        var postal: String
        /// In 10⁻⁶ degrees.
        var latitude: Int
    }

    /// The expected merge of the houses of one street, town and number in their order: those of the
    /// first source that are near; each pair by its distance alone.
    private static func merged(_ houses: [SourceHouse], at latitude: Double) -> Set<MergedHouse> {
        func house(_ all: [SourceHouse]) -> MergedHouse {
            MergedHouse(
                origins: all.map { "\(["a", "b", "c"][$0.table]).json" }.joined(separator: "; "),
                postal: all.map(\.postal).first { !$0.isEmpty } ?? "",
                latitude: Int(((latitude + all[0].metersNorth / 111_195) * 1e6).rounded()))
        }
        let areNear = houses.allSatisfy { one in
            houses.allSatisfy {
                abs($0.metersNorth - one.metersNorth) <= ($0.postal == one.postal ? 50 : 10)
            }
        }
        return areNear ? [house(houses)] : Set(houses.map { house([$0]) })
    }

    /// Three sources of the same streets in towns at one place, two of one name in two countries.
    ///
    /// All three have a house within a few metres, or two have it near or far; under any postcode
    /// or none.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `houses with other postcodes are one where they are very near, on one street of one town`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let towns = [("Sedan", "FR"), ("Sedan", "BE"), ("Bazeilles", "FR")]
        var tables: [[(texts: [String], location: Coordinate)]] = [[], [], []]
        var wanted: [(number: Int, street: String, town: Int, houses: Set<MergedHouse>)] = []
        for number in 1...30 {
            let latitude = 49.7 + 0.01 * Double(number)
            for street in ["Rue Haute", "Rue Basse"] {
                for town in towns.indices {
                    let isOfThree = Bool.random(using: &random)
                    let chosen = isOfThree ? [0, 1, 2] : [[0, 1], [1, 2], [0, 2]][number % 3]
                    var houses: [SourceHouse] = []
                    for table in chosen {
                        let postal =
                            ["08200", "08210", ""].randomElement(using: &random) ?? ""
                        // In one street under one postcode a number is queried once.
                        let isKnown = houses.contains { $0.postal == postal }
                        let meters: [Double] =
                            isOfThree ? [0, 4] : isKnown ? [0, 4, 30] : [0, 4, 30, 300]
                        houses.append(
                            SourceHouse(
                                table: table,
                                metersNorth: meters.randomElement(using: &random) ?? 0,
                                postal: postal))
                    }
                    if houses.count == 2, houses[0].metersNorth > 100,
                        houses[1].postal == houses[0].postal
                    {
                        houses[0].metersNorth = 0
                    }
                    for house in houses {
                        tables[house.table].append(
                            (
                                [
                                    street, "\(number)", "", towns[town].0, house.postal, "",
                                    towns[town].1,
                                ],
                                Coordinate(x: 4.94, y: latitude + house.metersNorth / 111_195)
                            ))
                    }
                    wanted.append((number, street, town, Self.merged(houses, at: latitude)))
                }
            }
        }
        let rows = tables
        let names = ["a.json", "b.json", "c.json"]
        let (_, locator, _) = try build(
            names.map { ($0, "{}") },
            vectors: { (path, draft, _) throws(Failure) in
                let table = names.firstIndex { path.hasSuffix($0) } ?? 0
                for (number, row) in rows[table].enumerated() {
                    draft.take(
                        [.point(row.location)], draft.plainLayout, source: path, number: number + 1
                    ) { row.texts[$0] }
                }
            })
        #expect(locator.addressCount.houses == wanted.reduce(0) { $0 + $1.houses.count })
        for one in wanted {
            let (town, country) = towns[one.town]
            var request = GeocodeRequest(
                singleLine: "\(one.number) \(one.street), \(town)", maxLocations: 50)
            request.countryCodes = [country]
            let found = try locator.geocode(request).candidates.filter {
                $0.text("Addr_type") == "PointAddress" && $0.text("AddNum") == "\(one.number)"
                    && $0.text("StName") == one.street && $0.text("City") == town
            }
            let houses = found.map {
                MergedHouse(
                    origins: $0.text("Origins"), postal: $0.text("Postal"),
                    latitude: Int(($0.location.y * 1e6).rounded()))
            }
            #expect(houses.count == one.houses.count, "\(one)")
            #expect(Set(houses) == one.houses, "\(one)")
        }
    }

    /// A source with one address twice keeps both, whatever another source has.
    @Test func `houses of one source stay under their postcodes`() throws {
        let row = "x,12,Rue Haute,08200,Sedan,C+O,49.7,4.94\n"
        let other = row.replacing("08200", with: "08210")
        let (_, locator, _) = try build([("a.csv", row + other), ("b.csv", other)])
        #expect(locator.addressCount.houses == 2)
        for postal in ["08200", "08210"] {
            let house = try first("12 rue haute \(postal) sedan", in: locator)
            #expect(house.text("Postal") == postal && house.text("AddNum") == "12")
        }
        // Nothing is left of the street under the second source's postcode.
        let (_, joined, _) = try build([("a.csv", row), ("b.csv", other)])
        #expect(joined.addressCount.streets == 1 && joined.addressCount.houses == 1)
        #expect(try first("rue haute sedan", in: joined).text("Origins") == "a.csv; b.csv")
    }

    @Test func `the houses of one source cost eight bytes together`() throws {
        let rows = (1...5_000).map {
            "x,\($0 % 100 + 1),Rue \($0 / 100)e,08200,Sedan,C+O,\(49.7 + Double($0) / 1e5),4.94"
        }
        let (built, _, path) = try build([("a.csv", rows.joined(separator: "\n"))])
        #expect(built.houseCount == 5_000)
        #expect(try houseOriginBytes(path) == 8)
    }

    /// The bytes of the section, by the header.
    private func houseOriginBytes(_ path: String) throws -> Int {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let entry = 64 + 16 * LocatorLayout.Section.houseOrigins.rawValue + 8
        return (0..<4).reduce(0) { $0 | Int(bytes[entry + $1]) << (8 * $1) }
    }

    @Test func `a crossing and a street know the sources of all their parts`() {
        var sets = OriginSets()
        let (a, b) = (sets.set(of: 3), sets.set(of: 1))
        let both = sets.union(a, b)
        #expect(sets.sets[Int(both)] == [1, 3])
        #expect(sets.union(b, a) == both)
        #expect(sets.union(both, a) == both)
        #expect(sets.union(OriginSets.empty, a) == a)
        #expect(!sets.isOverfull)
    }

    @Test func `names that no source may have are refused`() throws {
        let source = try Scratch.source(Tiny.places)
        let names = [source: String(repeating: "n", count: 256)]
        #expect {
            try LocatorBuilder.build(
                sources: [source], sourceNames: names, into: Scratch.directory("built"))
        } throws: { error in
            (error as? Failure)?.message.contains("255 bytes") ?? false
        }
    }
}
