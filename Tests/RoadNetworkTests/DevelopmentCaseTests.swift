// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import RoadNetwork
import RoadSources
import TestKit
import Testing

/// The cases of the shared data: pairs of nodes with the answers of another implementation.
struct DevelopmentCaseTests {
    private struct Case: Decodable {
        struct Place: Decodable {
            var osm_node: Int64
            var lon: Double
            var lat: Double
        }
        var id: Int
        var extract: String
        var from: Place
        var to: Place
        var reachable: Bool
        var shortest_m: Double?
        var fastest_s: Double?
    }

    @Test func `every case has the length and the time of the other implementation`() throws {
        guard let bytes = try SharedData.bytes("routes/route_examples.jsonl") else { return }
        let cases = try bytes.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Case.self, from: Data($0))
        }
        let plain = try RoadProfile.named("plain")
        var (checked, unreachable) = (0, 0)
        for (extract, cases) in Dictionary(grouping: cases, by: \.extract) {
            let path = try #require(SharedData.path("osm/" + extract))
            let network = try BuiltNetwork(paths: [path], profiles: [plain]).network
            for pair in cases {
                let starts = try places(pair.from.lon, pair.from.lat, network)
                let ends = try places(pair.to.lon, pair.to.lat, network)
                for (cost, answer) in [
                    (NetworkMode.Cost.distance, pair.shortest_m), (.time, pair.fastest_s),
                ] {
                    let search = ReferenceSearch(network: network, mode: 0, cost: cost)
                    let found = search.route(from: starts, to: ends)
                    guard pair.reachable, let answer else {
                        #expect(found == nil, "case \(pair.id)")
                        unreachable += 1
                        continue
                    }
                    let route = try #require(found, "case \(pair.id)")
                    #expect(
                        abs(route.exact - answer) <= 0.01,
                        "case \(pair.id), \(cost): \(route.exact), expected \(answer)")
                    checked += 1
                }
            }
        }
        #expect(checked == 398 && unreachable == 2)
    }

    /// The edges through a node.
    private func places(
        _ longitude: Double, _ latitude: Double, _ network: RoadNetwork
    ) throws -> [ReferenceSearch.Place] {
        let snaps = try network.nearestEdges(
            to: Coordinate(x: longitude, y: latitude), radius: 0.01, count: 64)
        #expect(!snaps.isEmpty)
        return snaps.map { ReferenceSearch.Place(edge: $0.edge, offset: $0.offset) }
    }
}
