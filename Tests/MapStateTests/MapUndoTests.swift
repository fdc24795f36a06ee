// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import MapState
import TestKit
import Testing

/// Three squares of every dataset, with its number in their names.
private struct Squares: DatasetFeatures {
    var dataset: ContentID

    func nextID() -> Int64 { 4 }

    func feature(_ id: Int64) -> EditedFeature? {
        guard 1...3 ~= id else { return nil }
        return EditedFeature(
            id: id, shape: Self.square(Double(id)),
            attributes: Attributes([
                .init(name: "NAME", value: .string("\(dataset.rawValue.suffix(2)) \(id)")),
                .init(name: "BUILT", value: .null),
            ]))
    }

    func projected(_ shape: Shape, from reference: SpatialReference) throws(Failure) -> Shape {
        shape
    }

    func checkPlace(of shape: Shape, orIn extent: Envelope?) {}

    static func square(_ x: Double) -> Shape {
        .polygon(
            rings: [
                [(0.0, 0.0), (0, 1), (1, 1), (1, 0), (0, 0)].map {
                    Coordinate(x: x + $0.0, y: $0.1)
                }
            ])
    }
}

/// What a reader sees of a map: no sequence numbers, and every feature as it is.
private struct Sight: Equatable {
    var roots: [LayerID]
    var layers: [LayerDescription]
    var features: [LayerID: [EditedFeature]]

    init(_ map: MapDescription) {
        roots = map.rootLayers
        features = [:]
        layers = map.layers.map { layer in
            var bare = layer
            bare.edits?.changes = []
            bare.edits?.sequence = 0
            // Numbers of features go on after an undo.
            bare.edits?.nextID = nil
            if bare.edits?.isOpen != true { bare.edits = nil }
            if bare.loadStatus == .loading { bare.loadStatus = .notLoaded }
            return bare
        }
        for layer in map.layers {
            guard case .layer(.dataset(let dataset)) = layer.kind else { continue }
            let edits = Dictionary(
                uniqueKeysWithValues: (layer.edits?.changes ?? []).map { ($0.id, $0.feature) })
            let kept = (1...3).compactMap { id -> EditedFeature? in
                edits[id] == nil ? Squares(dataset: dataset).feature(id) : nil
            }
            features[layer.id] = (kept + edits.values.compactMap { $0 }).sorted { $0.id < $1.id }
        }
    }
}

extension MapFixture {
    fileprivate var sight: Sight { get throws { Sight(try world) } }

    /// Plans an undo on every record, and appends its event.
    fileprivate mutating func undo(_ request: UndoRequest) throws -> UndoReport {
        var plan = MapUndo(of: Self.world, request)
        for record in records { try plan.take(record) }
        let (event, report) = try plan.plan { _, dataset throws(Failure) in
            Squares(dataset: dataset)
        }
        if let event, !request.isDryRun { try append(event, causation: UUID()) }
        return report
    }

    fileprivate mutating func edit(_ layer: LayerID, _ edits: FeatureEdits) throws {
        let (event, _) = try state.decide(edits, of: layer, in: Self.world) {
            dataset throws(Failure) in Squares(dataset: dataset)
        }
        if let event { try append(event, causation: UUID()) }
    }

    /// Plans a replacement on every record, and appends its event.
    fileprivate mutating func replace(
        _ layer: LayerID, _ request: ReplacementRequest
    ) throws {
        var plan = MapReplacement(of: layer, in: Self.world)
        for record in records { try plan.take(record) }
        let (event, _) = try plan.plan(
            request, Self.properties(wkid: 3857, fields: ["NAME"])
        ) { dataset throws(Failure) in Squares(dataset: dataset) }
        if let event { try append(event, causation: UUID()) }
    }

