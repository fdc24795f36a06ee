// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import MapState
import Testing

@Suite struct MapLifecycleTests {
    private static func name(_ text: String) throws -> MapName {
        try #require(MapName(rawValue: text))
    }

    private func fixture() throws -> MapFixture {
        var fixture = try MapFixture(created: true)
        let group = try fixture.addGroup("Group")
        try fixture.load(try fixture.addLayer("Roads", in: group))
        try fixture.load(try fixture.addLayer("Towns"))
        try fixture.run(.setEditable(layer: 2, isEditable: true))
        return fixture
    }

    private func undo(_ fixture: inout MapFixture, _ sequence: Int64) throws -> UndoReport {
        var plan = MapUndo(of: MapFixture.world, UndoRequest(sequence...sequence))
        for record in fixture.records where record.stream == .map(MapFixture.world) {
            try plan.take(record)
        }
        let (event, report) = try plan.plan { _, _ throws(Failure) in
            throw Failure(.internal, "no dataset is needed")
        }
        if let event { try fixture.append(event, causation: UUID()) }
        return report
    }

    @Test func `a deleted map is not there, and its deletion is undone`() throws {
        var fixture = try fixture()
        let before = try fixture.world
        try fixture.run(.deleteMap)
        #expect(fixture.state.map(named: MapFixture.world) == nil)
        #expect(fixture.state.mapNames == [])
        #expect(refusal(fixture, .renameLayer(layer: 2, name: "X")) == .notFound)
        #expect(refusal(fixture, .deleteMap) == .notFound)

        let report = try undo(&fixture, fixture.state.sequence)
        #expect(report.restored == ["map World"])
        var after = try fixture.world
        after.sequence = before.sequence
        #expect(after == before)
    }

