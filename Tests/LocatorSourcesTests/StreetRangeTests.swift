// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit
import Testing

@Suite struct StreetRangeTests {
    private static let city = GridCity()
    private static let shared = Result {
        try Scratch.build([try Scratch.file(city.geoJSON, "streets.geojson")])
    }

    /// The location of a house by plain interpolation: the middle of its share of the block, 20 m
    /// off.
    private func expected(_ segment: GridCity.Segment, _ number: Int, isLeft: Bool) -> Coordinate {
        let range = isLeft ? segment.left : segment.right
        let (start, end) = (segment.line[0], segment.line[segment.line.count - 1])
        let place = abs(number - (range?.from ?? 0)) / 2
        let share = (Double(place) + 0.5) / 50
        let (dx, dy) = ((end.x - start.x) / 100, (end.y - start.y) / 100)
        let side = isLeft ? 20.0 : -20
        return GridCity.location(
            start.x + share * (end.x - start.x) - side * dy,
            start.y + share * (end.y - start.y) + side * dx)
    }

    @Test func `every number of every block is where plain interpolation puts it`() throws {
        let (built, locator) = try Self.shared.get()
        #expect(built.rejectedCount == 0)
        for segment in Self.city.segments {
            for (isLeft, range) in [(true, segment.left), (false, segment.right)] {
                let ends = try #require(range)
                for number in stride(
                    from: min(ends.from, ends.to), through: max(ends.from, ends.to), by: 14)
                {
                    let text = "\(number) \(segment.street), Gridham"
                    let found = try #require(try locator.first(text), "\(text)")
                    #expect(found.score == 100, "\(text)")
                    #expect(found.text("Addr_type") == "StreetAddress", "\(text)")
                    #expect(found.text("AddNum") == "\(number)", "\(text)")
                    #expect(found.text("StName") == segment.street, "\(text)")
                    #expect(found.text("Side") == (isLeft ? "L" : "R"), "\(text)")
                    #expect(found.text("AddNumFrom") == "\(ends.from)", "\(text)")
                    #expect(found.text("AddNumTo") == "\(ends.to)", "\(text)")
                    #expect(
                        found.text("Postal") == (isLeft ? segment.leftPostal : segment.rightPostal))
                    let place = expected(segment, number, isLeft: isLeft)
                    #expect(found.meters(to: place) < 0.2, "\(text)")
                }
            }
        }
    }

    @Test func `the postcode of the side counts, the other side's does not`() throws {
        let (_, locator) = try Self.shared.get()
        let right = try #require(try locator.first("198 Second Avenue 10002 Gridham"))
        #expect(right.score == 100)
        #expect(right.text("Side") == "R")
        let wrong = try #require(try locator.first("198 Second Avenue 10001 Gridham"))
        #expect(wrong.score < 100)
    }

    @Test func `outside every range the nearest end is said to be so, or nothing but the street`()
        throws
    {
        let (_, locator) = try Self.shared.get()
        let near = try #require(try locator.first("306 Alder Street Gridham"))
        #expect(near.text("Addr_type") == "StreetAddressExt")
        #expect(near.score < 100)
        #expect(near.text("AddNumTo") == "298")
        let end = expected(Self.city.segments[2], 298, isLeft: true)
        #expect(near.meters(to: end) < 1)
        let further = try #require(try locator.first("380 Alder Street Gridham"))
        #expect(further.score < near.score)
        let far = try #require(try locator.first("1306 Alder Street Gridham"))
        #expect(far.text("Addr_type") == "StreetName")
        let refused = try #require(
            try locator.first("306 Alder Street Gridham") { $0.matchOutOfRange = false })
        #expect(refused.text("Addr_type") == "StreetName")
        #expect(refused.text("AddNum") == "")
    }

    @Test(arguments: [
        ("110-114 Alder Street Gridham", "110-114", 112),
        ("110B Alder Street Gridham", "110b", 110),
        ("110 bis Alder Street Gridham", "110 bis", 110),
        ("110 1/2 Alder Street Gridham", "110 1/2", 110),
        ("Alder Street 110, Gridham", "110", 110),
    ])
    func `letters and fractions that follow a house number are kept`(
        _ text: String, _ label: String, _ place: Int
    ) throws {
        let (_, locator) = try Self.shared.get()
        let found = try #require(try locator.first(text))
        #expect(found.text("Addr_type") == "StreetAddress")
        #expect(found.text("AddNum") == label)
        let position = expected(Self.city.segments[1], place, isLeft: true)
        #expect(found.meters(to: position) < 0.2)
    }

    @Test func `a point comes before the range, and ranges fill what has no point`() throws {
        let streets = try Scratch.file(Self.city.geoJSON, "streets.geojson")
        let place = GridCity.location(61, 33)
        let points = try Scratch.file(
            GeoJSON.collection([
                GeoJSON.point(
                    place, ["street": "Alder Street", "number": "110", "city": "Gridham"])
            ]), "points.geojson")
        let (built, locator) = try Scratch.build([streets, points])
        #expect(built.houseCount == 1)
        let exact = try #require(try locator.first("110 Alder Street Gridham"))
        #expect(exact.text("Addr_type") == "PointAddress")
        #expect(exact.meters(to: place) < 0.1)
        let other = try #require(try locator.first("112 Alder Street Gridham"))
        #expect(other.text("Addr_type") == "StreetAddress")
    }

    @Test func `reverse gives the number on the side of the location`() throws {
        let (_, locator) = try Self.shared.get()
        var random = SeededGenerator(seed: 7)
        print("seed \(random.seed)")
        for _ in 0..<300 {
            let segment = try #require(Self.city.segments.randomElement(using: &random))
            let isLeft = Bool.random(using: &random)
            let range = try #require(isLeft ? segment.left : segment.right)
            // Not at the corners, where another street is as near.
            let place = Int.random(in: 15..<35, using: &random)
            let number = range.from + (range.to > range.from ? 2 : -2) * place
            let position = expected(segment, number, isLeft: isLeft)
            let request = ReverseGeocodeRequest(location: position, maxDistanceMeters: 50)
            let found = try #require(try locator.reverse(request).candidate)
            #expect(found.text("Addr_type") == "StreetAddress")
            #expect(found.text("AddNum") == "\(number)")
            #expect(found.text("StName") == segment.street)
            #expect(found.meters(to: position) < 0.2)
        }
    }

    @Test func `a suggested house is the one its key finds`() throws {
        let (_, locator) = try Self.shared.get()
        for segment in Self.city.segments {
            let number = try #require(segment.right).from
            let text = "\(number) \(segment.street) Gridham"
            let suggestion = try #require(
                try locator.suggest(SuggestRequest(text: text)).suggestions.first)
            let found = try #require(try locator.first("") { $0.magicKey = suggestion.magicKey })
            #expect(found.address == suggestion.text)
            #expect(found.text("AddNum") == "\(number)")
        }
    }

    @Test func `the same streets in another spatial reference and format are as near`() throws {
        let radius = 6_378_137.0
        let features = Self.city.segments.map { segment in
            let line = segment.line.map { vertex in
                let degrees = GridCity.location(vertex.x, vertex.y)
                let y = log(tan(.pi / 4 + degrees.y * .pi / 360))
                return Coordinate(x: radius * degrees.x * .pi / 180, y: radius * y)
            }
            return GeoJSON.line(
                line,
                [
                    "Street": segment.street, "L_From": "\(segment.left?.from ?? 0)",
                    "L_To": "\(segment.left?.to ?? 0)", "R_From": "\(segment.right?.from ?? 0)",
                    "R_To": "\(segment.right?.to ?? 0)",
                ])
        }
        let text = GeoJSON.collection(features, crs: "urn:ogc:def:crs:EPSG::3857")
        let (built, locator) = try Scratch.build([try Scratch.file(text, "mercator.json")])
        #expect(built.rejectedCount == 0)
        let found = try #require(try locator.first("150 Birch Street Gridham"))
        #expect(found.meters(to: expected(Self.city.segments[4], 150, isLeft: true)) < 0.2)
    }

    @Test func `the same streets give the same locator, gzip or not`() throws {
        let plain = try Scratch.file(Self.city.geoJSON, "city.geojson")
        let packed = try Scratch.file(Self.city.geoJSON, "city.geojson")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/gzip")
        process.arguments = [packed]
        try process.run()
        process.waitUntilExit()
        let (first, _) = try Scratch.build([plain])
        let (second, _) = try Scratch.build([packed + ".gz"])
        #expect(first.id == second.id)
        #expect(first.segmentCount == 31 + 16)
    }

    @Test func `a line along the date line is one line`() throws {
        let text = GeoJSON.collection([
            GeoJSON.line(
                [Coordinate(x: 179.999, y: -17), Coordinate(x: -179.999, y: -17)],
                [
                    "FULLNAME": "Date Line Road", "LFROMADD": "2", "LTOADD": "8", "RFROMADD": nil,
                    "RTOADD": nil, "ZIPL": nil, "ZIPR": nil,
                ])
        ])
        let (_, locator) = try Scratch.build([try Scratch.file(text, "date.geojson")])
        for number in [2, 4, 6, 8] {
            let found = try #require(try locator.first("\(number) Date Line Road Gridham"))
            let east = found.location.x < 0 ? found.location.x + 360 : found.location.x
            #expect(abs(east - (179.999 + 0.002 * (Double(number / 2) - 0.5) / 4)) < 1e-6)
        }
    }

    @Test func `a range that cannot be used is counted, with its reason`() throws {
        let line = [GridCity.location(0, 0), GridCity.location(100, 0)]
        func fields(_ street: String?, _ from: String?, _ to: String?) -> [String: String?] {
            [
                "FULLNAME": street, "LFROMADD": from, "LTOADD": to, "RFROMADD": nil,
                "RTOADD": nil, "ZIPL": nil, "ZIPR": nil,
            ]
        }
        let wrong: [(String, String)] = [
            (GeoJSON.line(line, fields(nil, "1", "9")), "street is empty"),
            (GeoJSON.line(line, fields("Oak Street", "one", "9")), "leftFrom 'one'"),
            (GeoJSON.line(line, fields("Oak Street", "1", nil)), "leftTo is empty"),
            (GeoJSON.line(line, fields("Oak Street", "1", "99999999")), "leftTo '99999999'"),
            (GeoJSON.line([line[0], line[0]], fields("Oak Street", "1", "9")), "no length"),
            (
                GeoJSON.line(
                    [line[0], Coordinate(x: 10, y: 95)], fields("Oak Street", "1", "9")),
                "leaves longitude and latitude"
            ),
            (GeoJSON.feature("null", fields("Oak Street", "1", "9")), "no geometry"),
            (
                GeoJSON.line(
                    Array(repeating: line, count: 50_001).flatMap { $0 },
                    fields("Oak Street", "1", "9")), "at most 100000"
            ),
        ]
        let good = [
            GeoJSON.line(line, fields("Elm Street", nil, nil)),
            GeoJSON.line(line, fields("Elm Street", "-1", "-1")),
            GeoJSON.line(line, fields("Ash Street", "1", "10")),
        ]
        let text = GeoJSON.collection(good + wrong.map(\.0))
        let (built, locator) = try Scratch.build([try Scratch.file(text, "odd.geojson")])
        #expect(built.rejectedCount == wrong.count)
        for ((_, reason), rejected) in zip(wrong, built.rejected) {
            #expect(rejected.reason.contains(reason), "\(rejected)")
        }
        #expect(try locator.first("3 Elm Street Gridham")?.text("Addr_type") == "StreetName")
        // Ends of different parity: both even and odd numbers are there.
        for number in 1...10 {
            let found = try locator.first("\(number) Ash Street Gridham")
            #expect(found?.text("Addr_type") == "StreetAddress")
        }
    }

    @Test func `a file that is none, or cut short, or without known fields, builds nothing`() throws
    {
        let whole = Self.city.geoJSON
        let cases = [
            (String(whole.prefix(whole.utf8.count / 2)), "cut.geojson"),
            ("{\"type\":\"Nonsense\"}", "none.json"),
            (GeoJSON.collection([GeoJSON.point(Coordinate(x: 1, y: 1), ["a": "b"])]), "other.json"),
        ]
        for (text, name) in cases {
            let path = try Scratch.file(text, name)
            let directory = Scratch.directory()
            #expect {
                try LocatorBuilder.build(
                    sources: [path], vectors: VectorSources.reader(expandingIn: directory),
                    into: directory)
            } throws: { error in
                (error as? Failure)?.code == .unreadable
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        }
    }

    @Test func `a street without a town is in the nearest settlement`() throws {
        let places = try Scratch.file(
            """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation
            1\tNearby\t50.01\t10.01\tUS\t100
            2\tElsewhere\t50.1\t10.1\tUS\t90000
            """, "places.tsv")
        let streets = try Scratch.file(Self.city.geoJSON, "streets.geojson")
        let (_, locator) = try Scratch.build([places, streets], constants: [])
        let found = try #require(try locator.first("150 Birch Street, Nearby"))
        #expect(found.text("City") == "Nearby")
        #expect(found.score == 100)
        let (built, _) = try Scratch.build([streets, places], constants: ["country=FR"])
        #expect(built.rejectedCount == 31)
        #expect(built.rejected[0].reason.contains("no settlement"))
    }
}
