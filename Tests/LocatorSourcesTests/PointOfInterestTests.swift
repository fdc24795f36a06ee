// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

@testable import LocatorSources

/// Points of interest of OpenStreetMap: two towns 40 km apart with borders, and things in them.
@Suite struct PointOfInterestTests {
    private static let extract = """
        <?xml version="1.0" encoding="UTF-8"?>
        <osm version="0.6">
        <node id="1" lat="49.9" lon="9.9"/><node id="2" lat="49.9" lon="10.1"/>
        <node id="3" lat="50.1" lon="10.1"/><node id="4" lat="50.1" lon="9.9"/>
        <node id="5" lat="49.5" lon="9.5"/><node id="6" lat="49.5" lon="10.9"/>
        <node id="7" lat="50.5" lon="10.9"/><node id="8" lat="50.5" lon="9.5"/>
        <node id="11" lat="50.001" lon="10.001"><tag k="place" v="town"/><tag k="name" v="Mittelstadt"/>
          <tag k="population" v="12000"/></node>
        <node id="12" lat="50.3" lon="10.5"><tag k="place" v="town"/><tag k="name" v="Hochdorf"/>
          <tag k="population" v="3000"/></node>
        <node id="13" lat="50.002" lon="10.002"><tag k="tourism" v="hotel"/><tag k="name" v="Hotel Plaza"/>
          <tag k="name:fr" v="Hôtel de la Place"/><tag k="alt_name" v="Plaza Haus"/>
          <tag k="addr:housenumber" v="4"/><tag k="addr:street" v="Lange Gasse"/></node>
        <node id="14" lat="50.301" lon="10.501"><tag k="tourism" v="hotel"/><tag k="name" v="Hotel Plaza"/></node>
        <node id="15" lat="50.01" lon="10.01"><tag k="amenity" v="cafe"/><tag k="name" v="Hochdorf"/></node>
        <node id="16" lat="50.02" lon="10.02"><tag k="amenity" v="bench"/><tag k="name" v="Sitzbank"/></node>
        <node id="17" lat="50.03" lon="10.03"><tag k="shop" v="florist"/></node>
        <node id="18" lat="50.04" lon="10.04"><tag k="natural" v="peak"/><tag k="name" v="Spitzberg"/></node>
        <node id="21" lat="50.05" lon="10.00"/><node id="22" lat="50.05" lon="10.03"/>
        <node id="23" lat="50.08" lon="10.03"/><node id="24" lat="50.08" lon="10.02"/>
        <node id="25" lat="50.06" lon="10.02"/><node id="26" lat="50.06" lon="10.01"/>
        <node id="27" lat="50.08" lon="10.01"/><node id="28" lat="50.08" lon="10.00"/>
        <node id="31" lat="50.06" lon="10.005"><tag k="leisure" v="park"/><tag k="name" v="Hufeisenpark"/></node>
        <way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/>
          <tag k="boundary" v="administrative"/><tag k="admin_level" v="8"/><tag k="name" v="Mittelstadt"/></way>
        <way id="2"><nd ref="5"/><nd ref="6"/><nd ref="7"/><nd ref="8"/><nd ref="5"/>
          <tag k="boundary" v="administrative"/><tag k="admin_level" v="2"/><tag k="name" v="Land"/>
          <tag k="ISO3166-1:alpha2" v="QL"/></way>
        <way id="3"><nd ref="21"/><nd ref="22"/><nd ref="23"/><nd ref="24"/><nd ref="25"/><nd ref="26"/>
          <nd ref="27"/><nd ref="28"/><nd ref="21"/>
          <tag k="leisure" v="park"/><tag k="name" v="Hufeisenpark"/></way>
        <way id="4"><nd ref="21"/><nd ref="22"/><nd ref="23"/><nd ref="21"/>
          <tag k="railway" v="station"/><tag k="name" v="Mittelstadt Hbf"/></way>
        <way id="5"><nd ref="21"/><nd ref="23"/><tag k="natural" v="ridge"/><tag k="name" v="Langer Grat"/></way>
        </osm>
        """

    private static let built = Result {
        try Scratch.build([try Scratch.file(extract, "points.osm")], constants: [])
    }

    private func locator() throws -> Locator { try Self.built.get().locator }

    private func points(_ text: String) throws -> [Candidate] {
        try locator().geocode(GeocodeRequest(singleLine: text)).candidates.filter {
            $0.text("Addr_type") == "POI"
        }
    }

