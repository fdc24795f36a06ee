// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit
import Testing

@Suite struct OpenStreetMapTests {
    /// A town of one street with houses, inside borders, and a village outside those of the town.
    private static let extract = """
        <?xml version="1.0" encoding="UTF-8"?>
        <osm version="0.6">
        <node id="1" lat="50.000" lon="10.000"/><node id="2" lat="50.000" lon="10.010"/>
        <node id="3" lat="49.9" lon="9.9"/><node id="4" lat="49.9" lon="10.1"/>
        <node id="5" lat="50.1" lon="10.1"/><node id="6" lat="50.1" lon="9.9"/>
        <node id="7" lat="49.5" lon="9.5"/><node id="8" lat="49.5" lon="10.5"/>
        <node id="9" lat="50.5" lon="10.5"/><node id="10" lat="50.5" lon="9.5"/>
        <node id="11" lat="50.001" lon="10.001"><tag k="place" v="town"/><tag k="name" v="Mitte"/>
          <tag k="name:fr" v="Milieu"/><tag k="alt_name" v="Zentrum;Kern"/><tag k="population" v="12 000"/></node>
        <node id="12" lat="50.3" lon="10.3"><tag k="place" v="village"/><tag k="name" v="Dorf"/></node>
        <node id="13" lat="50.0002" lon="10.002"><tag k="addr:housenumber" v="12a"/>
          <tag k="addr:street" v="Lange Gasse"/><tag k="addr:postcode" v="12345"/></node>
        <node id="14" lat="50.3001" lon="10.301"><tag k="addr:housenumber" v="7"/>
          <tag k="addr:place" v="Dorf"/></node>
        <node id="15" lat="50.0001" lon="10.004"/><node id="16" lat="50.0001" lon="10.0042"/>
        <node id="17" lat="50.0003" lon="10.0042"/><node id="18" lat="50.0003" lon="10.004"/>
        <node id="19" lat="50.0" lon="10.005"><tag k="addr:housenumber" v="A-5"/>
          <tag k="addr:street" v="Lange Gasse"/></node>
        <node id="20" lat="50.005" lon="10.005"/>
        <way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/><tag k="name" v="Lange Gasse"/></way>
        <way id="2"><nd ref="2"/><nd ref="20"/><tag k="highway" v="residential"/><tag k="name" v="Kurze Gasse"/></way>
        <way id="3"><nd ref="3"/><nd ref="4"/><nd ref="5"/><nd ref="6"/><nd ref="3"/>
          <tag k="boundary" v="administrative"/><tag k="admin_level" v="8"/><tag k="name" v="Mitte"/></way>
        <way id="4"><nd ref="7"/><nd ref="8"/><nd ref="9"/><nd ref="10"/><nd ref="7"/>
          <tag k="boundary" v="administrative"/><tag k="admin_level" v="2"/><tag k="name" v="Land"/>
          <tag k="ISO3166-1:alpha2" v="QL"/></way>
        <way id="5"><nd ref="7"/><nd ref="8"/><nd ref="9"/><nd ref="10"/><nd ref="7"/>
          <tag k="boundary" v="administrative"/><tag k="admin_level" v="4"/><tag k="name" v="Gau"/>
          <tag k="ISO3166-2" v="QL-GA"/></way>
        <way id="6"><nd ref="15"/><nd ref="16"/><nd ref="17"/><nd ref="18"/><nd ref="15"/>
          <tag k="building" v="yes"/><tag k="addr:housenumber" v="14"/><tag k="addr:street" v="Lange Gasse"/></way>
        </osm>
        """

