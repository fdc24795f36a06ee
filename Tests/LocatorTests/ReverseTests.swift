// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

@Suite struct ReverseTests {
    private func reverse(_ x: Double, _ y: Double, within: Double) throws -> Candidate? {
        try Sample.locator().reverse(
            ReverseGeocodeRequest(
                location: Coordinate(x: x, y: y), maxDistanceMeters: within)
        ).candidate
    }

    @Test func `the nearest place is the one a scan of all finds`() throws {
        var random = SeededGenerator(seed: 4_711)
        print("seed \(random.seed)")
        let special: [(Double, Double)] = [
            (0, 90), (13, -90), (180, 0), (-180, 0), (179.99, -17), (-179.99, -17), (180, 66),
        ]
        let random200 = (0..<200).map { _ in
            (
                Double.random(in: -180...180, using: &random),
                Double.random(in: -90...90, using: &random)
            )
        }
        for (x, y) in special + random200 {
            let found = try #require(try reverse(x, y, within: .infinity))
            let least =
                Sample.cities.map {
                    Haversine.meters(
                        Coordinate(x: x, y: y), Coordinate(x: $0.location.x, y: $0.location.y))
                }.min() ?? 0

            #expect(found.matchType == .position)
            #expect(abs((found.distanceMeters ?? -1) - least) < 0.01 + least * 1e-9)
        }
    }

    @Test func `the distance is a limit`() throws {
        let found = try #require(try reverse(2.3, 48.8, within: 50_000))
        let distance = try #require(found.distanceMeters)

        #expect(try reverse(2.3, 48.8, within: distance + 0.01)?.address == found.address)
        #expect(try reverse(2.3, 48.8, within: distance - 0.01) == nil)
        #expect(try reverse(-30, 0, within: 100) == nil)
        #expect(try reverse(2.3488, 48.85341, within: 0)?.address == "Paris, Île-de-France, France")
    }

    @Test func `longitudes are taken round the Earth`() throws {
        let here = try reverse(2.3, 48.8, within: 50_000)

        #expect(try reverse(362.3, 48.8, within: 50_000)?.address == here?.address)
        #expect(try reverse(-357.7, 48.8, within: 50_000)?.address == here?.address)
    }

    @Test func `a location off the Earth is refused in a sentence`() throws {
        for (x, y, limit) in [
            (Double.nan, 0.0, 1.0), (0, 91, 1), (.infinity, 0, 1), (0, 0, -1), (0, 0, .nan),
        ] {
            #expect(throws: Failure.self) { try reverse(x, y, within: limit) }
        }
    }

    @Test func `inside a town it is the answer at the usual distance`() throws {
        let paris = try #require(try reverse(2.3488, 48.85341, within: 0))
        let found = try #require(
            try Sample.locator().reverse(
                ReverseGeocodeRequest(
                    location: Coordinate(x: paris.extent.minX + 1e-4, y: paris.location.y))
            ).candidate)
        #expect(found.text("Addr_type") == "Locality")
        #expect(
            abs(
                (found.distanceMeters ?? 0)
                    - Haversine.meters(
                        Coordinate(x: paris.extent.minX + 1e-4, y: paris.location.y),
                        found.location)) < 1)
    }
}
