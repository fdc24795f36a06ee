// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import MapState
import TestKit
import Testing

/// A map with a group 0 that holds layer 1 and group 2, and a top-level layer 3 that is loaded.
private func smallWorld() throws -> MapFixture {
    var fixture = try MapFixture(created: true)
    try fixture.addGroup("Group")
    try fixture.addLayer("Inner", in: 0)
    try fixture.addGroup("Nested", in: 0)
    try fixture.addLayer("Roads")
    try fixture.load(3)
    return fixture
}

@Suite struct MapCommandTests {
    static let accepted: [MapCommand] = [
        .addLayer(name: "New", source: MapFixture.source(2), place: .init()),
        .addLayer(name: "New", source: MapFixture.source(2), place: .init(parent: 2, index: 0)),
        .addGroup(name: "Groups", place: .init(parent: nil, index: 2)),
        .moveLayer(layer: 3, place: .init(parent: 0, index: 2)),
        .moveLayer(layer: 0, place: .init(parent: nil, index: 1)),
        .moveLayer(layer: 2, place: .init()),
        .removeLayer(layer: 0),
        .renameLayer(layer: 3, name: "roads"),
        .setVisibility(layer: 0, isVisible: false),
        .setScaleRange(layer: 3, scaleRange: .init(minScale: 50_000, maxScale: 1_000)),
        .setScaleRange(layer: 0, scaleRange: .init(minScale: 0, maxScale: 1_000)),
        .setDefinitionExpression(layer: 3, expression: "NAME = 'A'"),
        .setDisplayField(layer: 3, field: "name"),
        .setDisplayField(layer: 1, field: "not known before it is loaded"),
        .setTimeInfo(layer: 3, timeInfo: LayerTimeInfo(startField: "built")),
        .setTimeInfo(layer: 3, timeInfo: LayerTimeInfo(startField: "BUILT", endField: "BUILT")),
        .setTimeInfo(layer: 1, timeInfo: LayerTimeInfo(startField: "not known yet")),
        .setDrawing(
            layer: 3, drawing: LayerDrawing(labels: [LabelClass(.init([.field("name")]))])),
        .setDrawing(
            layer: 1,
            drawing: LayerDrawing(
                .uniqueValues(.init(fields: ["not known yet"], values: [])), transparency: 50)),
        .setFieldAlias(layer: 3, field: "name", alias: "Street"),
        .setFieldAlias(layer: 1, field: "not known yet", alias: "Street"),
        .setQueryable(layer: 3, isQueryable: false), .setPopups(layer: 3, isEnabled: false),
        .setSource(layer: 3, source: MapFixture.source(9)),
    ]

    @Test(arguments: accepted)
    func `an acceptable command is one event that fits`(_ command: MapCommand) throws {
        var fixture = try smallWorld()
        let before = fixture.state.sequence

        let events = try fixture.run(command)

        #expect(events.count == 1)
        #expect(fixture.state.sequence == before + 1)
    }

