// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit
import Testing

/// `addr:interpolation` of OpenStreetMap.
@Suite struct InterpolationTests {
    /// Nodes along a line to the east, 0.001° from one to the next, some with a number.
    private static func extract(
        _ kind: String, numbers: [String?], streets: [String?], way street: String? = nil
    ) -> String {
        var nodes = ""
        for (place, number) in numbers.enumerated() {
            nodes += "<node id=\"\(place + 1)\" lat=\"50\" lon=\"\(10 + 0.001 * Double(place))\">"
            if let number { nodes += "<tag k=\"addr:housenumber\" v=\"\(number)\"/>" }
            if let street = streets[place] { nodes += "<tag k=\"addr:street\" v=\"\(street)\"/>" }
            nodes += "</node>\n"
        }
        let refs = numbers.indices.map { "<nd ref=\"\($0 + 1)\"/>" }.joined()
        let own = street.map { "<tag k=\"addr:street\" v=\"\($0)\"/>" } ?? ""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <osm version="0.6">
            \(nodes)<node id="90" lat="50.001" lon="10.001"><tag k="place" v="town"/>
              <tag k="name" v="Mitte"/></node>
            <way id="1">\(refs)<tag k="addr:interpolation" v="\(kind)"/>\(own)</way>
            </osm>
            """
    }

    private func build(_ extract: String) throws -> (built: BuiltLocator, locator: Locator) {
        try Scratch.build([try Scratch.file(extract, "way.osm")], constants: [])
    }

    /// Number *n* of *count* in equal stretches of the line.
    private func middle(_ n: Int, of count: Int, from start: Double, to end: Double) -> Coordinate {
        Coordinate(x: start + (end - start) * (Double(n) + 0.5) / Double(count), y: 50)
    }

    @Test(arguments: [
        ("even", 2, 20, 2), ("odd", 1, 9, 2), ("all", 2, 8, 1), ("odd", 99, 81, -2),
    ])
    func `numbers between two houses stand on the line between them`(
        _ kind: String, _ from: Int, _ to: Int, _ step: Int
    ) throws {
        let (built, locator) = try build(
            Self.extract(
                kind, numbers: ["\(from)", nil, "\(to)"], streets: ["Ahornweg", nil, "Ahornweg"]))
        #expect(built.rejectedCount == 0)
        #expect(built.segmentCount == 1)
        #expect(built.houseCount == 2)
        let numbers = Array(stride(from: from, through: to, by: step))
        for (place, number) in numbers.enumerated().dropFirst().dropLast() {
            let found = try #require(try locator.first("Ahornweg \(number), Mitte"))
            #expect(found.text("Addr_type") == "StreetAddress", "\(number)")
            #expect(found.text("AddNum") == "\(number)")
            #expect(found.text("Side") == "")
            #expect(found.text("City") == "Mitte")
            let expected = middle(place, of: numbers.count, from: 10, to: 10.002)
            #expect(found.meters(to: expected) < 0.1, "\(number)")
            let there = try #require(
                try locator.reverse(
                    ReverseGeocodeRequest(location: expected, maxDistanceMeters: 5)
                ).candidate)
            #expect(there.text("AddNum") == "\(number)")
        }
        for (number, x) in [(from, 10.0), (to, 10.002)] {
            let end = try #require(try locator.first("Ahornweg \(number), Mitte"))
            #expect(end.text("Addr_type") == "PointAddress")
            #expect(end.meters(to: Coordinate(x: x, y: 50)) < 0.1)
        }
        // Of one parity the other is not there.
        if kind != "all" {
            let other = try locator.first("Ahornweg \(min(from, to) + 1), Mitte")
            #expect(other?.text("Addr_type") == "StreetName")
        }
    }

    @Test func `a house in the middle of the line parts it`() throws {
        let (built, locator) = try build(
            Self.extract(
                "odd", numbers: ["1", "11", nil, "15"],
                streets: ["Ahornweg", "Ahornweg", nil, "Ahornweg"]))
        #expect(built.rejectedCount == 0)
        #expect(built.segmentCount == 2)
        let found = try #require(try locator.first("Ahornweg 13, Mitte"))
        #expect(found.meters(to: middle(1, of: 3, from: 10.001, to: 10.003)) < 0.1)
    }

    @Test func `the way may say the street, and letters have one number`() throws {
        let (built, locator) = try build(
            Self.extract(
                "even", numbers: ["2", nil, "8"], streets: [nil, nil, nil], way: "Ahornweg"))
        #expect(built.segmentCount == 1)
        #expect(try locator.first("Ahornweg 4, Mitte")?.text("Addr_type") == "StreetAddress")
        let (_, letters) = try build(
            Self.extract(
                "alphabetic", numbers: ["7a", nil, "7f"], streets: ["Ahornweg", nil, "Ahornweg"]))
        let found = try #require(try letters.first("Ahornweg 7c, Mitte"))
        #expect(found.text("Addr_type") == "StreetAddress")
        #expect(found.text("AddNum") == "7c")
        #expect(found.score == 99)
    }

    @Test(
        arguments: [
            ("even", ["2", "9"], ["Ahornweg", "Ahornweg"], nil, "'even' goes from 2 to 9"),
            ("odd", ["2", "8"], ["Ahornweg", "Ahornweg"], nil, "'odd' goes from 2 to 8"),
            ("all", ["2", "2"], ["Ahornweg", "Ahornweg"], nil, "'all' goes from 2 to 2"),
            ("alphabetic", ["7a", "9a"], ["Ahornweg", "Ahornweg"], nil, "goes from 7 to 9"),
            ("10", ["2", "12"], ["Ahornweg", "Ahornweg"], nil, "expected even, odd, all"),
            ("even", ["2", "8"], ["Ahornweg", "Birkenweg"], nil, "'Ahornweg' and on 'Birkenweg'"),
            ("even", ["2", "8"], ["Ahornweg", "Ahornweg"], "Birkenweg", "it is on 'Birkenweg'"),
            (
                "even", ["2", nil], ["Ahornweg", nil], nil,
                "an end of the interpolation is no house"
            ),
            (
                "even", [nil, nil], [nil, nil], "Ahornweg",
                "an end of the interpolation is no house"
            ),
        ] as [(String, [String?], [String?], String?, String)])
    func `ends that are none or disagree are rejected and counted`(
        _ kind: String, _ numbers: [String?], _ streets: [String?], _ way: String?,
        _ reason: String
    ) throws {
        let (built, _) = try build(
            Self.extract(kind, numbers: numbers, streets: streets, way: way))
        #expect(built.segmentCount == 0)
        #expect(built.rejectedCount == 1)
        #expect(built.rejected.first?.reason.contains(reason) == true, "\(built.rejected)")
    }
}
