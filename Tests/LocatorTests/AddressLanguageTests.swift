// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Locator
import TestKit
import Testing

/// Addresses in many languages, in usual spellings.
@Suite struct AddressLanguageTests {
    private static let numbers = ["1", "3", "8", "12", "12A", "27"]

    private static let columns = """
        {"name": "own", "separator": ";", "columns": {"number": "nr", "street": "street",
         "city": "town", "country": "cc", "longitude": "x", "latitude": "y"}}
        """

    /// Every street with all its houses in every town, at places of their own.
    private func table(_ language: LanguageStreets, ordinal: Int) -> String {
        var result = ""
        for (town, name) in language.towns.enumerated() {
            for (street, names) in language.streets.enumerated() {
                for (house, number) in Self.numbers.enumerated() {
                    let x = Double(town) + 0.001 * Double(street) + 0.00001 * Double(house)
                    let y = Double(ordinal) + 20
                    result += "\(number);\(names.full);\(name);\(language.country);\(x);\(y)\n"
                }
            }
        }
        return result
    }

    private func locator(_ languages: [LanguageStreets]) throws -> Locator {
        let table =
            "nr;street;town;cc;x;y\n"
            + languages.enumerated().map { self.table($1, ordinal: $0) }.joined()
        let directory = Scratch.directory("languages")
        let built = try LocatorBuilder.build(
            sources: [try Scratch.source(table, name: "table.csv")],
            columns: [try Scratch.source(Self.columns, name: "columns.json")], into: directory)
        #expect(built.rejectedCount == 0)
        return try Locator(
            path: directory + "/" + built.id.rawValue + "/locator.bin", id: built.id)
    }

    private enum Form: CaseIterable {
        case full, abbreviated, bare, townFirst, slip
    }

    /// A text for a house, or nil where a street has no word long enough for a slip.
    private func text(
        _ form: Form, _ language: LanguageStreets, _ street: (full: String, short: String),
        _ number: String, _ town: String, _ random: inout SeededGenerator
    ) -> String? {
        func written(_ street: String, _ order: String) -> String {
            order.replacingOccurrences(of: "$s", with: street)
                .replacingOccurrences(of: "$n", with: number)
                .replacingOccurrences(of: "$t", with: town)
        }
        switch form {
        case .full: return written(street.full, language.order)
        case .abbreviated: return written(street.short, language.order)
        case .bare:
            return written(street.full, language.order)
                .folding(options: .diacriticInsensitive, locale: nil).lowercased()
        case .townFirst:
            let isAfter = language.order.firstRange(of: "$s $n") != nil
            return written(street.full, isAfter ? "$t, $n $s" : "$t $s $n")
        case .slip:
            var words = street.full.split(separator: " ").map(Array.init)
            guard let longest = words.indices.max(by: { words[$0].count < words[$1].count }),
                words[longest].count >= 5
            else { return nil }
            let place = Int.random(in: 1..<words[longest].count - 1, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: words[longest].remove(at: place)
            case 1: words[longest].insert(words[longest][place - 1], at: place)
            default: words[longest].swapAt(place, place + 1)
            }
            return written(words.map { String($0) }.joined(separator: " "), language.order)
        }
    }

    private func isMeant(
        _ found: Candidate?, _ street: String, _ number: String, _ town: String
    ) -> Bool {
        found?.text("Addr_type") == "PointAddress" && found?.text("StName") == street
            && found?.text("AddNum") == number && found?.text("City") == town
    }

    /// Number of texts that find their house first, and the others.
    private func ask(
        _ locator: Locator, _ language: LanguageStreets, _ forms: [Form], every step: Int = 1
    ) throws -> (right: Int, count: Int, failed: [String]) {
        var random = SeededGenerator(seed: 31)
        var (right, count) = (0, 0)
        var failed: [String] = []
        for (place, street) in language.streets.enumerated() {
            for form in forms {
                for (house, number) in Self.numbers.enumerated()
                where (place + house).isMultiple(of: step) {
                    let town = language.towns[(place + house) % language.towns.count]
                    guard let text = text(form, language, street, number, town, &random) else {
                        continue
                    }
                    count += 1
                    let found = try locator.geocode(GeocodeRequest(singleLine: text))
                        .candidates.first
                    if isMeant(found, street.full, number, town) {
                        right += 1
                    } else {
                        failed.append("\(form) '\(text)': \(found?.address ?? "nothing")")
                    }
                }
            }
        }
        return (right, count, failed)
    }

