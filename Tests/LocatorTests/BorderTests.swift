// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

@Suite struct BorderTests {
    private static let columns = """
        {"name": "own", "separator": ";", "columns": {"number": "n", "street": "s", "city": "c", \
        "country": "k", "longitude": "x", "latitude": "y"}}
        """

    /// QA west of longitude 10, QB east of it, both from latitude 40 to 41.
    private static let two = [
        SampleArea.box("QA", 9, 40, 10, 41), SampleArea.box("QB", 10, 40, 11, 41),
    ]

    @Test func `an address just across the line is not the answer, and it is said`() throws {
        let table = """
            n;s;c;k;x;y
            1;Near Street;Alba;QA;9.9999;40.5
            2;Far Street;Bero;QB;10.02;40.5
            """
        let locator = try BorderSample.build([table], Self.two, columns: [Self.columns]).locator

        let east = try #require(try locator.near(10.0001, 40.5))
        #expect(east.text("StName") == "Far Street")
        #expect(east.text("CountryCode") == "QB")
        #expect(abs((east.metersAcross ?? 0) - 16.9) < 0.2)
        let west = try #require(try locator.near(9.9998, 40.5))
        #expect(west.text("StName") == "Near Street")
        #expect(west.metersAcross == nil)
        // Within 100 m there is nothing in QB but QB itself.
        let area = try #require(try locator.near(10.0001, 40.5, within: 100))
        #expect(area.address == "Land QB")
        #expect(area.text("Addr_type") == "Locality")
        #expect(area.text("Type") == "Country")
        #expect(area.text("CountryCode") == "QB")
        #expect(area.location == Coordinate(x: 10.0001, y: 40.5))
        #expect(area.distanceMeters == 0)
        #expect(abs((area.metersAcross ?? 0) - 16.9) < 0.2)
        #expect(try locator.near(10.0001, 40.5, within: 100, types: ["PointAddress"]) == nil)
        #expect(try locator.near(10.0001, 40.5, within: 5)?.metersAcross == nil)
        // At sea there are no borders.
        let sea = try #require(try locator.near(10.0001, 39.9999, within: 100_000))
        #expect(sea.text("CountryCode") == "QA")
        #expect(sea.metersAcross == nil)
    }

    @Test func `the first-level division decides where divisions have borders`() throws {
        let regions = [
            SampleArea.box("QA-N", 9, 40.5, 10, 41, kind: .region),
            SampleArea.box("QA-S", 9, 40, 10, 40.5, kind: .region),
        ]
        let places = BorderSample.gazetteer([
            (1, "Nord", 9.5, 40.9, "QA", ""), (2, "Sud", 9.5, 40.49, "QA", ""),
            (3, "Ost", 10.5, 40.5, "QB", ""),
        ])
        let locator = try BorderSample.build([places], Self.two + regions).locator

        let north = try #require(try locator.near(9.5, 40.51))
        #expect(north.text("City") == "Nord")
        #expect(north.text("Region") == "Land QA-N")
        #expect((north.metersAcross ?? 0) > 2_000)
        let alone = try #require(try locator.near(9.5, 40.51, within: 5_000))
        #expect(alone.address == "Land QA-N, Land QA")
        #expect(alone.text("Type") == "State or Province")
        // QB has no divisions with borders.
        #expect(try locator.near(10.1, 40.5)?.text("City") == "Ost")
    }

    @Test func `of overlapping areas the smaller counts, and holes are none of the area`() throws {
        let enclave = SampleArea.ring(9.4, 40.4, 9.6, 40.6)
        let counter = SampleArea.ring(9.48, 40.48, 9.52, 40.52)
        let areas = [
            SampleArea(
                name: "Land QA", code: "QA",
                rings: [SampleArea.ring(9, 40, 10, 41), enclave, counter]),
            SampleArea(name: "Land QE", code: "QE", rings: [enclave, counter]),
            SampleArea.box("QD", 9.9, 40.9, 10.1, 41.1),
        ]
        let places = BorderSample.gazetteer([(1, "Alba", 9.1, 40.1, "QA", "")])
        let (first, _, locator) = try BorderSample.build([places], areas)
        for (x, y, code) in [
            (9.2, 40.5, "QA"), (9.45, 40.5, "QE"), (9.5, 40.5, "QA"), (9.95, 40.95, "QD"),
            (10.05, 41.05, "QD"), (9.4, 40.5, "QE"), (9.9, 40.95, "QD"),
        ] {
            #expect(try locator.near(x, y, within: 1)?.text("CountryCode") == code, "\(x), \(y)")
        }
        #expect(try locator.near(10.5, 40.5, within: 1) == nil)
        // The same sources give the same bytes; the order of the areas does not matter here.
        #expect(try BorderSample.build([places], areas).built.id == first.id)
    }

