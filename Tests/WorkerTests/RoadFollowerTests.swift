// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import MapState
import RouteSearch
import Synchronization
import TestKit
import Testing

@testable import Routing
@testable import WorkerPools

/// Changes of roads that follow the features of layers.
@Suite(.timeLimit(.minutes(5))) struct RoadFollowerTests {
    private let grid: FloodedGrid

    init() throws { grid = try FloodedGrid() }

    private var followed: Int {
        grid.networks.records.count { $0.event.type == RoadsFollowed.eventType }
    }

    // MARK: What the features touch, found in another way

    /// A street between two junctions, both directions.
    private struct Street: Hashable {
        var way: Int64
        var segment: UInt32

        /// Its ends in 0.001°.
        var ends: (x1: Double, y1: Double, x2: Double, y2: Double) {
            let along = Double(segment)
            return way < 100
                ? (along, Double(way - 1), along + 1, Double(way - 1))
                : (Double(way - 101), along, Double(way - 101), along + 1)
        }

        static let all = (0..<FloodedGrid.side).flatMap { line in
            (0..<FloodedGrid.side - 1).flatMap { segment in
                [1, 101].map { Street(way: Int64(line + $0), segment: UInt32(segment)) }
            }
        }

        /// Whether it shares a position with a rectangle in 0.001°.
        func meets(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> Bool {
            ends.x1 <= x2 && ends.x2 >= x1 && ends.y1 <= y2 && ends.y2 >= y1
        }

        func distance(_ x: Double, _ y: Double) -> Double {
            let nearest = (min(max(x, ends.x1), ends.x2), min(max(y, ends.y1), ends.y2))
            return ((x - nearest.0) * (x - nearest.0) + (y - nearest.1) * (y - nearest.1))
                .squareRoot()
        }
    }

    private func streets(_ shape: Shape) -> [Street] {
        switch shape {
        case .point(let place):
            let (x, y) = (place.x * 1000, place.y * 1000)
            let near = Street.all.filter { $0.distance(x, y) < 0.89 }
            return near.min { $0.distance(x, y) < $1.distance(x, y) }.map { [$0] } ?? []
        default:
            let box = shape.envelope
            return Street.all.filter {
                $0.meets(box.minX * 1000, box.minY * 1000, box.maxX * 1000, box.maxY * 1000)
            }
        }
    }

    private func edges(_ features: some Sequence<EditedFeature>) -> [RoadEdge] {
        Set(features.flatMap { streets($0.shape ?? .multipoint([])) }).flatMap { street in
            [false, true].map {
                RoadEdge(way: street.way, segment: street.segment, isBackward: $0)
            }
        }.sorted()
    }

    /// A shape of a layer: a rectangle, a line along an axis, a point; the ordinates are not those
    /// of streets.
    private func shape(_ layer: LayerID, _ random: inout SeededGenerator) -> Shape {
        func ordinate() -> Double { Double(random.next() % 700) / 100 - 1 + 0.0037 }
        let (x, y) = (ordinate(), ordinate())
        let (width, height) = (
            Double(random.next() % 250) / 100, Double(random.next() % 250) / 100
        )
        func place(_ x: Double, _ y: Double) -> Coordinate {
            Coordinate(x: x / 1000, y: y / 1000)
        }
        switch layer {
        case FloodedGrid.areas:
            return FloodedGrid.rectangle(x, y, x + 0.01 + width, y + 0.01 + height)
        case FloodedGrid.lines:
            return random.next() % 2 == 0
                ? .polyline(paths: [[place(x, y), place(x + 0.1 + width, y)]])
                : .polyline(paths: [[place(x, y), place(x, y + 0.1 + height)]])
        default: return .point(place(x, y))
        }
    }

    // MARK: Stories

    @Test(arguments: 1...3)
    func `after each edit the roads are those that all features touch`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let follower = grid.follower()
        var terms = RouteTerms(network: "Grid")
        terms.travelMode = "car time"
        func metric() throws -> RouteMetric {
            let network = try #require(grid.networks.known.network(named: "Grid"))
            return try Router(
                grid.network, terms,
                at: RouteMoment(
                    changes: network.changes, sequence: 1, isPresent: true,
                    now: Timestamp(microseconds: 1_796_000_000_000_000))
            ).metric
        }
        let before = try metric()
        let numbers = try [
            (FloodedGrid.areas, nil), (FloodedGrid.lines, nil), (FloodedGrid.points, nil),
            (FloodedGrid.areas, "depth > 0.5"),
        ].map { try grid.follow($0.0, where: $0.1) }
        var features: [LayerID: [Int64: EditedFeature]] = [:]
        var nextID: [LayerID: Int64] = [0: 2, 1: 2, 2: 2]
        var touched = 0
        for step in 0..<120 {
            let layer = Int(random.next() % 3)
            let depth = Double(random.next() % 100) / 100
            let known = features[layer, default: [:]]
            let id = known.keys.sorted().randomElement(using: &random)
            var next = nextID[layer] ?? 2
            if let id, random.next() % 3 == 0 {
                try grid.edit(layer, deleted: [id], next: next)
                features[layer]?[id] = nil
            } else if let id, random.next() % 2 == 0 {
                let moved = FloodedGrid.feature(
                    id,
                    random.next() % 3 == 0
                        ? known[id]?.shape ?? shape(layer, &random) : shape(layer, &random),
                    depth: depth)
                try grid.edit(layer, changed: [moved], next: next)
                features[layer, default: [:]][id] = moved
            } else {
                let new = FloodedGrid.feature(next, shape(layer, &random), depth: depth)
                next += 1
                try grid.edit(layer, added: [new], next: next)
                nextID[layer] = next
                features[layer, default: [:]][new.id] = new
            }
            let records = grid.networks.records.count
            try await follower.follow(grid.maps)
            for (rule, number) in numbers.enumerated() {
                let own = features[rule % 3, default: [:]].values.filter {
                    guard rule == 3, case .real(let depth)? = $0.attributes["depth"] else {
                        return true
                    }
                    return depth > 0.5
                }
                let expected = edges(own)
                touched += expected.count
                #expect(try grid.change(number).edges == expected, "step \(step), rule \(rule)")
            }
            // Each rule whose roads are others is one event; a layer has two rules at most.
            #expect(grid.networks.records.count - records <= (layer == 0 ? 2 : 1))
            // A follower that begins now finds nothing to do.
            if step % 10 == 0 {
                let count = grid.networks.records.count
                try await grid.follower().follow(grid.maps)
                #expect(grid.networks.records.count == count)
            }
        }
        #expect(touched > 500 && followed > 40)
        let replayed = try grid.networks.records.reduce(into: NetworksState()) {
            try $0.apply($1)
        }
        #expect(replayed == grid.networks.known)
        #expect(try metric() != before)
        for number in numbers { try grid.end(number) }
        #expect(try metric() == before)
    }

    @Test func `an edit and its reverse leave the edges that were there`() async throws {
        try grid.edit(
            0, added: [FloodedGrid.feature(2, FloodedGrid.rectangle(0.5, 0.5, 1.5, 1.5))], next: 3)
        let number = try grid.follow(0, .factor(3))
        let first = try grid.change(number)
        #expect(first.edges.count == 8 && first.followed?.sequence == grid.maps.sequence)
        let follower = grid.follower()
        try grid.edit(
            0, changed: [FloodedGrid.feature(2, FloodedGrid.rectangle(2.5, 2.5, 2.6, 3.5))],
            next: 3)
        try await follower.follow(grid.maps)
        let second = try grid.change(number)
        #expect(second.edges.count == 2 && second.effect == .factor(3))
        try grid.edit(
            0, changed: [FloodedGrid.feature(2, FloodedGrid.rectangle(0.5, 0.5, 1.5, 1.5))],
            next: 3)
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges == first.edges)
        #expect(try grid.change(number).followed?.sequence == grid.maps.sequence)
        #expect(followed == 2)
        // Nothing that the clause or the roads read: no event.
        try grid.edit(
            0,
            changed: [FloodedGrid.feature(2, FloodedGrid.rectangle(0.6, 0.6, 1.5, 1.5), depth: 9)],
            next: 3)
        try await follower.follow(grid.maps)
        #expect(followed == 2)
    }

    // MARK: What becomes of the layer

    @Test func `a renamed layer is followed, a removed one and a deleted map free the roads`()
        async throws
    {
        try grid.edit(
            0, added: [FloodedGrid.feature(2, FloodedGrid.rectangle(0.5, 0.5, 1.5, 1.5))], next: 3)
        let number = try grid.follow(0)
        let follower = grid.follower()
        try grid.map.append(LayerRenamed(layer: 0, name: "Water"))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).followed?.name == "Water")
        #expect(try grid.change(number).edges.count == 8)

        try grid.map.append(MapDeleted())
        let deletion = grid.maps.sequence
        try await follower.follow(grid.maps)
        let gone = try grid.change(number)
        #expect(gone.edges.isEmpty && gone.followed?.sequence == deletion)
        #expect(gone.followed?.problem?.contains("map 'Town' was deleted") == true)
        try await follower.follow(grid.maps)
        #expect(followed == 2)

        try grid.map.append(MapRevived(undone: deletion))
        try await follower.follow(grid.maps)
        let again = try grid.change(number)
        #expect(again.edges.count == 8 && again.followed?.problem == nil)

        try grid.map.append(LayerRemoved(layer: 0))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.isEmpty)
        #expect(
            try grid.change(number).followed?.problem?.contains("layer 0 'Water' was removed")
                == true)
    }

    @Test func `new data of a layer and a definition expression change the roads`() async throws {
        let number = try grid.follow(0, where: "depth > 1")
        #expect(try grid.change(number).edges.isEmpty)
        let follower = grid.follower()
        let new = try grid.imported(
            "other",
            #""Polygon","coordinates":[[[0.0005,0.0005],[0.0005,0.0015],[0.0015,0.0015],"#
                + "[0.0015,0.0005],[0.0005,0.0005]]]")
        try grid.map.append(
            LayerReplaced(layer: 0, dataset: new.dataset, properties: new.properties))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.count == 8)
        try grid.map.append(LayerDefinitionChanged(layer: 0, expression: "depth > 2"))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.isEmpty)
        try grid.map.append(LayerDefinitionChanged(layer: 0, expression: nil))
        try grid.map.append(LayerLoadStarted(layer: 0))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.isEmpty, "a layer that is being loaded says nothing")
        try grid.map.append(LayerLoaded(layer: 0, properties: new.properties))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.count == 8)
    }

    @Test func `a layer that cannot be followed keeps the roads, and says why`() async throws {
        try grid.edit(
            0, added: [FloodedGrid.feature(2, FloodedGrid.rectangle(0.5, 0.5, 1.5, 1.5))], next: 3)
        let number = try grid.follow(0)
        let follower = grid.follower()
        try grid.map.append(LayerQueryableChanged(layer: 0, isQueryable: false))
        try await follower.follow(grid.maps)
        let kept = try grid.change(number)
        #expect(kept.edges.count == 8)
        #expect(kept.followed?.problem?.contains("the roads stay as they were") == true)
        try grid.edit(0, deleted: [2], next: 3)
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.count == 8 && followed == 1)
        try grid.map.append(LayerQueryableChanged(layer: 0, isQueryable: true))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.isEmpty)
        #expect(try grid.change(number).followed?.problem == nil)
    }

    @Test func `graphics are followed, down to the last`() async throws {
        try grid.map.append(
            LayerAdded(
                layer: 7, name: "Sketch",
                kind: .layer(source: .graphics(GraphicsSource(spatialReference: .wgs84))),
                parent: nil, index: 0))
        try grid.map.append(LayerLoadStarted(layer: 7))
        try grid.map.append(
            LayerLoaded(
                layer: 7,
                properties: LayerProperties(
                    extent: nil, spatialReference: .wgs84, geometryType: nil, fields: [],
                    featureCount: 0)))
        let number = try grid.follow(7, .delay(60))
        let follower = grid.follower()
        try grid.map.append(
            GraphicAdded(
                layer: 7,
                graphic: Graphic(
                    id: 1, shape: FloodedGrid.rectangle(0.5, 0.5, 1.5, 1.5),
                    attributes: Attributes([]), zIndex: 0)))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.count == 8)
        try grid.map.append(GraphicsCleared(layer: 7))
        try await follower.follow(grid.maps)
        #expect(try grid.change(number).edges.isEmpty)
        #expect(try grid.change(number).followed?.problem == nil)
    }

    // MARK: Several followers

    @Test func `of several followers one appends, and an older state changes nothing`()
        async throws
    {
        let number = try grid.follow(0)
        var expected = 0
        let followers = (0..<4).map { _ in grid.follower() }
        var old = grid.maps
        for step in Int64(2)..<22 {
            let place = Double(step % 5)
            try grid.edit(
                0,
                added: [
                    FloodedGrid.feature(
                        step, FloodedGrid.rectangle(place + 0.2, 0.5, place + 0.3, 1.5))
                ],
                deleted: step > 2 ? [step - 1] : [], next: step + 1)
            let maps = grid.maps
            try await withThrowingTaskGroup(of: Void.self) { group in
                for follower in followers {
                    group.addTask { try await follower.follow(maps) }
                }
                try await group.waitForAll()
            }
            expected += 1
            #expect(followed == expected)
            let edges = try grid.change(number).edges
            #expect(edges.map(\.way) == [2, 2] && edges[0].segment == UInt32(step % 5))
            // A follower that has not heard of the edit leaves the change alone.
            try await grid.follower().follow(old)
            #expect(followed == expected)
            old = maps
        }
    }

    @Test func `a follower that ends before or after its append is continued by the next`()
        async throws
    {
        let number = try grid.follow(0)
        try grid.edit(
            0, added: [FloodedGrid.feature(2, FloodedGrid.rectangle(0.5, 0.5, 1.5, 1.5))], next: 3)
        for isAppended in [false, true] {
            let dying = DyingLog(networks: grid.networks, isAppended: isAppended)
            let failure = await #expect(throws: Failure.self) {
                try await grid.follower(dying).follow(grid.maps)
            }
            #expect(failure?.code == .logUnavailable)
            #expect(followed == (isAppended ? 1 : 0))
        }
        try await grid.follower().follow(grid.maps)
        #expect(followed == 1)
        #expect(try grid.change(number).edges.count == 8)
    }

    @Test func `a change that others make meanwhile is kept`() async throws {
        let number = try grid.follow(0)
        try grid.edit(
            0, added: [FloodedGrid.feature(2, FloodedGrid.rectangle(0.5, 0.5, 1.5, 1.5))], next: 3)
        let closed = RoadsChanged(
            name: "Grid",
            change: RoadChange(.closed, edges: [RoadEdge(way: 6, segment: 0, isBackward: false)]))
        let log = InterruptedLog(networks: grid.networks, event: closed)
        try await grid.follower(log).follow(grid.maps)
        let standing = try #require(grid.networks.known.network(named: "Grid")).changes
        #expect(standing.map(\.number) == [number, number + 1])
        #expect(standing.map(\.change.edges.count) == [8, 1] && followed == 1)
        // And one that ends the followed change meanwhile ends it.
        try grid.edit(0, deleted: [2], next: 3)
        let ended = RoadsRestored(name: "Grid", changes: [number])
        try await grid.follower(InterruptedLog(networks: grid.networks, event: ended))
            .follow(grid.maps)
        #expect(grid.networks.known.network(named: "Grid")?.changes.map(\.number) == [number + 1])
        #expect(followed == 1)
    }

    @Test func `a layer is named by its number or name, and refused where it cannot be followed`()
        throws
    {
        func refusal(
            _ layer: String, _ clause: String? = nil, map: String = "Town",
            _ adjust: (inout RoadChangeOrder) -> Void = { _ in }
        ) throws -> Failure? {
            var order = RoadChangeOrder(
                .closed,
                .layer(
                    RoadLayer(map: try MapName(parsing: map), layer: layer, clause: clause)))
            adjust(&order)
            do throws(Failure) {
                _ = try grid.network.decide(.change(order), standing: []) {
                    layer, modes throws(Failure) in
                    try grid.layers.roads(of: layer, modes, in: grid.maps, on: grid.network)
                }
                return nil
            } catch { return error }
        }
        #expect(try refusal("LAYER 0") == nil && refusal("1", "depth > 0.3") == nil)
        #expect(try refusal("9")?.code == .notFound && refusal("0", map: "City")?.code == .notFound)
        #expect(try refusal("0", "deep > 1")?.code == .invalidParameter)
        #expect(try refusal("0", "depth > CURRENT_TIMESTAMP")?.code == .invalidParameter)
        #expect(
            try refusal("0") { $0.direction = .forward }?.code == .invalidParameter)
        #expect(try refusal("0") { $0.effect = .bannedTurn }?.code == .invalidParameter)
        #expect(try refusal("0") { $0.effect = .speed(0) }?.code == .invalidParameter)
        let order = RoadChangeOrder(.closed, .layer(RoadLayer(map: grid.map.name, layer: "0")))
        let unread = #expect(throws: Failure.self) {
            try grid.network.decide(.change(order), standing: [])
        }
        #expect(unread?.code == .unavailable)
    }
}

/// A log whose answer to an append is lost, with the append or without it.
private struct DyingLog: NetworkLog {
    let networks: KeptNetworks
    let isAppended: Bool

    var known: NetworksState { networks.known }

    func networks(from position: Int64?) async throws(Failure) -> NetworksState { known }

    func append(_ event: RoadsFollowed, expected: Int64) async throws(Failure) -> Int64 {
        if isAppended { _ = try await networks.append(event, expected: expected) }
        throw Failure(.logUnavailable, "no answer")
    }
}

/// A log to which another writer appends before each first append.
private final class InterruptedLog: NetworkLog {
    private let networks: KeptNetworks
    private let event: Mutex<(any EventPayload & Sendable)?>

    init(networks: KeptNetworks, event: any EventPayload & Sendable) {
        self.networks = networks
        self.event = Mutex(event)
    }

    var known: NetworksState { networks.known }

    func networks(from position: Int64?) async throws(Failure) -> NetworksState { known }

    func append(_ event: RoadsFollowed, expected: Int64) async throws(Failure) -> Int64 {
        if let other = self.event.withLock({ $0.take() }) {
            _ = try networks.append(other, expected: expected, id: .timeOrdered())
        }
        return try await networks.append(event, expected: expected)
    }
}
