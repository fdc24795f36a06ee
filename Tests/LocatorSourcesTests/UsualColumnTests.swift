// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import Testing

/// Sources of addresses that are known by the usual headings of their columns.
@Suite struct UsualColumnTests {
    @Test(arguments: [
        ("housenumber,street,postcode,city,lon,lat", ","),
        ("house_number;road;zip;town;longitude;latitude", ";"),
        ("number\tStreet\tpostal_code\tCity\tLon\tLat", "\t"),
        ("addr:housenumber|addr:street|addr:postcode|addr:city|lng|lat", "|"),
        ("Hausnummer;Straße;PLZ;Ort;x;y", ";"),
    ])
    func `a table with usual headings gives houses`(_ heading: String, _ sign: String) throws {
        let rows = [
            ["7", "Elm Road", "12345", "Gridham", "10.5", "50.5"],
            ["9a", "Elm Road", "12345", "Gridham", "10.501", "50.5"],
        ]
        let text = ([heading] + rows.map { $0.joined(separator: sign) }).joined(separator: "\n")
        let path = try Scratch.file(text, "houses.csv")
        let (built, locator) = try Scratch.build([path], constants: [])

        #expect((built.houseCount, built.streetCount, built.rejectedCount) == (2, 1, 0))
        let house = try #require(try locator.first("7 Elm Road, Gridham"))
        #expect(house.text("Addr_type") == "PointAddress")
        #expect(abs(house.location.x - 10.5) < 1e-6 && abs(house.location.y - 50.5) < 1e-6)
        let columns = try #require(built.columns.first)
        #expect(
            columns.read.map(\.field) == [
                "number", "street", "postal", "city", "longitude", "latitude",
            ])
        #expect(columns.read.map(\.column) == heading.split(separator: sign).map(String.init))
        #expect(columns.unknown.isEmpty && columns.withoutHouses == nil)
    }

    @Test(arguments: [
        ("addr:housenumber", "addr:street", "addr:postcode"),
        ("house_number", "road", "zip"), ("number", "street", "postal_code"),
    ])
    func `a layer with usual fields gives houses, and says what it did not understand`(
        _ number: String, _ street: String, _ postal: String
    ) throws {
        let path = try Scratch.file(
            #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"#
                + #""\#(number)":"7","\#(street)":"Elm Road","\#(postal)":"12345","colour":"red"},"#
                + #""geometry":{"type":"Point","coordinates":[10.5,50.5]}}]}"#, "houses.geojson")
        let (built, locator) = try Scratch.build([path])

        #expect(built.houseCount == 1)
        let house = try #require(try locator.first("7 Elm Road, Gridham 12345"))
        #expect(house.text("Addr_type") == "PointAddress")
        let columns = try #require(built.columns.first)
        #expect(columns.read.map(\.column) == [number, street, postal])
        #expect(columns.unknown == ["colour"])
        #expect(columns.description.hasSuffix("; not understood: 'colour'"))
        #expect(columns.warning == nil)
    }

    @Test(arguments: ["houses.csv", "houses.geojson"])
    func `streets without a column of house numbers are counted in a warning`(
        _ name: String
    ) throws {
        let text =
            name.hasSuffix("csv")
            ? "street,thing,city,lon,lat\nElm Road,7,Gridham,10.5,50.5\nOak Way,9,Gridham,10.6,50.5\n"
            : #"{"type":"FeatureCollection","features":["#
                + [("Elm Road", 10.5), ("Oak Way", 10.6)].map {
                    #"{"type":"Feature","properties":{"street":"\#($0)","thing":"7"},"geometry":"#
                        + #"{"type":"Point","coordinates":[\#($1),50.5]}}"#
                }.joined(separator: ",") + "]}"
        let path = try Scratch.file(text, name)
        let (built, _) = try Scratch.build([path])

        #expect((built.houseCount, built.streetCount) == (0, 2))
        let columns = try #require(built.columns.first)
        #expect(columns.withoutHouses == 2 && columns.unknown.contains("thing"))
        let warning = try #require(columns.warning)
        #expect(warning.contains("no column of house numbers is understood, so 2 records"))
    }

    @Test func `a table of addresses without towns is refused with the column that it lacks`()
        throws
    {
        let path = try Scratch.file(
            "housenumber,street,lon,lat\n7,Elm Road,10.5,50.5\n", "houses.csv")
        let failure = #expect(throws: Failure.self) {
            try Scratch.build([path], constants: [])
        }
        #expect(failure?.code == .unreadable)
        let message = try #require(failure?.message)
        #expect(
            message.contains("'housenumber' as number, 'street' as street")
                && message.contains("expected a column of city too"), "\(message)")
        let (built, _) = try Scratch.build([path], constants: ["city=Gridham"])
        #expect(built.houseCount == 1)
    }

    @Test func `a country that is a name is left out, and a code is kept`() throws {
        let path = try Scratch.file(
            "number,road,town,country,lon,lat\n7,Elm Road,Gridham,Germany,10.5,50.5\n"
                + "9,Elm Road,Gridham,DE,10.501,50.5\n", "houses.csv")
        let (built, _) = try Scratch.build([path], constants: [])
        #expect((built.houseCount, built.rejectedCount) == (2, 0))
    }

    @Test func `named features with an address stay named features`() throws {
        let path = try Scratch.file(
            #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"#
                + #""name":"Town Hall","addr:street":"Elm Road","addr:housenumber":"7"},"#
                + #""geometry":{"type":"Point","coordinates":[10.5,50.5]}}]}"#, "points.geojson")
        let (built, _) = try Scratch.build([path], constants: [])
        #expect((built.pointCount, built.houseCount) == (1, 0))
        #expect(built.columns.isEmpty)
    }
}