    static let refused: [(MapCommand, Failure.Code)] = [
        (.createMap, .conflict),
        (.addLayer(name: "ROADS", source: MapFixture.source(2), place: .init()), .conflict),
        (.addLayer(name: "  ", source: MapFixture.source(2), place: .init()), .invalidParameter),
        (.addLayer(name: "a\nb", source: MapFixture.source(2), place: .init()), .invalidParameter),
        (
            .addGroup(name: String(repeating: "x", count: 256), place: .init()),
            .invalidParameter
        ),
        (.addGroup(name: "New", place: .init(parent: 9)), .notFound),
        (.addGroup(name: "New", place: .init(parent: 3)), .invalidParameter),
        (.addGroup(name: "New", place: .init(index: 3)), .invalidParameter),
        (.addGroup(name: "New", place: .init(index: -1)), .invalidParameter),
        (.moveLayer(layer: 7, place: .init()), .notFound),
        (.moveLayer(layer: 0, place: .init(parent: 0)), .conflict),
        (.moveLayer(layer: 0, place: .init(parent: 2)), .conflict),
        (.moveLayer(layer: 0, place: .init(index: 2)), .invalidParameter),
        (.moveLayer(layer: 3, place: .init(parent: 1)), .invalidParameter),
        (.moveLayer(layer: 3, place: .init(index: .min)), .invalidParameter),
        (.removeLayer(layer: 4), .notFound),
        (.removeLayer(layer: -1), .notFound),
        (.renameLayer(layer: 4, name: "New"), .notFound),
        (.renameLayer(layer: 3, name: "group"), .conflict),
        (.renameLayer(layer: 3, name: ""), .invalidParameter),
        (.setVisibility(layer: 4, isVisible: true), .notFound),
        (
            .setScaleRange(layer: 3, scaleRange: .init(minScale: -1, maxScale: 0)),
            .invalidParameter
        ),
        (
            .setScaleRange(layer: 3, scaleRange: .init(minScale: 1_000, maxScale: 50_000)),
            .invalidParameter
        ),
        (
            .setScaleRange(layer: 3, scaleRange: .init(minScale: .nan, maxScale: 0)),
            .invalidParameter
        ),
        (
            .setScaleRange(layer: 3, scaleRange: .init(minScale: 0, maxScale: .infinity)),
            .invalidParameter
        ),
        (.setDefinitionExpression(layer: 0, expression: "1=1"), .invalidParameter),
        (
            .setDefinitionExpression(layer: 3, expression: String(repeating: " ", count: 16_385)),
            .tooLarge
        ),
        (.setDefinitionExpression(layer: 3, expression: ""), .invalidParameter),
        (.setDefinitionExpression(layer: 3, expression: "NAME ="), .invalidParameter),
        (.setDefinitionExpression(layer: 3, expression: "POP > 3"), .invalidParameter),
        (.setDefinitionExpression(layer: 1, expression: "POP >"), .invalidParameter),
        (.setDisplayField(layer: 3, field: "POP"), .invalidParameter),
        (.setDisplayField(layer: 1, field: ""), .invalidParameter),
        (.setDisplayField(layer: 2, field: "NAME"), .invalidParameter),
        (
            .setTimeInfo(layer: 3, timeInfo: LayerTimeInfo(startField: "NAME")), .invalidParameter
        ),
        (
            .setTimeInfo(layer: 3, timeInfo: LayerTimeInfo(startField: "BUILT", endField: "x")),
            .invalidParameter
        ),
        (.setTimeInfo(layer: 1, timeInfo: LayerTimeInfo(startField: "")), .invalidParameter),
        (.setTimeInfo(layer: 2, timeInfo: nil), .invalidParameter),
        (.setDrawing(layer: 0, drawing: nil), .invalidParameter),
        (.setDrawing(layer: 9, drawing: nil), .notFound),
        (.setDrawing(layer: 3, drawing: LayerDrawing(transparency: 101)), .invalidParameter),
        (
            .setDrawing(
                layer: 3, drawing: LayerDrawing(labels: [LabelClass(.init([.field("POP")]))])),
            .invalidParameter
        ),
        (
            .setDrawing(
                layer: 3,
                drawing: LayerDrawing(labels: [
                    LabelClass(.init([.field("NAME")]), condition: "NAME >")
                ])), .invalidParameter
        ),
        (
            .setDrawing(
                layer: 3,
                drawing: LayerDrawing(labels: [
                    LabelClass(.init([.field("NAME")]), scaleRange: .init(minScale: 1, maxScale: 2))
                ])), .invalidParameter
        ),
        (.setFieldAlias(layer: 3, field: "POP", alias: "People"), .invalidParameter),
        (.setFieldAlias(layer: 3, field: "NAME", alias: " "), .invalidParameter),
        (.setFieldAlias(layer: 3, field: "NAME", alias: "a\nb"), .invalidParameter),
        (.setFieldAlias(layer: 0, field: "NAME", alias: "A"), .invalidParameter),
        (.setQueryable(layer: 0, isQueryable: false), .invalidParameter),
        (.setPopups(layer: 9, isEnabled: false), .notFound),
        (.retryLoad(layer: 3), .conflict),
        (.retryLoad(layer: 1), .conflict),
        (.retryLoad(layer: 0), .invalidParameter),
        (.setSource(layer: 0, source: MapFixture.source(9)), .invalidParameter),
        (.setSource(layer: 8, source: MapFixture.source(9)), .notFound),
    ]