    @Test func `a point of interest says what it is and where`() throws {
        let built = try Self.built.get().built
        #expect(built.pointCount == 6)
        #expect(built.rejectedCount == 0)
        let found = try #require(try locator().first("Hotel Plaza, Mittelstadt"))
        #expect(found.score == 100)
        #expect(found.text("Addr_type") == "POI")
        #expect(found.text("Type") == "Hotel")
        #expect(found.text("PlaceName") == "Hotel Plaza")
        #expect(found.text("City") == "Mittelstadt")
        #expect(found.text("CountryCode") == "QL")
        #expect(found.text("Place_addr") == "4 Lange Gasse, Mittelstadt, Land")
        #expect(found.address == "Hotel Plaza, Mittelstadt, Land")
        #expect(found.location == Coordinate(x: 10.002, y: 50.002))
    }

    @Test(arguments: [
        "Hotel Plaza", "hotel plaza mittelstadt", "mittelstadt hotel plaza", "Hôtel de la Place",
        "Plaza Haus Mittelstadt Land", "Hotl Plaza, Mittelstadt", "Hotel Plaza, Mitelstadt",
    ])
    func `a point of interest is found by each of its names, with its town, and with a slip`(
        _ text: String
    ) throws {
        let found = try points(text)
        #expect(found.contains { $0.location == Coordinate(x: 10.002, y: 50.002) })
        if text.lowercased().contains("it") {
            #expect(found.first?.text("City") == "Mittelstadt")
        }
    }

    @Test func `the town in the text and the location part those of one name`() throws {
        #expect(try points("Hotel Plaza").count == 2)
        #expect(try points("Hotel Plaza, Hochdorf").first?.text("City") == "Hochdorf")
        #expect(try points("Hotel Plaza, Hochdorf").count == 1)
        for (x, y, city) in [(10.0, 50.0, "Mittelstadt"), (10.5, 50.3, "Hochdorf")] {
            let found = try locator().first("Hotel Plaza") {
                $0.location = Coordinate(x: x, y: y)
            }
            #expect(found?.text("City") == city)
        }
    }

    @Test func `a point of interest never comes before a town of its name, however near`() throws {
        let here = Coordinate(x: 10.01, y: 50.01)
        let found = try locator().geocode(
            GeocodeRequest(singleLine: "Hochdorf", location: here)
        ).candidates
        #expect(found.map { $0.text("Addr_type") } == ["Locality", "POI"])
        let keys = try locator().suggest(
            SuggestRequest(text: "Hochdorf", maxSuggestions: 15, location: here)
        ).suggestions
        #expect(keys.first?.text == "Hochdorf, Land")
        #expect(keys.map(\.text).contains("Hochdorf, Mittelstadt, Land"))
    }

    @Test func `the address of a point of interest is found as an address still`() throws {
        let house = try #require(try locator().first("Lange Gasse 4, Mittelstadt"))
        #expect(house.text("Addr_type") == "PointAddress")
        #expect(house.location == Coordinate(x: 10.002, y: 50.002))
    }

    @Test func `areas stand at a point within, lines and things without a name are none`() throws {
        let park = try points("Hufeisenpark")
        #expect(park.count == 1)
        let location = try #require(park.first?.location)
        let isInside =
            10.0...10.03 ~= location.x && 50.05...50.08 ~= location.y
            && !(10.01...10.02 ~= location.x && location.y > 50.06)
        #expect(isInside, "\(location)")
        #expect(try points("Mittelstadt Hbf").first?.text("Type") == "Train Station")
        #expect(try points("Langer Grat").isEmpty)
        #expect(try points("Sitzbank").isEmpty)
    }

    @Test func `categories are asked for together and by name`() throws {
        func found(_ categories: [String]) throws -> [String] {
            var request = GeocodeRequest(singleLine: "Hochdorf")
            request.categories = categories
            return try locator().geocode(request).candidates.map { $0.text("Type") }
        }
        #expect(try found(["POI"]) == ["Coffee Shop"])
        #expect(try found(["coffee shop"]) == ["Coffee Shop"])
        #expect(try found(["Hotel"]).isEmpty)
        #expect(try found(["City", "Coffee Shop"]) == ["City", "Coffee Shop"])
        #expect(try found(["Populated Place"]) == ["City"])
    }

