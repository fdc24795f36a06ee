// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import MapState
import TestKit
import Testing

/// New data of a layer with edits.
@Suite struct MapReplacementTests {
    /// Points with a name, as a dataset would lend them.
    private struct Points: DatasetFeatures {
        var features: [Int64: EditedFeature]

        init(_ names: [Int64: String], x: [Int64: Double] = [:]) {
            features = [:]
            for (id, name) in names {
                features[id] = MapReplacementTests.feature(id, name, x: x[id] ?? Double(id))
            }
        }

        func nextID() -> Int64 { (features.keys.max() ?? 0) + 1 }
        func feature(_ id: Int64) -> EditedFeature? { features[id] }
        func projected(_ shape: Shape, from reference: SpatialReference) -> Shape { shape }
        func checkPlace(of shape: Shape, orIn extent: Envelope?) {}
    }

    private static func feature(_ id: Int64, _ name: String, x: Double) -> EditedFeature {
        EditedFeature(
            id: id, shape: .point(Coordinate(x: x, y: 0)),
            attributes: Attributes([.init(name: "NAME", value: .string(name))]))
    }

    private static func properties(
        _ count: Int, type: GeometryType = .point, fields: [String] = ["NAME"]
    ) -> LayerProperties {
        LayerProperties(
            extent: Envelope(minX: 0, minY: 0, maxX: 9, maxY: 0), spatialReference: .wgs84,
            geometryType: type,
            fields: [FieldDescription(name: "OBJECTID", type: .objectID)]
                + fields.map { FieldDescription(name: $0, type: .string) },
            featureCount: count)
    }

    /// Layer 0 with the points 1 to 4 of dataset 1, open to edits.
    private struct Story {
        var fixture: MapFixture
        var data = [
            MapFixture.content(1): Points([1: "a", 2: "b", 3: "c", 4: "d"])
        ]

        init() throws {
            fixture = try MapFixture(created: true)
            let layer = try fixture.addLayer("Points")
            try fixture.append(.layerLoadStarted(LayerLoadStarted(layer: layer)))
            try fixture.append(
                .layerLoaded(LayerLoaded(layer: layer, properties: properties(4))))
            try fixture.run(.setEditable(layer: 0, isEditable: true))
        }

        var layer: LayerDescription {
            get throws { try #require(try fixture.world.layer(0)) }
        }

        func lend(_ id: ContentID) throws(Failure) -> any DatasetFeatures {
            guard let points = data[id] else { throw Failure(.notFound, "no \(id)") }
            return points
        }

        mutating func edit(_ edits: FeatureEdits) throws {
            let (event, results) = try fixture.state.decide(
                edits, of: 0, in: MapFixture.world, features: { id throws(Failure) in try lend(id) }
            )
            for each in results.adds + results.updates + results.deletes {
                #expect(each.failure == nil)
            }
            if let event { try fixture.append(event, causation: UUID()) }
        }

        mutating func name(_ id: Int64, _ name: String) throws {
            try edit(FeatureEdits(updates: [draft(id, name)]))
        }

        /// Replaces the data of the layer by `points`, as dataset `number`.
        @discardableResult
        mutating func replace(
            _ number: Int, _ points: Points, drops: Bool = false,
            properties: LayerProperties? = nil
        ) throws -> ReplacementReport {
            let id = MapFixture.content(number)
            data[id] = points
            var plan = MapReplacement(of: 0, in: MapFixture.world)
            for record in fixture.records { try plan.take(record) }
            let (event, report) = try plan.plan(
                ReplacementRequest(dataset: id, dropsEdits: drops),
                properties ?? MapReplacementTests.properties(points.features.count)
            ) { dataset throws(Failure) in try lend(dataset) }
            if let event { try fixture.append(event, causation: UUID()) }
            return report
        }

        mutating func undoLast() throws {
            var plan = MapUndo(
                of: MapFixture.world,
                UndoRequest(fixture.state.sequence...fixture.state.sequence))
            for record in fixture.records { try plan.take(record) }
            let (event, _) = try plan.plan { _, dataset throws(Failure) in try lend(dataset) }
            try fixture.append(try #require(event), causation: UUID())
        }

        /// The names of all features by object id.
        var names: [Int64: String] {
            get throws {
                let layer = try layer
                let dataset = try #require(layer.kind.dataset)
                var features = try #require(data[dataset]).features
                for change in layer.edits?.changes ?? [] { features[change.id] = change.feature }
                return features.compactMapValues { feature in
                    if case .string(let name)? = feature.attributes["NAME"] { name } else { nil }
                }
            }
        }
    }

    private static func draft(_ id: Int64?, _ name: String, x: Double? = nil) -> FeatureDraft {
        FeatureDraft(
            id: id, shape: x.map { .point(Coordinate(x: $0, y: 0)) },
            attributes: Attributes([.init(name: "NAME", value: .string(name))]))
    }

    @Test func `edits of unchanged values are carried over to new data`() throws {
        var story = try Story()
        try story.name(1, "mine")
        try story.edit(FeatureEdits(adds: [Self.draft(nil, "new", x: 7)]))
        try story.edit(FeatureEdits(deletes: [2]))

        let report = try story.replace(2, Points([1: "a", 2: "b", 3: "C", 9: "i"]))

        #expect(report.carried == [1, 2, 5] && report.conflicts.isEmpty)
        #expect(try story.names == [1: "mine", 3: "C", 5: "new", 9: "i"])
        let layer = try story.layer
        #expect(layer.name == "Points" && layer.loadStatus == .loaded)
        #expect(layer.properties?.featureCount == 4)
        #expect(layer.edits?.nextID == 10)
    }

    @Test func `a name and a place edited apart from new data are merged`() throws {
        var story = try Story()
        try story.name(1, "mine")

        try story.replace(2, Points([1: "a"], x: [1: 5]))

        #expect(try story.names == [1: "mine"])
        let shape = try story.layer.edits?.change(of: 1)?.feature?.shape
        #expect(shape == .point(Coordinate(x: 5, y: 0)))
    }

    @Test func `an edit that the new data contradicts refuses it, unless it is dropped`() throws {
        var story = try Story()
        try story.name(1, "mine")
        try story.name(2, "gone")
        try story.edit(FeatureEdits(deletes: [3]))
        try story.edit(FeatureEdits(adds: [Self.draft(nil, "new", x: 7)]))
        let points = Points([1: "theirs", 3: "changed", 5: "other"])

        let failure = #expect(throws: Failure.self) { try story.replace(2, points) }

        #expect(failure?.code == .conflict && failure?.details.count == 4)
        #expect(
            failure?.details.first
                == "feature 1: 'NAME' was edited from 'a' to 'mine', and the new data has 'theirs'")
        #expect(try story.names == [1: "mine", 2: "gone", 4: "d", 5: "new"])

        let report = try story.replace(2, points, drops: true)
        #expect(report.conflicts.map(\.id) == [1, 2, 3, 5])
        #expect(try story.names == [1: "theirs", 3: "changed", 5: "other"])
    }

