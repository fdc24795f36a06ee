// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import MapState
import TestKit
import Testing

/// SplitMix64: the same numbers from the same seed, everywhere.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A slow second opinion of what a map's tree must be, as nested values.
private indirect enum Node: Equatable {
    case layer(LayerID)
    case group(LayerID, [Node])

    var id: LayerID {
        switch self {
        case .layer(let id), .group(let id, _): id
        }
    }

    /// Removes the node from the list, at any depth.
    static func take(_ id: LayerID, from nodes: inout [Node]) -> Node? {
        for offset in nodes.indices {
            if nodes[offset].id == id { return nodes.remove(at: offset) }
            if case .group(let group, var children) = nodes[offset],
                let found = take(id, from: &children)
            {
                nodes[offset] = .group(group, children)
                return found
            }
        }
        return nil
    }

    static func put(_ node: Node, into parent: LayerID?, at index: Int, of nodes: inout [Node]) {
        guard let parent else {
            nodes.insert(node, at: index)
            return
        }
        for offset in nodes.indices {
            guard case .group(let group, var children) = nodes[offset] else { continue }
            if group == parent {
                children.insert(node, at: index)
            } else {
                put(node, into: parent, at: index, of: &children)
            }
            nodes[offset] = .group(group, children)
        }
    }

    static func basemap(_ nodes: [Node]) -> LayerID? {
        for node in nodes {
            switch node {
            case .layer(let id): return id
            case .group(_, let children): if let id = basemap(children) { return id }
            }
        }
        return nil
    }

    static func flat(_ nodes: [Node]) -> [LayerID] {
        nodes.flatMap { node in
            switch node {
            case .layer(let id): [id]
            case .group(let id, let children): [id] + flat(children)
            }
        }
    }
}

@Suite struct MapPropertyTests {
    private static func randomCommand(_ generator: inout SeededGenerator) -> MapCommand {
        let layer = Int.random(in: 0..<24, using: &generator)
        let parent =
            Bool.random(using: &generator) ? nil : Int.random(in: 0..<24, using: &generator)
        let index = Bool.random(using: &generator) ? nil : Int.random(in: 0..<4, using: &generator)
        let place = LayerPlace(parent: parent, index: index)
        let name = "n\(Int.random(in: 0..<30, using: &generator))"
        let source = MapFixture.source(Int.random(in: 1..<4, using: &generator))
        switch Int.random(in: 0..<14, using: &generator) {
        case 0, 1, 2: return .addLayer(name: name, source: source, place: place)
        case 3, 4: return .addGroup(name: name, place: place)
        case 5, 6, 7: return .moveLayer(layer: layer, place: place)
        case 8: return .removeLayer(layer: layer)
        case 9: return .renameLayer(layer: layer, name: name.uppercased())
        case 10: return .setVisibility(layer: layer, isVisible: Bool.random(using: &generator))
        case 11: return .retryLoad(layer: layer)
        case 12: return .setSource(layer: layer, source: source)
        default: return .setDisplayField(layer: layer, field: name)
        }
    }

    /// Applies the event to the second opinion.
    private static func follow(_ event: MapEvent, _ tree: inout [Node]) {
        switch event {
        case .layerAdded(let event):
            let node: Node = event.kind == .group ? .group(event.layer, []) : .layer(event.layer)
            Node.put(node, into: event.parent, at: event.index, of: &tree)
        case .layerMoved(let event):
            guard let node = Node.take(event.layer, from: &tree) else { return }
            Node.put(node, into: event.parent, at: event.index, of: &tree)
        case .layerRemoved(let event): _ = Node.take(event.layer, from: &tree)
        default: break
        }
    }

    private static func check(_ map: MapDescription, _ tree: [Node], _ note: Comment) {
        #expect(map.layers.map(\.id) == Node.flat(tree), note)
        #expect(map.rootLayers == tree.map(\.id), note)
        #expect(map.basemap == Node.basemap(tree), note)
        let base = map.basemap.flatMap { map.layer($0)?.properties }
        #expect(map.spatialReference == base?.spatialReference, note)
        #expect(map.initialExtent == base?.extent, note)
        #expect(Set(map.layers.map { $0.name.lowercased() }).count == map.layers.count, note)
        for layer in map.layers {
            for child in layer.children { #expect(map.layer(child)?.parent == layer.id, note) }
            #expect(
                (layer.properties != nil) == (layer.loadStatus == .loaded && layer.kind != .group))
            #expect((layer.loadError != nil) == (layer.loadStatus == .failedToLoad), note)
        }
    }

    @Test(.slow, arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `any commands keep the map well-formed, and their events replay to it`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(state: seed)
        var fixture = try MapFixture(created: true)
        var replayed = MapsState()
        for record in fixture.records { try replayed.apply(record) }
        var tree: [Node] = []
        var accepted = 0
        for step in 0..<600 {
            let before = fixture.state
            let known = fixture.records.count
            if Int.random(in: 0..<4, using: &generator) == 0,
                let layer = try fixture.world.layers.filter({ $0.kind != .group })
                    .randomElement(using: &generator)
            {
                if Bool.random(using: &generator) {
                    try fixture.load(layer.id, wkid: 2000 + layer.id, fields: ["n1", "n2"])
                } else {
                    try fixture.failLoad(layer.id)
                }
            } else {
                let command = Self.randomCommand(&generator)
                do {
                    for event in try fixture.run(command) { Self.follow(event, &tree) }
                    accepted += 1
                } catch is Failure {
                    #expect(fixture.state == before, "seed \(seed) step \(step)")
                }
            }
            for record in fixture.records[known...] { try replayed.apply(record) }
            #expect(replayed == fixture.state, "seed \(seed) step \(step)")
            Self.check(try fixture.world, tree, "seed \(seed) step \(step)")
        }
        #expect(accepted > 100, "seed \(seed)")
    }
}
