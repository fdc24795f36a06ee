// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import RouteSearch
import TestKit
import Testing

/// Orders of stops with time windows beside all orders.
@Suite struct WindowSequenceTests {
    private static func orders(_ stops: [Int]) -> [[Int]] {
        guard stops.count > 1 else { return [stops] }
        return stops.flatMap { stop in
            orders(stops.filter { $0 != stop }).map { [stop] + $0 }
        }
    }

    /// Computed plainly; nil where a stop is not reached.
    private static func score(
        _ order: [Int], _ stops: [WindowSequence.Stop], _ matrix: WindowSequence.Matrix,
        isRound: Bool
    ) -> [Int64]? {
        var (late, cost, time): (Int64, Int64, Int64) = (0, 0, 0)
        let path = isRound && order.count > 1 ? order + [order[0]] : order
        for (number, stop) in path.enumerated() {
            if number > 0 {
                let cell = path[number - 1] * stops.count + stop
                guard let duration = matrix.durations[cell] else { return nil }
                time += duration
                cost += matrix.costs?[cell] ?? 0
            }
            guard number < order.count else { break }
            late += max(0, time > stops[stop].latest ? time - stops[stop].latest : 0)
            time = max(time, stops[stop].earliest) + stops[stop].service
        }
        return [late, matrix.costs == nil ? time : cost, time]
    }

    private static func numbers(_ sequence: WindowSequence) -> [Int64] {
        [sequence.score.lateness, sequence.score.cost, sequence.score.time]
    }

    private static func problem(
        _ count: Int, _ random: inout SeededGenerator, hasCosts: Bool
    ) -> ([WindowSequence.Stop], WindowSequence.Matrix) {
        let stops = (0..<count).map { _ in
            var stop = WindowSequence.Stop(service: Int64(random.next() % 20))
            if random.next() % 3 > 0 { stop.earliest = Int64(random.next() % 300) }
            if random.next() % 3 > 0 {
                stop.latest = max(0, stop.earliest) + Int64(random.next() % 100)
            }
            return stop
        }
        var matrix = WindowSequence.Matrix(
            durations: (0..<count * count).map { _ in
                random.next() % 12 == 0 ? nil : Int64(10 + random.next() % 90)
            })
        if hasCosts {
            matrix.costs = (0..<count * count).map { _ in Int64(random.next() % 100) }
        }
        return (stops, matrix)
    }

    @Test(arguments: [
        StopSequence.Terminals.kept(first: true, last: true), .kept(first: true, last: false),
        .kept(first: false, last: true), .kept(first: false, last: false), .round,
    ])
    func `no order of up to eight stops is better`(_ terminals: StopSequence.Terminals) throws {
        var random = SeededGenerator(seed: 11)
        var (found, unreached) = (0, 0)
        for number in 0..<24 {
            let count = 1 + number % 8
            let (stops, matrix) = Self.problem(count, &random, hasCosts: number % 4 == 3)
            let isRound = terminals == .round
            let all = Self.orders(Array(0..<count)).filter { order in
                switch terminals {
                case .kept(let first, let last):
                    (!first || order[0] == 0 || count == 1)
                        && (!last || order[count - 1] == count - 1)
                case .round: order[0] == 0
                }
            }
            let best = all.compactMap { Self.score($0, stops, matrix, isRound: isRound) }
                .min { $0.lexicographicallyPrecedes($1) }
            let sequence = try WindowSequence(stops, matrix, terminals)
            guard let best else {
                #expect(sequence == nil)
                unreached += 1
                continue
            }
            let known = try #require(sequence)
            let own = try #require(Self.score(known.order, stops, matrix, isRound: isRound))
            #expect(own == best && known.isExact, "problem \(number): \(known.order)")
            #expect(Self.numbers(known) == best)
            #expect(known.order.sorted() == Array(0..<count))
            found += 1
        }
        #expect(found > 12, "\(found) orders, \(unreached) without one")
    }

    @Test func `many stops are improved, and said not to be proven`() throws {
        var random = SeededGenerator(seed: 2)
        let (stops, _) = Self.problem(40, &random, hasCosts: false)
        let places = (0..<40).map { _ in Int64(random.next() % 200) }
        let matrix = WindowSequence.Matrix(
            durations: (0..<1600).map { abs(places[$0 / 40] - places[$0 % 40]) })
        let sequence = try #require(
            try WindowSequence(stops, matrix, .kept(first: true, last: false)))
        #expect(!sequence.isExact && sequence.order.sorted() == Array(0..<40))
        #expect(sequence.order[0] == 0)
        let given = try #require(
            Self.score(Array(0..<40), stops, matrix, isRound: false))
        #expect(Self.numbers(sequence).lexicographicallyPrecedes(given))
        let byEnd = [0] + (1..<40).sorted { stops[$0].latest < stops[$1].latest }
        let other = try #require(Self.score(byEnd, stops, matrix, isRound: false))
        #expect(!other.lexicographicallyPrecedes(Self.numbers(sequence)))
        #expect(throws: Failure.self) {
            try WindowSequence(
                Array(repeating: WindowSequence.Stop(), count: 201),
                WindowSequence.Matrix(durations: []), .round)
        }
    }
}
