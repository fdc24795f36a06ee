// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Locator
import TestKit
import Testing

/// `cairn locator build` of a layer of a map with its edits.
@Suite(.timeLimit(.minutes(3)), .processes) struct LocatorOfLayerTests {
    private struct Built: Decodable { var locator: String, pointCount: Int }

    private func build(_ site: IdentifySite, _ source: String) async throws -> Built {
        let outcome = try await Programs.run(
            ["locator", "build", "World", source, "--json"], site: site.files.path)
        try #require(outcome.status == 0, "\(source): \(outcome.errors)")
        return try JSONDecoder().decode(Built.self, from: Data(outcome.output.utf8))
    }

    private func open(_ site: IdentifySite, _ built: Built) throws -> Locator {
        try Locator(
            path: "\(site.files.path)/locators/\(built.locator)/locator.bin",
            id: try #require(ContentID(rawValue: built.locator)))
    }

    private func find(_ text: String, in locator: Locator) throws -> Coordinate? {
        try locator.geocode(GeocodeRequest(singleLine: text)).candidates.first {
            $0.attributes["PlaceName"] == .string(text)
        }?.location
    }

    @Test func `a layer is a source with its edits, as of a sequence number, and so named`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let opened = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))
        // One degree of the equator to the north and east, in metres.
        let (x, y) = (111_319.490_793, 111_325.142_866)
        let edited = try await site.client.command(
            map: site.map,
            .editFeatures(
                layer: 0,
                edits: FeatureEdits(
                    adds: [
                        FeatureDraft(
                            shape: .envelope(
                                Envelope(minX: x - 1, minY: y - 1, maxX: x + 1, maxY: y + 1)),
                            attributes: Attributes([
                                .init(name: "name", value: .string("Lindenhof"))
                            ]))
                    ], deletes: [2, 3])))

        let now = try await build(site, "layer:Grid/0")
        let locator = try open(site, now)
        #expect(now.pointCount == 3)
        #expect(locator.sources.map(\.name) == ["layer:Grid/0@\(edited.sequence)"])
        #expect(locator.sources.map(\.recordCount) == [3])
        let found = try #require(try find("Lindenhof", in: locator))
        #expect(abs(found.x - 1) < 1e-6 && abs(found.y - 1) < 1e-6, "\(found)")
        // The same sources give the same file, whatever the layer is referred to by.
        #expect(try await build(site, "layer:Grid/0").locator == now.locator)
        #expect(
            try await build(site, "layer:Grid/squares@\(edited.sequence)").locator == now.locator)

        let before = try await build(site, "layer:Grid/0@\(opened.sequence)")
        let old = try open(site, before)
        #expect(before.pointCount == 4)
        #expect(old.sources.map(\.name) == ["layer:Grid/0@\(opened.sequence)"])
        #expect(try find("Lindenhof", in: old) == nil)
        #expect(try find("Lindenhof", in: open(site, now)) == found)
        // Nothing of the work is left beside the locators.
        let names = try FileManager.default.contentsOfDirectory(
            atPath: site.files.path + "/locators")
        #expect(Set(names) == [now.locator, before.locator])
    }

    @Test func `a source that is no layer is refused in one sentence`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        _ = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))
        _ = try await site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: FeatureEdits(deletes: [1, 2, 3, 4])))
        for (source, reason) in [
            ("layer:Nowhere/0", "of an existing map; there are: Grid"),
            ("layer:Grid", "expected layer:MAP/LAYER"), ("layer:", "expected layer:MAP/LAYER"),
            ("layer:Grid/9", "has no layer '9'"), ("layer:Grid/0@1000000", "expected 0 to"),
            ("layer:Grid/0@-1", "expected 0 to"), ("layer:Grid/0@0", "of an existing map at 0"),
            ("layer:Grid/0", "the layer has no features"),
        ] {
            let outcome = try await Programs.run(
                ["locator", "build", "World", source], site: site.files.path)
            #expect(outcome.status != 0, "\(source)")
            #expect(outcome.errors.contains(reason), "\(source): \(outcome.errors)")
        }
    }
}
