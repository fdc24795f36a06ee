// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// Addresses as typed: numbers for ordinals, noise, words joined; and never another street.
@Suite struct TypedAddressTests {
    private static let heading =
        "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n"
    private static let table =
        heading + """
            -73.9845,40.7682,310,West 59th Street,,New York,,NY,10019,,
            -73.985,40.7674,310,West 58th Street,,New York,,NY,10019,,
            -73.997,40.733,20,5th Avenue,,New York,,NY,10011,,
            -74.0,40.732,20,6th Avenue,,New York,,NY,10011,,
            -74.01,40.656,7,42nd Street,,Brooklyn,,NY,11232,,
            -73.99,40.672,42,7th Street,,Brooklyn,,NY,11215,,
            8.1,49.4,12,3. Gartenweg,,Ludwigshafen,,,67063,,
            8.2,49.4,12,4. Gartenweg,,Ludwigshafen,,,67063,,
            4.36,52.0,5,2e Kerkstraat,,Delft,,,2611,,
            4.37,52.0,5,3e Kerkstraat,,Delft,,,2611,,
            -3.82,40.34,8,Calle 5ª,,Alcorcón,,,28921,,
            -3.83,40.34,8,Calle 6ª,,Alcorcón,,,28921,,
            35.9,56.85,4,1-я Садовая улица,,Тверь,,,170001,,
            35.8,56.85,4,2-я Садовая улица,,Тверь,,,170001,,
            -75.0,39.0,12,Lincoln Street,,Springfield,,PA,19064,,
            -75.1,39.0,30,Oak Avenue,,Springfield,,PA,19064,,
            -75.1,39.1,8,Oak Street,,Springfield,,PA,19064,,
            -75.2,39.3,3,La Fayette Road,,Springfield,,PA,19064,,
            -75.2,41.3,3,Lafayette Lane,,Milford,,PA,18337,,

            """

    private static let built = Result { try Scratch.build([table], suffix: "csv") }

    private func first(_ text: String) throws -> Candidate? {
        let (built, path) = try Self.built.get()
        return try Locator(path: path, id: built.id)
            .geocode(GeocodeRequest(singleLine: text)).candidates.first
    }

    @Test(arguments: [
        ("310 W 59 St, New York", "310", "West 59th Street"),
        ("310 West 59 Street, New York", "310", "West 59th Street"),
        ("20 5 Ave, New York", "20", "5th Avenue"), ("20 Fifth Av, New York", "20", "5th Avenue"),
        ("7 42 St, Brooklyn", "7", "42nd Street"), ("42 7 St, Brooklyn", "42", "7th Street"),
        ("3 Gartenweg 12, Ludwigshafen", "12", "3. Gartenweg"),
        ("2de Kerkstraat 5, Delft", "5", "2e Kerkstraat"),
        ("3 Kerkstraat 5, Delft", "5", "3e Kerkstraat"),
        ("Calle 5, 8, Alcorcón", "8", "Calle 5ª"), ("C/ 6a 8, Alcorcón", "8", "Calle 6ª"),
        ("2 Садовая ул., 4, Тверь", "4", "2-я Садовая улица"),
        ("1я Садовая, 4, Тверь", "4", "1-я Садовая улица"),
    ])
    func `a number is the ordinal of a street`(
        _ text: String, _ number: String, _ street: String
    ) throws {
        let found = try first(text)
        #expect(found?.text("AddNum") == number, "\(found?.address ?? "nothing")")
        #expect(found?.text("StName") == street, "\(found?.address ?? "nothing")")
    }

    @Test(arguments: [
        "310 W 77 St, New York", "20 9 Ave, New York",
        "30 Oak Street, Springfield", "9 Gartenweg 12, Ludwigshafen", "7 Kerkstraat 5, Delft",
    ])
    func `no house of another street is the answer`(_ text: String) throws {
        #expect(try first(text)?.text("AddNum") ?? "" == "", "\(text)")
    }

    @Test(arguments: [
        "c/o Smith, 3rd floor, 12 Lincoln Street, Springfield",
        "Accounts Department, 12 Lincoln St, Springfield PA 19064",
        "John Smith 12 Lincoln Street, Springfield", "Attn Ms Oak, 12 Lincoln Street, Springfield",
    ])
    func `words before a whole address cost little`(_ text: String) throws {
        let found = try #require(try first(text))
        #expect(found.text("AddNum") == "12" && found.text("StName") == "Lincoln Street")
        #expect((85..<100).contains(found.score), "\(found.score)")
    }

    @Test func `words are joined though the joined word is another street's`() throws {
        #expect(
            try first("3 Lafayette Road, Springfield")?.text("StName") == "La Fayette Road")
        #expect(try first("3 La Fayette Lane, Milford")?.text("StName") == "Lafayette Lane")
    }

    @Test func `with a number and a sort of street no town comes before a house`() throws {
        let places = """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation
            1\tLincoln\t40.8\t-96.7\tUS\t290000
            2\tSpringfield\t39.0\t-75.0\tUS\t24000

            """
        let directory = Scratch.directory("towns")
        let built = try LocatorBuilder.build(
            sources: [
                try Scratch.source(places, name: "places.tsv"),
                try Scratch.source(Self.table, name: "table.csv"),
            ], constants: ["country=US"], into: directory)
        let locator = try Locator(
            path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
        for text in ["12 Lincoln Street", "12 Lincon Street"] {
            let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
            #expect(found?.text("StName") == "Lincoln Street", "\(text)")
        }
    }

    @Test func `a town is one though its sources code its country differently`() throws {
        let places = """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation
            1\tPointe-Noire\t16.23\t-61.78\tGP\t6000
            2\tBayamón\t18.4\t-66.15\tPR\t185000

            """
        let table =
            Self.heading + """
                -61.785,16.232,7,Rue Baudot,,Pointe-Noire,,,97116,,

                """
        let directory = Scratch.directory("territories")
        let built = try LocatorBuilder.build(
            sources: [
                try Scratch.source(places, name: "places.tsv"),
                try Scratch.source(table, name: "table.csv"),
            ], constants: ["country=FR"], into: directory)
        let locator = try Locator(
            path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
        let towns = try locator.geocode(GeocodeRequest(singleLine: "Pointe-Noire")).candidates
        #expect(towns.count == 1)
        #expect(towns.first?.sourceID == 1)
        let house = try locator.geocode(
            GeocodeRequest(singleLine: "7 Rue Baudot, Pointe-Noire")
        ).candidates.first
        #expect(house?.text("AddNum") == "7")
    }

    @Test func `a common other name of a large place comes before a small namesake`() throws {
        let places = """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation\talternate_names
            1\tAl Madīnah\t24.47\t39.61\tSA\t1300000\tMedina|Médine|Medyna|Medine|Medinah|Yathrib
            2\tMedina\t41.14\t-81.86\tUS\t26000\t
            3\tYathrib\t33.9\t44.2\tIQ\t30000\t

            """
        let (built, path) = try Scratch.build([places])
        let locator = try Locator(path: path, id: built.id)
        #expect(
            try locator.geocode(GeocodeRequest(singleLine: "Medina")).candidates.map(\.sourceID)
                == [1, 2])
        // A name that only one language may have stays behind.
        #expect(
            try locator.geocode(GeocodeRequest(singleLine: "Yathrib")).candidates.map(\.sourceID)
                == [3, 1])
        let suggested = try locator.suggest(SuggestRequest(text: "Medina")).suggestions
        #expect(suggested.first?.text.contains("SA") == true, "\(suggested.map(\.text))")
    }
}