    @Test func `suggestions go on to the town and lead back`() throws {
        for text in ["hotel pla", "hotel plaza, mitt", "plaza ha"] {
            let found = try locator().suggest(SuggestRequest(text: text)).suggestions
            let wanted = try #require(found.first { $0.text.contains("Mittelstadt") }, "\(text)")
            var request = GeocodeRequest(singleLine: wanted.text)
            request.magicKey = wanted.magicKey
            let back = try #require(try locator().geocode(request).candidates.first)
            #expect(back.text("PlaceName") == "Hotel Plaza")
        }
    }

    @Test func `reverse finds a point of interest only where it is asked for`() throws {
        func reverse(_ types: [String]?) throws -> String? {
            var request = ReverseGeocodeRequest(
                location: Coordinate(x: 10.0401, y: 50.0401), maxDistanceMeters: 50_000)
            request.featureTypes = types
            return try locator().reverse(request).candidate?.text("PlaceName")
        }
        #expect(try reverse(["POI"]) == "Spitzberg")
        #expect(try reverse(["Locality"]) == "Mittelstadt")
        #expect(try reverse(nil) != "Spitzberg")
    }

    @Test func `parts of an address name it and its town`() throws {
        var request = GeocodeRequest(singleLine: "Hotel Plaza, Hochdorf")
        request.fields = AddressFields(address: "Hotel Plaza", city: "Hochdorf")
        let found = try #require(try locator().geocode(request).candidates.first)
        #expect(found.score == 100)
        #expect(found.text("City") == "Hochdorf")
        #expect(found.text("Addr_type") == "POI")
    }

    @Test func `an explanation says which word is the town`() throws {
        let found = try #require(
            try locator().first("Hotel Plaza Hochdorf") { $0.explain = true })
        let words = try #require(found.explanation?.words)
        #expect(words.map(\.meaning) == [.name, .town])
        #expect(words.map(\.text) == ["hotel plaza", "hochdorf"])
        let other = try #require(
            try points("Hotel Plaza Hochdorf").first)
        #expect(other.location == Coordinate(x: 10.501, y: 50.301))
    }

    @Test func `the same extract gives the same locator`() throws {
        let again = try Scratch.build([try Scratch.file(Self.extract, "points.osm")], constants: [])
        #expect(again.built.id == (try Self.built.get().built.id))
    }

    @Test func `the table's keys are read, and its categories those announced`() throws {
        let table = PointOfInterestTags.shipped
        var names: [String] = []
        for row in table.rows {
            if let name = row.category, !names.contains(name) { names.append(name) }
        }
        #expect(names == PlaceCategory.pointsOfInterest)
        let settings = String(decoding: OpenStreetMap.settings, as: UTF8.self)
        for key in table.keys where key != "place" {
            #expect(
                settings.split(separator: "\n").filter {
                    $0.contains(",\(key),") || $0.hasSuffix(",\(key)")
                }.count >= 3, "\(key)")
        }
    }

    @Test(arguments: [
        "Albergo Plaza", "отель Plaza", "Plaza hotels", "Otel Plaza Mittelstadt",
    ])
    func `a word of its kind counts as said in any language`(_ text: String) throws {
        let found = try #require(try points(text).first)
        #expect(found.text("PlaceName") == "Hotel Plaza", "\(text)")
        #expect(found.score >= 95, "\(text): \(found.score)")
    }

    @Test func `a point of interest is found without its kind, but is not certain`() throws {
        let found = try #require(try points("Plaza").first)
        #expect(found.text("PlaceName") == "Hotel Plaza")
        #expect(found.score < 100)
    }

    @Test(arguments: [
        ("hotels in Mittelstadt", "Hotel Plaza", "Hotel"),
        ("Mittelstadt, гостиница", "Hotel Plaza", "Hotel"),
        ("cafés in Mittelstadt", "Hochdorf", "Coffee Shop"),
        ("szállodák Hochdorf", "Hotel Plaza", "Hotel"),
    ])
    func `a kind with a place finds its kind there`(
        _ text: String, _ name: String, _ type: String
    ) throws {
        let town = text.contains("Hochdorf") ? "Hochdorf" : "Mittelstadt"
        let found = try locator().geocode(GeocodeRequest(singleLine: text)).candidates
        #expect(found.first?.text("PlaceName") == name, "\(found.map(\.address))")
        #expect(found.first?.text("Type") == type)
        #expect(found.allSatisfy { $0.text("Type") != type || $0.text("City") == town })
        var request = GeocodeRequest(singleLine: text)
        request.explain = true
        #expect(try locator().geocode(request).candidates.first?.explanation != nil)
    }
}
