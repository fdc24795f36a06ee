// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Site
import TestKit
import Testing

@testable import Remote

/// Legends as played servers have them.
@Suite(.timeLimit(.minutes(5))) struct RemoteLegendTests {
    private func sizes(_ entries: [LegendEntry]?) -> [String] {
        (entries ?? []).map { "\($0.label) \($0.width)x\($0.height)" }
    }

    @Test func `layers of a web map service have one picture each, by its name`() throws {
        let fixture = try RemoteFixture()
        let one = try fixture.wms(0)
        let two = try fixture.wms(1, "/wms", ["roads", "ns:towns"])

        let legends = fixture.services.legends(of: [one, two, fixture.drawn(2)])

        // The played server's pictures are as wide as the name and ten more.
        #expect(sizes(legends.entries[0]) == [" 15x7"])
        #expect(sizes(legends.entries[1]) == ["roads 15x7", "ns:towns 18x7"])
        #expect(legends.missing.isEmpty && legends.entries[2] == nil)
        let asked = try fixture.server.log().filter { $0.contains("GetLegendGraphic") }
        #expect(asked.count == 3)
        #expect(
            asked.allSatisfy { $0.contains("SLD_VERSION=1.1.0") && $0.contains("VERSION=1.3.0") })
    }

    @Test func `a map service's own legend, of the layers that are shown`() throws {
        let fixture = try RemoteFixture()
        func service(_ id: LayerID, _ path: String, _ layers: [Int]? = nil) throws
            -> LayerDescription
        {
            try fixture.layer(
                id,
                .mapService(
                    ArcGISSource(
                        url: fixture.server.url + "/arcgis/\(path)/MapServer", layers: layers)))
        }
        let layers = [
            try service(0, "x"), try service(1, "x", [3]), try service(2, "mute"),
            try fixture.layer(
                3, .tiles(TileSource(url: fixture.server.url + "/xyz/{z}/{x}/{y}.png"))),
            try fixture.layer(
                4, .tiles(TileSource(url: fixture.server.url + "/arcgis/cached/MapServer"))),
        ]

        let legends = fixture.services.legends(of: layers)

        let lines = [" 20x20", ": kind 1 20x21", ": kind 2 20x22", ": kind 3 20x23"].map {
            "Lines" + $0
        }
        #expect(sizes(legends.entries[0]) == ["Points 20x20"] + lines)
        #expect(
            sizes(legends.entries[1])
                == ["Lines 20x20", "kind 1 20x21", "kind 2 20x22", "kind 3 20x23"])
        #expect(legends.entries[3] == nil && sizes(legends.entries[4]) == ["Points 20x20"] + lines)
        // Invalid pictures.
        #expect(legends.entries[2] == nil && legends.missing.map(\.layerID) == [2])
        #expect(legends.missing[0].error.message.contains("is not a PNG"))
    }

    @Test func `a legend is kept for a while, one that failed is asked for again`() throws {
        let fixture = try RemoteFixture()
        let layers = [try fixture.wms(0), try fixture.wms(1, "/exception")]

        let first = fixture.services.legends(of: layers)
        let second = fixture.services.legends(of: layers)

        #expect(first == second && sizes(first.entries[0]) == [" 15x7"])
        #expect(first.missing.map(\.layerName) == ["remote 1"])
        #expect(first.missing[0].error.message.contains("No such layer"))
        let asked = try fixture.server.log().filter { $0.contains("GetLegendGraphic") }
        #expect(asked.count { $0.contains(" /wms?") } == 1)
        #expect(asked.count { $0.contains(" /exception?") } == 2)
    }

    @Test(.slow, arguments: ["/half", "/flood", "/garbage"])
    func `a server that misbehaves has no legend, the others have`(path: String) throws {
        let fixture = try RemoteFixture(askTimeout: .seconds(2))
        let layers = [try fixture.wms(0, path), try fixture.wms(1)]

        let legends = fixture.services.legends(of: layers)

        #expect(sizes(legends.entries[1]) == [" 15x7"] && legends.entries[0] == nil)
        #expect(legends.missing.map(\.layerID) == [0])
        #expect(legends.missing[0].error.message.hasPrefix(fixture.server.url + path + ": "))
    }

    @Test func `credentials go along, and nowhere else`() throws {
        let fixture = try RemoteFixture()
        try fixture.credentials.set(Credential(user: "user", secret: "geheim"), as: "office")
        let layers = [try fixture.wms(0, "/guarded", credential: "office"), try fixture.wms(1)]

        let legends = fixture.services.legends(of: layers)

        #expect(legends.missing.isEmpty && legends.entries.count == 2)
        let asked = try fixture.server.log().filter { $0.contains("GetLegendGraphic") }
        #expect(asked.count == 2)
        for line in asked {
            #expect(line.contains("Basic") == line.contains("/guarded"))
        }
    }

    @Test func `a picture that is no PNG is no entry of a legend, whatever its size`() {
        let head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        for count in [0, 1, 8, 32] {
            let bytes = Array((head + [UInt8](repeating: 255, count: 40)).prefix(count))
            #expect(LegendEntry(label: "", png: bytes) == nil)
        }
        let huge = LegendEntry(label: "", png: head + [UInt8](repeating: 255, count: 25))
        #expect(huge?.width == Int(UInt32.max))
        #expect(
            LegendEntry(label: "", png: head + [UInt8](repeating: 0, count: LegendEntry.byteBound))
                == nil)
    }
}