    /// One more random change, or a load; nothing where it is refused.
    fileprivate mutating func wander(_ random: inout SeededGenerator) throws {
        let layers = try world.layers
        let layer = layers.randomElement(using: &random)?.id ?? 0
        let parent =
            Bool.random(using: &random)
            ? nil : layers.filter { $0.kind == .group }.randomElement(using: &random)?.id
        let place = LayerPlace(
            parent: parent,
            index: Bool.random(using: &random) ? nil : Int.random(in: 0..<3, using: &random))
        let name = "n\(Int.random(in: 0..<20, using: &random))"
        let source = Self.source(Int.random(in: 1..<4, using: &random))
        let shape = Squares.square(Double(Int.random(in: 0..<50, using: &random)))
        do {
            switch Int.random(in: 0..<24, using: &random) {
            case 0, 1: try run(.addLayer(name: name, source: source, place: place))
            case 2: try run(.addGroup(name: name, place: place))
            case 3, 4: try run(.moveLayer(layer: layer, place: place))
            case 5: try run(.removeLayer(layer: layer))
            case 6: try run(.renameLayer(layer: layer, name: name))
            case 7:
                try run(
                    .setVisibility(layer: layer, isVisible: Bool.random(using: &random)))
            case 8:
                try run(
                    .setScaleRange(
                        layer: layer, scaleRange: ScaleRange(minScale: 1000, maxScale: 10)))
            case 9: try run(.setSource(layer: layer, source: source))
            case 10: try run(.setPopups(layer: layer, isEnabled: Bool.random(using: &random)))
            case 11: try run(.setFieldAlias(layer: layer, field: "NAME", alias: name))
            case 12:
                try run(.setDefinitionExpression(layer: layer, expression: "NAME <> '\(name)'"))
            case 13, 14:
                try run(
                    .setEditable(
                        layer: layer, isEditable: Int.random(in: 0..<4, using: &random) > 0))
            case 15:
                if let waiting = layers.first(where: { $0.loadStatus == .notLoaded }) {
                    try load(waiting.id)
                }
            case 16, 17:
                try replace(
                    layer,
                    ReplacementRequest(
                        dataset: Self.content(Int.random(in: 1..<4, using: &random)),
                        dropsEdits: Bool.random(using: &random)))
            default:
                let id = Int64.random(in: 1..<7, using: &random)
                let text = Attributes([.init(name: "NAME", value: .string(name))])
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    try edit(
                        layer, FeatureEdits(adds: [FeatureDraft(shape: shape, attributes: text)]))
                case 1: try edit(layer, FeatureEdits(deletes: [id]))
                case 2: try edit(layer, FeatureEdits(updates: [FeatureDraft(id: id, shape: shape)]))
                default:
                    try edit(layer, FeatureEdits(updates: [FeatureDraft(id: id, attributes: text)]))
                }
            }
        } catch is Failure {
            // Refused on the map as it is.
        }
    }

    fileprivate mutating func loadAll() throws {
        for layer in try world.layers where layer.loadStatus == .notLoaded { try load(layer.id) }
    }
}

@Suite struct MapUndoTests {
    /// The position of the last event that is not the fixture's `createMap`.
    private static func started(_ random: inout SeededGenerator) throws -> MapFixture {
        var fixture = try MapFixture(created: true)
        for name in ["A", "B"] {
            try fixture.load(try fixture.addLayer(name))
        }
        try fixture.run(.setEditable(layer: 0, isEditable: true))
        for _ in 0..<Int.random(in: 0..<30, using: &random) { try fixture.wander(&random) }
        return fixture
    }

    private func check(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var fixture = try Self.started(&random)
        try fixture.loadAll()
        let (before, position) = (try fixture.sight, fixture.state.sequence)
        for _ in 0..<Int.random(in: 1..<25, using: &random) { try fixture.wander(&random) }
        guard fixture.state.sequence > position else { return }
        try fixture.loadAll()
        let middle = try fixture.sight
        let range = position + 1...fixture.state.sequence
        do {
            _ = try fixture.undo(UndoRequest(range))
        } catch let error as Failure where error.code == .notFound {
            // Loads alone.
            return
        }
        try fixture.loadAll()
        let undone = fixture.state.sequence
        #expect(try fixture.sight == before, "seed \(seed)")

        // The undo is undone, and undone again.
        guard let last = fixture.records.last(where: { $0.event.type == MapRestored.eventType })
        else { return }
        _ = try fixture.undo(UndoRequest(last.globalPosition...last.globalPosition))
        try fixture.loadAll()
        #expect(try fixture.sight == middle, "seed \(seed)")
        _ = try fixture.undo(UndoRequest(undone + 1...fixture.state.sequence))
        try fixture.loadAll()
        #expect(try fixture.sight == before, "seed \(seed)")

        var replayed = MapsState()
        for record in fixture.records { try replayed.apply(record) }
        #expect(replayed == fixture.state, "seed \(seed)")
    }