    @Test func `edits that were compacted are carried over as well`() throws {
        var story = try Story()
        try story.name(1, "mine")
        story.data[MapFixture.content(8)] = Points([1: "mine", 2: "b", 3: "c", 4: "d"])
        try story.fixture.append(
            .layerCompacted(
                LayerCompacted(
                    layer: 0, dataset: MapFixture.content(8),
                    through: story.fixture.state.sequence, properties: Self.properties(4))))
        #expect(try story.layer.edits?.changes.isEmpty == true)

        try story.replace(2, Points([1: "a", 2: "B"]))
        #expect(try story.names == [1: "mine", 2: "B"])

        // The next data is compared with the data of the last import.
        try story.replace(3, Points([1: "a", 2: "BB"]))
        #expect(try story.names == [1: "mine", 2: "BB"])
    }

    @Test func `a replacement is undone to the data and edits before, and edits go on`() throws {
        var story = try Story()
        try story.name(1, "mine")
        let before = try story.layer
        try story.replace(2, Points([1: "a", 9: "B"]))

        try story.undoLast()

        var after = try story.layer
        #expect(after.edits?.nextID == 10)
        after.edits?.sequence = before.edits?.sequence ?? 0
        #expect(after.kind == before.kind && after.properties == before.properties)
        #expect(try story.names == [1: "mine", 2: "b", 3: "c", 4: "d"])
        // The edit is still known as one over the first data.
        try story.replace(3, Points([1: "a", 3: "x"]))
        #expect(try story.names == [1: "mine", 3: "x"])
    }

    @Test func `object ids go on in a layer that takes no edits`() throws {
        var story = try Story()
        try story.fixture.run(.removeLayer(layer: 0))
        let layer = try story.fixture.addLayer("Closed")
        try story.fixture.append(.layerLoadStarted(LayerLoadStarted(layer: layer)))
        try story.fixture.append(
            .layerLoaded(LayerLoaded(layer: layer, properties: Self.properties(4))))
        story.data[MapFixture.content(2)] = Points([1: "a"])
        var plan = MapReplacement(of: layer, in: MapFixture.world)
        for record in story.fixture.records { try plan.take(record) }
        let (event, _) = try plan.plan(
            ReplacementRequest(dataset: MapFixture.content(2)), Self.properties(1)
        ) { id throws(Failure) in try story.lend(id) }

        try story.fixture.append(try #require(event), causation: UUID())

        let closed = try #require(try story.fixture.world.layer(layer))
        #expect(closed.edits?.nextID == 5 && closed.edits?.isOpen == false)
    }

    @Test func `new data with what an edit made needs no edit`() throws {
        var story = try Story()
        try story.name(1, "mine")

        let report = try story.replace(2, Points([1: "mine"]))

        #expect(report == ReplacementReport(carried: [], conflicts: [], notes: []))
        #expect(try story.layer.edits?.changes.isEmpty == true)
    }

    @Test func `an edit whose first data is gone is a conflict`() throws {
        var story = try Story()
        try story.name(1, "mine")
        story.data[MapFixture.content(8)] = Points([1: "mine"])
        try story.fixture.append(
            .layerCompacted(
                LayerCompacted(
                    layer: 0, dataset: MapFixture.content(8),
                    through: story.fixture.state.sequence, properties: Self.properties(1))))
        story.data[MapFixture.content(1)] = nil

        let failure = #expect(throws: Failure.self) { try story.replace(2, Points([1: "a"])) }

        #expect(failure?.details.first?.contains("no longer in the site") == true)
    }

    @Test func `data of another kind, or without the field of the definition, are refused`() throws
    {
        var story = try Story()
        let lines = #expect(throws: Failure.self) {
            try story.replace(2, Points([:]), properties: Self.properties(1, type: .polyline))
        }
        #expect(lines?.message.contains("import it as another layer") == true)

        try story.fixture.run(.setDefinitionExpression(layer: 0, expression: "NAME <> 'x'"))
        try story.fixture.run(.setDisplayField(layer: 0, field: "NAME"))
        let fields = Self.properties(1, fields: ["TITLE"])
        let definition = #expect(throws: Failure.self) {
            try story.replace(2, Points([:]), properties: fields)
        }
        #expect(definition?.message.contains("definition expression") == true)

        try story.fixture.run(.setDefinitionExpression(layer: 0, expression: nil))
        let report = try story.replace(2, Points([:]), properties: fields)
        #expect(report.notes == ["the display field 'NAME' is not among the new data's fields"])
    }
}
