// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// GDAL passes over areas whose relation comes before their ways.
@Suite struct ExtractOrderTests {
    /// The kinds of objects in a blob of a file, in the order of its groups.
    private static let arrangements: [[[TinyExtract.Kind]]] = [
        [[.node], [.way], [.relation]],
        [[.node], [.relation], [.way]],
        [[.relation], [.way], [.node]],
        [[.relation, .node, .way]],
        [[.way, .relation], [.node]],
    ]

    @Test(arguments: arrangements)
    func `a house whose area is a relation is found in any order`(
        _ pieces: [[TinyExtract.Kind]]
    ) throws {
        let path = Scratch.directory() + "/tiny.osm.pbf"
        try Data(TinyExtract.bytes(pieces)).write(to: URL(fileURLWithPath: path))
        let (built, locator) = try Scratch.build([path], constants: ["city=Mitte"])
        #expect(built.houseCount == 1)
        let house = try #require(try locator.first("7 Lange Gasse Mitte"))
        #expect(house.text("Addr_type") == "PointAddress")
        #expect(house.meters(to: TinyExtract.middle) < 1)
    }

    @Test func `relations before ways in a real extract`() throws {
        guard let path = SharedData.path("osm/baltimore.osm.pbf") else { return }
        let (_, locator) = try Scratch.build([path], constants: ["country=US"])
        let house = try #require(try locator.first("2809 Boston Street, Baltimore 21224"))
        #expect(house.text("Addr_type") == "PointAddress")
    }

    @Test func `an extract out of order and cut short builds nothing`() throws {
        let whole = TinyExtract.bytes([[.node], [.relation], [.way]])
        let path = Scratch.directory() + "/cut.osm.pbf"
        try Data(whole.dropLast(9)).write(to: URL(fileURLWithPath: path))
        #expect(throws: (any Error).self) { try Scratch.build([path]) }
    }
}

/// One square building with an address, as a relation of one way, in PBF.
enum TinyExtract {
    enum Kind { case node, way, relation }

    static let middle = Coordinate(x: 10.0005, y: 50.0005)

    private static let strings = [
        "", "type", "multipolygon", "building", "yes", "addr:street", "Lange Gasse",
        "addr:housenumber", "7", "outer",
    ]

    static func bytes(_ pieces: [[Kind]]) -> [UInt8] {
        let heading = field(4, "OsmSchema-V0.6") + field(4, "DenseNodes")
        return piece("OSMHeader", heading)
            + pieces.flatMap { kinds in
                let table = strings.flatMap { field(1, $0) }
                return piece("OSMData", field(1, table) + kinds.flatMap { field(2, group($0)) })
            }
    }

    private static func piece(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let blob = field(1, data)
        let header = field(1, type) + field(3, number: blob.count)
        return [0, 0, 0, UInt8(header.count)] + header + blob
    }

    private static func group(_ kind: Kind) -> [UInt8] {
        switch kind {
        case .node:
            let corners = [(10.0, 50.0), (10.001, 50.0), (10.001, 50.001), (10.0, 50.001)]
            return corners.enumerated().flatMap { index, corner in
                field(
                    1,
                    field(1, number: zigzag(index + 1))
                        + field(8, number: zigzag(Int((corner.1 * 1e7).rounded())))
                        + field(9, number: zigzag(Int((corner.0 * 1e7).rounded()))))
            }
        case .way:
            // Each node by its difference from the one before.
            let nodes = [1, 1, 1, 1, -3].flatMap { varint(zigzag($0)) }
            return field(3, field(1, number: 1) + field(8, nodes))
        case .relation:
            let tags = field(2, [1, 3, 5, 7]) + field(3, [2, 4, 6, 8])
            let members = field(8, [9]) + field(9, varint(zigzag(1))) + field(10, [1])
            return field(4, field(1, number: 1) + tags + members)
        }
    }

    private static func zigzag(_ value: Int) -> Int { value << 1 ^ value >> 63 }

    private static func varint(_ value: Int) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }

    private static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(bytes.count) + bytes
    }

    private static func field(_ number: Int, _ text: String) -> [UInt8] {
        field(number, Array(text.utf8))
    }

    private static func field(_ number: Int, number value: Int) -> [UInt8] {
        varint(number << 3) + varint(value)
    }
}