    @Test func `addresses, streets and settlements lie inside their borders`() throws {
        let (built, locator) = try Scratch.build(
            [try Scratch.file(Self.extract, "town.osm")], constants: [])
        #expect(built.houseCount == 3)
        #expect(built.rejected.map(\.reason).contains { $0.contains("'A-5'") })
        for text in ["12a Lange Gasse 12345 Mitte", "Lange Gasse 12 A, Mitte, Gau, Land"] {
            let house = try #require(try locator.first(text))
            #expect(house.text("Addr_type") == "PointAddress")
            #expect(house.location == Coordinate(x: 10.002, y: 50.0002))
            #expect(house.text("City") == "Mitte")
            #expect(house.text("Region") == "Gau")
            #expect(house.text("CountryCode") == "QL")
        }
        let building = try #require(try locator.first("14 Lange Gasse Mitte"))
        #expect(building.meters(to: Coordinate(x: 10.0041, y: 50.0002)) < 1)
        let village = try #require(try locator.first("Dorf 7, Dorf"))
        #expect(village.text("AddNum") == "7")
        #expect(village.text("City") == "Dorf")
        let corner = try #require(try locator.first("Lange Gasse / Kurze Gasse, Mitte"))
        #expect(corner.text("Addr_type") == "StreetInt")
        #expect(corner.meters(to: Coordinate(x: 10.01, y: 50)) < 1)
        for name in ["Mitte", "Milieu", "Zentrum", "Kern"] {
            let town = try #require(try locator.first(name), "\(name)")
            #expect(town.text("Addr_type") == "Locality")
            #expect(town.text("City") == "Mitte")
            #expect(town.attributes["Population"] == .integer(12_000))
        }
    }

    private static let city = #"<tag k="addr:city" v="Mitte"/>"#
    private static let postcode = #"<tag k="addr:postcode" v="12345"/>"#