    @Test(arguments: refused)
    func `an impossible command is refused with its code`(
        _ command: MapCommand, _ code: Failure.Code
    ) throws {
        #expect(refusal(try smallWorld(), command) == code)
    }

    static let idle: [MapCommand] = [
        .moveLayer(layer: 3, place: .init()),
        .moveLayer(layer: 1, place: .init(parent: 0, index: 0)),
        .renameLayer(layer: 3, name: "Roads"), .setVisibility(layer: 0, isVisible: true),
        .setScaleRange(layer: 3, scaleRange: .unlimited),
        .setDefinitionExpression(layer: 3, expression: nil),
        .setDisplayField(layer: 3, field: nil), .setTimeInfo(layer: 3, timeInfo: nil),
        .setDrawing(layer: 3, drawing: nil), .setDrawing(layer: 3, drawing: LayerDrawing()),
        .setFieldAlias(layer: 3, field: "NAME", alias: nil),
        .setQueryable(layer: 3, isQueryable: true), .setPopups(layer: 3, isEnabled: true),
        .setSource(layer: 3, source: MapFixture.source(1)),
    ]

    @Test func `pictures have a transparency, features of other servers symbols as well`() throws {
        let sources: [(LayerSource, hasSymbols: Bool)] = [
            (.wms(WMSSource(url: "http://a.example/wms", layers: ["b"])), false),
            (.mapService(ArcGISSource(url: "http://a.example/MapServer")), false),
            (.tiles(TileSource(url: "http://a.example/{z}/{x}/{y}")), false),
            (.raster(MapFixture.content(7)), false),
            (.featureService(ArcGISSource(url: "http://a.example/FeatureServer/0")), true),
        ]
        let symbol = LayerSymbol(standard: 0, .point)
        for (source, hasSymbols) in sources {
            var fixture = try smallWorld()
            let added = try fixture.run(.addLayer(name: "there", source: source, place: .init()))
            let layer = try #require(added.first?.addedLayer)
            try fixture.run(.setDrawing(layer: layer, drawing: LayerDrawing(transparency: 30)))
            #expect(try fixture.world.layer(layer)?.drawing?.transparency == 30)
            let drawn = MapCommand.setDrawing(
                layer: layer, drawing: LayerDrawing(.simple(.init(symbol))))
            if hasSymbols {
                try fixture.run(drawn)
            } else {
                #expect(refusal(fixture, drawn) == .invalidParameter)
            }
        }
    }

