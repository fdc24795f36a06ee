// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import MapState
import TestKit
import Testing

/// Decisions on edits and their fold, held against a dictionary.
@Suite struct FeatureEditTests {
    /// Squares with a name, as a dataset would lend them.
    private struct Features: DatasetFeatures {
        var features: [Int64: EditedFeature] = [:]

        func nextID() -> Int64 { (features.keys.max() ?? 0) + 1 }
        func feature(_ id: Int64) -> EditedFeature? { features[id] }
        func projected(_ shape: Shape, from reference: SpatialReference) throws(Failure) -> Shape {
            throw Failure(.invalidParameter, "no way from \(reference)")
        }
        func checkPlace(of shape: Shape, orIn extent: Envelope?) throws(Failure) {
            guard shape.envelope.maxX <= 1e6 else {
                throw Failure(.invalidParameter, "geometry: x is too far east")
            }
        }
    }

    private static func square(_ x: Double) -> Shape {
        .polygon(
            rings: [
                [(0.0, 0.0), (0, 1), (1, 1), (1, 0), (0, 0)].map {
                    Coordinate(x: x + $0.0, y: $0.1)
                }
            ])
    }

    private static func feature(_ id: Int64, _ name: String?, x: Double = 0) -> EditedFeature {
        EditedFeature(
            id: id, shape: square(x),
            attributes: Attributes([
                .init(name: "NAME", value: name.map { .string($0) } ?? .null),
                .init(name: "BUILT", value: .null),
            ]))
    }

    private static func draft(
        _ id: Int64? = nil, _ name: String? = nil, x: Double? = nil
    ) -> FeatureDraft {
        FeatureDraft(
            id: id, shape: x.map { square($0) },
            attributes: Attributes(name.map { [.init(name: "name", value: .string($0))] } ?? []))
    }

    /// Layer 0 of a map with the features 1 to `count`, open to edits.
    private func fixture(_ count: Int64) throws -> (MapFixture, Features) {
        var fixture = try MapFixture(created: true)
        try fixture.load(try fixture.addLayer("Squares"))
        try fixture.run(.setEditable(layer: 0, isEditable: true))
        var features = Features()
        for id in 1...count { features.features[id] = Self.feature(id, "old", x: Double(id)) }
        return (fixture, features)
    }

    private func run(
        _ fixture: inout MapFixture, _ edits: FeatureEdits, _ features: Features
    ) throws -> FeatureEditResults {
        let (event, results) = try fixture.state.decide(
            edits, of: 0, in: MapFixture.world, features: { _ in features })
        if let event {
            try fixture.append(event, causation: UUID())
            guard case .featuresEdited(let edited) = event else { return results }
            // The answer to a repetition of the command.
            #expect(FeatureEditResults(edits, edited) == results)
        }
        return results
    }