    @Test(arguments: [(city + postcode, postcode), (city, ""), (postcode, "")])
    func `the answer for two houses of one address is the one with more details`(
        _ more: String, _ less: String
    ) throws {
        func house(_ id: Int, _ longitude: Double, _ tags: String) -> String {
            #"<node id="\#(id)" lat="50.0002" lon="\#(longitude)"><tag k="addr:housenumber" v="30"/>"#
                + #"<tag k="addr:street" v="Lange Gasse"/>\#(tags)</node>"#
        }
        for (west, east) in [(less, more), (more, less)] {
            let houses = house(21, 10.003, west) + house(22, 10.008, east)
            let extract = Self.extract.replacing(
                #"<way id="1">"#, with: houses + #"<way id="1">"#, maxReplacements: 1)
            let (_, locator) = try Scratch.build(
                [try Scratch.file(extract, "town.osm")], constants: [])
            let found = try #require(try locator.first("30 Lange Gasse, Mitte"))
            #expect(found.location.x == (west == more ? 10.003 : 10.008))
        }
    }

    /// Objects of every kind, as the extract itself numbers them.
    @Test func `objects keep their ids and the languages of their names`() throws {
        let extract = """
            <?xml version="1.0" encoding="UTF-8"?>
            <osm version="0.6">
            <node id="1" lat="50" lon="10"/><node id="2" lat="50" lon="10.01"/>
            <node id="3" lat="50.01" lon="10.01"/><node id="4" lat="50.01" lon="10"/>
            <node id="13000000001" lat="50.005" lon="10.005"><tag k="place" v="town"/>
              <tag k="name" v="Mitte"/><tag k="name:fr" v="Milieu;Centre"/><tag k="name:zh-Hant" v="中間"/>
              <tag k="name:etymology:wikidata" v="Q1"/><tag k="name:prefix" v="Stadt"/></node>
            <node id="6" lat="50.006" lon="10.006"><tag k="tourism" v="museum"/><tag k="name" v="Uhrenhaus"/>
              <tag k="name:fr" v="Maison des montres"/><tag k="addr:street" v="Lange Gasse"/>
              <tag k="addr:housenumber" v="12a"/><tag k="addr:city" v="Mitte"/></node>
            <way id="7"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/>
              <tag k="leisure" v="park"/><tag k="name" v="Rosenpark"/></way>
            <way id="8"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/></way>
            <relation id="9"><member type="way" ref="8" role="outer"/><tag k="type" v="multipolygon"/>
              <tag k="natural" v="water"/><tag k="name" v="Tiefsee"/></relation>
            <relation id="10"><member type="way" ref="8" role="outer"/><tag k="type" v="boundary"/>
              <tag k="boundary" v="administrative"/><tag k="admin_level" v="2"/><tag k="name" v="Land"/>
              <tag k="name:fr" v="Pays"/><tag k="ISO3166-1:alpha2" v="QL"/></relation>
            </osm>
            """
        let (built, locator) = try Scratch.build(
            [try Scratch.file(extract, "town.osm")], constants: [])
        #expect(built.sources.map(\.form) == ["OpenStreetMap"])
        #expect(built.sources[0].attribution == "© OpenStreetMap contributors, ODbL")
        let ids = [
            ("Mitte", "node/13000000001"), ("Uhrenhaus", "node/6"), ("Rosenpark", "way/7"),
            ("Tiefsee", "relation/9"), ("Land", "relation/10"),
        ]
        for (name, id) in ids {
            let found = try #require(try locator.first(name), "\(name)")
            #expect(found.text("Origins") == "town.osm#" + id)
        }
        let town = try #require(try locator.first("mitte") { $0.language = "fr" })
        #expect(town.address == "Milieu, Pays" && town.text("LangCode") == "FRE")
        #expect(try locator.first("mitte") { $0.language = "zh-TW" }?.text("City") == "中間")
        for language in [nil, "fr"] {
            let museum = try #require(try locator.first("uhrenhaus") { $0.language = language })
            #expect(museum.text("StAddr") == "12a Lange Gasse")
            #expect(museum.text("AddNum") == "12a" && museum.text("StName") == "Lange Gasse")
            #expect(
                museum.text("Place_addr")
                    == "12a Lange Gasse, " + (language == nil ? "Mitte, Land" : "Milieu, Pays"))
            #expect(
                museum.text("PlaceName") == (language == nil ? "Uhrenhaus" : "Maison des montres"))
        }
        #expect(try locator.first("rosenpark")?.text("StAddr") == "")
    }

    @Test func `borders of countries and divisions stay in the locator`() throws {
        // A second country, east of the first; its town is nearer to the first one's east than
        // `Dorf`.
        let east = """
            <node id="21" lat="49.5" lon="11.5"/><node id="22" lat="50.5" lon="11.5"/>
            <node id="23" lat="50.3" lon="10.501"><tag k="place" v="town"/><tag k="name" v="Osten"/></node>
            <way id="1"><nd ref="1"/>
            """
        let border = """
            <way id="7"><nd ref="8"/><nd ref="21"/><nd ref="22"/><nd ref="9"/><nd ref="8"/>
              <tag k="boundary" v="administrative"/><tag k="admin_level" v="2"/><tag k="name" v="Ostland"/>
              <tag k="ISO3166-1" v="QO"/></way>
            <way id="8"><nd ref="8"/><nd ref="21"/><nd ref="22"/><nd ref="9"/><nd ref="8"/>
              <tag k="boundary" v="administrative"/><tag k="admin_level" v="2"/><tag k="name" v="Nameless"/></way>
            </osm>
            """
        let extract = Self.extract.replacingOccurrences(
            of: "<way id=\"1\"><nd ref=\"1\"/>", with: east
        ).replacingOccurrences(of: "</osm>", with: border)
        let (built, locator) = try Scratch.build(
            [try Scratch.file(extract, "two.osm")], constants: [])
        #expect(built.areaCount == 3)
        #expect(built.rejected.map(\.reason).contains { $0.contains("'Nameless'") })
        func near(_ x: Double) throws -> Candidate? {
            try locator.reverse(
                ReverseGeocodeRequest(
                    location: Coordinate(x: x, y: 50.3), maxDistanceMeters: 50_000)
            ).candidate
        }
        let west = try #require(try near(10.499))
        #expect(west.text("City") == "Dorf")
        #expect(west.text("CountryCode") == "QL")
        #expect(west.attributes["NearerAcrossBorder"] != nil)
        #expect(try near(10.5011)?.text("CountryCode") == "QO")
    }

    /// Every name of a country or division in every tag finds it, alone and after a town, and every
    /// language answers in its own; the gazetteer's division is found by its English name.
    @Test(arguments: [false, true])
    func `names of borders are looked for, and answer in their languages`(
        _ hasGazetteer: Bool
    ) throws {
        var random = SeededGenerator(seed: hasGazetteer ? 8 : 9)
        func word() -> String {
            (0..<5).map { _ in
                ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"].randomElement(
                    using: &random) ?? ""
            }.joined().capitalized
        }
        let languages = ["en", "fr", "pl", "zh-Hant", "sr-Latn"]
        var names: [String: [String: String]] = [:]
        for area in ["Land", "Gau"] {
            for language in languages { names[area, default: [:]]["name:" + language] = word() }
            for key in ["alt_name", "official_name", "short_name", "old_name"] {
                names[area, default: [:]][key] = word() + ";" + word()
            }
        }
        var extract = Self.extract
        for (area, tags) in names {
            let mark = "<tag k=\"name\" v=\"\(area)\"/>"
            let more = tags.sorted { $0.key < $1.key }.map {
                "<tag k=\"\($0.key)\" v=\"\($0.value)\"/>"
            }
            extract = extract.replacing(mark, with: mark + more.joined())
        }
        var sources = [try Scratch.file(extract, "town.osm")]
        if hasGazetteer {
            let english = names["Gau"]?["name:en"] ?? ""
            sources.insert(
                try Scratch.file("name\tcode\tid\n\(english)\tQL.05\t77\n", "regions.tsv"), at: 0)
        }
        let (built, locator) = try Scratch.build(sources, constants: [])
        #expect(built.areaCount == 2)
        for (area, tags) in names {
            let kind = area == "Land" ? "Country" : "State or Province"
            let all = [area] + tags.values.flatMap { $0.split(separator: ";").map(String.init) }
            for name in all {
                for language in [nil] + languages.map(Optional.some) {
                    let found = try #require(
                        try locator.first(name) { $0.language = language }, "\(name)")
                    #expect(found.score == 100, "\(name)")
                    #expect(found.text("Type") == kind, "\(name)")
                    let usual =
                        hasGazetteer && area == "Gau" ? tags["name:en"] ?? "" : area
                    #expect(
                        found.text("PlaceName")
                            == language.map { tags["name:" + $0] ?? "" } ?? usual, "\(name)")
                }
                let town = try #require(try locator.first("Dorf, \(name)"), "\(name)")
                #expect(town.score == 100 && town.text("City") == "Dorf", "\(name)")
            }
        }
        let division = try #require(try locator.first("Gau"))
        #expect(
            division.text("Origins")
                == (hasGazetteer ? "regions.tsv#77; town.osm#way/5" : "town.osm#way/5"))
    }

    @Test func `a settlement that two sources name is one`() throws {
        let gazetteer = try Scratch.file(
            """
            id\tname\tlatitude\tlongitude\tcountry\tpopulation\talternate_names
            1\tMilieu\t50.002\t10.003\tQL\t11000\tMitten
            2\tDorf\t52.0\t10.3\tQL\t300\t
            """, "places.tsv")
        let extract = try Scratch.file(Self.extract, "town.osm")
        let (built, locator) = try Scratch.build([gazetteer, extract], constants: [])
        let (again, _) = try Scratch.build([gazetteer, extract], constants: [])
        #expect(built.id == again.id)
        for name in ["Mitte", "Milieu", "Mitten", "Kern"] {
            let found = try locator.geocode(GeocodeRequest(singleLine: name)).candidates.filter {
                $0.score == 100 && $0.text("Addr_type") == "Locality"
            }
            #expect(found.count == 1, "\(name)")
            #expect(found.first?.attributes["GeoNamesID"] == .integer(1), "\(name)")
        }
        let far = try locator.geocode(GeocodeRequest(singleLine: "Dorf")).candidates.filter {
            $0.text("Addr_type") == "Locality"
        }
        #expect(far.count == 2)
    }

    @Test func `an extract cut short builds nothing`() throws {
        let cut = String(Self.extract.prefix(Self.extract.utf8.count * 2 / 3))
        let path = try Scratch.file(cut, "cut.osm")
        let directory = Scratch.directory()
        #expect {
            try LocatorBuilder.build(
                sources: [path], vectors: VectorSources.reader(expandingIn: directory),
                into: directory)
        } throws: { error in
            (error as? Failure)?.code == .unreadable
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }

    @Test(.slow) func `an extract out of order is the same as in order`() throws {
        guard let sorted = SharedData.path("osm/columbus_oh_sorted.osm.pbf"),
            let unsorted = SharedData.path("osm/columbus_oh_unsorted.osm.pbf")
        else { return }
        let constants = ["city=Columbus", "country=US"]
        let (first, _) = try Scratch.build([sorted], constants: constants)
        let (second, _) = try Scratch.build([unsorted], constants: constants)
        #expect(first.streetCount > 1_000)
        #expect(first.streetCount == second.streetCount)
        #expect(first.segmentCount == second.segmentCount)
        #expect(first.houseCount == second.houseCount)
    }
}