    @Test func `a renamed map is whole under the new name, and the old name is free`() throws {
        var fixture = try fixture()
        let before = try fixture.world
        let name = try Self.name("Planet")
        let changes = try fixture.state.decideRename(of: MapFixture.world, to: name)
        #expect(changes.map(\.map) == [name, MapFixture.world])
        for change in changes {
            for event in change.events { try fixture.append(event, to: change.map) }
        }
        #expect(fixture.state.mapNames == [name])
        let after = try #require(fixture.state.map(named: name))
        #expect(after.layers.map(\.name) == before.layers.map(\.name))
        #expect(after.layers.map(\.id) == before.layers.map(\.id))
        #expect(throws: Failure.self) {
            try fixture.state.decideRename(of: MapFixture.world, to: name)
        }
        #expect(throws: Failure.self) { try fixture.state.decideRename(of: name, to: name) }
    }

    @Test func `a map of a deleted map's name begins anew with further numbers of layers`() throws {
        var fixture = try fixture()
        try fixture.run(.deleteMap)
        let deleted = fixture.state.sequence
        try fixture.run(.createMap)
        #expect(try fixture.world.layers.isEmpty)
        #expect(try fixture.addLayer("Towns") == 3)
        #expect(throws: Failure.self) { try undo(&fixture, deleted) }
    }

    @Test func `a copy has the layers of the map, and loads what was loading`() throws {
        var fixture = try fixture()
        try fixture.run(.setMapProperties(MapProperties(title: "All")))
        try fixture.addLayer("Late")
        try fixture.append(.layerLoadStarted(LayerLoadStarted(layer: 3)))
        let world = try fixture.world
        let copy = try Self.name("Copy")
        let events = try fixture.run(.installMap(MapRestored(copyOf: world)), on: copy)
        #expect(events.count == 2)
        let made = try #require(fixture.state.map(named: copy))
        #expect(made.rootLayers == world.rootLayers)
        #expect(made.properties == world.properties)
        #expect(made.layers.count == world.layers.count)
        for (one, other) in zip(made.layers, world.layers) where one.id != 3 {
            #expect(one == other)
        }
        #expect(made.layer(3)?.loadStatus == .notLoaded)
        #expect(
            throws: Failure.self, "the name is taken",
            performing: {
                try fixture.run(.installMap(MapRestored(copyOf: world)), on: copy)
            })
        // It goes on by itself.
        try fixture.run(.renameLayer(layer: 2, name: "Villages"), on: copy)
        #expect(try fixture.world.layer(2)?.name == "Towns")
    }

    @Test func `a content that is no tree, or has a name twice, makes no map`() throws {
        var fixture = try fixture()
        let copy = try Self.name("Copy")
        var twice = MapRestored(copyOf: try fixture.world)
        twice.layers[1].description?.name = "towns"
        #expect(throws: Failure.self) { try fixture.run(.installMap(twice), on: copy) }
        var blank = MapRestored(copyOf: try fixture.world)
        blank.layers[1].description?.name = " "
        #expect(throws: Failure.self) { try fixture.run(.installMap(blank), on: copy) }
        var lost = MapRestored(copyOf: try fixture.world)
        lost.order.removeLast()
        #expect(throws: Failure.self) { try fixture.run(.installMap(lost), on: copy) }
        #expect(fixture.state.map(named: copy) == nil)
    }

    @Test func `properties of map and layer are set, kept over a snapshot, and undone`() throws {
        var fixture = try fixture()
        let box = Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4)
        try fixture.run(
            .setMapProperties(MapProperties(title: "T", attribution: "©", initialExtent: box)))
        try fixture.run(.setLayerInfo(layer: 1, info: LayerInfo(description: "all roads")))
        let described = fixture.state.sequence
        #expect(try fixture.world.initialExtent == box)
        #expect(try fixture.world.layer(1)?.info?.description == "all roads")
        let kept = try MapsState(pieces: fixture.state.pieces())
        #expect(kept == fixture.state)
        #expect(try kept.hash() == fixture.state.hash())
        // The same again changes nothing.
        #expect(
            try fixture.run(
                .setMapProperties(
                    MapProperties(title: "T", attribution: "©", initialExtent: box))
            ).isEmpty)

        _ = try undo(&fixture, described)
        #expect(try fixture.world.layer(1)?.info == nil)
        #expect(try fixture.world.properties?.title == "T")
        _ = try undo(&fixture, described - 1)
        #expect(try fixture.world.properties == nil)
        #expect(
            refusal(
                fixture,
                .setMapProperties(
                    MapProperties(
                        initialExtent: Envelope(minX: 3, minY: 0, maxX: 1, maxY: 1))))
                == .invalidParameter)
    }

    @Test func `bookmarks are kept in order, and bad ones are refused`() throws {
        var fixture = try fixture()
        func bookmark(_ name: String, _ side: Double = 1) -> MapBookmark {
            MapBookmark(name: name, extent: Envelope(minX: 0, minY: 0, maxX: side, maxY: side))
        }
        let bookmarks = [bookmark("b"), bookmark("a", 2)]
        try fixture.run(.setMapProperties(MapProperties(bookmarks: bookmarks)))
        #expect(try fixture.world.properties?.bookmarks == bookmarks)
        let kept = try MapsState(pieces: fixture.state.pieces())
        #expect(try kept.hash() == fixture.state.hash())
        let bad: [[MapBookmark]] = [
            [bookmark("")], [bookmark("a"), bookmark("a")], [bookmark("a", -1)],
            [bookmark("a", .infinity)], [bookmark(String(repeating: "a", count: 256))],
        ]
        for bookmarks in bad {
            let command = MapCommand.setMapProperties(MapProperties(bookmarks: bookmarks))
            #expect(refusal(fixture, command) == .invalidParameter, "\(bookmarks)")
        }
        let many = (0...MapLimits.bookmarks).map { bookmark("\($0)") }
        #expect(
            refusal(fixture, .setMapProperties(MapProperties(bookmarks: many))) == .tooLarge)
    }

    @Test func `popups of a layer are kept byte for byte, copied, and undone by themselves`()
        throws
    {
        var fixture = try fixture()
        let popup =
            "{ \"title\" : \"{NAME} \\u00e9\",\n\t\"fieldInfos\":[{\"fieldName\":\"Name\"},"
            + "{\"fieldName\":\"expression/e0\"}], \"mediaInfos\": [] }\n"
        try fixture.run(.setLayerInfo(layer: 1, info: LayerInfo(popup: popup)))
        let defined = fixture.state.sequence
        try fixture.run(
            .setLayerInfo(layer: 1, info: LayerInfo(description: "all roads", popup: popup)))
        #expect(try fixture.world.layer(1)?.info?.popup == popup)
        #expect(try MapsState(pieces: fixture.state.pieces()) == fixture.state)
        let copy = try Self.name("Copy")
        try fixture.run(.installMap(MapRestored(copyOf: try fixture.world)), on: copy)
        #expect(fixture.state.map(named: copy)?.layer(1)?.info?.popup == popup)

        // The description came later and is another part of the layer.
        _ = try undo(&fixture, defined)
        #expect(try fixture.world.layer(1)?.info == LayerInfo(description: "all roads"))
        _ = try undo(&fixture, fixture.state.sequence)
        #expect(try fixture.world.layer(1)?.info?.popup == popup)
        _ = try undo(&fixture, defined + 1)
        #expect(try fixture.world.layer(1)?.info == LayerInfo(popup: popup))
    }

    @Test(arguments: [
        "", "[]", "\"title\"", "{}", "{\"title\":1}", "{\"title\":\"a\",}",
        "\u{FEFF}{\"title\":\"a\"}",
        "{\"title\":\"a\",\"fieldInfos\":{}}", "{\"fieldInfos\":[{\"label\":\"a\"}]}",
        "{\"fieldInfos\":[{\"fieldName\":\"absent\"}]}", "{\"title\":\"a\",\"x\":01}",
        "{\"title\":\"a\",\"popupElements\":[{\"fieldInfos\":[{\"fieldName\":\"absent\"}]}]}",
        "{\"title\":\"a\",\"x\":" + String(repeating: "[", count: 32)
            + String(repeating: "]", count: 32) + "}",
    ])
    func `what is no popup definition of the layer is refused`(_ popup: String) throws {
        let fixture = try fixture()
        #expect(
            refusal(fixture, .setLayerInfo(layer: 1, info: LayerInfo(popup: popup)))
                == .invalidParameter)
    }

    @Test func `a popup definition has 256 KiB at most, and a group has none`() throws {
        var fixture = try fixture()
        let head = "{\"title\":\""
        let text = String(repeating: "a", count: MapLimits.popupBytes - head.utf8.count - 2)
        let most = head + text + "\"}"
        #expect(
            refusal(fixture, .setLayerInfo(layer: 1, info: LayerInfo(popup: most + " ")))
                == .tooLarge)
        #expect(
            refusal(fixture, .setLayerInfo(layer: 0, info: LayerInfo(popup: most)))
                == .invalidParameter)
        try fixture.run(.setLayerInfo(layer: 1, info: LayerInfo(popup: most)))
        #expect(try fixture.world.layer(1)?.info?.popup == most)
    }

    @Test func `a deleted map is kept over a snapshot`() throws {
        var fixture = try fixture()
        try fixture.run(.deleteMap)
        var kept = try MapsState(pieces: fixture.state.pieces())
        #expect(kept == fixture.state)
        let deleted = fixture.state.sequence
        _ = try undo(&fixture, deleted)
        for record in fixture.records where record.globalPosition > deleted {
            try kept.apply(record)
        }
        #expect(kept == fixture.state)
    }
}
