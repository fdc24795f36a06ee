// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Locator
import TestKit
import Testing

/// Ways to write addresses and towns that add, repeat or mistake something.
@Suite struct WrittenAddressTests {
    private static let streets = """
        LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH
        -71.110,42.370,2,Oxford St,,Cambridge,,MA,02138,,
        -71.111,42.371,3,Oxford St,,Cambridge,,MA,02138,,
        -71.120,42.380,69,Reservoir St,,Cambridge,,MA,02138,,
        -71.121,42.381,3,Reservoir St,,Cambridge,,MA,02138,,
        -71.130,42.390,8,Elm St,,Cambridge,,MA,02139,,
        -71.131,42.391,8,St Paul St,,Cambridge,,MA,02139,,
        -71.112,42.372,1234,Oxford St,,Cambridge,,MA,02138,,
        -71.140,42.392,100,Massachusetts Ave,,Cambridge,,MA,02139,,
        6.86,47.64,7,Rue de Lyon,,Belfort,,,90000,,
        6.87,47.64,7,Rue de la Gare,,Belfort,,,90000,,
        """

    private func first(_ text: String, _ locator: Locator) throws -> Candidate? {
        try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
    }

    private func locator() throws -> Locator {
        try Scratch.locator(
            [
                Self.streets,
                "id,name,latitude,longitude,country,feature_code,population\n".replacing(
                    ",", with: "\t")
                    + "1\tLyon\t45.75\t4.85\tFR\tPPLA\t500000\n"
                    + "2\tRivoli\t45.07\t7.51\tIT\tPPL\t50000\n",
            ], suffix: "csv")
    }

    @Test(arguments: [
        // A number after `#` may be a flat.
        ("2 Oxford St #3, Cambridge", "2 Oxford St"),
        ("#3, 69 Reservoir St, Cambridge", "69 Reservoir St"),
        ("# 3, 69 Reservoir St, Cambridge", "69 Reservoir St"),
        ("#3 Oxford St, Cambridge", "3 Oxford St"),
        // Four digits after a postcode are no house number.
        ("2 Oxford St, Cambridge 02199-1234", "2 Oxford St"),
        ("1234 Oxford St, Cambridge 02138", "1234 Oxford St"),
        // The last `St` means street, whatever the first is.
        ("8 Elm Road, Cambridge", "8 Elm St"),
        ("8 Saint Paul Street, Cambridge", "8 St Paul St"),
        ("100 Mass. Ave., Cambridge", "100 Massachusetts Ave"),
        // A town's name twice.
        ("7 rue de la gare belfort belfort", "7 Rue de la Gare"),
        ("Belfort, 7 rue de la gare, 90000 Belfort", "7 Rue de la Gare"),
    ])
    func `a house is found`(text: String, house: String) throws {
        #expect(try first(text, try locator())?.address.hasPrefix(house + ",") == true)
    }

    @Test(arguments: ["д.7", "д. 7", "дом 7", "д.7, кв. 2", "7"])
    func `a period parts a letter and a number`(_ house: String) throws {
        let locator = try Scratch.locator(
            [
                """
                LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH
                35.9,56.8,7,улица Попова,,Тверь,,,,,
                35.91,56.8,2,улица Попова,,Тверь,,,,,
                """
            ], suffix: "csv")
        #expect(try first("Тверь, ул.Попова, \(house)", locator)?.text("AddNum") == "7")
    }

    @Test(arguments: [
        "12 quai Perrache, Lyon", "7 avenue Machin Bidule, 69001 Lyon", "Damrak 7, Lyon",
        "12 rue de Rivoli, Lyon",
    ])
    func `a street that no source has is no other, and its town is found`(
        _ text: String
    ) throws {
        #expect(try first(text, try locator())?.text("PlaceName") == "Lyon", "\(text)")
    }

    @Test func `a street of a town's name is still found`() throws {
        let locator = try locator()
        for text in ["7 rue de Lyon, 90000 Belfort", "7 rue de lyon"] {
            #expect(try first(text, locator)?.text("AddNum") == "7", "\(text)")
        }
    }

    /// By brute force: the streets whose name starts with the text, the nearest first.
    @Test func `streets around the location are suggested`() throws {
        let locator = try AddressSample.locator()
        var random = SeededGenerator(seed: 31)
        print("seed \(random.seed)")
        // The last number of a text would be a house's.
        let houses = AddressSample.shared.houses.filter { !$0.street.contains { $0.isNumber } }
        for _ in 0..<100 {
            let house = try #require(houses.randomElement(using: &random))
            let location = Coordinate(x: house.longitude, y: house.latitude)
            let letters = house.street.count - Int.random(in: 0...3, using: &random)
            let found = try locator.suggest(
                SuggestRequest(
                    text: String(house.street.prefix(letters)), maxSuggestions: 15,
                    location: location)
            ).suggestions.map(\.text)
            #expect(
                found.contains { $0.hasPrefix("\(house.street), \(house.postal) \(house.city)") },
                "\(house.street.prefix(letters)): \(found)")
        }
    }
}