    @Test func `time, aliases and what may be asked of a layer are part of the map`() throws {
        var fixture = try smallWorld()
        func layer() throws -> LayerDescription { try #require(fixture.world.layer(3)) }
        #expect(try layer().isQueryable && layer().isPopupEnabled)

        try fixture.run(.setTimeInfo(layer: 3, timeInfo: LayerTimeInfo(startField: "built")))
        try fixture.run(.setFieldAlias(layer: 3, field: "name", alias: "Street"))
        try fixture.run(.setQueryable(layer: 3, isQueryable: false))
        try fixture.run(.setPopups(layer: 3, isEnabled: false))

        #expect(try layer().timeInfo == LayerTimeInfo(startField: "BUILT"))
        #expect(try layer().fieldAliases == ["NAME": "Street"])
        #expect(try !layer().isQueryable && !layer().isPopupEnabled)

        try fixture.run(.setTimeInfo(layer: 3, timeInfo: nil))
        try fixture.run(.setFieldAlias(layer: 3, field: "NAME", alias: nil))

        #expect(try layer().timeInfo == nil && layer().fieldAliases.isEmpty)
    }

    @Test(arguments: idle)
    func `a command that changes nothing is accepted without an event`(
        _ command: MapCommand
    ) throws {
        var fixture = try smallWorld()
        #expect(try fixture.run(command).isEmpty)
    }

    @Test func `a command on a map that does not exist is refused`() {
        #expect(refusal(MapFixture(), .removeLayer(layer: 0)) == .notFound)
    }

    @Test func `two maps whose names differ in letter case only cannot be`() throws {
        let fixture = try MapFixture(created: true)
        let request = MapCommandRequest(
            id: UUID(), map: try MapName(parsing: "WORLD"), command: .createMap)
        #expect(throws: Failure.self) { try fixture.state.decide(request) }
    }

    @Test func `groups nest 32 deep and no deeper, by adding or by moving`() throws {
        var fixture = try MapFixture(created: true)
        var parent: LayerID?
        for depth in 1...32 { parent = try fixture.addGroup("G\(depth)", in: parent) }
        try fixture.addLayer("leaf", in: parent)
        try fixture.addGroup("other")

        #expect(
            refusal(fixture, .addGroup(name: "deep", place: .init(parent: parent))) == .tooLarge)
        #expect(refusal(fixture, .moveLayer(layer: 33, place: .init(parent: parent))) == .tooLarge)
        #expect(refusal(fixture, .moveLayer(layer: 0, place: .init(parent: 33))) == .tooLarge)
        #expect(refusal(fixture, .moveLayer(layer: 32, place: .init(parent: 33))) == nil)
    }

    @Test(.slow) func `a map holds ten thousand layers and not one more`() throws {
        var fixture = try MapFixture(created: true)
        for number in 0..<MapLimits.layers { try fixture.addGroup("G\(number)") }

        #expect(refusal(fixture, .addGroup(name: "one more", place: .init())) == .tooLarge)
    }

    @Test func `a failed layer can be retried, and then is loading`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.addLayer("Roads")
        try fixture.failLoad(0)

        try fixture.run(.retryLoad(layer: 0))

        let layer = try #require(try fixture.world.layer(0))
        #expect(layer.loadStatus == .loading)
        #expect(layer.loadError == nil)
    }

    @Test func `a layer's number is never given again`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.addLayer("A")
        try fixture.addLayer("B")
        try fixture.run(.removeLayer(layer: 1))

        #expect(try fixture.addLayer("C") == 2)
    }

    @Test func `a removed layer's name is free again, also inside a removed group`() throws {
        var fixture = try smallWorld()
        try fixture.run(.removeLayer(layer: 0))

        #expect(refusal(fixture, .addGroup(name: "inner", place: .init())) == nil)
        #expect(try fixture.world.layers.map(\.id) == [3])
    }

    @Test func `a repeated command has the outcome of the first`() throws {
        var fixture = try MapFixture(created: true)
        let id = UUID()
        try fixture.run(
            .addLayer(name: "A", source: MapFixture.source(1), place: .init()), id: id)
        try fixture.addLayer("B")

        #expect(fixture.state.outcome(of: id) == MapCommandResult(sequence: 2, layer: 0))
        #expect(fixture.state.outcome(of: UUID()) == nil)
    }

    @Test func `only the last commands are remembered`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.addGroup("G")
        let ids = (0...MapsState.rememberedCommands).map { _ in UUID() }
        for (number, id) in ids.enumerated() {
            try fixture.run(
                .setVisibility(layer: 0, isVisible: !number.isMultiple(of: 2)), id: id)
            try fixture.run(
                .setVisibility(layer: 0, isVisible: number.isMultiple(of: 2)), id: id)
        }

        #expect(fixture.state.outcome(of: ids[0]) == nil)
        #expect(fixture.state.outcome(of: ids[1]) != nil)
        #expect(fixture.state.outcome(of: ids[MapsState.rememberedCommands]) != nil)
    }
}