    /// `CAIRN_SEEDS=10000` tells as many stories.
    @Test func `what happened since a moment is undone to the map of that moment`() throws {
        for seed in Seeds.chosen(400) { try check(seed) }
    }

    @Test func `an undo in the middle keeps or takes along what builds on it, and folds`() throws {
        var refused = 0
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var fixture = try Self.started(&random)
            for _ in 0..<20 { try fixture.wander(&random) }
            let positions = fixture.records.map(\.globalPosition)
            let chosen = try #require(positions.randomElement(using: &random))
            let copy = fixture
            do {
                let report = try fixture.undo(UndoRequest(chosen...chosen))
                #expect(report.dependents.isEmpty)
            } catch let error as Failure {
                guard error.code == .conflict else {
                    #expect(error.code == .notFound, "seed \(seed): \(error)")
                    continue
                }
                refused += 1
            }
            for policy in [UndoRequest.Policy.also, .merge] {
                var other = copy
                do {
                    let report = try other.undo(UndoRequest(chosen...chosen, policy: policy))
                    if policy == .also {
                        #expect(report.undone.count == report.dependentCount + 1)
                    } else {
                        #expect(report.undone.map(\.sequence) == [chosen])
                    }
                } catch let error as Failure {
                    // A name or a group that is needed is taken, or gone.
                    #expect(error.code == .conflict, "seed \(seed): \(error)")
                }
                var replayed = MapsState()
                for record in other.records { try replayed.apply(record) }
                #expect(replayed == other.state)
            }
        }
        #expect(refused > 20)
    }

    @Test func `a merge puts back the fields that a later edit left alone`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.load(try fixture.addLayer("Squares"))
        try fixture.run(.setEditable(layer: 0, isEditable: true))
        let before = try fixture.sight
        func update(_ name: String? = nil, x: Double? = nil) -> FeatureEdits {
            FeatureEdits(updates: [
                FeatureDraft(
                    id: 2, shape: x.map { Squares.square($0) },
                    attributes: Attributes(
                        name.map { [.init(name: "NAME", value: .string($0))] } ?? []))
            ])
        }
        try fixture.edit(0, update("wrong", x: 9))
        let wrong = fixture.state.sequence
        try fixture.edit(0, update("right"))
        #expect(throws: Failure.self) { try fixture.undo(UndoRequest(wrong...wrong)) }
        let report = try fixture.undo(UndoRequest(wrong...wrong, policy: .merge))
        #expect(report.dependents.map(\.subject) == ["feature 2 of layer 0"])
        let feature = try #require(try fixture.sight.features[0]?.first { $0.id == 2 })
        #expect(feature.shape == Squares.square(2))
        #expect(feature.attributes.entries[0].value == .string("right"))

        let all = try fixture.undo(
            UndoRequest(wrong...fixture.state.sequence))
        #expect(all.undone.count == 3)
        #expect(try fixture.sight == before)
    }

    @Test func `only the changes of one actor are undone`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.load(try fixture.addLayer("A"))
        let first = fixture.state.sequence + 1
        try fixture.run(.renameLayer(layer: 0, name: "B"))
        #expect(throws: Failure.self) {
            try fixture.undo(UndoRequest(first...first, by: "anna"))
        }
        #expect(try fixture.world.layers[0].name == "B")
        let dry = try fixture.undo(UndoRequest(first...first, isDryRun: true))
        #expect(dry.restored == ["name of layer 0"])
        #expect(try fixture.world.layers[0].name == "B")
        _ = try fixture.undo(UndoRequest(first...first))
        #expect(try fixture.world.layers[0].name == "A")
    }

    @Test func `a layer's name that was taken since is said, and nothing changes`() throws {
        var fixture = try MapFixture(created: true)
        try fixture.load(try fixture.addLayer("A"))
        try fixture.run(.renameLayer(layer: 0, name: "B"))
        let renamed = fixture.state.sequence
        try fixture.addLayer("A")
        let before = fixture.state
        #expect {
            try fixture.undo(UndoRequest(renamed...renamed))
        } throws: { error in
            "\(error)".contains("which layer 1 has now")
        }
        #expect(fixture.state == before)
    }
}
