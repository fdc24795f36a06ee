// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import JobKinds
import Platform
import Site
import TestKit
import Testing

/// Jobs on a road network whose input is features, against the same jobs on a table.
@Suite struct RouteFeatureTests {
    private let town: RoadTown
    private let seed = UInt64.random(in: .min ... .max)

    init() throws { town = try RoadTown() }

    private static func collection(_ features: [String]) -> String {
        #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
    }

    private static func point(_ x: String, _ y: String, _ more: String) -> String {
        #"{"type":"Feature",\#(more),"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]}}"#
    }

    private func product(
        _ kind: JobKind, _ parameters: [String: String], _ input: String
    ) throws -> String {
        var run = try JobRun(kind, parameters, csv: input, on: town)
        return try run.product()
    }

    private func places(_ count: Int) -> [(x: String, y: String)] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            let place = RoadTown.place(&random)
            return ("\(place.x)", "\(place.y)")
        }
    }

    private static func rows(_ csv: String) -> [[String]] {
        csv.split(separator: "\n").map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
    }

    @Test func `lines are the routes that the same stops in a table have, with their attributes`()
        throws
    {
        let places = places(6)
        let lines = [0, 2, 4].map { number in
            let ends = places[number...number + 1].map { "[\($0.x),\($0.y)]" }
            return #"{"type":"Feature","id":\#(70 + number),"properties":{"van":"v\#(number)","#
                + #""load":\#(number)},"geometry":{"type":"LineString","coordinates":["#
                + ends.joined(separator: ",") + "]}}"
        }
        let rows = [0, 2, 4].map { number in
            "\(places[number].x),\(places[number].y),\(places[number + 1].x),"
                + "\(places[number + 1].y)"
        }
        let table = "x1,y1,x2,y2\n" + rows.joined(separator: "\n") + "\n"
        let found = Self.rows(
            try product(.batchRoute, ["fields": "load, van"], Self.collection(lines)))
        let known = Self.rows(try product(.batchRoute, [:], table))

        #expect(found[0].prefix(4) == ["id", "load", "van", "stops"])
        #expect(found.map { $0.suffix(3) } == known.map { $0.suffix(3) }, "seed \(seed)")
        #expect(
            found.dropFirst().map { Array($0.prefix(3)) } == [
                ["70", "0", "v0"], ["72", "2", "v2"], ["74", "4", "v4"],
            ])
        // Of GeoJSON the attributes keep their types.
        let file = try #require(
            JSONTree(
                Array(
                    try product(
                        .batchRoute, ["outputFormat": "geojson"], Self.collection(lines)
                    ).utf8)))
        let properties = file["features"]?.elements.map { $0["properties"] ?? .null } ?? []
        #expect(properties.map { $0["load"]?.jsonText } == ["0", "2", "4"])
        #expect(properties.map { $0["van"]?.jsonText } == [#""v0""#, #""v2""#, #""v4""#])
    }

    @Test func `points are the stops of the routes that they name, in their sequence`() throws {
        let places = places(5)
        func stop(_ place: Int, _ route: String, _ sequence: Int) -> String {
            Self.point(
                places[place].x, places[place].y,
                #""properties":{"RouteName":"\#(route)","Sequence":\#(sequence)}"#)
        }
        let features = Self.collection([
            stop(0, "a", 2), stop(1, "b", 1), stop(2, "a", 1), stop(3, "a", 3), stop(4, "b", 2),
        ])
        func list(_ all: [Int]) -> String {
            "\"" + all.map { "\(places[$0].x),\(places[$0].y)" }.joined(separator: ";") + "\""
        }
        let table = "stops\n\(list([2, 0, 3]))\n\(list([1, 4]))\n"
        let found = try product(.batchRoute, [:], features).split(separator: "\n")
        let known = try product(.batchRoute, [:], table).split(separator: "\n")

        #expect(found[0] == "RouteName,Sequence,stops,Length,Duration,Status")
        #expect(found.dropFirst() == ["a,2," + known[1], "b,1," + known[2]], "seed \(seed)")
    }

    @Test func `origins and destinations are measured as a table's, with the attributes of both`()
        throws
    {
        let places = places(5)
        let roles = ["origin", "origin", "destination", "destination", "destination"]
        let features = places.indices.map { number in
            Self.point(
                places[number].x, places[number].y,
                #""id":\#(number),"role":"\#(roles[number])","properties":{"zone":"z\#(number)"}"#)
        }
        let rows = places.indices.map { number in
            "\(number),\(places[number].x),\(places[number].y),\(roles[number])\n"
        }
        for parameters in [[:], ["closest": "2"], ["costs": "own"]] {
            let found = Self.rows(try product(.odMatrix, parameters, Self.collection(features)))
            let known = Self.rows(
                try product(.odMatrix, parameters, "id,x,y,role\n" + rows.joined()))
            #expect(found[0].suffix(2) == ["origin_zone", "destination_zone"])
            #expect(found.map { Array($0.prefix(4)) } == known, "seed \(seed)")
            for row in found.dropFirst() {
                #expect(row.suffix(2) == ["z" + row[0], "z" + row[1]])
            }
            #expect(found.count > 1)
        }
    }

    @Test func `areas have the attributes of their facility, in their types`() throws {
        let places = places(3)
        let features = places.indices.map { number in
            Self.point(
                places[number].x, places[number].y,
                #""properties":{"OBJECTID":\#(number + 5),"open":\#(number == 1),"from":0.5}"#)
        }
        let file = try #require(
            JSONTree(
                Array(
                    try product(
                        .serviceAreas, ["breaks": "30,60"], Self.collection(features)
                    ).utf8)))
        let properties = file["features"]?.elements.map { $0["properties"] ?? .null } ?? []
        #expect(properties.count >= 3)
        for one in properties {
            let id = try #require(one["facility"]?.whole)
            #expect(one["open"]?.isTrue == (id == 6))
            #expect(one["from_1"]?.number == 0.5)
            #expect(one["status"]?.text == "ok")
        }
    }

    @Test(arguments: [
        (JobKind.batchRoute, [:]), (.batchRoute, ["outputFormat": "geojson"]), (.odMatrix, [:]),
        (.serviceAreas, ["breaks": "40"]),
    ])
    func `chunks of features that are done again give the same bytes`(
        _ kind: JobKind, _ parameters: [String: String]
    ) throws {
        let places = places(240)
        let features = places.indices.map { number in
            Self.point(
                places[number].x, places[number].y,
                #""properties":{"RouteName":"r\#(number / 2)","n":\#(number)}"#)
        }
        let part = kind == .batchRoute ? features : Array(features.prefix(40))
        let input = Self.collection(part)
        var whole = try JobRun(kind, parameters, csv: input, on: town)
        var ended = try JobRun(kind, parameters, csv: input, on: town)
        let product = try whole.product()
        #expect(try ended.product(ending: SeededGenerator(seed: seed)) == product, "seed \(seed)")
        #expect(ended.endedCount > 0, "seed \(seed)")
    }

    @Test(arguments: [
        (#"{"type":"FeatureCollection"}"#, [:], "no list 'features'"),
        (#"{"type":"Feature","#, [:], "no GeoJSON"),
        (#"{"features":[]}"#, [:], "expected 'type' to be FeatureCollection"),
        (
            #"{"type":"Feature","geometry":{"type":"Polygon","coordinates":[]}}"#, [:],
            "feature 1: a geometry of type 'Polygon'"
        ),
        (
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1]}}"#, [:],
            "feature 1: a position"
        ),
        (
            #"{"type":"FeatureCollection","features":[],"crs":{"type":"name","properties":"#
                + #"{"name":"urn:ogc:def:crs:EPSG::3857"}}}"#, [:], "EPSG::3857"
        ),
        (#"{"type":"FeatureCollection","features":[]}"#, ["columns": "x,y"], "'columns'"),
        (#"{"type":"FeatureCollection","features":[]}"#, ["fields": "size"], "'size'"),
        ("x,y\n1,2\n", ["fields": "x"], "'fields'"),
    ])
    func `features that are no places are refused by name, before and in the job`(
        _ input: String, _ parameters: [String: String], _ part: String
    ) throws {
        var run = try JobRun(.odMatrix, parameters, csv: input, on: town)
        let failure = #expect(throws: Failure.self) { try run.product() }
        #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
        let refusal = #expect(throws: Failure.self) {
            try JobKinds.check(
                JobOrder(
                    kind: .odMatrix, parameters: run.submission.parameters,
                    input: run.submission.input, blobs: run.blobs))
        }
        #expect(refusal?.message == failure?.message)
    }

    @Test func `a feature without a place is a row that says so`() throws {
        let nowhere = #"{"type":"Feature","id":"n","properties":null,"geometry":null}"#
        let areas = try product(.serviceAreas, ["breaks": "1"], nowhere)
        #expect(areas.contains(#""facility":"n""#) && areas.contains("invalid"))
        let routes = try product(.batchRoute, [:], nowhere)
        #expect(routes == "id,stops,Length,Duration,Status\nn,?,,,invalid\n")
    }
}