/// Second-level divisions that are the division of no settlement.
@Suite struct UnplacedDivisionTests {
    private func locator(places: String) throws -> Locator {
        try Scratch.locator([
            """
            code\tcode3\tname
            US\tUSA\tUnited States
            """,
            """
            code\tname
            US.MO\tMissouri
            US.OH\tOhio
            US.FL\tFlorida
            US.MO.077\tGreene County
            US.OH.023\tClark County
            US.FL.086\tHollywood
            """, places,
        ])
    }

    private static let unknown = """
        id\tname\tlatitude\tlongitude\tcountry\tadmin1\tpopulation
        1\tSpringfield\t37.2\t-93.3\tUS\tMO\t160000
        2\tSpringfield\t39.9\t-83.8\tUS\tOH\t59000
        3\tMiami\t25.8\t-80.2\tUS\tFL\t400000
        """

    @Test(arguments: [
        ("Springfield, Greene County", 1), ("Springfield, Clark County", 2),
        ("Springfield Clark County", 2), ("Springfield, Clark Co.", 2),
        ("Springfield, Clark County, OH, USA", 2), ("Miami, Hollywood", 3),
    ])
    func `divisions without a place explain the towns of their region`(text: String, id: Int64)
        throws
    {
        let locator = try locator(places: Self.unknown)
        var request = GeocodeRequest(singleLine: text)
        request.explain = true
        let first = try #require(try locator.geocode(request).candidates.first)
        #expect(first.sourceID == id)
        #expect(first.score == 100)
        #expect(first.explanation?.words.contains { $0.meaning == .subregion } == true)
    }

    @Test func `divisions without a place are no answer, and no suggestion`() throws {
        let locator = try locator(places: Self.unknown)
        for text in ["Greene County", "Clark County"] {
            #expect(try locator.geocode(GeocodeRequest(singleLine: text)).candidates.isEmpty)
            #expect(try locator.suggest(SuggestRequest(text: text)).suggestions.isEmpty)
            #expect(
                try locator.suggest(SuggestRequest(text: String(text.dropLast(4))))
                    .suggestions.isEmpty)
        }
        // A single word beside a name is rather a part of it.
        let joined = try locator.geocode(GeocodeRequest(singleLine: "Miami Hollywood")).candidates
        #expect(joined.allSatisfy { $0.score < 100 })
    }

    @Test func `a settlement that says its division is in no other`() throws {
        let locator = try locator(
            places: """
                id\tname\tlatitude\tlongitude\tcountry\tadmin1\tadmin2\tpopulation
                1\tSpringfield\t37.2\t-93.3\tUS\tMO\t077\t160000
                2\tSpringfield\t39.9\t-83.8\tUS\tOH\t\t59000
                4\tOzark\t37.0\t-93.2\tUS\tMO\t\t20000
                """)
        func first(_ text: String) throws -> Candidate? {
            try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
        }
        #expect(try first("Springfield, Greene County")?.sourceID == 1)
        #expect(try first("Springfield, Clark County")?.sourceID == 2)
        // It may well be in it.
        #expect(try first("Ozark, Greene County")?.sourceID == 4)
        #expect(try first("Ozark, Greene County")?.score == 100)
        let greene = try locator.geocode(GeocodeRequest(singleLine: "Greene County")).candidates
        #expect(greene.map { $0.text("Type") } == ["County"])
    }

    @Test func `a town known to lie in a division comes before a larger one that may`() throws {
        let locator = try Scratch.locator([
            """
            code\tcode3\tname
            US\tUSA\tUnited States
            """,
            """
            code\tname
            US.MO\tMissouri
            US.OH\tOhio
            US.MO.077\tGreene County
            US.OH.057\tGreene County
            """,
            """
            id\tname\tlatitude\tlongitude\tcountry\tadmin1\tadmin2\tpopulation
            1\tSpringfield\t37.2\t-93.3\tUS\tMO\t077\t160000
            2\tSpringfield\t39.9\t-83.8\tUS\tOH\t\t590000
            """,
        ])

        let found = try locator.geocode(GeocodeRequest(singleLine: "Springfield, Greene County"))

        #expect(found.candidates.map(\.sourceID) == [1, 2])
        #expect(found.candidates.map(\.score) == [100, 100])
        // Asked for without it, the larger one is first.
        let bare = try locator.geocode(GeocodeRequest(singleLine: "Springfield"))
        #expect(bare.candidates.map(\.sourceID) == [2, 1])
    }
}
