// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Geometry
import Testing

@Suite struct ReferenceDomainTests {
    private static func point(_ x: Double, _ y: Double) -> Shape {
        .point(Coordinate(x: x, y: y))
    }

    private static let edge = 20_037_508.342789244

    @Test(arguments: [
        (4326, 180.0, 90.0), (4326, -180, -90), (4326, 0, 0), (4258, 180, 90),
        (3857, edge, edge), (3857, -edge, -edge), (102_100, 0, 0),
        (25832, 500_000, 5_300_000), (25832, 900_000, 5_800_000), (2154, 700_000, 6_600_000),
        (2193, 1_600_000, 5_400_000),
    ])
    func `a coordinate inside, at the edge, and in the margin of a system has its place`(
        wkid: Int, x: Double, y: Double
    ) throws {
        let domain = try #require(ReferenceDomain(of: SpatialReference(wkid: wkid)))

        try domain.check(Self.point(x, y), orIn: nil)
    }

    @Test(arguments: [
        (4326, 180.001, 0.0, "x is 180.001"), (4326, 0, 90.5, "y is 90.5"),
        (4326, 0, -91, "y is -91.0"), (4258, -181, 0, "x is -181.0"),
        (3857, 20_037_600, 0, "x is 20037600.0"), (25832, 8.5, 47.4, "y is 47.4"),
        (25832, 1e8, 5_300_000, "x is 100000000.0"), (2154, 2.35, -2_000_000, "y is -2000000.0"),
    ])
    func `a coordinate outside is refused by name, with what was expected`(
        wkid: Int, x: Double, y: Double, named: String
    ) throws {
        let domain = try #require(ReferenceDomain(of: SpatialReference(wkid: wkid)))

        let failure = #expect(throws: Failure.self) {
            try domain.check(Self.point(x, y), orIn: nil)
        }
        #expect(failure?.code == .invalidParameter)
        #expect(failure?.message.contains(named) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains("EPSG:\(wkid): expected ") == true)
    }

    @Test func `features that reach beyond the system let others reach as far`() throws {
        let domain = try #require(ReferenceDomain(of: .wgs84))
        let pacific = Envelope(minX: 150, minY: -50, maxX: 200, maxY: -10)

        try domain.check(Self.point(190, -20), orIn: pacific)
        #expect(throws: Failure.self) { try domain.check(Self.point(201, -20), orIn: pacific) }
    }
}
