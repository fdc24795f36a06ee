// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
import Foundation
import Geometry
import Platform
import RoadNetwork
import TestKit
import Testing

/// Files of networks: validated when opened, found by name again, snapped to.
struct NetworkFileTests {
    @Test func `every damaged byte is found`() throws {
        let made = try BuiltNetwork(Grid.draft(side: 3))
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: made.path)))
        var random = SeededGenerator(seed: 44)
        for _ in 0..<300 {
            var damaged = bytes
            let place = Int.random(in: 0..<bytes.count, using: &random)
            damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            expectRefusal(damaged, in: made.directory)
        }
        for count in stride(from: 0, to: bytes.count, by: 97) {
            expectRefusal(Array(bytes.prefix(count)), in: made.directory)
        }
    }

    /// Version 2 had four bytes for each number, two for the class of a turn, and the edges before
    /// their copies among the arcs.
    @Test func `a file of version 2 is the same network`() throws {
        var draft = Grid.draft(side: 7)
        var oneWay = draft.traits[0]
        oneWay.backward = [RoadDraft.Passage(access: .closed, speed: 0)]
        draft.traits.append(oneWay)
        draft.ways[3].traits = 1
        let made = try BuiltNetwork(draft)
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: made.path)))
        func number(_ place: Int, _ width: Int) -> UInt64 {
            (0..<width).reversed().reduce(0) { $0 << 8 | UInt64(bytes[place + $1]) }
        }
        let (durations, components, linkEdges, arcs, classes) = (18, 21, 14, 22, 25)
        var sections: [[UInt8]] = []
        for section in 0..<Int(number(12, 4)) {
            let entry = 64 + 16 * section
            let (start, count) = (Int(number(entry, 8)), Int(number(entry + 8, 7)))
            let width = Int(bytes[entry + 15])
            guard width > 0 else {
                sections.append(Array(bytes[start..<start + count]))
                continue
            }
            let all = UInt64.max >> UInt64(64 - 8 * width)
            var section4 = ByteWriter()
            if section == arcs {
                for edge in 0..<made.network.edgeCount { section4.append(UInt32(edge)) }
            }
            for place in stride(from: start, to: start + count, by: width) {
                let value = number(place, width)
                if section == classes {
                    section4.append(UInt16(value))
                } else if value < all {
                    section4.append(UInt32(value))
                } else {
                    #expect([durations, components, linkEdges].contains(section))
                    section4.append(
                        section == durations ? RoadNetwork.unreachable : UInt32.max)
                }
            }
            sections.append(section4.bytes)
        }
        var (table, offset) = (ByteWriter(), 64 + 16 * sections.count)
        for section in sections {
            table.append(UInt64(offset))
            table.append(UInt64(section.count))
            offset += section.count
        }
        let body = table.bytes + sections.joined()
        var header = ByteWriter()
        header.append(Array(bytes[..<8]))
        header.append(UInt32(2))
        header.append(UInt32(sections.count))
        header.append(UInt64(offset))
        header.append(CRC32C.checksum(body))
        header.append([UInt8](repeating: 0, count: 60 - header.byteCount))
        header.append(CRC32C.checksum(header.bytes))
        let path = made.directory + "/old.bin"
        try Data(header.bytes + body).write(to: URL(filePath: path))
        let (old, new) = (
            try RoadNetwork(path: path, id: ContentID(SHA256Zero.digest)), made.network
        )
        #expect(old.arcEdges() == new.arcEdges())
        #expect(old.turnStarts() == new.turnStarts())
        #expect(old.turnTargets() == new.turnTargets())
        #expect(old.tails() == new.tails())
        #expect(old.heads() == new.heads())
        #expect(old.firstEdges() == new.firstEdges())
        #expect(old.lengths() == new.lengths())
        for mode in new.modes.indices {
            #expect(old.durations(mode: mode) == new.durations(mode: mode))
            #expect(old.turnDurations(mode: mode) == new.turnDurations(mode: mode))
            #expect(old.components(mode: mode) == new.components(mode: mode))
        }
        for edge in 0..<new.edgeCount {
            #expect(old.name(of: edge) == new.name(of: edge))
            #expect(old.traits(of: edge) == new.traits(of: edge))
            #expect(old.shape(of: edge) == new.shape(of: edge))
            #expect(old.opposite(of: edge) == new.opposite(of: edge))
        }
    }

    private func expectRefusal(_ bytes: [UInt8], in directory: String) {
        let path = directory + "/damaged.bin"
        let failure = #expect(throws: Failure.self) {
            try Data(bytes).write(to: URL(filePath: path))
            _ = try RoadNetwork(path: path, id: ContentID(SHA256Zero.digest))
        }
        #expect(failure?.message.contains("damaged.bin") == true)
        #expect(failure?.code == .corrupt || failure?.code == .newerVersion)
    }

    @Test func `edges are found by their names, and both ways agree`() throws {
        let network = try BuiltNetwork(Grid.draft(side: 5)).network
        for edge in 0..<network.edgeCount {
            #expect(network.edge(named: network.name(of: edge)) == edge)
            #expect(network.edges(leaving: network.tail(of: edge)).contains(edge))
            let opposite = try #require(network.opposite(of: edge))
            #expect(network.opposite(of: opposite) == edge)
            #expect(network.shape(of: opposite) == network.shape(of: edge).reversed())
            let start = network.vertex(network.tail(of: edge)).position
            #expect(network.shape(of: edge).first == start)
        }
    }

    @Test func `equal roads make equal files`() throws {
        let first = try BuiltNetwork(Grid.draft(side: 6)).built
        #expect(try BuiltNetwork(Grid.draft(side: 6)).built == first)
    }

    @Test func `the nearest edges are those of a full search`() throws {
        let network = try BuiltNetwork(Grid.draft(side: 8)).network
        var random = SeededGenerator(seed: 45)
        for _ in 0..<200 {
            let point = Coordinate(
                x: .random(in: -0.001...0.009, using: &random),
                y: .random(in: -0.001...0.009, using: &random))
            let found = try network.nearestEdges(to: point, radius: 400, count: 6)
            let all = (0..<network.edgeCount).map { edge in
                (distance(from: point, to: network.shape(of: edge)), edge)
            }.filter { $0.0 <= 400 }.sorted { $0 < $1 }.prefix(6)
            #expect(found.count == all.count)
            for (snap, expected) in zip(found, all) {
                #expect(abs(snap.distance - expected.0) < 1e-6)
            }
            for snap in found {
                let ends = network.shape(of: snap.edge)
                let cross =
                    (ends[1].x - ends[0].x) * (point.y - ends[0].y)
                    - (ends[1].y - ends[0].y) * (point.x - ends[0].x)
                if abs(cross) > 1e-12 { #expect(snap.side == (cross > 0 ? .left : .right)) }
            }
        }
    }

    /// Most places lie far beyond the roads, so that the first radii hold nothing.
    @Test func `far from all roads, and with few roads that count, the nearest are found`() throws {
        let network = try BuiltNetwork(Grid.draft(side: 6)).network
        var random = SeededGenerator(seed: 46)
        for _ in 0..<100 {
            let point = Coordinate(
                x: .random(in: -0.05...0.06, using: &random),
                y: .random(in: -0.05...0.06, using: &random))
            let divisor = Int.random(in: 1...40, using: &random)
            let found = try network.nearestEdges(to: point, radius: 20_000, count: 9) {
                $0 % divisor == 0
            }
            let all = (0..<network.edgeCount).filter { $0 % divisor == 0 }.map { edge in
                (distance(from: point, to: network.shape(of: edge)), edge)
            }.sorted { $0 < $1 }
            #expect(found.count == min(9, all.count))
            for (snap, expected) in zip(found, all) {
                #expect(abs(snap.distance - expected.0) < 1e-5)
                #expect(
                    abs(distance(from: point, to: network.shape(of: snap.edge)) - snap.distance)
                        < 1e-5)
            }
            // One by one they come in the same order.
            var edges = try network.edges(around: point)
            var order: [RoadNetwork.Snap] = []
            while let next = edges.next(within: 20_000, accepts: { $0 % divisor == 0 }) {
                order.append(next)
            }
            #expect(order.count == all.count)
            #expect(Array(order.prefix(9)) == found)
            for (one, other) in zip(order, order.dropFirst()) {
                #expect((one.distance, one.edge) < (other.distance, other.edge))
            }
            let nearest = try #require(found.first)
            let near = try network.nearestEdges(
                to: point, radius: 20_000, count: 9, within: 25
            ) { $0 % divisor == 0 }
            #expect(near == found.filter { $0.distance <= nearest.distance + 25 })
        }
    }

    /// Most streets are closed to the mode, some always but for an hour, some in one direction.
    @Test func `the nearest roads of a mode are those that it may use at some time`() throws {
        // A second mode may use all streets.
        var foot = Grid.mode
        foot.name = "foot"
        var draft = Grid.draft(side: 12, modes: [Grid.mode, foot])
        let (open, closed) = (RoadDraft.Passage(access: .open, speed: 36), RoadDraft.Passage.closed)
        var (shut, timed, oneway) = (draft.traits[0], draft.traits[0], draft.traits[0])
        (shut.forward[0], shut.backward[0]) = (closed, closed)
        (timed.forward[0], timed.backward[0]) = (closed, closed)
        timed.times = ["Mo-Fr 10:00-11:00"]
        timed.variants = [RoadDraft.Variant(forward: [open, open], backward: [closed, open])]
        oneway.backward[0] = closed
        draft.traits += [shut, timed, oneway]
        for way in draft.ways.indices { draft.ways[way].traits = [1, 1, 1, 2, 1, 3, 1][way % 7] }
        draft.ways[0].traits = 0
        let network = try BuiltNetwork(draft).network
        let sometimes = Set(network.timedEdges().map(\.edge)).filter {
            !network.link(of: $0).isBackward
        }
        #expect(!sometimes.isEmpty)
        func counts(_ edge: Int) -> Bool {
            network.access(of: edge, mode: 0) != .closed || sometimes.contains(edge)
        }
        let usable = (0..<network.edgeCount).filter(counts)
        #expect(usable.count > 30 && usable.count < network.edgeCount / 2)
        var random = SeededGenerator(seed: 47)
        for _ in 0..<200 {
            let point = Coordinate(
                x: .random(in: -0.01...0.02, using: &random),
                y: .random(in: -0.01...0.02, using: &random))
            let all = try network.nearestEdges(
                to: point, radius: 20_000, count: 9, accepts: counts)
            let found = try network.nearestEdges(
                to: point, radius: 20_000, count: 9, mode: 0, accepts: counts)
            #expect(found == all && found.count == 9)
        }
    }

    private func distance(from point: Coordinate, to line: [Coordinate]) -> Double {
        let meters = 6_371_008.8 * Double.pi / 180
        let east = meters * cos(point.y * .pi / 180)
        let flat = line.map {
            Coordinate(x: ($0.x - point.x) * east, y: ($0.y - point.y) * meters)
        }
        return zip(flat, flat.dropFirst()).map {
            Segment(a: $0, b: $1).squaredDistance(to: Coordinate(x: 0, y: 0)).squareRoot()
        }.min() ?? .infinity
    }

    @Test func `a heading takes one of the two directions`() throws {
        let network = try BuiltNetwork(Grid.draft(side: 3)).network
        let east = try network.nearestEdges(
            to: Coordinate(x: 0.0005, y: 0.00001), radius: 50, count: 9,
            heading: RoadNetwork.HeadingRange(heading: 85, tolerance: 30))
        #expect(east.map(\.heading) == [90])
        #expect(east.first?.side == .left)
    }
}

/// Any digest: the name of a file is trusted.
enum SHA256Zero {
    static let digest = SHA256.digest([])
}
