// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Platform
import RoadNetwork
import TestKit
import Testing

@testable import Routing

/// Barriers that close roads where they are alone.
@Suite struct PartialBarrierTests {
    private static func corner(_ random: inout SeededGenerator, _ spread: Double) -> Coordinate {
        Coordinate(
            x: .random(in: 0.004 - spread...0.004 + spread, using: &random),
            y: .random(in: 0.004 - spread...0.004 + spread, using: &random))
    }

    // MARK: Parts of edges

    /// One road with many bends, and any line, triangle or star across it.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func `parts of an edge are where positions on it lie in the shape`(seed: UInt64) throws {
        var random = SeededGenerator(seed: 900 + seed)
        var draft = Grid.draft(side: 2)
        draft.nodes = (0..<30).map { number in
            let place = Self.corner(&random, 0.004)
            return RoadDraft.Node(
                id: Int64(number), x: Int32(place.x * 1e7), y: Int32(place.y * 1e7))
        }
        draft.wayNodes = (0..<30).map { UInt32($0) }
        draft.ways = [RoadDraft.Way(id: 1, traits: 0, first: 0, count: 30)]
        let roads = try BuiltNetwork(draft).network
        var (inside, outside, crossed) = (0, 0, 0)
        for _ in 0..<25 {
            let corners = (0..<Int.random(in: 3...7, using: &random)).map { _ in
                Self.corner(&random, 0.005)
            }
            let (area, line) = (Shape.polygon(rings: [corners]), Shape.polyline(paths: [corners]))
            for edge in try roads.edges(touching: area) {
                let covered = try #require(RoadNetwork.CoveredParts(area, of: roads))[edge]
                let prepared = PreparedShape(area)
                for share in stride(from: 0.0005, to: 1, by: 0.002) {
                    guard
                        !covered.contains(where: {
                            min(abs($0.lowerBound - share), abs($0.upperBound - share)) < 1e-5
                        })
                    else { continue }
                    let isInside = prepared.contains(Self.position(share, of: edge, roads))
                    #expect(isInside == covered.contains { $0 ~= share })
                    if isInside { inside += 1 } else { outside += 1 }
                }
            }
            for edge in try roads.edges(touching: line) {
                let cuts = try #require(RoadNetwork.CoveredParts(line, of: roads))[edge]
                let barrier = PreparedShape(line)
                for cut in cuts {
                    #expect(cut.upperBound - cut.lowerBound < 1e-9)
                    let position = Self.position(cut.lowerBound, of: edge, roads)
                    let near = PreparedShape(.point(position)).distance(to: barrier, within: 1e-8)
                    #expect(near != nil)
                    crossed += 1
                }
                // Nothing is between two crossings.
                let ends = [-1e-6] + cuts.map(\.lowerBound) + [1 + 1e-6]
                for (start, end) in zip(ends, ends.dropFirst()) where end - start > 1e-4 {
                    let steps = 40
                    let between = (0...steps).map { step in
                        Self.position(
                            start + 1e-6 + (end - start - 2e-6) * Double(step) / Double(steps),
                            of: edge, roads)
                    }
                    // A chord near a bend is not on the road; those that bend are left out.
                    for (one, other) in zip(between, between.dropFirst())
                    where Self.isStraight(one, other, edge, roads) {
                        let piece = PreparedShape(.polyline(paths: [[one, other]]))
                        #expect(!piece.intersects(barrier))
                    }
                }
            }
        }
        #expect(inside > 500 && outside > 500 && crossed > 50)
    }

    private static func lengths(_ line: [Coordinate]) -> [Double] {
        var lengths = [0.0]
        for (one, other) in zip(line, line.dropFirst()) {
            lengths.append(
                lengths[lengths.count - 1]
                    + Sphere.distance(
                        Int32((one.x * 1e7).rounded()), Int32((one.y * 1e7).rounded()),
                        Int32((other.x * 1e7).rounded()), Int32((other.y * 1e7).rounded())))
        }
        return lengths
    }

    private static func position(_ share: Double, of edge: Int, _ roads: RoadNetwork) -> Coordinate
    {
        let line = roads.shape(of: edge)
        let lengths = lengths(line)
        let along = min(max(share, 0), 1) * lengths[lengths.count - 1]
        let end = lengths.dropFirst().firstIndex { $0 >= along } ?? lengths.count - 1
        let part = (along - lengths[end - 1]) / max(lengths[end] - lengths[end - 1], 1e-12)
        let (one, other) = (line[end - 1], line[end])
        return Coordinate(
            x: one.x + part * (other.x - one.x), y: one.y + part * (other.y - one.y))
    }

    /// Whether two positions on an edge are on one segment of it.
    private static func isStraight(
        _ one: Coordinate, _ other: Coordinate, _ edge: Int, _ roads: RoadNetwork
    ) -> Bool {
        let line = roads.shape(of: edge)
        return zip(line, line.dropFirst()).contains { start, end in
            let segment = Segment(a: start, b: end)
            return segment.squaredDistance(to: one) < 1e-24
                && segment.squaredDistance(to: other) < 1e-24
        }
    }

    // MARK: Routes

    /// The ends of the parts of a straight road that lie in a line or a convex area, found by
    /// halving.
    private static func ends(
        _ road: (Coordinate, Coordinate), in shape: PreparedShape, isArea: Bool,
        _ low: Double = 0, _ high: Double = 1
    ) -> [Double] {
        func position(_ share: Double) -> Coordinate {
            Coordinate(
                x: road.0.x + share * (road.1.x - road.0.x),
                y: road.0.y + share * (road.1.y - road.0.y))
        }
        let (start, end) = (position(low), position(high))
        guard PreparedShape(.polyline(paths: [[start, end]])).intersects(shape) else { return [] }
        if high - low < 1e-8 { return [low] }
        if isArea, shape.contains(start), shape.contains(end) { return [low, high] }
        let middle = (low + high) / 2
        return ends(road, in: shape, isArea: isArea, low, middle)
            + ends(road, in: shape, isArea: isArea, middle, high)
    }

    @Test(arguments: [false, true])
    func `lines and areas are passed by none, and reached from either side`(
        areAreas: Bool
    ) throws {
        var (ended, moved, other) = (0, 0, 0)
        for seed in 1...12 as ClosedRange<UInt64> {
            let made = try RandomGrid(seed: seed)
            var random = SeededGenerator(seed: seed &* 77)
            var terms = made.terms("Driving Time")
            var search = ReferenceSearch(network: made.roads, mode: 0, cost: .time)
            for _ in 0..<6 {
                let at = made.place(&random).location
                let corners = (0..<3).map { _ in
                    Coordinate(
                        x: at.x + .random(in: -0.0005...0.0005, using: &random),
                        y: at.y + .random(in: -0.0005...0.0005, using: &random))
                }
                let shape =
                    areAreas
                    ? Shape.polygon(rings: [corners])
                    : .polyline(paths: [Array(corners.prefix(2))])
                var barrier = RouteBarrier(shape: shape)
                barrier.isPartial = true
                terms.barriers = (terms.barriers ?? []) + [barrier]
                let prepared = PreparedShape(shape)
                for edge in 0..<made.roads.edgeCount {
                    let line = made.roads.shape(of: edge)
                    let length = Double(made.roads.length(of: edge))
                    search.barriers += Self.ends(
                        (line[0], line[1]), in: prepared, isArea: areAreas
                    ).map {
                        ReferenceSearch.Place(edge: edge, offset: UInt32(($0 * length).rounded()))
                    }
                }
            }
            let router = try Router(made.network, terms, at: made.moment)
            let blocked = Set(search.barriers.map(\.edge))
            for _ in 0..<60 {
                let (from, to) = (made.place(&random), made.place(&random))
                let (starts, ends) = (
                    try made.starts(from.location), try made.starts(to.location)
                )
                let answer = try router.route(RouteRequest(terms, stops: [from, to]))
                guard !answer.stops.contains(where: { $0.status == .moved }) else {
                    // What is moved lies in an area.
                    let isCovered = [from, to].contains { place in
                        terms.barriers?.contains {
                            PreparedShape($0.shape).contains(place.location)
                        } ?? false
                    }
                    #expect(isCovered)
                    moved += 1
                    continue
                }
                guard let known = search.route(from: starts, to: ends) else {
                    #expect(answer.routes.isEmpty)
                    other += 1
                    continue
                }
                let route = try #require(answer.routes.first, "\(from.location) \(to.location)")
                #expect(
                    abs(route.duration * 1000 - Double(known.cost))
                        <= Double(known.edges.count + 2))
                if blocked.contains(known.edges[0]) || blocked.contains(known.edges.last ?? -1) {
                    ended += 1
                }
            }
        }
        #expect(ended > 20, "\(ended) end on the road of a barrier, \(other) have no route")
        #expect(moved > 0 || !areAreas)
    }
}
