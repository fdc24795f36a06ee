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
            ("10", ["2", "17"], ["Ahornweg", "Ahornweg"], nil, "'10' goes from 2 to 17"),
            ("2", ["2", "9"], ["Ahornweg", "Ahornweg"], nil, "'2' goes from 2 to 9"),
            ("1", ["2", "2"], ["Ahornweg", "Ahornweg"], nil, "'1' goes from 2 to 2"),
            ("9", ["9", "2"], ["Ahornweg", "Ahornweg"], nil, "'9' goes from 9 to 2"),
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

    @Test(arguments: ["0", "-1", "+5", "1e9", "1000000000", "65536", "2.5", "ten", "5;10", "٥"])
    func `a step that is none is rejected and counted`(_ step: String) throws {
        let (built, locator) = try build(
            Self.extract(step, numbers: ["2", "12"], streets: ["Ahornweg", "Ahornweg"]))
        #expect(built.segmentCount == 0)
        #expect(built.rejectedCount == 1)
        let reason = built.rejected.first?.reason ?? ""
        #expect(reason.contains("or a step from 1 to 65535"), "\(reason)")
        #expect(try locator.first("Ahornweg 7, Mitte")?.text("Addr_type") == "StreetName")
    }

    /// A way whose houses are known from its tags alone.
    private struct SteppedWay {
        var street: String
        var line: [Coordinate]
        var from: Int
        var to: Int
        var step: Int

        var numbers: [Int] {
            Array(stride(from: from, through: to, by: to < from ? -step : step))
        }

        /// House *n* is in the middle of the *n*-th of equal stretches, found by walking the line.
        func location(_ n: Int) -> Coordinate {
            let scale = cos(50 * Double.pi / 180)
            let lengths = zip(line, line.dropFirst()).map { start, end in
                ((end.x - start.x) * scale, end.y - start.y)
            }.map { ($0 * $0 + $1 * $1).squareRoot() }
            var left = lengths.reduce(0, +) * (Double(n) + 0.5) / Double(numbers.count)
            for (index, length) in lengths.enumerated() {
                if left <= length {
                    let (start, end) = (line[index], line[index + 1])
                    return Coordinate(
                        x: start.x + (end.x - start.x) * left / length,
                        y: start.y + (end.y - start.y) * left / length)
                }
                left -= length
            }
            return line[line.count - 1]
        }
    }

    private static func ways(_ count: Int, using random: inout SeededGenerator) -> [SteppedWay] {
        let syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"]
        return (0..<count).map { place in
            let name = (0..<5).map { _ in syllables.randomElement(using: &random) ?? "" }.joined()
            var vertex = Coordinate(
                x: 10 + 0.01 * Double(place % 8), y: 50 + 0.01 * Double(place / 8))
            var line = [vertex]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                vertex.x += Double.random(in: 0.0002...0.001, using: &random)
                vertex.y += Double.random(in: -0.0005...0.0005, using: &random)
                line.append(vertex)
            }
            let step = [1, 2, 3, 4, 5, 7, 10, 25, 100].randomElement(using: &random) ?? 1
            let low = Int.random(in: 1...300, using: &random)
            let high = low + step * Int.random(in: 1...9, using: &random)
            let isFalling = Bool.random(using: &random)
            return SteppedWay(
                street: name.capitalized + "weg", line: line, from: isFalling ? high : low,
                to: isFalling ? low : high, step: step)
        }
    }

    private static func extract(_ ways: [SteppedWay]) -> String {
        var (nodes, lines) = ("", "")
        var number = 100
        for (place, way) in ways.enumerated() {
            var refs = ""
            for (index, vertex) in way.line.enumerated() {
                number += 1
                refs += "<nd ref=\"\(number)\"/>"
                let house =
                    index == 0 ? way.from : index == way.line.count - 1 ? way.to : nil
                let tags = house.map {
                    "<tag k=\"addr:housenumber\" v=\"\($0)\"/>"
                        + "<tag k=\"addr:street\" v=\"\(way.street)\"/>"
                }
                nodes +=
                    "<node id=\"\(number)\" lat=\"\(vertex.y)\" lon=\"\(vertex.x)\">"
                    + "\(tags ?? "")</node>\n"
            }
            lines +=
                "<way id=\"\(place + 1)\">\(refs)"
                + "<tag k=\"addr:interpolation\" v=\"\(way.step)\"/></way>\n"
        }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <osm version="0.6">
            <node id="90" lat="50.001" lon="10.001"><tag k="place" v="town"/>
              <tag k="name" v="Mitte"/></node>
            \(nodes)\(lines)</osm>
            """
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `houses lie at every step from the first end, and none between`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        print("seed \(random.seed)")
        let ways = Self.ways(24, using: &random)
        let (built, locator) = try build(Self.extract(ways))
        #expect(built.rejectedCount == 0, "\(built.rejected)")
        #expect(built.segmentCount == ways.count)
        for way in ways {
            let numbers = way.numbers
            let (low, high) = (min(way.from, way.to), max(way.from, way.to))
            var asked = Set(numbers + [low - way.step, low - 1, high + 1, high + way.step])
            for number in numbers.dropFirst() { asked.insert(number - 1) }
            for _ in 0..<5 { asked.insert(Int.random(in: low...high, using: &random)) }
            for number in asked.sorted() where number > 0 {
                let found = try #require(try locator.first("\(way.street) \(number), Mitte"))
                let label = "\(way.street) \(number) of \(way.from) to \(way.to) by \(way.step)"
                #expect(found.text("StName") == way.street, "\(label)")
                let type = found.text("Addr_type")
                if number == way.from || number == way.to {
                    #expect(type == "PointAddress", "\(label)")
                } else if let place = numbers.firstIndex(of: number) {
                    #expect(type == "StreetAddress", "\(label)")
                    #expect(found.text("AddNum") == "\(number)")
                    #expect(found.text("AddNumFrom") == "\(way.from)")
                    #expect(found.meters(to: way.location(place)) < 0.2, "\(label)")
                    let there = try locator.reverse(
                        ReverseGeocodeRequest(
                            location: way.location(place), maxDistanceMeters: 2)
                    ).candidate
                    #expect(there?.text("AddNum") == "\(number)", "\(label)")
                } else if (number - way.from).isMultiple(of: way.step) {
                    #expect(type == "StreetAddressExt", "\(label)")
                } else {
                    #expect(type == "StreetName", "\(label)")
                }
            }
        }
    }

    @Test func `a step may be as long as the line, and the line as long as numbers go`() throws {
        let (ends, whole) = try build(
            Self.extract(
                "65535", numbers: ["1", "65536"], streets: ["Ahornweg", "Ahornweg"]))
        #expect(ends.rejectedCount == 0)
        #expect(try whole.first("Ahornweg 65536, Mitte")?.text("Addr_type") == "PointAddress")
        #expect(try whole.first("Ahornweg 32768, Mitte")?.text("Addr_type") == "StreetName")
        let (_, long) = try build(
            Self.extract(
                "3", numbers: ["1", "1048573"], streets: ["Ahornweg", "Ahornweg"]))
        let found = try #require(try long.first("Ahornweg 524287, Mitte"))
        #expect(found.text("Addr_type") == "StreetAddress")
        #expect(found.meters(to: Coordinate(x: 10.0005, y: 50)) < 0.1)
        #expect(try long.first("Ahornweg 524288, Mitte")?.text("Addr_type") == "StreetName")
    }

    @Test func `a suggested house of a step is found by its key where its text finds it`() throws {
        let (_, locator) = try build(
            Self.extract("10", numbers: ["10", "90"], streets: ["Ahornweg", "Ahornweg"]))
        let suggested = try #require(
            try locator.suggest(SuggestRequest(text: "Ahornweg 40")).suggestions.first)
        let byKey = try #require(
            try locator.first(suggested.text) { $0.magicKey = suggested.magicKey })
        let byText = try #require(try locator.first(suggested.text))
        #expect(byText.text("Addr_type") == "StreetAddress")
        #expect(byKey.location == byText.location)
        #expect(
            byKey.meters(to: middle(3, of: 9, from: 10, to: 10.001)) < 0.1, "\(byKey.location)")
    }
}
