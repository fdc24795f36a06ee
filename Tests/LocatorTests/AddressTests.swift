// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

@Suite struct AddressTests {
    private func first(_ text: String, _ change: (inout GeocodeRequest) -> Void = { _ in })
        throws -> Candidate?
    {
        var request = GeocodeRequest(singleLine: text)
        change(&request)
        return try AddressSample.locator().geocode(request).candidates.first
    }

    private func isMeant(_ candidate: Candidate?, _ house: AddressSample.House) -> Bool {
        guard let candidate else { return false }
        return candidate.text("Addr_type") == "PointAddress"
            && candidate.text("AddNum").lowercased().filter { $0 != " " }
                == "\(house.number)\(house.suffix)"
            && candidate.text("StName") == house.street && candidate.text("City") == house.city
            && candidate.text("Postal") == house.postal
            && candidate.location == Coordinate(x: house.longitude, y: house.latitude)
    }

    @Test func `every house is found by its own text, with full score`() throws {
        for house in AddressSample.shared.houses {
            let found = try first(house.written)
            #expect(isMeant(found, house), "\(house.written): \(found?.address ?? "nothing")")
            #expect(found?.score == 100, "\(house.written)")
        }
    }

    @Test func `every house is found in small letters without marks, and city first`() throws {
        for house in AddressSample.shared.houses.enumerated()
            .filter({ $0.offset.isMultiple(of: 7) }).map(\.element)
        {
            let plain = house.written.folding(options: .diacriticInsensitive, locale: nil)
                .lowercased()
            #expect(isMeant(try first(plain), house), "\(plain)")
            let turned =
                "\(house.city) \(house.postal), \(house.street) \(house.number)\(house.suffix)"
            #expect(isMeant(try first(turned), house), "\(turned)")
        }
    }

    @Test func `numbers written together with the words beside them are parted`() throws {
        for (number, house) in AddressSample.shared.houses.enumerated()
        where number.isMultiple(of: 11) {
            let own = "\(house.number)\(house.suffix)"
            var texts: [String] = []
            if house.street.last?.isLetter == true {
                texts.append("\(own) \(house.street)\(house.postal) \(house.city)")
            }
            if !house.city.hasPrefix("L'") {
                texts.append("\(own) \(house.street) \(house.postal)\(house.city)")
            }
            // `12bisrue` is ambiguous.
            if house.suffix.isEmpty {
                texts.append("\(own)\(house.street) \(house.postal) \(house.city)")
            }
            for text in texts {
                let found = try first(text.lowercased())
                #expect(isMeant(found, house), "\(text): \(found?.address ?? "nothing")")
            }
        }
        // A suffix stays with its number, and there is no house 99.
        for house in AddressSample.shared.houses.filter({ $0.suffix == "bis" }).prefix(10) {
            #expect(isMeant(try first(house.written.replacing("bis", with: "BIS")), house))
        }
        #expect(try first("99rue de la gare 10110 saint-avre")?.text("AddNum") != "99")
    }

    @Test func `the number of a part of a house is not the house's`() throws {
        let units = [
            "appt 1", "apt 2", "bât 3", "unit 1", "suite 2", "3rd floor", "2ème étage", "BP 3",
            "flat b",
            "whg 1", "piso 2",
        ]
        for (number, house) in AddressSample.shared.houses.enumerated()
        where number.isMultiple(of: 23) && house.number > 3 && house.suffix.isEmpty {
            let unit = units[number % units.count]
            let own = "\(house.number) \(house.street)"
            for text in [
                "\(unit), \(own), \(house.postal) \(house.city)",
                "\(own) \(unit) \(house.postal) \(house.city)",
                "\(own), \(house.postal) \(house.city), \(unit)",
            ] {
                let found = try first(text)
                #expect(isMeant(found, house), "\(text): \(found?.address ?? "nothing")")
            }
        }
        // A word before a postcode is no unit.
        let towns = Set(AddressSample.shared.houses.map { $0.postal + " " + $0.city })
        for town in towns {
            #expect(try first("lot \(town)")?.text("Postal") == String(town.prefix(5)))
        }
    }

