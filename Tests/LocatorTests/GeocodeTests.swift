// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Locator
import TestKit
import Testing

@Suite struct GeocodeTests {
    private func geocode(
        _ text: String, countries: [String] = [], extent: Envelope? = nil,
        location: Coordinate? = nil, most: Int = 20
    ) throws -> [Candidate] {
        try Sample.locator().geocode(
            GeocodeRequest(
                singleLine: text, countryCodes: countries, maxLocations: most,
                searchExtent: extent, location: location)
        ).candidates
    }

    @Test(arguments: [
        ("Paris", "Paris, Île-de-France, France"),
        ("PARIS  tx", "Paris, Texas, United States"),
        ("Paris, Texas", "Paris, Texas, United States"),
        ("Springfield, Illinois, US", "Springfield, Illinois, United States"),
        ("Toledo, Spain", "Toledo, Castille-La Mancha, Spain"),
        ("Toledo España", "Toledo, Castille-La Mancha, Spain"),
        ("New York", "New York City, New York, United States"),
        ("Washington, D.C.", "Washington, D.C., Washington, D.C., United States"),
        ("Saint Louis, MO", "St. Louis, Missouri, United States"),
        ("sao paulo", "São Paulo, São Paulo, Brazil"),
        ("Zürich, Schweiz", "Zürich, Zurich, Switzerland"),
        ("Muenchen", "Munich, Bavaria, Germany"),
        ("Roma", "Rome, Latium, Italy"),
        ("Москва", "Moscow, Moscow, Russia"),
        ("東京", "Tokyo, Tōkyō, Japan"),
        ("القاهرة", "Cairo, Muḩāfaz̧at al Qāhirah, Egypt"),
        ("Texas", "Texas, United States"),
        ("Deutschland", "Germany"),
        ("FRA", "France"),
        ("Germany Berlin", "Berlin, Berlin, Germany"),
        ("10 Downing Street, London, UK", "London, England, United Kingdom"),
    ])
    func `a text finds the place most people mean`(text: String, label: String) throws {
        #expect(try geocode(text).first?.address == label)
    }

    @Test(arguments: [
        ("Sprngfield, Ilinois", "Springfield, Illinois, United States"),
        ("NewYork", "New York City, New York, United States"),
        ("Rio Janeiro", "Rio de Janeiro, Rio de Janeiro, Brazil"),
        ("Philadephia", "Philadelphia, Pennsylvania, United States"),
        ("Johanesbug", "Johannesburg, Gauteng, South Africa"),
        ("San Franc", "San Francisco, California, United States"),
        ("Sprinfield, Massachusets", "Springfield, Massachusetts, United States"),
    ])
    func `slips and omissions are forgiven, at a lower score`(text: String, label: String) throws {
        let first = try #require(try geocode(text).first)

        #expect(first.address == label)
        #expect(first.score < 100)
        #expect(first.score >= 50)
    }

    /// The words are stated for each language; they must not change the answer.
    @Test(arguments: [
        "ville de", "commune de", "Stadt", "Gemeinde", "Landeshauptstadt", "kreisfreie Stadt",
        "municipio de", "comune di", "município de", "gemeente", "miasto", "kommun",
        "the municipality of",
        "город",
    ])
    func `the sort of place before its name changes nothing`(_ sort: String) throws {
        let locator = try Sample.locator()
        let cities = Sample.cities.sorted { $0.population > $1.population }.prefix(50)
        var changed: [String] = []
        for city in cities {
            let plain = try locator.geocode(GeocodeRequest(singleLine: city.name)).candidates.first
            let found = try locator.geocode(GeocodeRequest(singleLine: "\(sort) \(city.name)"))
                .candidates.first
            if found?.address != plain?.address { changed.append(city.name) }
        }
        // A place may really be called so.
        #expect(changed.count <= 3, "\(changed)")
    }

    @Test(arguments: [
        ("N Las Vegas", "North Las Vegas"), ("W Palm Beach", "West Palm Beach"),
        ("Sta Fe, Argentina", "Santa Fe"), ("Pto Montt", "Puerto Montt"),
        ("Cd Juarez", "Ciudad Juárez"), ("Sto Domingo", "Santo Domingo"),
    ])
    func `words of names that are written short are read in full`(
        _ text: String, _ name: String
    ) throws {
        let found = try Sample.locator().geocode(GeocodeRequest(singleLine: text)).candidates.first
        #expect(found?.text("PlaceName") == name)
        #expect(found?.score == 100)
    }

    @Test func `scores fall with every slip`() throws {
        let scores = try ["Philadelphia", "Philadelpia", "Philadepia", "Philadepia Xyz"].map {
            try #require(
                try geocode($0).first { $0.address.hasPrefix("Philadelphia, Pennsylvania") }
            ).score
        }