@Suite struct BasemapTests {
    @Test func `the bottom-most feature layer gives the map its reference and extent`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.addGroup("Empty")
        try fixture.addLayer("Top")
        try fixture.addGroup("Below", at: 1)
        try fixture.addLayer("Base", in: 2)
        try fixture.load(1, wkid: 4326)
        #expect(try fixture.world.basemap == 3)
        #expect(try fixture.world.spatialReference == nil)

        try fixture.load(3, wkid: 2154)

        #expect(try fixture.world.spatialReference == SpatialReference(wkid: 2154))
        #expect(try fixture.world.initialExtent?.maxX == 2154)
    }

    @Test func `the initial extent is that of all layers unless the map has one of its own`()
        throws
    {
        var fixture = try MapFixture(created: true)
        for (layer, wkid, extent) in [
            (0, 3857, Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100)),
            (1, 3857, Envelope(minX: -50, minY: 20, maxX: 10, maxY: 300)),
            (2, 4326, Envelope(minX: 0, minY: 0, maxX: 180, maxY: 0)),
            (3, 2154, Envelope(minX: -1e9, minY: -1e9, maxX: 1e9, maxY: 1e9)),
        ] {
            try fixture.addLayer("L\(layer)")
            try fixture.append(.layerLoadStarted(LayerLoadStarted(layer: layer)))
            var properties = MapFixture.properties(wkid: wkid, fields: [])
            properties.extent = extent
            try fixture.append(.layerLoaded(LayerLoaded(layer: layer, properties: properties)))
        }

        let extent = try #require(try fixture.world.initialExtent)
        #expect(extent.minX == -50 && abs(extent.minY) < 1e-6 && extent.maxY == 300)
        #expect(abs(extent.maxX - 20_037_508.342789244) < 1e-6)
        let own = Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4)
        try fixture.run(.setMapProperties(MapProperties(initialExtent: own)))
        #expect(try fixture.world.initialExtent == own)
    }

    @Test func `while the basemap failed the map is blank, and the next one takes over`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.addLayer("Base")
        try fixture.addLayer("Next")
        try fixture.load(1, wkid: 4326)
        try fixture.failLoad(0)
        #expect(try fixture.world.basemap == 0)
        #expect(try fixture.world.spatialReference == nil)
        #expect(try fixture.world.initialExtent == nil)

        try fixture.run(.removeLayer(layer: 0))

        #expect(try fixture.world.basemap == 1)
        #expect(try fixture.world.spatialReference == .wgs84)
    }

    @Test func `a new source makes the layer unknown until it is loaded again`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.addLayer("Base")
        try fixture.load(0)

        try fixture.run(.setSource(layer: 0, source: MapFixture.source(7)))

        #expect(try fixture.world.layer(0)?.loadStatus == .notLoaded)
        #expect(try fixture.world.spatialReference == nil)
    }

    @Test func `the map says since when a layer has another source than it was added with`() throws
    {
        var fixture = try MapFixture(created: true)
        try fixture.addLayer("Base")
        try fixture.addLayer("Upper")
        #expect(try fixture.world.sourceChanges == nil)

        try fixture.run(.setSource(layer: 1, source: MapFixture.source(7)))
        let changed = fixture.state.sequence
        try fixture.load(0)

        #expect(try fixture.world.sourceChanges == [1: changed])
        let restored = try MapsState(pieces: try fixture.state.pieces())
        #expect(restored == fixture.state)
        #expect(restored.map(named: MapFixture.world)?.sourceChanges == [1: changed])
        try fixture.run(.removeLayer(layer: 1))
        #expect(try fixture.world.sourceChanges == nil)
    }
}

@Suite struct MapFoldTests {
    private func record(
        _ event: any EventPayload, stream: StreamName, position: Int64, global: Int64
    ) throws -> RecordedEvent {
        RecordedEvent(
            globalPosition: global, stream: stream, streamPosition: position,
            recordedAt: Timestamp(microseconds: 0),
            event: try event.newEvent(id: UUID(), metadata: EventMetadata()))
    }

