// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit
import Testing

/// Crossings of streets as they are typed.
@Suite struct IntersectionSuggestionTests {
    private static let grid = Result {
        try Scratch.build([try Scratch.file(GridCity().geoJSON, "streets.geojson")]).locator
    }

    /// A town of streets that wander from corner to corner of a lattice.
    private struct LatticeTown {
        /// The corners of each street by its name.
        var streets: [String: Set<[Int]>] = [:]
        var geoJSON = ""

        static func location(_ corner: [Int]) -> Coordinate {
            Coordinate(x: 10 + 0.002 * Double(corner[0]), y: 50 + 0.0015 * Double(corner[1]))
        }

        init(streetCount: Int, size: Int, using random: inout SeededGenerator) {
            let syllables = ["ba", "bar", "ke", "li", "mo", "pro", "ra", "se", "ti", "zu"]
            let types = ["Street", "Avenue", "Road", "Lane"]
            var lines: [String] = []
            while streets.count < streetCount {
                let stem = (0..<3).map { _ in syllables.randomElement(using: &random) ?? "" }
                let name =
                    stem.joined().capitalized + " " + (types.randomElement(using: &random) ?? "")
                guard streets[name] == nil else { continue }
                var corner = [
                    Int.random(in: 0..<size, using: &random),
                    Int.random(in: 0..<size, using: &random),
                ]
                var path = [corner]
                for _ in 0..<Int.random(in: 2...8, using: &random) {
                    let axis = Int.random(in: 0...1, using: &random)
                    let step = Bool.random(using: &random) ? 1 : -1
                    guard 0..<size ~= corner[axis] + step else { continue }
                    corner[axis] += step
                    path.append(corner)
                }
                guard path.count > 1 else { continue }
                streets[name] = Set(path)
                lines.append(GeoJSON.line(path.map(Self.location), ["FULLNAME": name]))
            }
            geoJSON = GeoJSON.collection(lines)
        }

        /// The other streets that have a corner of one, by trying all.
        func meeting(_ name: String) -> [String: Set<[Int]>] {
            let own = streets[name] ?? []
            return streets.filter { $0.key != name }.mapValues { $0.intersection(own) }
                .filter { !$0.value.isEmpty }
        }
    }

    private static func suggested(
        _ text: String, _ locator: Locator, most: Int = 15
    ) throws -> [Suggestion] {
        try locator.suggest(SuggestRequest(text: text, maxSuggestions: most)).suggestions
    }

