// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Platform
import RouteSearch
import TestKit
import Testing

@Suite struct TopologyTests {
    private func roads(seed: UInt64 = 1) throws -> RandomRoads {
        var random = SeededGenerator(seed: seed)
        return try RandomRoads(columns: 12, rows: 12, using: &random)
    }

    @Test func `the same graph gives the same bytes, and they open`() throws {
        let graph = try roads().graph
        let all = [[Bool](repeating: true, count: graph.turnCount)]
        let bytes = try RouteTopologies.build(graph, turns: all)
        #expect(try RouteTopologies.build(graph, turns: all) == bytes)
        let topology = try RouteTopologies(bytes: bytes)[0]
        #expect(topology.edgeCount == graph.edgeCount)
        #expect(topology.turnCount == graph.turnCount)
    }

    @Test func `more threads give the same costs`() throws {
        let roads = try roads()
        let topology = try RouteTopology(roads.graph)
        #expect(
            try RouteMetric(topology, roads.weights)
                == RouteMetric(topology, roads.weights, threads: 2))
    }

    @Test func `no edges, no turns and one edge are networks, too`() throws {
        let empty = try RoadGraph(nodeCount: 0, tails: [], heads: [])
        #expect(try RouteTopology(empty).arcCount == 0)
        let apart = try RoadGraph(nodeCount: 4, tails: [0, 2], heads: [1, 3])
        let metric = try RouteMetric(RouteTopology(apart), RouteWeights(apart, edges: [4, 4]))
        var searcher = RouteSearcher(metric.topology)
        let (here, ahead, there) = (
            RouteEnd(0, at: 0.25), RouteEnd(0, at: 0.75), RouteEnd(1, at: 0)
        )
        #expect(try searcher.route(from: [here], to: [ahead], metric)?.cost == 2)
        #expect(try searcher.route(from: [ahead], to: [here], metric) == nil)
        #expect(try searcher.route(from: [here], to: [there], metric) == nil)
        #expect(try searcher.route(from: [], to: [there], metric) == nil)
    }

    @Test func `a way round leads back to behind the start`() throws {
        let graph = try RoadGraph(nodeCount: 3, tails: [0, 1, 2], heads: [1, 2, 0])
        let metric = try RouteMetric(
            RouteTopology(graph), RouteWeights(graph, edges: [100, 10, 1]))
        var searcher = RouteSearcher(metric.topology)
        let path = try searcher.route(
            from: [RouteEnd(0, at: 0.75)], to: [RouteEnd(0, at: 0.5)], metric)
        #expect(path?.edges == [0, 1, 2, 0])
        #expect(path?.cost == 86)
    }

    @Test func `costs up to the bound add up without overflow`() throws {
        let large = RouteWeights.infinity - 1
        let graph = try RoadGraph(nodeCount: 4, tails: [0, 1, 2], heads: [1, 2, 3])
        let metric = try RouteMetric(
            RouteTopology(graph), RouteWeights(graph, edges: [large, large, large]))
        var searcher = RouteSearcher(metric.topology)
        let end = RouteEnd(2, at: 1, cost: .max)
        #expect(try searcher.route(from: [RouteEnd(0, at: 0)], to: [end], metric) == nil)
        #expect(
            try searcher.cost(
                from: [RouteEnd(0, at: 0)], to: [RouteEnd(0, at: 1)], metric) == large)
        #expect(
            try searcher.cost(
                from: [RouteEnd(0, at: 0)], to: [RouteEnd(1, at: 0)], metric) == large)
        #expect(
            try searcher.cost(
                from: [RouteEnd(0, at: 0)], to: [RouteEnd(1, at: 1)], metric) == nil)
    }

    @Test func `arrays that do not fit are refused`() throws {
        #expect(throws: Failure.self) {
            try RoadGraph(nodeCount: 2, tails: [0], heads: [2])
        }
        #expect(throws: Failure.self) {
            try RoadGraph(nodeCount: 2, tails: [0, 1], heads: [1])
        }
        #expect(throws: Failure.self) {
            try RoadGraph(nodeCount: -1, tails: [], heads: [])
        }
        #expect(throws: Failure.self) {
            try RoadGraph(
                nodeCount: 1, tails: [0], heads: [0], turnStarts: [0, 2], turnTargets: [0, 0])
        }
        #expect(throws: Failure.self) {
            try RoadGraph(
                nodeCount: 2, tails: [0, 0], heads: [1, 1], turnStarts: [0, 1, 1],
                turnTargets: [1])
        }
        // 20,000 roads at one node have 400 million turns.
        #expect(throws: Failure.self) {
            let node = [UInt32](repeating: 0, count: 20_000)
            return try RoadGraph(nodeCount: 1, tails: node, heads: node)
        }
        let roads = try roads()
        #expect(throws: Failure.self) { try RouteTopology(roads.graph, arcLimit: 100) }
        let topology = try RouteTopology(roads.graph)
        var weights = roads.weights
        weights.edges[3] = 0
        #expect(throws: Failure.self) { try RouteMetric(topology, weights) }
        weights.edges[3] = .max
        #expect(throws: Failure.self) { try RouteMetric(topology, weights) }
        weights.edges.removeLast()
        #expect(throws: Failure.self) { try RouteMetric(topology, weights) }
        weights = roads.weights
        weights.turns[5] = .max
        #expect(throws: Failure.self) { try RouteMetric(topology, weights) }
        var metric = try RouteMetric(topology, roads.weights)
        let before = metric
        for change in [
            WeightChange.edge(.max, 1), .edge(0, 0), .turn(from: .max, to: 0, 1),
            .turn(from: 0, to: .max, 1),
        ] {
            #expect(throws: Failure.self) { try metric.apply([.edge(1, 7), change]) }
            #expect(metric == before)
        }
        var searcher = RouteSearcher(topology)
        #expect(throws: Failure.self) {
            try searcher.route(from: [RouteEnd(.max, at: 0)], to: [], metric)
        }
        let other = try RouteMetric(RouteTopology(roads.graph), roads.weights)
        #expect(throws: Failure.self) {
            try searcher.cost(from: [RouteEnd(0, at: .nan)], to: [], other)
        }
    }

    /// Version 1 had four bytes for each number, version 2 the bytes that it needs; both held one
    /// topology, with the turns among its arrays.
    @Test(arguments: [1, 2])
    func `a file of an earlier version is the same topology`(version: UInt32) throws {
        let roads = try roads(seed: 6)
        let bytes = try RouteTopologies.build(
            roads.graph, turns: [[Bool](repeating: true, count: roads.graph.turnCount)])
        func number(_ place: Int, width: Int = 4) -> UInt32 {
            (0..<width).reversed().reduce(0) { $0 << 8 | UInt32(bytes[place + $1]) }
        }
        // Behind the header the mode's topology, its arcs, and the widths of its arrays.
        let (edges, turns, arcs) = (Int(number(12)), Int(number(16)), Int(number(65)))
        let counts = [
            edges + 1, turns, edges, edges, turns, edges + 1, arcs, edges + 1, arcs, arcs,
        ]
        let widths = (bytes[32..<34] + bytes[69..<77]).map { Int($0) }
        var (arrays, place) = ([[UInt32]](), 77)
        for (count, width) in zip(counts, widths) {
            #expect(width < 4)
            let none = UInt32.max >> UInt32(8 * (4 - width))
            let array = (0..<count).map { number(place + $0 * width, width: width) }
            arrays.append(array.map { $0 == none ? UInt32.max : $0 })
            place += count * width
        }
        #expect(bytes[place...] == [0, 0, 0, 0])
        // Arcs had their numbers, not their places among those of their lower rank.
        let (upStarts, lows) = (arrays[5], arrays[9])
        arrays[8] = zip(arrays[8], lows).map { $0 + upStarts[Int($1)] }
        let order = [2, 3, 0, 1] + Array(4..<10)
        let oldWidths = order.map { array in
            version == 1 ? 4 : MappedNumbers.width(arrays[array].filter { $0 != .max })
        }
        var body = ByteWriter()
        for (array, width) in zip(order, oldWidths) {
            for value in arrays[array] { body.append(value, width: width) }
        }
        if version == 2 { body.append([0, 0, 0, 0]) }
        var old = ByteWriter()
        old.append(Array(bytes[..<8]))
        for value in [version, UInt32(edges), UInt32(turns), UInt32(arcs)] { old.append(value) }
        old.append(CRC32C.checksum(body.bytes))
        if version == 2 { old.append(oldWidths.map { UInt8($0) }) }
        old.append([UInt8](repeating: 0, count: 60 - old.byteCount))
        old.append(CRC32C.checksum(old.bytes))
        let earlier = try RouteTopologies(bytes: old.bytes + body.bytes)
        #expect(earlier.modeCount == nil && earlier[0].arcCount == arcs)
        #expect(earlier[1].isSame(as: earlier[0]))
        var metric = try RouteMetric(earlier[0], roads.weights)
        var same = try RouteMetric(RouteTopologies(bytes: bytes)[0], roads.weights)
        #expect(metric == same)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            let change = roads.change(using: &random)
            try metric.apply([change])
            try same.apply([change])
            #expect(metric == same)
        }
    }

    // MARK: Modes

    /// Turns of a mode that uses some of the edges, the weights in which the others cost infinity.
    private func mode(
        of roads: RandomRoads, share: Double, _ random: inout SeededGenerator
    ) -> (turns: [Bool], weights: RouteWeights) {
        let graph = roads.graph
        var weights = roads.weights
        let isUsed = (0..<graph.edgeCount).map { _ in
            Double.random(in: 0..<1, using: &random) < share
        }
        for edge in isUsed.indices where !isUsed[edge] {
            weights.edges[edge] = RouteWeights.infinity
        }
        let turns = isUsed.indices.flatMap { edge in
            graph.turnTargets[Int(graph.turnStarts[edge])..<Int(graph.turnStarts[edge + 1])].map {
                isUsed[edge] && isUsed[Int($0)]
            }
        }
        return (turns, weights)
    }

    @Test(arguments: 0..<6)
    func `a mode's own topology gives the routes of that of all turns`(seed: UInt64) throws {
        var random = SeededGenerator(seed: 100 + seed)
        let roads = try RandomRoads(columns: 16, rows: 14, using: &random)
        let (turns, weights) = mode(of: roads, share: 0.7 + Double(seed) * 0.04, &random)
        let all = [Bool](repeating: true, count: turns.count)
        let topologies = try RouteTopologies(
            bytes: RouteTopologies.build(roads.graph, turns: [all, turns]))
        #expect(topologies.count == 2 && topologies.modeCount == 2)
        #expect(topologies[1].arcCount < topologies[0].arcCount)
        var (whole, own) = (
            try RouteMetric(topologies[0], weights), try RouteMetric(topologies[1], weights)
        )
        var searchers = (RouteSearcher(topologies[0]), RouteSearcher(topologies[1]))
        var oracle = Oracle(graph: roads.graph, weights: weights)
        let usable = weights.edges.indices.filter { weights.edges[$0] < RouteWeights.infinity }
        var found = 0
        for _ in 0..<60 {
            // What the mode never uses does not change.
            let changes = (0..<2).compactMap { _ -> WeightChange? in
                switch roads.change(using: &random) {
                case .edge(let edge, let cost) where usable.contains(Int(edge)):
                    .edge(edge, cost)
                case .turn(let from, let to, let cost)
                where usable.contains(Int(from)) && usable.contains(Int(to)):
                    .turn(from: from, to: to, cost)
                default: nil
                }
            }
            try whole.apply(changes)
            try own.apply(changes)
            for change in changes { oracle.apply(change) }
            #expect(try own == RouteMetric(topologies[1], oracle.weights))
            for _ in 0..<10 {
                let (starts, ends) = (roads.end(using: &random), roads.end(using: &random))
                let expected = oracle.cost(from: starts, to: ends)
                let path = try searchers.1.route(from: starts, to: ends, own)
                #expect(path?.cost == expected)
                #expect(try searchers.0.route(from: starts, to: ends, whole)?.cost == expected)
                guard let path else { continue }
                found += 1
                #expect(oracle.walk(path, from: starts, to: ends) == expected)
            }
        }
        #expect(found > 50)
        #expect(throws: Failure.self) { try searchers.0.cost(from: [], to: [], own) }
    }

    @Test func `modes that take nearly the same turns share a topology`() throws {
        var random = SeededGenerator(seed: 5)
        let roads = try roads()
        let all = [Bool](repeating: true, count: roads.graph.turnCount)
        let half = mode(of: roads, share: 0.6, &random).turns
        var nearly = all
        for turn in nearly.indices where turn % 30 == 0 { nearly[turn] = false }
        let bytes = try RouteTopologies.build(roads.graph, turns: [nearly, half, all])
        let topologies = try RouteTopologies(bytes: bytes)
        #expect(topologies.count == 2)
        #expect(topologies[0].isSame(as: topologies[2]))
        #expect(!topologies[0].isSame(as: topologies[1]))
        // The shared one has the turns of both.
        let whole = try RouteMetric(RouteTopology(roads.graph), roads.weights)
        let shared = try RouteMetric(topologies[0], roads.weights)
        #expect(shared == whole)
        #expect(throws: Failure.self) { try RouteTopologies.build(roads.graph, turns: []) }
        #expect(throws: Failure.self) { try RouteTopologies.build(roads.graph, turns: [[true]]) }
    }

    @Test func `damaged bytes are refused`() throws {
        var random = SeededGenerator(seed: 3)
        let roads = try roads()
        let all = [Bool](repeating: true, count: roads.graph.turnCount)
        let bytes = try RouteTopologies.build(
            roads.graph, turns: [all, mode(of: roads, share: 0.5, &random).turns])
        for _ in 0..<200 {
            var damaged = bytes
            let place = Int(random.next() % UInt64(bytes.count))
            damaged[place] ^= UInt8(random.next() % 255) + 1
            #expect(throws: Failure.self) { try RouteTopologies(bytes: damaged) }
            #expect(throws: Failure.self) { try RouteTopologies(bytes: Array(bytes[..<place])) }
        }
    }
}