    @Test(arguments: [
        MapEvent.layerRemoved(LayerRemoved(layer: 8)),
        .layerAdded(LayerAdded(layer: 3, name: "x", kind: .group, parent: nil, index: 0)),
        .layerAdded(LayerAdded(layer: 4, name: "roads", kind: .group, parent: nil, index: 0)),
        .layerAdded(LayerAdded(layer: 4, name: "x", kind: .group, parent: nil, index: -1)),
        .layerAdded(LayerAdded(layer: 4, name: "x", kind: .group, parent: 3, index: 0)),
        .layerMoved(LayerMoved(layer: 0, parent: 2, index: 0)),
        .layerMoved(LayerMoved(layer: 3, parent: nil, index: 2)),
        .layerRenamed(LayerRenamed(layer: 3, name: "INNER")),
        .layerLoadStarted(LayerLoadStarted(layer: 0)),
        .created(MapCreated(name: MapFixture.world)),
    ])
    func `an event that does not follow is refused and changes nothing`(_ event: MapEvent) throws {
        let fixture = try smallWorld()
        var state = fixture.state
        let wrong = try record(
            event.payload, stream: .map(MapFixture.world),
            position: try #require(state.streamPosition(of: MapFixture.world)) + 1,
            global: state.sequence + 1)

        #expect(throws: Failure.self) { try state.apply(wrong) }
        #expect(state == fixture.state)
    }

    @Test func `a gap in a stream is seen, a record read twice is passed over`() throws {
        let fixture = try smallWorld()
        var state = fixture.state
        for record in fixture.records { try state.apply(record) }
        #expect(state == fixture.state)

        let ahead = try record(
            LayerRemoved(layer: 3), stream: .map(MapFixture.world), position: 99, global: 99)
        #expect(throws: Failure.self) { try state.apply(ahead) }
    }

    @Test func `an event type of a later version is named, not skipped`() throws {
        var state = try smallWorld().state
        var later = try record(
            LayerRemoved(layer: 3), stream: .map(MapFixture.world),
            position: try #require(state.streamPosition(of: MapFixture.world)) + 1, global: 99)
        later.event.type = "map.layer.rotated"
        do throws(Failure) {
            try state.apply(later)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .newerVersion)
            #expect(error.message.contains("map.layer.rotated"))
        }
    }

    @Test func `a locator's name leads to what was published last`() throws {
        var state = MapsState()
        for number in 0...1 {
            let event = LocatorPublished(
                name: "World", locator: MapFixture.content(number), placeCount: number)
            try state.apply(
                try record(
                    event, stream: .locator("World"), position: Int64(number),
                    global: Int64(number) + 5))
        }

        #expect(state.locatorNames == ["World"])
        #expect(state.locator(named: "world")?.placeCount == 1)
        #expect(state.locator(named: "Mars") == nil)
        #expect(state.sequence == 6)
    }

    @Test func `the last changes are those of the maps and the locators that there are`() throws {
        var state = try smallWorld().state
        let maps = state.lastChanges
        #expect(maps.count == state.mapNames.count && maps[.map(MapFixture.world)] != nil)
        let published = LocatorPublished(
            name: "World", locator: MapFixture.content(1), placeCount: 1)
        for position: Int64 in 0...1 {
            try state.apply(
                try record(
                    published, stream: .locator("World"), position: position,
                    global: position + 70))
        }
        #expect(state.lastChanges[.locator("World")] == 71)

        try state.apply(
            try record(
                LocatorDeleted(name: "World"), stream: .locator("World"), position: 2, global: 80))
        #expect(state.lastChanges == maps)
    }

    @Test func `events of other categories only move the sequence`() throws {
        var state = try smallWorld().state
        let before = try #require(state.map(named: MapFixture.world))
        var other = try record(
            LayerRemoved(layer: 3), stream: .job(JobID(rawValue: UUID())), position: 7, global: 40)
        other.event.type = "job.submitted"
        try state.apply(other)

        var expected = before
        expected.sequence = 40
        #expect(state.map(named: MapFixture.world) == expected)
        state.advance(to: 12)
        #expect(state.sequence == 40)
    }
}