    /// `Alder Street & First Avenue` of a suggestion with its town.
    private static func names(_ suggestion: Suggestion) -> (first: String, second: String)? {
        let street = suggestion.text.components(separatedBy: ", ")[0]
        let names = street.components(separatedBy: " & ")
        return names.count == 2 ? (names[0], names[1]) : nil
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `typed text suggests the crossings that there are, and no other`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        print("seed \(random.seed)")
        // Fewer streets than are all read for a town, and more.
        let town = LatticeTown(
            streetCount: seed == 1 ? 40 : 120, size: seed == 1 ? 8 : 14, using: &random)
        let (_, locator) = try Scratch.build(
            [try Scratch.file(town.geoJSON, "streets.geojson")],
            constants: ["city=Gridham", "country=US"])
        var asked = 0
        for first in town.streets.keys.sorted().shuffled(using: &random).prefix(25) {
            let meeting = town.meeting(first)
            for second in meeting.keys.sorted().shuffled(using: &random).prefix(4) {
                let beginning = second.prefix(3)
                let sign = ["&", "/", "@", "and", "at"].randomElement(using: &random) ?? "&"
                let text = "\(first) \(sign) \(beginning)"
                let found = try Self.suggested(text, locator)
                let rivals = meeting.keys.filter { $0.hasPrefix(beginning) }
                let isThere = found.contains {
                    Self.names($0).map { $0 == (first, second) } ?? false
                }
                #expect(isThere || rivals.count > 15, "\(text): \(found.map(\.text))")
                asked += 1
                for suggestion in found {
                    guard let names = Self.names(suggestion) else { continue }
                    let corners = try #require(
                        town.meeting(names.first)[names.second], "\(suggestion.text)")
                    let byText = try #require(try locator.first(suggestion.text))
                    let byKey = try #require(
                        try locator.first("nothing") { $0.magicKey = suggestion.magicKey })
                    for one in [byText, byKey] {
                        #expect(one.text("Addr_type") == "StreetInt", "\(suggestion.text)")
                        #expect(one.text("StAddr") == "\(names.first) & \(names.second)")
                        #expect(
                            corners.contains { one.meters(to: LatticeTown.location($0)) < 1 },
                            "\(suggestion.text)")
                    }
                    #expect(byKey.location == byText.location, "\(suggestion.text)")
                }
            }
        }
        #expect(asked > 40)
    }

    @Test func `every corner is suggested from three letters on, with its town as well`() throws {
        let locator = try Self.grid.get()
        for east in GridCity.eastward {
            for north in GridCity.northward {
                for (first, second) in [(east, north), (north, east)] {
                    for text in [
                        "\(first) & \(second.prefix(3))",
                        "corner of \(first) and \(second.prefix(4))",
                        "\(first)/\(second)", "\(first) & \(second), Gri",
                        "Gridham, \(first) @ \(second.prefix(3))",
                    ] {
                        let found = try Self.suggested(text, locator, most: 5)
                        #expect(
                            found.contains { $0.text.hasPrefix("\(first) & \(second), Gridham") },
                            "\(text): \(found.map(\.text))")
                    }
                }
            }
        }
    }

    @Test func `an extent, a country and categories filter crossings`() throws {
        let locator = try Self.grid.get()
        func crossings(_ change: (inout SuggestRequest) -> Void) throws -> [String] {
            var request = SuggestRequest(text: "Cedar Street & ave", maxSuggestions: 15)
            change(&request)
            return try locator.suggest(request).suggestions.map(\.text).filter { $0.contains("&") }
        }
        #expect(try crossings { _ in }.count == GridCity.northward.count)
        let corner = GridCity.location(100, 200)
        let inside = try crossings {
            $0.searchExtent = Envelope(
                minX: corner.x - 0.0005, minY: corner.y - 0.0005, maxX: corner.x + 0.0005,
                maxY: corner.y + 0.0005)
        }
        #expect(inside.count == 1)
        #expect(inside.first?.hasPrefix("Cedar Street & Second Avenue") == true)
        #expect(try crossings { $0.categories = ["Intersection"] }.count == 4)
        #expect(try crossings { $0.categories = ["POI"] }.isEmpty)
        let nearest = try crossings { $0.location = GridCity.location(290, 210) }
        #expect(nearest.first?.hasPrefix("Cedar Street & Fourth Avenue") == true)
    }

    @Test func `text that is no crossing yet suggests none, and a forged key is passed over`()
        throws
    {
        let locator = try Self.grid.get()
        for text in [
            "& Fir", "Alder Street &", "Alder Street & ", "& &", "Alder Street & F",
            "Alder Street & Bir", "Alder Street & Ald", "Alder Street & Fir ", "Nowhere Road & Fir",
            String(repeating: "a & ", count: 250),
        ] {
            let found = try Self.suggested(text, locator)
            #expect(found.allSatisfy { !$0.text.contains("&") }, "\(text)")
        }
        let prefix = locator.id.rawValue.prefix(16)
        for end in [
            "i0-1-999", "i0-0-0", "i-1-0-0", "iffffffffffff-0-0", "i0-1", "i0-1-0-0", "i", "i0-1-",
            "iffffffffffffffffffffffffffffff-0-0",
        ] {
            let found = try locator.first("Elm Street") { $0.magicKey = prefix + end }
            #expect(found?.text("Addr_type") == "StreetName", "\(end)")
        }
    }

    @Test func `crossings of Cambridge that are found are suggested, and lie where they are found`()
        throws
    {
        guard let streets = SharedData.path("cambridge_ma/TRANS_Centerlines.geojson.gz"),
            let data = try SharedData.bytes("cambridge_ma/TRANS_Intersections.geojson.gz")
        else { return }
        let (_, locator) = try Scratch.build(
            [streets], constants: ["city=Cambridge", "country=US"])
        var (asked, missing) = (0, 0)
        for corner in try CambridgeCorners(data).corners where corner.number.isMultiple(of: 9) {
            let whole = "\(corner.first) & \(corner.second)"
            guard let known = try locator.first(whole + ", Cambridge"),
                known.text("Addr_type") == "StreetInt"
            else { continue }
            // Streets are typed as the locator writes them.
            let names = known.text("StAddr").components(separatedBy: " & ")
            guard names.count == 2 else { continue }
            asked += 1
            let beginning = names[1].prefix(3)
            let text = "\(names[0]) & \(beginning)"
            let found = try Self.suggested(text, locator)
            let match = found.first { Self.names($0).map { $0 == (names[0], names[1]) } ?? false }
            guard let match else {
                missing += 1
                // Only where there are more such crossings than may be offered.
                let isFull =
                    found.count == 15
                    && found.allSatisfy { Self.names($0)?.second.hasPrefix(beginning) == true }
                #expect(isFull, "\(text): \(found.map(\.text))")
                continue
            }
            let byText = try #require(try locator.first(match.text))
            let byKey = try #require(
                try locator.first("nothing") { $0.magicKey = match.magicKey })
            #expect(byText.text("Addr_type") == "StreetInt", "\(match.text)")
            #expect(byKey.location == byText.location, "\(match.text)")
            #expect(byText.location == known.location, "\(match.text)")
        }
        print("{\"case\":\"crossing-suggestions\",\"asked\":\(asked),\"missing\":\(missing)}")
        #expect(asked > 100)
    }
}