    @Test(arguments: LanguageStreets.all)
    func `addresses of a language are found as people write them`(
        _ language: LanguageStreets
    ) throws {
        #expect(language.streets.count >= 15)
        let locator = try locator([language])
        for form in Form.allCases {
            let (right, count, failed) = try ask(locator, language, [form], every: 2)
            print("\(language.language), \(form): \(right) of \(count)")
            #expect(count >= 30)
            #expect(
                Double(right) >= 0.95 * Double(count),
                "\(language.language): \(failed.joined(separator: "\n"))")
        }
    }

    @Test func `all languages in one file do not get into each other's way`() throws {
        let locator = try locator(LanguageStreets.all)
        var (right, count) = (0, 0)
        for language in LanguageStreets.all {
            let one = try ask(locator, language, [.full, .abbreviated], every: 3)
            print("\(language.language) among all: \(one.right) of \(one.count)")
            #expect(
                Double(one.right) >= 0.95 * Double(one.count),
                "\(one.failed.joined(separator: "\n"))")
            (right, count) = (right + one.right, count + one.count)
        }
        print("all languages: \(right) of \(count)")
    }

    @Test(arguments: [
        ("Hauptstr. 12, Neustadt", "Hauptstraße"), ("Haupstr. 12, Neustadt", "Hauptstraße"),
        ("Haupt Str 12 Neustadt", "Hauptstraße"), ("Hauptstrasse 12 Neustadt", "Hauptstraße"),
        ("Frankfurterstraße 12 Neustadt", "Frankfurter Straße"),
        ("Neustadt, Str. des 17. Juni 12", "Straße des 17. Juni"),
    ])
    func `parts of compounds are written short, apart or together`(
        _ text: String, _ street: String
    ) throws {
        let locator = try locator([LanguageStreets.all[0]])
        let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
        #expect(isMeant(found, street, "12", "Neustadt"), "\(found?.address ?? "nothing")")
    }

    @Test func `a sort of street that is left out costs nothing, another one does`() throws {
        let russian = try #require(LanguageStreets.all.first { $0.language == "Russian" })
        let locator = try locator([russian])
        func score(_ text: String) throws -> Double {
            let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
            #expect(found?.text("StName") == "улица Ленина", "\(text)")
            return found?.score ?? 0
        }
        #expect(try score("Тверь, Ленина, 12") == 100)
        #expect(try score("Тверь, ул. Ленина, д. 12") == 100)
        #expect(try score("Тверь, пл. Ленина, 12") < 100)
    }

    @Test func `a dictionary holds in its countries alone`() throws {
        func score(_ text: String, in country: String) throws -> Double {
            let table =
                "nr;street;town;cc;x;y\n5;Hauptstrasse;Somewhere;\(country);8;50\n5;Rue Haute;Somewhere;\(country);8;50\n"
            let directory = Scratch.directory("country")
            let built = try LocatorBuilder.build(
                sources: [try Scratch.source(table, name: "table.csv")],
                columns: [try Scratch.source(Self.columns, name: "columns.json")],
                into: directory)
            let locator = try Locator(
                path: directory + "/" + built.id.rawValue + "/locator.bin", id: built.id)
            return try locator.geocode(GeocodeRequest(singleLine: text)).candidates
                .first { $0.text("StName") == "Rue Haute" }?.score ?? 0
        }
        #expect(try score("5 r haute somewhere", in: "FR") == 100)
        #expect(try score("5 r haute somewhere", in: "SE") < 100)
        // In an unknown country all dictionaries apply.
        #expect(try score("5 r haute somewhere", in: "") == 100)
    }
}