    /// A town of streets with numbers and first names in their names.
    private static let numbered = Result { () throws -> Locator in
        let streets = [
            "Rue du 8 Mai 1945", "Place du Onze Novembre", "Boulevard Henri IV",
            "Rue du 19 Mars 1962",
            "Avenue Louis XIV", "Rue Jean-Baptiste Clément", "Rue Pierre Proudhon", "Rue P Curie",
            "Allée de la Gare", "Rue de Beaumont",
        ]
        let rows = streets.enumerated().flatMap { at, street in
            (1...12).map {
                "\(at)-\($0),\($0),\(street),10000,Beaumont,C+O,\(48 + Double(at) / 1000),"
                    + "\(2 + Double($0) / 10_000)"
            }
        }
        return try Scratch.locator([rows.joined(separator: "\n")], suffix: "csv")
    }

    @Test(arguments: [
        ("3 rue du huit mai 1945", "Rue du 8 Mai 1945"), ("8 rue du 8 mai", "Rue du 8 Mai 1945"),
        ("8 rue du VIII mai 1945", "Rue du 8 Mai 1945"),
        ("11 place du 11 novembre", "Place du Onze Novembre"),
        ("4 place du XI novembre", "Place du Onze Novembre"),
        ("4 bd henri 4", "Boulevard Henri IV"), ("4 boulevard henri quatre", "Boulevard Henri IV"),
        ("2 rue du dix-neuf mars 1962", "Rue du 19 Mars 1962"),
        ("12 av louis 14", "Avenue Louis XIV"), ("12 avenue louis quatorze", "Avenue Louis XIV"),
        ("5 rue J. Clément", "Rue Jean-Baptiste Clément"),
        ("5 rue J.-B. Clément", "Rue Jean-Baptiste Clément"),
        ("5 rue J B Clement", "Rue Jean-Baptiste Clément"),
        ("6 rue P. Proudhon", "Rue Pierre Proudhon"), ("7 rue P. Curie", "Rue P Curie"),
    ])
    func `numbers in names are read however they are written, and initials`(
        _ text: String, _ street: String
    ) throws {
        for town in ["beaumont", "10000 beaumont"] {
            let found = try #require(
                try Self.numbered.get().geocode(GeocodeRequest(singleLine: text + " " + town))
                    .candidates.first)
            #expect(found.text("StName") == street, "\(found.address)")
            #expect(found.text("Addr_type") == "PointAddress")
            #expect(found.text("AddNum") == String(text.prefix { $0.isNumber }))
        }
    }

    /// A letter that is no initial has no effect.
    @Test func `a letter elsewhere in the text, or another one, is no initial`() throws {
        func score(_ text: String) throws -> Double {
            try Self.numbered.get().geocode(GeocodeRequest(singleLine: text)).candidates
                .first { $0.text("StName") == "Rue Pierre Proudhon" }?.score ?? 0
        }
        let right = try score("6 rue P. Proudhon beaumont")
        for wrong in ["6 rue X. Proudhon beaumont", "P. 6 rue Proudhon beaumont"] {
            #expect(try score(wrong) < right, "\(wrong)")
        }
        #expect(try score("6 rue Proudhon beaumont") < right)
        #expect(right < 100)
    }

    @Test func `every street is found without a number`() throws {
        var seen: Set<String> = []
        for house in AddressSample.shared.houses
        where seen.insert(house.street + house.city).inserted {
            let found = try first("\(house.street), \(house.city)")
            #expect(found?.text("Addr_type") == "StreetName")
            #expect(found?.text("StName") == house.street)
            #expect(found?.text("City") == house.city)
            #expect(found?.score == 100)
        }
    }

    @Test func `a house that is not there is said to be its street`() throws {
        for house in AddressSample.shared.houses.prefix(400) {
            for text in [
                "4321 \(house.street) \(house.city)",
                "\(house.number) quater \(house.street) \(house.city)",
            ] {
                let found = try first(text)
                #expect(found?.text("Addr_type") == "StreetName", "\(text)")
                #expect(found?.text("StName") == house.street, "\(text)")
                #expect(found?.text("AddNum") == "", "\(text)")
                #expect(found?.score ?? 100 < 100, "\(text)")
            }
        }
    }

    @Test func `a word with one slip is found`() throws {
        var random = SeededGenerator(seed: 5)
        print("seed \(random.seed)")
        var (count, right) = (0, 0)
        for house in AddressSample.shared.houses.enumerated()
            .filter({ $0.offset.isMultiple(of: 5) }).map(\.element)
        {
            var words = house.written.split(separator: " ").map(String.init)
            let long = words.indices.filter {
                words[$0].count >= 6 && words[$0].first?.isNumber != true
            }
            guard let word = long.randomElement(using: &random) else { continue }
            var letters = Array(words[word])
            let place = Int.random(in: 1..<letters.count - 1, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: letters.remove(at: place)
            case 1: letters.insert("k", at: place)
            default: letters.swapAt(place, place + 1)
            }
            words[word] = String(letters)
            count += 1
            if isMeant(try first(words.joined(separator: " ")), house) { right += 1 }
        }
        print("one slip: \(right) of \(count)")
        #expect(count > 300)
        #expect(Double(right) >= 0.97 * Double(count))
    }

    private static let town = """
        1,12,Avenue du Général Leclerc,08000,Charleville-Mézières,C+O,49.76,4.72
        2,12BIS,Avenue du Général Leclerc,08000,Charleville-Mézières,C+O,49.761,4.721
        3,14,Avenue du Général Leclerc,08000,Charleville-Mézières,C+O,49.762,4.722
        4,3A,Chemin de l'Église,08000,Charleville-Mézières,C+O,49.763,4.723
        5,7,Rue de Saint-Quentin,08200,Sedan,C+O,49.70,4.94
        6,9,Rue du 11 Novembre 1918,08200,Sedan,C+O,49.701,4.941
        7,11,Rue du 11 Novembre 1918,08200,Sedan,C+O,49.702,4.942
        8,1,Rue de Sedan,08000,Charleville-Mézières,C+O,49.765,4.725
        9,5,Rue d'Orléans,08090,Aiglemont,C+O,49.78,4.76
        """

    @Test(arguments: [
        ("12 av. gal leclerc charleville mezieres", "12 Avenue du Général Leclerc"),
        ("12 AV DU GENERAL LECLERC 08000", "12 Avenue du Général Leclerc"),
        (
            "12 bis avenue du general leclerc charleville-mezieres",
            "12 BIS Avenue du Général Leclerc"
        ),
        (
            "12bis, avenue du général Leclerc, Charleville-Mézières",
            "12 BIS Avenue du Général Leclerc"
        ),
        ("12b avenue du general leclerc 08000", "12 BIS Avenue du Général Leclerc"),
        ("12-14 avenue du general leclerc 08000", "12 Avenue du Général Leclerc"),
        ("3 a chemin de l eglise charleville mezieres", "3A Chemin de l'Église"),
        ("3a che de leglise charleville mezieres", "3A Chemin de l'Église"),
        ("3A chem. de l’église, Charleville Mézières", "3A Chemin de l'Église"),
        ("7 r st quentin sedan", "7 Rue de Saint-Quentin"),
        ("sedan 7 rue de st-quentin", "7 Rue de Saint-Quentin"),
        ("sedan, rue st quentin 7", "7 Rue de Saint-Quentin"),
        ("7 rue saintquentin sedan", "7 Rue de Saint-Quentin"),
        ("9 rue du 11 novembre 1918 sedan", "9 Rue du 11 Novembre 1918"),
        ("11 rue du 11 novembre 1918, 08200 sedan", "11 Rue du 11 Novembre 1918"),
        ("1 rue de sedan charleville", "1 Rue de Sedan"),
        ("5 rue d orleans aiglemont", "5 Rue d'Orléans"),
        ("5 rue dorleans aiglemont", "5 Rue d'Orléans"),
        ("12 avenue du general leclerc charle ville mezieres", "12 Avenue du Général Leclerc"),
        ("12 avenue general general leclerc charlevile mezieres", "12 Avenue du Général Leclerc"),
    ])
    func `addresses as people write them are understood`(_ text: String, _ expected: String) throws
    {
        let locator = try Scratch.locator([Self.town], suffix: "csv")
        let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
        #expect(found?.text("ShortLabel") == expected)
    }

    @Test func `a text that is being typed leads to its house`() throws {
        let locator = try AddressSample.locator()
        for house in AddressSample.shared.houses.enumerated()
            .filter({ $0.offset.isMultiple(of: 23) }).map(\.element)
        {
            let text = "\(house.number)\(house.suffix) \(house.street), \(house.city)"
            for count in [text.count - 3, text.count - 1, text.count] {
                let typed = String(text.prefix(count))
                let answer = try locator.suggest(SuggestRequest(text: typed))
                let suggestion = answer.suggestions.first
                #expect(suggestion?.text.contains(house.street) == true, "\(typed)")
                let request = GeocodeRequest(singleLine: "", magicKey: suggestion?.magicKey)
                let found = try locator.geocode(request).candidates.first
                #expect(isMeant(found, house), "\(typed): \(found?.address ?? "nothing")")
            }
        }
    }

    @Test func `an unknown street leads to the town, not to another street`() throws {
        let places = """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation
            1\tParis\t48.85\t2.35\tFR\t2138551
            2\tToul\t48.68\t5.89\tFR\t16000
            """
        for texts in [[places], [places, "1,2,Rue de la Paix,54200,Toul,C+O,48.67,5.89"]] {
            let directory = Scratch.directory("mixed")
            let sources = try texts.enumerated().map { try Scratch.source($1, name: "\($0).txt") }
            let built = try LocatorBuilder.build(sources: sources, into: directory)
            let locator = try Locator(
                path: directory + "/" + built.id.rawValue + "/locator.bin", id: built.id)
            for text in ["12 rue de la paix paris", "paris 12 rue de la paix"] {
                let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
                #expect(found?.text("City") == "Paris", "\(text)")
                #expect(found?.text("Addr_type") == "Locality")
                #expect(found?.score ?? 100 < 90)
            }
        }
    }

    @Test func `a house of a street by another name is no answer`() throws {
        let table = """
            1,12,Rue du Général Nouvion,08000,Charleville-Mézières,C+O,49.76,4.72
            2,12,Avenue du Président Wilson,08000,Charleville-Mézières,C+O,49.761,4.721
            3,14,Rue de la Croix-Pierre,08000,Charleville-Mézières,C+O,49.762,4.722
            """
        let locator = try Scratch.locator([table], suffix: "csv")
        func houses(_ text: String) throws -> [String] {
            try locator.geocode(GeocodeRequest(singleLine: text)).candidates
                .filter { $0.text("Addr_type") == "PointAddress" }.map { $0.text("StName") }
        }
        let town = "Charleville-Mézières"
        #expect(try houses("12 rue du gal leclerc \(town)") == [])
        #expect(try houses("12 rue du gal nouvion \(town)") == ["Rue du Général Nouvion"])
        // Short for it, or written together with another word.
        #expect(try houses("12 av pdt wilson \(town)") == ["Avenue du Président Wilson"])
        #expect(try houses("14 rue xycroix pierre \(town)") == ["Rue de la Croix-Pierre"])
    }

    @Test func `words decide by their order where nothing else does`() throws {
        let table = """
            1,9,Rue de Glaire,08200,Sedan,C+O,49.7,4.94
            2,9,Rue de Sedan,08200,Glaire,C+O,49.71,4.9
            3,5,Rue de la Promenade,08200,Sedan,C+O,49.701,4.941
            """
        // So many streets that the large town is not read whole.
        let others = (1...80).map { "x,1,Rue Autre\($0),08200,Sedan,C+O,49.70\(100 + $0),4.94" }
        let rows = [table] + others
        let locator = try Scratch.locator([rows.joined(separator: "\n")], suffix: "csv")
        for (text, street) in [
            ("9 Rue de Glaire 08200 Sedan", "Rue de Glaire"),
            ("9 Rue de Sedan 08200 Glaire", "Rue de Sedan"),
            ("Sedan 08200 9 Rue de Glaire", "Rue de Glaire"),
            ("5 rue de la promenade sedan", "Rue de la Promenade"),
        ] {
            let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
            #expect(found?.text("StName") == street, "\(text)")
            #expect(found?.score == 100)
        }
    }

    @Test func `towns of addresses are places`() throws {
        let locator = try Scratch.locator([Self.town], suffix: "csv")
        for name in ["Aiglemont", "Sedan", "Charleville-Mézières"] {
            let found = try locator.geocode(GeocodeRequest(singleLine: name)).candidates.first
            #expect(found?.text("Addr_type") == "Locality")
            #expect(found?.text("City") == name)
            #expect(found?.score == 100)
        }
    }

    @Test func `the house nearest to a location is found`() throws {
        var random = SeededGenerator(seed: 23)
        print("seed \(random.seed)")
        let locator = try AddressSample.locator()
        func meters(_ from: Coordinate, _ house: AddressSample.House) -> Double {
            let radians = Double.pi / 180
            let (y1, y2) = (from.y * radians, house.latitude * radians)
            let half = sin((y2 - y1) / 2)
            let turn = sin((house.longitude - from.x) * radians / 2)
            let h = half * half + cos(y1) * cos(y2) * turn * turn
            return 2 * 6_371_008.8 * asin(h.squareRoot())
        }
        for _ in 0..<300 {
            let near = try #require(AddressSample.shared.houses.randomElement(using: &random))
            let here = Coordinate(
                x: near.longitude + Double.random(in: -0.01...0.01, using: &random),
                y: near.latitude + Double.random(in: -0.01...0.01, using: &random))
            let limit = Double.random(in: 10...2_000, using: &random)
            let least = AddressSample.shared.houses.map { meters(here, $0) }.min() ?? .infinity
            var request = ReverseGeocodeRequest(location: here, maxDistanceMeters: limit)
            request.featureTypes = ["PointAddress"]
            let found = try locator.reverse(request).candidate
            if least > limit {
                #expect(found == nil)
            } else {
                #expect(found?.text("Addr_type") == "PointAddress")
                #expect(abs((found?.distanceMeters ?? -1) - least) < 0.01)
                request.featureTypes = ["StreetName", "Locality"]
                let street = try locator.reverse(request).candidate
                #expect(street?.text("Addr_type") == "StreetName")
                #expect(street?.text("AddNum") == "")
            }
        }
    }

    @Test func `the same sources give the same file, and the order of answers is fixed`() throws {
        let table = AddressSample.shared.table
        let first = try Scratch.build([table], suffix: "csv")
        let second = try Scratch.build([table], suffix: "csv")
        #expect(first.locator.id == second.locator.id)
        #expect(first.locator.houseCount == AddressSample.shared.houses.count)
        let request = GeocodeRequest(singleLine: "rue de la gare", maxLocations: 50)
        let (one, two) = (
            try Locator(path: first.path, id: first.locator.id),
            try Locator(path: second.path, id: second.locator.id)
        )
        #expect(try one.geocode(request) == two.geocode(request))
    }

    @Test func `rows that cannot be used are told with their lines`() throws {
        let rows = [
            "1,12,Rue Haute,08000,Sedan,C+O,49.7,4.9",
            "2,12,Rue Haute,08000,Sedan,C+O,49.7",
            "3,XII,Rue Haute,08000,Sedan,C+O,49.7,4.9",
            "4,12,,08000,Sedan,C+O,49.7,4.9",
            "5,12,Rue Haute,08000,Sedan,C+O,97,4.9",
            "6,12,\"Rue Haute,08000,Sedan,C+O,49.7,4.9",
            "7,12,Rue \(String(repeating: "x", count: 300)),08000,Sedan,C+O,49.7,4.9",
            "8,,Rue Basse,08000,Sedan,C+O,49.7,4.9",
            "9,9999999,Rue Basse,08000,Sedan,C+O,49.7,4.9",
        ]
        let built = try Scratch.build([rows.joined(separator: "\n")], suffix: "csv")
        #expect(built.locator.rejected.map(\.line) == [2, 3, 4, 5, 6, 7, 9])
        #expect(built.locator.rejectedCount == 7)
        #expect(built.locator.streetCount == 2)
        #expect(built.locator.houseCount == 1)
    }

    @Test func `a user's columns, and those of BAN and OpenAddresses, are read`() throws {
        let ban = """
            id;id_fantoir;numero;rep;nom_voie;code_postal;code_insee;nom_commune;x;y;lon;lat
            a;b;12;ter;Rue Haute;08000;08105;Sedan;1;2;4.9;49.7
            """
        let open = """
            LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH
            -71.1,42.37,219,"MONSIGNOR O'BRIEN HWY",,CAMBRIDGE,,MA,02141,,a1
            """
        let own = """
            number\tstreet\tlon\tlat
            7\tBroad Street\t-71.2\t42.4
            """
        let columns = Scratch.directory("columns") + "/own.json"
        try Data(
            """
            {"name": "own", "separator": "\\t", "constants": {"city": "Arlington", "country": "US"},
             "columns": {"number": "number", "street": "street", "longitude": "lon", "latitude": "lat"}}
            """.utf8
        ).write(to: URL(fileURLWithPath: columns))
        let directory = Scratch.directory("layouts")
        let sources = try [ban, open, own].map { try Scratch.source($0, name: "table.csv") }
        let built = try LocatorBuilder.build(
            sources: sources, columns: [columns], into: directory)
        let locator = try Locator(
            path: directory + "/" + built.id.rawValue + "/locator.bin", id: built.id)
        for (text, label) in [
            ("12 ter rue haute sedan", "12 ter Rue Haute"),
            ("219 monsignor obrien highway cambridge", "219 MONSIGNOR O'BRIEN HWY"),
            ("7 broad st arlington", "7 Broad Street"),
        ] {
            let found = try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first
            #expect(found?.text("ShortLabel") == label)
        }
    }
}
