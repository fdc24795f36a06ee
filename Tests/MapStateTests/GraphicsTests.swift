// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import MapState
import Testing

@Suite struct GraphicsTests {
    /// A map whose layer 0 is for drawing and layer 1 holds a dataset.
    private func fixture() throws -> MapFixture {
        var fixture = try MapFixture(created: true)
        try fixture.run(
            .addLayer(
                name: "Notes",
                source: .graphics(GraphicsSource(spatialReference: SpatialReference(wkid: 3857))),
                place: .init()))
        try fixture.addLayer("Roads")
        return fixture
    }

    private func point(_ x: Double, _ y: Double) -> Shape { .point(Coordinate(x: x, y: y)) }

    private func add(
        _ shape: Shape, _ attributes: [Attributes.Entry] = [], layer: LayerID = 0, z: Int = 0
    ) -> MapCommand {
        .addGraphic(layer: layer, shape: shape, attributes: Attributes(attributes), zIndex: z)
    }

    @Test func `graphics are drawn, changed and removed, and no number comes back`() throws {
        var fixture = try fixture()
        try fixture.run(add(point(1, 2), [.init(name: "a", value: .integer(1))]))
        try fixture.run(add(.envelope(Envelope(minX: 0, minY: 0, maxX: 2, maxY: 1)), z: 4))
        try fixture.run(add(point(5, 5)))
        try fixture.run(
            .updateGraphic(layer: 0, graphic: 1, shape: point(3, 4), attributes: nil, zIndex: nil))
        try fixture.run(
            .updateGraphic(
                layer: 0, graphic: 2, shape: nil,
                attributes: Attributes([.init(name: "b", value: .real(1.5))]), zIndex: -1))
        try fixture.run(.removeGraphic(layer: 0, graphic: 3))
        try fixture.run(add(point(6, 6)))

        let graphics = try #require(try fixture.world.layer(0)?.graphics)
        #expect(graphics.map(\.id) == [1, 2, 4])
        #expect(graphics[0].shape == point(3, 4))
        #expect(graphics[0].attributes["A"] == .integer(1))
        #expect(graphics[1].shape.geometryType == .polygon)
        #expect(graphics[1].shape.coordinateCount == 5)
        #expect(graphics[1].attributes["b"] == .real(1.5) && graphics[1].zIndex == -1)

        try fixture.run(.clearGraphics(layer: 0))
        #expect(try fixture.world.layer(0)?.graphics == [])
        #expect(try fixture.run(.clearGraphics(layer: 0)).isEmpty)
        try fixture.run(add(point(7, 7)))
        #expect(try fixture.world.layer(0)?.graphics?.map(\.id) == [5])
    }

    @Test func `a repeated command is answered with the number it drew`() throws {
        var fixture = try fixture()
        let id = UUID()
        try fixture.run(add(point(1, 1)), id: id)

        #expect(fixture.state.outcome(of: id)?.graphic == 1)
    }

    @Test func `the state of graphics folded anew is the same`() throws {
        var fixture = try fixture()
        for number in 0..<50 {
            try fixture.run(add(point(Double(number), 0), z: number % 3))
            if number % 4 == 3 {
                try fixture.run(.removeGraphic(layer: 0, graphic: Int64(number - 1)))
            }
        }

        var again = MapsState()
        for record in fixture.records { try again.apply(record) }

        #expect(again == fixture.state)
        #expect(try fixture.world.layer(0)?.graphics?.count == 38)
    }

    @Test func `the first layer may be drawn: it gives the map its reference and extent`() throws {
        var fixture = try fixture()
        try fixture.run(add(point(1, 2)))
        try fixture.run(add(point(5, -2)))
        #expect(try fixture.world.spatialReference == nil)
        try fixture.append(.layerLoadStarted(LayerLoadStarted(layer: 0)))
        try fixture.append(
            .layerLoaded(
                LayerLoaded(
                    layer: 0,
                    properties: LayerProperties(
                        extent: nil, spatialReference: SpatialReference(wkid: 3857),
                        geometryType: nil, fields: [], featureCount: 0))))

        #expect(try fixture.world.basemap == 0)
        #expect(try fixture.world.spatialReference?.wkid == 3857)
        #expect(
            try fixture.world.initialExtent == Envelope(minX: 1, minY: -2, maxX: 5, maxY: 2))
    }

    @Test func `events of dataset layers keep the first schema, others are of the second`() throws {
        let fixture = try fixture()

        let added = fixture.records.filter { $0.event.type == "map.layer.added" }

        #expect(added.map(\.event.schema) == [2, 1])
    }

    @Test func `a graphic that cannot be drawn is refused`() throws {
        var fixture = try fixture()
        try fixture.run(add(point(0, 0)))
        let named: (String, AttributeValue) -> [Attributes.Entry] = { [.init(name: $0, value: $1)] }
        let open = [Coordinate(x: 0, y: 0), Coordinate(x: 1, y: 0), Coordinate(x: 1, y: 1)]
        let long = (0...10_000).map { Coordinate(x: Double($0), y: 0) }
        let text = AttributeValue.string(String(repeating: "x", count: 66_000))
        let cases: [(MapCommand, Failure.Code)] = [
            (add(point(0, 0), layer: 1), .invalidParameter),
            (add(point(0, 0), layer: 9), .notFound),
            (add(point(.nan, 0)), .invalidParameter),
            (add(point(0, 1e13)), .invalidParameter),
            (add(.multipoint([])), .invalidParameter),
            (add(.polyline(paths: [[open[0]]])), .invalidParameter),
            (add(.polygon(rings: [open])), .invalidParameter),
            (add(.polygon(rings: [open + [open[1]]])), .invalidParameter),
            (add(.multipoint(long)), .tooLarge),
            (add(point(0, 0), named("objectID", .integer(3))), .invalidParameter),
            (add(point(0, 0), named("", .null)), .invalidParameter),
            (add(point(0, 0), named("r", .real(.infinity))), .invalidParameter),
            (add(point(0, 0), named("a", .null) + named("A", .null)), .invalidParameter),
            (add(point(0, 0), named("t", text)), .tooLarge),
            (add(point(0, 0), z: 1_000_001), .invalidParameter),
            (.removeGraphic(layer: 0, graphic: 2), .notFound),
            (.removeGraphic(layer: 1, graphic: 1), .invalidParameter),
            (.setDefinitionExpression(layer: 0, expression: "a = 1"), .invalidParameter),
            (.setSource(layer: 0, source: MapFixture.source(4)), .invalidParameter),
            (
                .setSource(
                    layer: 1, source: .graphics(GraphicsSource(spatialReference: .wgs84))),
                .invalidParameter
            ),
        ]
        for (command, code) in cases { #expect(refusal(fixture, command) == code, "\(command)") }
        #expect(
            try fixture.run(
                .updateGraphic(
                    layer: 0, graphic: 1, shape: point(0, 0), attributes: nil, zIndex: 0)
            ).isEmpty)
    }

    @Test func `a layer holds so many graphics and no more`() throws {
        var fixture = try fixture()
        for number in 1...MapLimits.graphics {
            try fixture.append(
                .graphicAdded(
                    GraphicAdded(
                        layer: 0,
                        graphic: Graphic(
                            id: Int64(number), shape: point(0, 0), attributes: Attributes([]),
                            zIndex: 0))))
        }

        #expect(refusal(fixture, add(point(0, 0))) == .tooLarge)
        #expect(refusal(fixture, .removeGraphic(layer: 0, graphic: 5000)) == nil)
    }
}
