// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import RoadNetwork
import RouteSearch
import TestKit
import Testing

@testable import Routing

/// A network of a draft, opened from files of its own that end with it.
private final class DraftNetwork {
    let directory: String
    let network: RoutableNetwork

    init(_ draft: RoadDraft) throws {
        directory = NSTemporaryDirectory() + "/timed-roads-" + UUID().uuidString
        let built = try NetworkBuilder.build(draft, into: directory)
        let roads = try RoadNetwork(
            path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
        let topology = try RoutableNetwork.writeTopology(of: roads, in: directory)
        network = try RoutableNetwork(
            NetworkPublished(
                name: "Grid", network: built.id, topology: topology, modes: draft.modes,
                edgeCount: built.edgeCount, extent: roads.extent), in: directory)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func route(_ stops: [Coordinate], departure: Timestamp?) throws -> RouteAnswer {
        var terms = RouteTerms(network: "Grid")
        terms.departure = departure
        let router = try Router(
            network, terms,
            at: RouteMoment(changes: [], sequence: 1, now: Timestamp(microseconds: 0)))
        return try router.route(RouteRequest(terms, stops: stops.map { RoutePlace($0) }))
    }
}

/// Roads that are open, fast or left at certain times only.
@Suite struct TimedRoadTests {
    private static let side = 6
    private static let times = ["Mo-Fr 07:00-09:00", "22:00-06:00", "(Sa,Su)", "Nov-Mar"]

    /// A grid of which each block is a way; some ways and restrictions of turns have times.
    private func draft(seed: UInt64) -> RoadDraft {
        var random = SeededGenerator(seed: seed)
        let mode = NetworkMode(
            name: "car", kind: .automobile,
            travelModes: [NetworkMode.TravelMode(name: "Driving Time", minimises: .time)],
            turns: TurnCosts(
                obeysRestrictions: true, right: [[0, 0], [180, 0]], left: [[0, 0], [180, 0]],
                back: 20))
        var draft = RoadDraft(modes: [mode])
        let side = Self.side
        for node in 0..<side * side {
            draft.nodes.append(
                RoadDraft.Node(
                    id: Int64(node), x: Int32(10_000 * (node % side)),
                    y: Int32(10_000 * (node / side))))
        }
        func passage() -> RoadDraft.Passage {
            random.next() % 4 == 0
                ? .closed
                : RoadDraft.Passage(
                    access: random.next() % 8 == 0 ? .endsOnly : .open,
                    speed: Double(20 + 10 * (random.next() % 6)))
        }
        var blocks: [(way: Int64, nodes: [Int])] = []
        for node in 0..<side * side {
            if node % side < side - 1 {
                blocks.append((Int64(blocks.count + 1), [node, node + 1]))
            }
            if node < side * (side - 1) {
                blocks.append((Int64(blocks.count + 1), [node, node + side]))
            }
        }
        for block in blocks {
            var traits = RoadDraft.WayTraits()
            traits.roadClass = "residential"
            let open = RoadDraft.Passage(access: .open, speed: 50)
            traits.forward = [random.next() % 6 == 0 ? .closed : open]
            traits.backward = [random.next() % 6 == 0 ? .closed : open]
            if random.next() % 2 == 0 {
                let count = 1 + Int(random.next() % 2)
                let first = Int(random.next() % 4)
                traits.times = (0..<count).map { Self.times[(first + $0) % 4] }
                traits.conditions = "motor_vehicle:conditional=no @ \(traits.times[0])"
                traits.variants = (1..<1 << count).map { _ in
                    RoadDraft.Variant(forward: [passage()], backward: [passage()])
                }
            }
            draft.ways.append(
                RoadDraft.Way(
                    id: block.way, traits: UInt32(draft.traits.count), first: draft.wayNodes.count,
                    count: 2))
            draft.traits.append(traits)
            draft.wayNodes += block.nodes.map(UInt32.init)
        }
        for number in 1...60 {
            let node = Int(random.next() % UInt64(side * side))
            let around = blocks.filter { $0.nodes.contains(node) }.map { $0.way }
            guard let from = around.randomElement(using: &random),
                let to = around.randomElement(using: &random), from != to
            else { continue }
            // The only way on has to be there always.
            let isAlways = [from, to].allSatisfy { draft.traits[Int($0) - 1].times.isEmpty }
            draft.restrictions.append(
                RoadDraft.Restriction(
                    id: Int64(number), kind: isAlways ? .only : .no, modes: 1, from: [from],
                    via: .node(Int64(node)), to: [to],
                    condition: number % 5 == 0 ? "" : Self.times[number % 4]))
        }
        return draft
    }

    /// The same roads as they always are where they are as at a moment.
    private func fixed(_ draft: RoadDraft, at moment: Timestamp) -> RoadDraft {
        func holds(_ text: String) -> Bool {
            MapHours(text)?.state(at: moment, longitude: 0.0025).holds ?? false
        }
        var fixed = draft
        for number in draft.traits.indices {
            let traits = draft.traits[number]
            var state = 0
            for (bit, time) in traits.times.enumerated() where holds(time) { state |= 1 << bit }
            if state > 0 {
                fixed.traits[number].forward = traits.variants[state - 1].forward
                fixed.traits[number].backward = traits.variants[state - 1].backward
            }
            (fixed.traits[number].times, fixed.traits[number].variants) = ([], [])
            fixed.traits[number].conditions = ""
        }
        fixed.restrictions = draft.restrictions.filter {
            $0.condition.isEmpty || holds($0.condition)
        }.map {
            var always = $0
            always.condition = ""
            return always
        }
        return fixed
    }

    @Test(arguments: 1...3)
    func `at a time routes are those of roads that are always so`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let draft = draft(seed: seed)
        let made = try DraftNetwork(draft)
        var (found, missing) = (0, 0)
        for _ in 0..<8 {
            let moment = Timestamp(
                microseconds: 1_796_000_000_000_000
                    + Int64(random.next() % 31_536_000) * 1_000_000)
            let always = fixed(draft, at: moment)
            let other = try DraftNetwork(always)
            // Roads behind some that are for ends at certain times only are open at all times.
            let roads = other.network.roads
            let endsOnly = always.traits.flatMap { $0.forward + $0.backward }
                .count { $0.access == .endsOnly }
            let isEnclosing =
                (0..<roads.edgeCount).count { roads.access(of: $0, mode: 0) == .endsOnly }
                > endsOnly
            for _ in 0..<25 {
                func place() -> Coordinate {
                    let along = Double.random(in: 0...0.005, using: &random)
                    let across = 0.001 * Double(random.next() % 6)
                    return random.next() % 2 == 0
                        ? Coordinate(x: along, y: across) : Coordinate(x: across, y: along)
                }
                let stops = [place(), place()]
                let answer = try made.route(stops, departure: moment)
                let expected = try other.route(stops, departure: nil)
                // Places are moved to other roads by what is connected at most times.
                guard !(answer.stops + expected.stops).contains(where: { $0.status == .moved })
                else { continue }
                if isEnclosing, answer.routes.isEmpty { continue }
                #expect(answer.routes.count == expected.routes.count)
                // Durations of edges are in whole microseconds in a file.
                let durations = [answer, expected].map { $0.routes.first?.duration ?? 0 }
                #expect(abs(durations[0] - durations[1]) < 0.005)
                #expect(answer.stops.map(\.edge?.way) == expected.stops.map(\.edge?.way))
                #expect(answer.context.messages.allSatisfy { $0.code != .conditional })
                if expected.routes.isEmpty { missing += 1 } else { found += 1 }
            }
        }
        #expect(found > 80, "\(found) routes, \(missing) without one")
    }

    @Test func `without a time roads are as they usually are, and messages name the rest`() throws {
        let draft = draft(seed: 5)
        let made = try DraftNetwork(draft)
        var usual = draft
        for number in usual.traits.indices {
            (usual.traits[number].times, usual.traits[number].variants) = ([], [])
        }
        usual.restrictions.removeAll { !$0.condition.isEmpty }
        let other = try DraftNetwork(usual)
        let stops = [Coordinate(x: 0.0002, y: 0), Coordinate(x: 0.0048, y: 0.005)]
        let answer = try made.route(stops, departure: nil)
        let route = try #require(answer.routes.first)
        #expect(route.duration == (try other.route(stops, departure: nil).routes.first?.duration))
        let messages = answer.context.messages.filter { $0.code == .conditional }.map(\.text)
        #expect(messages.contains { $0.contains("motor_vehicle:conditional=no @ ") })
    }

    @Test func `a file of an earlier version is refused with the remedy`() throws {
        let made = try DraftNetwork(draft(seed: 1))
        let id = made.network.roads.id
        let path = "\(made.directory)/\(id.rawValue)/\(NetworkBuilder.fileName)"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[8] = 1
        let old = made.directory + "/old.bin"
        try bytes.write(to: URL(fileURLWithPath: old))
        do {
            _ = try RoadNetwork(path: old, id: id)
            Issue.record("the file was opened")
        } catch {
            #expect(error.code == .corrupt && error.message.contains("version 1"))
            #expect(error.message.contains("cairn network build"))
        }
    }
}