    @Test func `a place without a code gets that of its area; a code of its own stays`() throws {
        let places = BorderSample.gazetteer([
            (1, "Bare", 10.3, 40.3, "", ""), (2, "Own", 10.4, 40.4, "QA", ""),
        ])
        let table = """
            n;s;c;k;x;y
            1;Bare Street;Nowhere;;9.7;40.7
            2;Own Street;Somewhere;QB;9.2;40.2
            """
        let areas = Self.two + [SampleArea.box("QB-7", 10, 40, 11, 41, kind: .region)]
        let locator = try BorderSample.build(
            [places, table], areas, columns: [Self.columns]
        ).locator
        func first(_ text: String) throws -> Candidate? {
            try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
        }
        #expect(try first("Bare")?.text("CountryCode") == "QB")
        #expect(try first("Bare")?.text("Region") == "Land QB-7")
        #expect(try first("Own")?.text("CountryCode") == "QA")
        #expect(try first("1 Bare Street")?.text("CountryCode") == "QA")
        #expect(try first("2 Own Street")?.text("CountryCode") == "QB")
        // Countries are found though no settlement is in them.
        #expect(try first("Land QB-7")?.text("CountryCode") == "QB")
    }

    @Test func `a town on the wrong side of a coarse border is found where it is`() throws {
        let places = BorderSample.gazetteer([
            (1, "Misdrawn", 10.01, 40.5, "QA", ""), (2, "Bero", 10.2, 40.5, "QB", ""),
            (3, "Alba", 9.8, 40.5, "QA", ""),
        ])
        let locator = try BorderSample.build([places], Self.two).locator
        // In QB by the border, like the town itself: no border separates them.
        #expect(try locator.near(10.012, 40.5)?.text("City") == "Misdrawn")
        #expect(try locator.near(10.012, 40.5)?.text("CountryCode") == "QA")
        // In QA, whose code it bears.
        #expect(try locator.near(9.99, 40.5)?.text("City") == "Misdrawn")
        #expect(try locator.near(10.15, 40.5)?.text("City") == "Bero")
    }

    @Test func `each house of a street that a coarse border cuts is found beside it`() throws {
        let houses = (0..<21).map {
            "\($0 + 1);Long Street;Alba;QA;\(9.9905 + 0.001 * Double($0));40.5"
        }
        let table = "n;s;c;k;x;y\n" + houses.joined(separator: "\n")
        let locator = try BorderSample.build([table], Self.two, columns: [Self.columns]).locator
        for number in 0..<21 {
            let found = try #require(try locator.near(9.990_52 + 0.001 * Double(number), 40.5))
            #expect(found.text("AddNum") == "\(number + 1)")
            #expect(found.text("CountryCode") == "QA")
            #expect(found.metersAcross == nil)
        }
    }

    @Test func `a town off a coarse coast belongs to what its code says, if that has borders`()
        throws
    {
        let places = BorderSample.gazetteer([
            (1, "Territory", 9.51, 39.999, "QT", ""), (2, "Alba", 9.7, 40.1, "QA", ""),
            (3, "Bero", 9.99, 39.999, "QB", ""), (4, "Offshore", 9.01, 39.999, "QA", ""),
        ])
        let locator = try BorderSample.build([places], Self.two).locator
        // QT has no borders that could part it from QA.
        #expect(try locator.near(9.5, 40.001)?.text("City") == "Territory")
        #expect(try locator.near(9.98, 40.001)?.text("City") == "Alba")
        #expect(try locator.near(9.02, 40.001)?.text("City") == "Offshore")
    }

    @Test func `the nearest place counts within the accuracy of a border`() throws {
        let places = BorderSample.gazetteer([
            (1, "Alba", 9.999, 40.5, "QA", ""), (2, "Bero", 10.3, 40.5, "QB", ""),
        ])
        // 10,000 m are 0.1183 degrees of longitude at that latitude.
        let areas = [
            SampleArea.box("QA", 9, 40, 10, 41),
            SampleArea.box("QB", 10, 40, 11, 41, accuracyMeters: 10_000),
        ]
        let locator = try BorderSample.build([places], areas).locator
        let near = try #require(try locator.near(10.118, 40.5))
        #expect(near.text("City") == "Alba")
        #expect(near.metersAcross == nil)
        let far = try #require(try locator.near(10.119, 40.5))
        #expect(far.text("City") == "Bero")
        #expect(far.metersAcross != nil)
        // Beyond its own end the country has no neighbour to be mistaken for.
        #expect(try locator.near(10.5, 40.001, within: 1)?.text("CountryCode") == "QB")
    }