        #expect(scores == scores.sorted(by: >))
        #expect(Set(scores).count == scores.count)
    }

    @Test func `candidates come by falling score`() throws {
        for text in ["Springfeld", "San", "Victoria, Canda", "Saint Lois", "London Bridge"] {
            let scores = try geocode(text, most: 50).map(\.score)

            #expect(scores == scores.sorted(by: >), "\(text)")
        }
    }

    @Test func `a containing place that contradicts excludes`() throws {
        let elsewhere = try geocode("Paris, Texas").map(\.address).filter { !$0.contains("Texas") }

        #expect(elsewhere == [])
    }

    @Test func `countries are told by either code or by name and are a filter`() throws {
        for code in ["us", "USA", "United States", "amErica"] {
            let found = try geocode("Paris", countries: [code])

            #expect(found.first?.address == "Paris, Texas, United States", "\(code)")
            #expect(
                found.allSatisfy { $0.attributes["Country"] == .string("USA") }, "\(code)")
        }
        let two = try geocode("Paris", countries: ["US", "FR"])
        #expect(two.first?.address == "Paris, Île-de-France, France")
        #expect(throws: Failure.self) { try geocode("Paris", countries: ["QQ"]) }
    }

    @Test func `a search extent is a filter, a location only a preference`() throws {
        let texas = Envelope(minX: -107, minY: 25, maxX: -93, maxY: 37)
        let nearTexas = Coordinate(x: -95.6, y: 33.5)

        #expect(
            try geocode("Paris", extent: texas).map(\.address) == ["Paris, Texas, United States"])
        let preferred = try geocode("Paris", location: nearTexas).map(\.address)
        #expect(preferred.first == "Paris, Texas, United States")
        #expect(preferred.contains("Paris, Île-de-France, France"))
    }

    @Test func `a search extent may cross the antimeridian either way of writing`() throws {
        for extent in [
            Envelope(minX: 170, minY: -30, maxX: 190, maxY: 0),
            Envelope(minX: 170, minY: -30, maxX: -170, maxY: 0),
        ] {
            #expect(try geocode("Suva", extent: extent).first?.address == "Suva, Central, Fiji")
        }
    }

    @Test func `attributes carry Esri's names`() throws {
        let paris = try #require(try geocode("Paris, TX", most: 1).first)

        for (name, text) in [
            ("Loc_name", "World"), ("Match_addr", "Paris, Texas, United States"),
            ("LongLabel", "Paris, Texas, United States"), ("ShortLabel", "Paris"),
            ("Addr_type", "Locality"), ("Type", "City"), ("PlaceName", "Paris"), ("City", "Paris"),
            ("Region", "Texas"), ("RegionAbbr", "TX"), ("Country", "USA"),
            ("CntryName", "United States"), ("CountryCode", "US"), ("Postal", ""),
        ] {
            #expect(paris.attributes[name] == .string(text), "\(name)")
        }
        #expect(paris.attributes["Score"] == .real(100))
        #expect(paris.attributes["X"] == .real(paris.location.x))
        #expect(paris.attributes["Xmin"] == .real(paris.extent.minX))
        #expect(paris.extent.contains(paris.location))
        #expect(try geocode("Texas").first?.attributes["Type"] == .string("State or Province"))
        #expect(try geocode("France").first?.attributes["Type"] == .string("Country"))
    }

    @Test func `the answer names the file and takes no more than asked for`() throws {
        let locator = try Sample.locator()
        let answer = try locator.geocode(
            GeocodeRequest(singleLine: "San José", maxLocations: 3))

        #expect(answer.locator == locator.id)
        #expect(answer.candidates.count == 3)
        let most = try locator.geocode(GeocodeRequest(singleLine: "San", maxLocations: 9_999))
        #expect(most.candidates.count <= 50)
    }

    @Test func `the same request gives the same bytes`() throws {
        for text in ["Springfeld", "San", "paris, tx", "Saint Lois"] {
            let request = GeocodeRequest(singleLine: text, maxLocations: 50)
            let first = try CairnJSON.encode(try Sample.locator().geocode(request))

            for _ in 0..<3 {
                #expect(try CairnJSON.encode(try Sample.locator().geocode(request)) == first)
            }
        }
    }

    @Test func `every place is found by its own label`() throws {
        let locator = try Sample.locator()
        var random = SeededGenerator(seed: 20_261_121)
        print("seed \(random.seed)")
        for city in Sample.cities.shuffled(using: &random).prefix(800) {
            let point = ReverseGeocodeRequest(
                location: Coordinate(x: city.location.x, y: city.location.y), maxDistanceMeters: 1)
            let label = try #require(try locator.reverse(point).candidate).address
            let found = try geocode(label, most: 50)

            #expect(found.first?.score == 100, "\(label)")
            #expect(
                found.prefix { $0.score == 100 }.contains { $0.address == label }, "\(label)")
        }
    }

    @Test func `a big city is among the first five after any one slip in a long word`() throws {
        var random = SeededGenerator(seed: 20_261_122)
        print("seed \(random.seed)")
        let cities = Sample.cities.filter { $0.population >= 1_000_000 }
        var misses: [String] = []
        var count = 0
        for city in cities {
            guard let text = slip(in: city.name, &random) else { continue }
            count += 1
            let found = try geocode(text, most: 5)
            if !found.contains(where: { $0.sourceID == city.id }) {
                misses.append("\(city.name) as \(text)")
            }
        }

        #expect(count > 200)
        #expect(misses.isEmpty, "\(misses)")
    }

    /// The name with one letter of one word of five or more changed, lost, added or exchanged.
    private func slip(in name: String, _ random: inout SeededGenerator) -> String? {
        var words = name.filter { $0.isLetter || " -".contains($0) }
            .split { " -".contains($0) }.map(Array.init)
        let long = words.indices.filter { words[$0].count >= 5 }
        guard let word = long.randomElement(using: &random) else { return nil }
        let at = Int.random(in: 0..<words[word].count - 1, using: &random)
        let letter = "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<4, using: &random) {
        case 0: words[word][at] = letter
        case 1: words[word].remove(at: at)
        case 2: words[word].insert(letter, at: at)
        default: words[word].swapAt(at, at + 1)
        }
        return words.map { String($0) }.joined(separator: " ")
    }
}
