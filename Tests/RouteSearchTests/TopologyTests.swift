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
        let bytes = try RouteTopology.build(graph)
        #expect(try RouteTopology.build(graph) == bytes)
        let topology = try RouteTopology(bytes: bytes)
        #expect(topology.bytes == bytes)
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

    /// Version 1 had four bytes for each number.
    @Test func `a file of the first version is the same topology`() throws {
        let roads = try roads(seed: 6)
        let bytes = try RouteTopology.build(roads.graph)
        func number(_ place: Int, width: Int = 4) -> UInt32 {
            (0..<width).reversed().reduce(0) { $0 << 8 | UInt32(bytes[place + $1]) }
        }
        let (edges, turns, arcs) = (Int(number(12)), Int(number(16)), Int(number(20)))
        let counts = [
            edges, edges, edges + 1, turns, turns, edges + 1, arcs, edges + 1, arcs, arcs,
        ]
        var (body, place) = (ByteWriter(), 64)
        for (array, count) in counts.enumerated() {
            let width = Int(bytes[28 + array])
            #expect(width < 4)
            let none = UInt32.max >> UInt32(8 * (4 - width))
            for _ in 0..<count {
                let value = number(place, width: width)
                body.append(value == none ? UInt32.max : value)
                place += width
            }
        }
        #expect(bytes[place...] == [0, 0, 0, 0])
        var old = ByteWriter()
        old.append(Array(bytes[..<8]))
        for value in [1, UInt32(edges), UInt32(turns), UInt32(arcs)] { old.append(value) }
        old.append(CRC32C.checksum(body.bytes))
        old.append([UInt8](repeating: 0, count: 60 - old.byteCount))
        old.append(CRC32C.checksum(old.bytes))
        let first = try RouteTopology(bytes: old.bytes + body.bytes)
        #expect(first.arcCount == arcs)
        var metric = try RouteMetric(first, roads.weights)
        var same = try RouteMetric(RouteTopology(bytes: bytes), roads.weights)
        #expect(metric == same)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            let change = roads.change(using: &random)
            try metric.apply([change])
            try same.apply([change])
            #expect(metric == same)
        }
    }

    @Test func `damaged bytes are refused`() throws {
        let bytes = try RouteTopology.build(try roads().graph)
        var random = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            var damaged = bytes
            let place = Int(random.next() % UInt64(bytes.count))
            damaged[place] ^= UInt8(random.next() % 255) + 1
            #expect(throws: Failure.self) { try RouteTopology(bytes: damaged) }
            #expect(throws: Failure.self) { try RouteTopology(bytes: Array(bytes[..<place])) }
        }
    }
}
