// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Platform
import Routing
import Site
import TestKit
import Testing

@testable import JobKinds

/// The tasks of Esri's asynchronous analyses, against single answers of the network's router.
@Suite struct NetworkTaskTests {
    private let town: RoadTown
    private let seed = UInt64.random(in: .min ... .max)

    init() throws { town = try RoadTown() }

    private static func feature(
        _ role: String, _ place: Coordinate, _ properties: String = ""
    ) -> String {
        #"{"type":"Feature","role":"\#(role)","properties":{\#(properties)},"geometry":"#
            + #"{"type":"Point","coordinates":[\#(place.x),\#(place.y)]}}"#
    }

    private static func collection(_ features: [String]) -> String {
        #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
    }

    private func places(_ count: Int) -> [Coordinate] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in RoadTown.place(&random) }
    }

    private func run(
        _ kind: JobKind, _ parameters: [String: String], _ features: [String]
    ) throws -> (product: JSONTree, text: String, messages: [String]) {
        var run = try JobRun(kind, parameters, csv: Self.collection(features), on: town)
        let text = try run.product()
        return (try #require(JSONTree(Array(text.utf8))), text, run.messages.map(\.text))
    }

    private static func rows(_ product: JSONTree, _ name: String) -> [JSONTree] {
        (product[name]?["features"]?.elements ?? []).compactMap { $0["attributes"] }
    }

    private func answer(
        _ stops: [Coordinate], uTurns: UTurnPolicy? = nil
    ) throws -> FoundRoute {
        var terms = RouteTerms(network: "Town")
        terms.travelMode = "Driving Time"
        terms.at = 100
        terms.uTurns = uTurns
        terms.departure = Timestamp(microseconds: 500_000_000)
        let request = RouteRequest(terms, stops: stops.map { RoutePlace($0) })
        return try #require(try town.plain(terms).route(request).routes.first)
    }

    @Test func `routes have what the router says, in Esri's words and order`() throws {
        let places = places(5)
        let stops = [
            Self.feature("stops", places[0], #""Name":"a","RouteName":"one","van":7"#),
            Self.feature("stops", places[1], #""Name":"b","RouteName":"one""#),
            Self.feature("stops", places[2], #""Name":"c","RouteName":"two","Sequence":2"#),
            Self.feature("stops", places[3], #""Name":"d","RouteName":"two","Sequence":1"#),
        ]
        let parameters = [
            "travel_mode": "Driving Time", "measurement_units": "Seconds",
            "directions_distance_units": "Meters",
        ]
        let (product, text, _) = try run(.findRoutes, parameters, stops)

        #expect(
            product.members.map(\.name) == [
                "Solve_Succeeded", "Output_Routes", "Output_Route_Edges", "Output_Directions",
                "Output_Stops", "Output_Network_Analysis_Layer", "Output_Route_Data",
                "Output_Result_File", "Output_Network_Analysis_Layer_Package",
                "Output_Direction_Points", "Output_Direction_Lines", "Usage_Cost",
            ])
        #expect(product["Solve_Succeeded"]?.isTrue == true)
        let routes = Self.rows(product, "Output_Routes")
        #expect(routes.map { $0["Name"]?.text } == ["one", "two"])
        for (route, ends) in zip(routes, [[places[0], places[1]], [places[3], places[2]]]) {
            let known = try answer(ends)
            #expect(route["Total_Minutes"]?.number == known.duration / 60, "seed \(seed)")
            #expect(route["Total_Seconds"]?.number == known.duration)
            #expect(route["Total_Kilometers"]?.number == known.length / 1_000)
            #expect(route["Total_Miles"]?.number == known.length / 1_609.344)
            #expect(route["StopCount"]?.whole == 2 && route["StartTime"]?.whole == nil)
            let own = Self.rows(product, "Output_Directions").filter {
                $0["RouteName"]?.text == route["Name"]?.text
            }
            let length = own.reduce(0) { $0 + ($1["DriveDistance"]?.number ?? 0) }
            #expect(abs(length - known.length) < 1e-6)
            #expect(own.first?["Type"]?.whole == 18 && own.last?["Type"]?.whole == 1)
            #expect(own.allSatisfy { $0["Text"]?.text?.isEmpty == false })
        }
        let visited = Self.rows(product, "Output_Stops")
        #expect(visited.map { $0["Name"]?.text } == ["a", "b", "d", "c"])
        #expect(visited.map { $0["Sequence"]?.whole } == [1, 2, 1, 2])
        #expect(visited[0]["van"]?.whole == 7 && visited[1]["van"]?.whole == nil)
        #expect(
            visited[1]["Cumul_Minutes"]?.number == routes[0]["Total_Minutes"]?.number)
        // The same request at the same sequence number gives the same bytes.
        #expect(try run(.findRoutes, parameters, stops).text == text)
    }

    @Test func `a route that returns ends where it began`() throws {
        let places = places(3)
        let stops = places.map { Self.feature("stops", $0) }
        let (product, _, _) = try run(
            .findRoutes, ["travel_mode": "Driving Time", "return_to_start": "true"], stops)
        let known = try answer(places + [places[0]])
        #expect(
            Self.rows(product, "Output_Routes").map { $0["Total_Minutes"]?.number }
                == [known.duration / 60], "seed \(seed)")
        #expect(Self.rows(product, "Output_Stops").count == 4)
    }

    @Test func `Custom has the turns, the impedance and the unit of its parameters`() throws {
        let places = places(2)
        let stops = places.map { Self.feature("stops", $0, #""AdditionalTime":2"#) }
        let (product, _, _) = try run(.findRoutes, ["uturn_at_junctions": "Not Allowed"], stops)
        let known = try answer(places, uTurns: .nowhere)
        let total = try #require(
            Self.rows(product, "Output_Routes").first?["Total_Minutes"]?.number)
        #expect(abs(total - known.duration / 60 - 4) < 1e-9, "seed \(seed)")

        let byLength = try run(.findRoutes, ["measurement_units": "Miles"], stops).product
        let shortest = try #require(
            Self.rows(byLength, "Output_Routes").first?["Total_Miles"]?.number)
        #expect(shortest <= known.length / 1_609.344 + 1e-9)
    }

    @Test func `facilities are ranked, tables have both costs, areas are of their breaks`() throws {
        let places = places(4)
        let facilities = places[1...].enumerated().map { number, place in
            Self.feature("facilities", place, #""Name":"f\#(number)","beds":\#(number)"#)
        }
        let mode = ["travel_mode": "Driving Time"]
        let costs = try places[1...].map { try answer([places[0], $0]).duration / 60 }
        let found = try run(
            .findClosestFacilities,
            mode.merging(["number_of_facilities_to_find": "2"]) { $1 },
            facilities + [Self.feature("incidents", places[0])]
        ).product
        let ranked = Self.rows(found, "Output_Routes")
        #expect(ranked.map { $0["FacilityRank"]?.whole } == [1, 2])
        #expect(
            ranked.compactMap { $0["Total_Minutes"]?.number } == Array(costs.sorted().prefix(2)),
            "seed \(seed)")
        #expect(Self.rows(found, "Output_Closest_Facilities").count == 2)
        #expect(
            Self.rows(found, "Output_Facilities").map { $0["beds"]?.whole } == [0, 1, 2])

        let matrix = try run(
            .generateOriginDestinationCostMatrix,
            mode.merging(["time_units": "Seconds", "distance_units": "Miles"]) { $1 },
            [Self.feature("origins", places[0])]
                + places[1...].map { Self.feature("destinations", $0) }
        ).product
        let cells = Self.rows(matrix, "Output_Origin_Destination_Lines")
        for (place, cell) in cells.enumerated() {
            let id = Int(cell["DestinationOID"]?.whole ?? 0)
            let known = try answer([places[0], places[id]])
            #expect(cell["DestinationRank"]?.whole == Int64(place + 1))
            #expect(abs((cell["Total_Time"]?.number ?? 0) - known.duration) < 1e-6)
            #expect(abs((cell["Total_Distance"]?.number ?? 0) - known.length / 1_609.344) < 1e-9)
        }
        #expect(cells.count == 3)

        let areas = try run(
            .generateServiceAreas,
            ["break_values": "60 30", "break_units": "Seconds", "polygon_overlap_type": "Disks"],
            facilities
        ).product
        let rows = Self.rows(areas, "Service_Areas")
        #expect(rows.map { $0["ToBreak"]?.number } == [60, 30, 60, 30, 60, 30])
        #expect(Set(rows.compactMap { $0["beds"]?.whole }) == [0, 1, 2])
    }

    @Test(
        arguments: [
            (["travel_mode": "Flying"], "'Driving Time', 'Driving Distance'"),
            (["travel_mode": "Driving Time", "travel_modes": "x"], "did you mean 'travel_mode'"),
            (["restrictions": #"["Avoid Dragons"]"#], "restriction 'Avoid Dragons'"),
            (["impedance": "Fuel"], "'impedance'"), (["impedance": "Walk Time"], "'impedance'"),
            (["measurement_units": "Parsecs"], "'measurement_units'"),
            (["uturn_at_junctions": "Never"], "'uturn_at_junctions'"),
            (["preserve_terminal_stops": "All"], "'preserve_terminal_stops'"),
            (["time_of_day": "soon"], "'time_of_day'"),
            (["use_time_windows": "true"], "'use_time_windows' needs 'time_of_day'"),
            (["save_route_data": "true"], "'save_route_data'"),
            (["output_format": "JSON File"], "'output_format'"),
            (["overrides": #"{"a":1}"#], "'overrides'"),
            (["attribute_parameter_values": #"{"features":[{"attributes":{}}]}"#], "no rows"),
            (["accumulate_attributes": "Fuel"], "'accumulate_attributes'"),
            (["route_line_simplification_tolerance": "far"], "a distance like"),
            (["locate_settings": #"{"default":{"tolerance":-1}}"#], "'locate_settings'"),
            (["populate_directions": "perhaps"], "true or false"),
        ] as [([String: String], String)])
    func `what cannot be done is refused by its name, before anything is recorded`(
        _ parameters: [String: String], _ sentence: String
    ) throws {
        let stops = places(2).map { Self.feature("stops", $0) }
        let run = try JobRun(
            .findRoutes, parameters, csv: Self.collection(stops), on: town)
        let order = JobOrder(
            kind: .findRoutes, parameters: run.submission.parameters,
            input: run.submission.input, blobs: run.blobs, networks: [town.network.published])
        let failure = #expect(throws: Failure.self) { try JobKinds.check(order) }
        #expect(failure?.message.contains(sentence) == true, "\(failure?.message ?? "")")
    }

    @Test func `what changes nothing is named in a message`() throws {
        let stops = places(2).map { Self.feature("stops", $0, #""AdditionalCost":3"#) }
        let (_, _, messages) = try run(
            .findRoutes,
            [
                "use_hierarchy": "true", "populate_route_edges": "true",
                "analysis_region": "Europe", "directions_style_name": "NA Campus",
                "time_impedance": "WalkTime", "travel_mode": "Driving Time",
                "restrictions": "Avoid Ferries",
            ], stops)
        for name in [
            "use_hierarchy", "populate_route_edges", "analysis_region", "directions_style_name",
            "time_impedance", "restrictions", "additionalcost",
        ] {
            let isNamed = messages.contains {
                $0.contains(name) && $0.contains("changes nothing")
            }
            #expect(isNamed, "\(name) in \(messages)")
        }
    }

    @Test(arguments: [
        ("", "no GeoJSON"), ("[]", "no GeoJSON"), ("{}", "a FeatureCollection"),
        (#"{"features":[]}"#, "'stops' is missing"),
        (#"{"features":[{"role":"kings"}]}"#, "the role 'kings'"),
        (#"{"features":[{"geometry":{"type":"Point","coordinates":[]}}]}"#, "feature 1"),
        (#"{"features":[{"geometry":{"type":"Circle"}}]}"#, "'Circle'"),
        (#"{"features":[{"geometry":null},{"geometry":null}]}"#, "Need at least 2 valid stops"),
    ])
    func `features that are none are refused`(_ input: String, _ sentence: String) throws {
        var run = try JobRun(.findRoutes, [:], csv: input, on: town)
        let failure = #expect(throws: Failure.self) { _ = try run.product() }
        #expect(failure?.message.contains(sentence) == true, "\(failure?.message ?? "")")
    }
}
