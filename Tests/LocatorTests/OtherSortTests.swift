// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Locator
import TestKit
import Testing

/// A number that only streets of another type have: never a house in another street.
@Suite struct OtherSortTests {
    private static let heading =
        "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n"

    /// Streets of one name in a town of one country, of which the first lacks the number.
    struct Streets: Sendable, CustomTestStringConvertible {
        var country: String
        var town: String
        /// The name of the street that is asked for, of those that have the number, and of one of
        /// a type that the town lacks.
        var asked: String
        var others: [String]
        var unknown: String
        /// Whether the number stands behind the street.
        var isNumberLast = false
        var testDescription: String { asked }

        func text(_ street: String, _ number: Int, town: Bool = true) -> String {
            (isNumberLast ? "\(street) \(number)" : "\(number) \(street)")
                + (town ? ", \(self.town)" : "")
        }
    }

    private static let all = [
        Streets(
            country: "US", town: "Springfield", asked: "Park Avenue",
            others: ["Park Street", "Park Lane"], unknown: "Park Boulevard"),
        Streets(
            country: "GB", town: "Ely", asked: "Oak St", others: ["Oak Avenue", "Oak Close"],
            unknown: "Oak Rd"),
        Streets(
            country: "DE", town: "Neustadt", asked: "Parkweg", others: ["Parkstraße", "Am Park"],
            unknown: "Parkallee", isNumberLast: true),
        Streets(
            country: "DE", town: "Altdorf", asked: "Lindenweg", others: ["Lindensteg"],
            unknown: "Lindenplatz", isNumberLast: true),
        Streets(
            country: "DE", town: "Burg", asked: "Berliner Straße",
            others: ["Berliner Platz", "Berliner Allee"], unknown: "Berliner Ring",
            isNumberLast: true),
        Streets(
            country: "FR", town: "Bellerive", asked: "rue du Parc",
            others: ["avenue du Parc", "impasse du Parc"], unknown: "boulevard du Parc"),
        Streets(
            country: "ES", town: "Alcorcón", asked: "Calle de Cervantes",
            others: ["Avenida de Cervantes"], unknown: "Plaza de Cervantes", isNumberLast: true),
        Streets(
            country: "IT", town: "Ferrara", asked: "Via Garibaldi",
            others: ["Piazza Garibaldi", "Viale Garibaldi"], unknown: "Corso Garibaldi",
            isNumberLast: true),
        Streets(
            country: "RU", town: "Тверь", asked: "улица Ленина",
            others: ["площадь Ленина", "проспект Ленина"], unknown: "переулок Ленина",
            isNumberLast: true),
    ]

    /// - Parameter hasAsked: Whether the street that is asked for is there, with the number 1.
    private func locator(
        _ streets: Streets, _ number: Int, hasAsked: Bool = true
    ) throws -> Locator {
        var table = Self.heading
        for (place, other) in streets.others.enumerated() {
            table +=
                "10.\(place)1,50,\(number),\(other),,\(streets.town),,,,,\n"
                + "10.\(place)2,50,1,\(other),,\(streets.town),,,,,\n"
        }
        if hasAsked { table += "10.9,50,1,\(streets.asked),,\(streets.town),,,,,\n" }
        let directory = Scratch.directory("sorts")
        let built = try LocatorBuilder.build(
            sources: [try Scratch.source(table, name: "table.csv")],
            constants: ["country=\(streets.country)"], into: directory)
        return try Locator(
            path: directory + "/\(built.id.rawValue)/locator.bin", id: built.id)
    }

    private static let numbers = [7, 12, 123, 1234, 12345]

    @Test(arguments: all)
    func `the street itself comes first, and houses of other sorts far behind or not at all`(
        _ streets: Streets
    ) throws {
        for number in Self.numbers {
            let locator = try locator(streets, number)
            for hasTown in [true, false] {
                let text = streets.text(streets.asked, number, town: hasTown)
                let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates
                let first = try #require(found.first, "\(text)")
                #expect(first.text("Addr_type") == "StreetName", "\(text): \(first.address)")
                #expect(first.text("StName") == streets.asked, "\(text): \(first.address)")
                for other in found.dropFirst() where other.text("AddNum") != "" {
                    #expect(
                        !hasTown && other.score <= first.score - 10,
                        "\(text): \(other.address) \(other.score) after \(first.score)")
                }
            }
        }
    }

    @Test(arguments: all)
    func `where the street is unknown no house of another sort is a match`(
        _ streets: Streets
    ) throws {
        for number in Self.numbers {
            for (asked, hasAsked) in [(streets.asked, false), (streets.unknown, true)] {
                let locator = try locator(streets, number, hasAsked: hasAsked)
                for hasTown in [true, false] {
                    let text = streets.text(asked, number, town: hasTown)
                    for other in try locator.geocode(GeocodeRequest(singleLine: text)).candidates
                    where other.text("AddNum") != "" {
                        #expect(other.score <= 70, "\(text): \(other.address) \(other.score)")
                    }
                }
            }
        }
    }

    @Test(arguments: all)
    func `a house of the street that is asked for is found`(_ streets: Streets) throws {
        let locator = try locator(streets, 12)
        for (street, number) in [(streets.asked, 1)] + streets.others.map({ ($0, 12) }) {
            let text = streets.text(street, number)
            let first = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
            #expect(first?.text("StName") == street, "\(text): \(first?.address ?? "nothing")")
            #expect(first?.text("AddNum") == "\(number)" && first?.score == 100, "\(text)")
        }
    }
}