    @Test func `the antimeridian and the poles are no edge`() throws {
        let areas = [
            SampleArea(
                name: "Land QF", code: "QF",
                rings: [
                    SampleArea.ring(178, -20, 180, -15), SampleArea.ring(-180, -20, -178, -15),
                ]),
            SampleArea.box("QG", -178, -20, -176, -15, accuracyMeters: 1_000),
            SampleArea.box("QS", -180, -90, 180, -60), SampleArea.box("QN", -180, 80, 180, 90),
        ]
        let places = BorderSample.gazetteer([
            (1, "Suva", 178.5, -18, "QF", ""), (2, "Tonga", -177.9, -17, "QG", ""),
        ])
        let locator = try BorderSample.build([places], areas).locator
        for (x, y, code) in [
            (179.999, -17.0, "QF"), (-179.999, -17, "QF"), (180, -17, "QF"), (-180, -17, "QF"),
            (539.999, -17, "QF"), (-181, -17, "QF"), (-177, -17, "QG"), (183, -17, "QG"),
            (0, -90, "QS"), (123, -90, "QS"), (180, -75, "QS"), (-180, 85, "QN"), (7, 90, "QN"),
        ] {
            #expect(
                try locator.near(Double(x), y, within: 1)?.text("CountryCode") == code,
                "\(x), \(y)")
        }
        // The nearer is across the border, on the other side of the antimeridian.
        let found = try #require(try locator.near(-178.1, -17, within: 1_000_000))
        #expect(found.text("City") == "Suva")
        #expect((found.metersAcross ?? 0) > 10_000)
        #expect(try locator.near(175, -17, within: 1) == nil)
    }

    @Test func `an area that cannot be used is rejected with the reason`() throws {
        let areas = [
            SampleArea.box("QA", 9, 40, 10, 41), SampleArea.box("", 9, 40, 10, 41),
            SampleArea.box("QAA", 9, 40, 10, 41), SampleArea.box("QA", 9, 40, 200, 41),
            SampleArea.box("QA", 9, 40, .nan, 41), SampleArea.box("QA", 9, 40, 9.000_000_01, 41),
            SampleArea.box("QA", 9, 40, 10, 41, kind: .region),
            SampleArea(name: "Empty", code: "QA", rings: []),
            SampleArea(
                name: String(repeating: "x", count: 70_000), code: "QA",
                rings: [SampleArea.ring(9, 40, 10, 41)]),
        ]
        let places = BorderSample.gazetteer([(1, "Alba", 9.1, 40.1, "QA", "")])
        let built = try BorderSample.build([places], areas).built
        #expect(built.areaCount == 1)
        #expect(built.rejectedCount == 8)
        let reasons = built.rejected.map(\.reason)
        for (line, text) in [
            (2, "ISO 3166-1"), (3, "ISO 3166-1"), (4, "leaves longitude"), (5, "leaves longitude"),
            (6, "encloses nothing"), (7, "no division of that name"), (8, "without a polygon"),
            (9, "longer than 200 bytes"),
        ] {
            #expect(
                built.rejected.contains { $0.line == line && $0.reason.contains(text) },
                "\(line): \(reasons)")
        }
    }

    @Test func `a file of columns for areas that is none is refused in a sentence`() throws {
        for (json, text) in [
            (#"{"name": "x", "areas": "planet", "columns": {"name": "n"}}"#, "expected country"),
            (#"{"name": "x", "areas": "country", "columns": {"name": "n"}}"#, "'country'"),
            (#"{"name": "x", "areas": "municipality", "columns": {"nom": "n"}}"#, "'nom'"),
            (#"{"name": "x", "areas": "country", "columns": 1}"#, "expected JSON"),
            (
                #"{"name": "x", "areas": "municipality", "columns": {"name": "n"}, "accuracyMeters": -1}"#,
                "accuracyMeters"
            ),
        ] {
            #expect {
                try BorderSample.build([Tiny.places], [], columns: [json])
            } throws: { error in
                (error as? Failure)?.message.contains(text) ?? false
            }
        }
    }
}