    /// The content of the layer: the dataset under its edits.
    private func contents(
        _ fixture: MapFixture, _ base: Features
    ) throws -> [Int64: EditedFeature] {
        var result = base.features
        for change in try #require(try fixture.world.layer(0)?.edits).changes {
            result[change.id] = change.feature
        }
        return result
    }

    @Test(arguments: Seeds.chosen(20))
    func `the features are those of a dictionary, over compactions too`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (fixture, base) = try fixture(10)
        var model = base.features
        var everGiven = Set(model.keys)
        // A compaction that has begun: what it will contain, and up to where.
        var begun: (features: [Int64: EditedFeature], through: Int64)?
        for step in 0..<60 {
            var edits = FeatureEdits(isAtomic: Bool.random(using: &random))
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let isPlaceless = Bool.random(using: &random)
                edits.adds.append(Self.draft(nil, "new", x: isPlaceless ? nil : Double(step)))
            }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                var draft = Self.draft(.random(in: 1...40, using: &random), "step \(step)")
                if Bool.random(using: &random) { draft.clearsGeometry = true }
                edits.updates.append(draft)
            }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                edits.deletes.append(.random(in: 1...40, using: &random))
            }
            let results = try run(&fixture, edits, base)
            var after = model
            var failures = 0
            for (draft, result) in zip(edits.adds, results.adds) {
                guard let id = result.id else { continue }
                #expect(everGiven.insert(id).inserted)
                var added = Self.feature(id, "new", x: Double(step))
                if draft.geometry == nil { added.shape = nil }
                after[id] = added
                #expect(draft.id == nil)
            }
            for draft in edits.updates {
                guard let id = draft.id, let old = model[id] else {
                    failures += 1
                    continue
                }
                // An update changes what the one before it left.
                var changed = after[id] ?? old
                changed.attributes.entries[0].value = .string("step \(step)")
                if draft.clearsGeometry == true { changed.shape = nil }
                after[id] = changed
            }
            var gone: Set<Int64> = []
            for id in edits.deletes {
                if model[id] == nil || !gone.insert(id).inserted {
                    failures += 1
                } else {
                    after[id] = nil
                }
            }
            let all = results.adds + results.updates + results.deletes
            let refused = all.count { $0.failure != nil }
            if edits.isAtomic, failures > 0 {
                #expect(refused == all.count)
            } else {
                #expect(refused == failures)
                model = after
            }
            #expect(try contents(fixture, base) == model)
            #expect(
                try fixture.world.layer(0)?.properties?.featureCount == model.count + 3 - 10)

            if begun == nil, step % 7 == 3 {
                begun = (model, try fixture.world.layer(0)?.edits?.sequence ?? 0)
            } else if let compaction = begun, step % 7 == 6 {
                base.features = compaction.features
                try fixture.append(
                    .layerCompacted(
                        LayerCompacted(
                            layer: 0, dataset: MapFixture.content(step),
                            through: compaction.through,
                            properties: MapFixture.properties(wkid: 3857, fields: ["NAME"]))))
                begun = nil
                #expect(try contents(fixture, base) == model)
                #expect(try fixture.world.layer(0)?.kind.dataset == MapFixture.content(step))
            }
        }
        var again = MapsState()
        for record in fixture.records { try again.apply(record) }
        #expect(again == fixture.state)
        let restored = try MapsState(pieces: try fixture.state.pieces())
        #expect(try restored.hash() == fixture.state.hash())
    }

    // MARK: Several layers

    @Test(arguments: Seeds.chosen(20))
    func `edits of several layers are one event, which does what one event each would do`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var (together, features) = try fixture(10)
        try together.load(try together.addLayer("More squares"))
        try together.run(.setEditable(layer: 1, isEditable: true))
        var apart = together
        for step in 0..<30 {
            let isAtomic = Bool.random(using: &random)
            let edits = [1, 0].map { layer in
                var edits = FeatureEdits(isAtomic: isAtomic)
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    edits.adds.append(Self.draft(nil, "new", x: Double(step)))
                    edits.updates.append(
                        Self.draft(.random(in: 1...14, using: &random), "step \(step)"))
                    edits.deletes.append(.random(in: 1...30, using: &random))
                }
                return LayerFeatureEdits(layer, edits)
            }
            let before = together.records.count
            let (event, results) = try together.state.decide(edits, in: MapFixture.world) { _, _ in
                features
            }
            // The outcome for each layer alone.
            var alone: [(MapEvent?, FeatureEditResults)] = []
            for each in edits {
                alone.append(
                    try apart.state.decide(
                        each.edits, of: each.layer, in: MapFixture.world,
                        features: { _ in features }))
            }
            let isRefused = alone.map { _, results in
                (results.adds + results.updates + results.deletes).contains { $0.failure != nil }
            }
            if isAtomic, isRefused.contains(true) {
                #expect(event == nil)
                for each in results {
                    let all = each.adds + each.updates + each.deletes
                    #expect(all.allSatisfy { $0.failure != nil })
                }
                continue
            }
            #expect(results == alone.map(\.1))
            for case (let event?, _) in alone { try apart.append(event, causation: UUID()) }
            if let event {
                try together.append(event, causation: UUID())
                guard case .featuresEdited(let edited) = event else {
                    Issue.record("\(event)")
                    return
                }
                #expect(edited.layers.map(\.layer) == [1, 0])
                // The answer to a repetition of the command.
                for (index, layer) in edited.layers.enumerated() {
                    #expect(FeatureEditResults(edits[index].edits, layer) == results[index])
                }
            }
            #expect(together.records.count <= before + 1)
            for layer in [0, 1] {
                let (one, two) = (
                    try #require(try together.world.layer(layer)),
                    try #require(try apart.world.layer(layer))
                )
                #expect(one.edits?.changes.map(\.feature) == two.edits?.changes.map(\.feature))
                #expect(one.edits?.changes.map(\.id) == two.edits?.changes.map(\.id))
                #expect(one.edits?.nextID ?? 0 >= two.edits?.nextID ?? 0)
                #expect(one.properties?.featureCount == two.properties?.featureCount)
            }
        }
        var again = MapsState()
        for record in together.records { try again.apply(record) }
        #expect(again == together.state)
    }

    @Test func `a layer is named once, and all of them are bounded together`() throws {
        let (fixture, features) = try fixture(3)
        let one = LayerFeatureEdits(0, FeatureEdits(deletes: [1]))
        for edits in [[], [one, one]] {
            let failure = #expect(throws: Failure.self) {
                try fixture.state.decide(edits, in: MapFixture.world) { _, _ in features }
            }
            #expect(failure?.code == .invalidParameter)
        }
        let adds = [FeatureDraft](repeating: Self.draft(nil, "x", x: 1), count: 1_500)
        let failure = #expect(throws: Failure.self) {
            try fixture.state.decide(
                [0, 1].map { LayerFeatureEdits($0, FeatureEdits(adds: adds)) },
                in: MapFixture.world
            ) { _, _ in features }
        }
        #expect(failure?.code == .tooLarge)
    }

    @Test func `an event of one layer is written as ever, one of several as the next schema`()
        throws
    {
        func edited(_ layer: LayerID) -> FeaturesEdited {
            FeaturesEdited(
                layer: layer, added: [Self.feature(4, "a")], changed: [], deleted: [2], nextID: 5,
                refused: nil)
        }
        for layers in [[3], [3, 1, 2]] {
            let event = try #require(FeaturesEdited(together: layers.map(edited)))
            let written = try event.newEvent(
                id: .timeOrdered(), metadata: EventMetadata(producer: "test"))
            #expect(written.schema == (layers.count == 1 ? 1 : 2))
            #expect(
                String(decoding: written.data, as: UTF8.self).contains("others")
                    == (layers.count > 1))
            #expect(try FeaturesEdited.decode(written) == event)
            #expect(event.layers.map(\.layer) == layers && event.layers[0] == edited(3))
        }
    }

    @Test func `each wrong edit is refused with its reason, and the others are done`() throws {
        var (fixture, features) = try fixture(3)
        var wrong: [(FeatureDraft, String)] = [
            (
                FeatureDraft(shape: .point(Coordinate(x: 1, y: 1))),
                "it is an esriGeometryPoint, the layer's features are esriGeometryPolygon"
            ),
            (FeatureDraft(shape: .polygon(rings: [])), "expected one coordinate or more"),
            (
                FeatureDraft(
                    shape: .polygon(rings: [[Coordinate(x: .nan, y: 0)]])), "expected numbers"
            ),
            (
                FeatureDraft(shape: Self.square(0), spatialReference: SpatialReference(wkid: 7)),
                "no way from"
            ),
        ]
        for (name, value, sentence) in [
            ("nothing", AttributeValue.null, "there is no field 'nothing'"),
            ("NAME", .integer(4), "attribute 'NAME': expected text"),
            ("BUILT", .string("today"), "attribute 'BUILT': expected milliseconds"),
            ("BUILT", .integer(.max), "attribute 'BUILT': expected milliseconds"),
        ] {
            var draft = Self.draft(x: 1)
            draft.attributes = Attributes([.init(name: name, value: value)])
            wrong.append((draft, sentence))
        }
        var faulty = Self.draft(x: 1)
        faulty.fault = Failure(.invalidParameter, "geometry: no numbers")
        wrong.append((faulty, "geometry: no numbers"))
        (faulty.id, faulty.geometry) = (1, nil)
        let edits = FeatureEdits(
            adds: wrong.map(\.0) + [Self.draft(nil, "good", x: 5)],
            updates: [Self.draft(nil, "whose?"), Self.draft(2, "good"), faulty],
            deletes: [3, 3, 99],
            isAtomic: false)
        let results = try run(&fixture, edits, features)

        for (result, (_, sentence)) in zip(results.adds, wrong) {
            #expect(result.id == nil && result.failure?.message.contains(sentence) == true)
        }
        #expect(results.adds.last == FeatureEditResult(id: 4))
        #expect(results.updates.map { $0.failure == nil } == [false, true, false])
        #expect(results.deletes.map { $0.failure?.code } == [nil, .notFound, .notFound])
        features.features[4] = Self.feature(4, "good", x: 5)
        features.features[2] = Self.feature(2, "good", x: 2)
        features.features[3] = nil
        #expect(try contents(fixture, features) == features.features)
    }

    @Test func `only a loaded layer of features that was opened takes edits`() throws {
        var (fixture, features) = try fixture(3)
        let edits = FeatureEdits(deletes: [1])
        func code(_ layer: LayerID) -> Failure.Code? {
            do throws(Failure) {
                _ = try fixture.state.decide(
                    edits, of: layer, in: MapFixture.world, features: { _ in features })
                return nil
            } catch { return error.code }
        }
        try fixture.run(
            .addLayer(
                name: "Notes",
                source: .graphics(GraphicsSource(spatialReference: SpatialReference(wkid: 3857))),
                place: .init()))
        try fixture.addGroup("Group")
        try fixture.addLayer("Waiting")
        #expect(code(0) == nil)
        #expect(code(1) == .invalidParameter && code(2) == .invalidParameter)
        #expect(code(3) == .conflict && code(9) == .notFound)
        #expect(refusal(fixture, .setEditable(layer: 1, isEditable: true)) == .invalidParameter)
        #expect(refusal(fixture, .setEditable(layer: 3, isEditable: true)) == .unavailable)

        _ = try run(&fixture, edits, features)
        try fixture.run(.setEditable(layer: 0, isEditable: false))
        #expect(code(0) == .conflict)
        features.features[1] = nil
        #expect(try contents(fixture, features) == features.features)

        // The edits were those of another dataset's features.
        try fixture.run(.setSource(layer: 0, source: MapFixture.source(8)))
        #expect(try fixture.world.layer(0)?.edits == LayerEdits(isOpen: false))
    }

    @Test(arguments: [
        "NAME <> 'hidden'", "OBJECTID NOT IN (2, 4)", "OBJECTID < 2 OR OBJECTID = 3",
        "nonsense = 1",
    ]) func `a feature that the layer hides is edited as one that is not there`(
        _ definition: String
    ) throws {
        for isAtomic in [true, false] {
            var (fixture, features) = try fixture(4)
            features.features[2] = Self.feature(2, "hidden", x: 2)
            // Another is hidden by an edit before.
            _ = try run(&fixture, FeatureEdits(updates: [Self.draft(4, "hidden")]), features)
            try fixture.append(
                .layerDefinitionChanged(
                    LayerDefinitionChanged(layer: 0, expression: definition)))
            let before = try contents(fixture, features)
            for hidden: Int64 in [2, 4] {
                func edits(_ id: Int64) -> FeatureEdits {
                    FeatureEdits(
                        adds: [Self.draft(id, "added", x: 9)],
                        updates: [Self.draft(id, "changed"), Self.draft(id, "twice", x: 3)],
                        deletes: [id, id], isAtomic: isAtomic)
                }
                func told(_ results: FeatureEditResults, _ id: Int64) -> [String?] {
                    (results.updates + results.deletes).map {
                        $0.failure.map { "\($0.code) \($0)" }?
                            .replacing("feature \(id)", with: "feature")
                    }
                }
                var (first, second) = (fixture, fixture)
                let (seen, absent) = (
                    try run(&first, edits(hidden), features), try run(&second, edits(77), features)
                )
                #expect(told(seen, hidden) == told(absent, 77))
                #expect(told(seen, hidden).allSatisfy { $0?.hasPrefix("Code") == true })
                #expect(seen.adds == absent.adds)
                #expect(try contents(first, features) == contents(second, features))
                #expect(try contents(first, features)[hidden] == before[hidden])
            }
        }
    }

    @Test func `an edit may hide a feature, and then it is not there`() throws {
        var (fixture, features) = try fixture(3)
        try fixture.append(
            .layerDefinitionChanged(
                LayerDefinitionChanged(layer: 0, expression: "NAME <> 'hidden'")))

        let results = try run(
            &fixture,
            FeatureEdits(
                adds: [Self.draft(nil, "hidden", x: 5)],
                updates: [Self.draft(1, "hidden"), Self.draft(1, "shown")], isAtomic: false),
            features)

        #expect(results.adds.map(\.failure) == [nil] && results.updates[0].failure == nil)
        #expect(results.updates[1].failure?.code == .notFound)
        let added = try #require(results.adds[0].id)
        let later = try run(&fixture, FeatureEdits(deletes: [added, 1, 3]), features)
        #expect(later.deletes.map { $0.failure?.code == .notFound } == [true, true, false])
    }

    @Test(.slow) func `more edits than a layer holds have to wait`() throws {
        var (fixture, features) = try fixture(3)
        let many = FeatureEdits(
            adds: Array(repeating: Self.draft(x: 1), count: MapLimits.editsPerCommand))
        for _ in 0..<(MapLimits.changedFeatures / MapLimits.editsPerCommand) {
            _ = try run(&fixture, many, features)
        }
        #expect {
            try run(&fixture, FeatureEdits(deletes: [1]), features)
        } throws: { ($0 as? Failure)?.code == .busy }
        #expect {
            try run(
                &fixture, FeatureEdits(adds: many.adds + many.adds.prefix(1)), features)
        } throws: { ($0 as? Failure)?.code == .tooLarge }
        features.features = [:]
    }

    private static func points(_ count: Int) -> Shape {
        .multipoint((0..<count).map { Coordinate(x: Double($0), y: 1) })
    }

    @Test(arguments: [true, false], [true, false])
    func `a layer's features take the Z and M that it has`(_ hasZ: Bool, _ hasM: Bool) throws {
        var fixture = try MapFixture(created: true)
        let layer = try fixture.addLayer("Masts")
        var properties = MapFixture.properties(wkid: 3857, fields: ["NAME"])
        (properties.geometryType, properties.hasZ, properties.hasM) = (.multipoint, hasZ, hasM)
        try fixture.append(.layerLoadStarted(LayerLoadStarted(layer: layer)))
        try fixture.append(.layerLoaded(LayerLoaded(layer: layer, properties: properties)))
        try fixture.run(.setEditable(layer: 0, isEditable: true))
        let given = FurtherOrdinates(z: [1, nil, 3], m: [4, 5, nil])
        let kept = FurtherOrdinates(z: hasZ ? given.z : nil, m: hasM ? given.m : nil)

        let results = try run(
            &fixture,
            FeatureEdits(adds: [FeatureDraft(shape: Self.points(3), ordinates: given)]),
            Features())
        let id = try #require(results.adds.first?.id)
        func feature() throws -> EditedFeature {
            try #require(try fixture.world.layer(0)?.edits?.change(of: id)?.feature)
        }
        #expect(try feature().ordinates == kept)

        // Attributes alone leave the geometry whole.
        let name = Attributes([.init(name: "name", value: .string("new"))])
        _ = try run(
            &fixture, FeatureEdits(updates: [FeatureDraft(id: id, attributes: name)]), Features())
        #expect(try feature().ordinates == kept)

        // A geometry without them has none.
        _ = try run(
            &fixture, FeatureEdits(updates: [FeatureDraft(id: id, shape: Self.points(2))]),
            Features())
        #expect(try feature().ordinates.isNothing)

        let wrong = try run(
            &fixture,
            FeatureEdits(adds: [
                FeatureDraft(shape: Self.points(1), ordinates: FurtherOrdinates(z: [1e13]))
            ]), Features())
        #expect(
            (wrong.adds.first?.failure?.message.contains("Z is 10000000000000.0, expected") == true)
                == hasZ)
    }

    @Test func `an event is of the first schema that can say it`() {
        func event(_ ordinates: FurtherOrdinates, others: Bool) -> FeaturesEdited {
            let feature = EditedFeature(
                id: 1, shape: Self.points(1), ordinates: ordinates, attributes: Attributes([]))
            let event = FeaturesEdited(
                layer: 0, added: [], changed: [feature], deleted: [], nextID: 2, refused: nil)
            var other = event
            other.layer = 1
            return FeaturesEdited(together: others ? [event, other] : [event]) ?? event
        }
        let flat = FurtherOrdinates()
        #expect(event(flat, others: false).writtenSchema == 1)
        #expect(event(flat, others: true).writtenSchema == 2)
        #expect(event(FurtherOrdinates(z: [nil]), others: false).writtenSchema == 1)
        #expect(event(FurtherOrdinates(m: [2]), others: false).writtenSchema == 3)
        #expect(event(FurtherOrdinates(z: [2]), others: true).writtenSchema == 3)
        var placeless = event(FurtherOrdinates(z: [2]), others: true)
        placeless.others?[0].changed[0].shape = nil
        #expect(placeless.writtenSchema == 4)
    }
}
