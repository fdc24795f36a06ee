// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import RoadNetwork
import RoadSources
import TestKit
import Testing

/// Extracts in the PBF form: dense and plain nodes, and bytes that are not what they should be.
struct PBFTests {
    /// Counts objects, and sums their numbers.
    private struct Tally: OSMVisitor, Equatable {
        var wantsNodes: Bool { true }
        var wantsWays: Bool { true }
        var (nodes, ways, relations) = (0, 0, 0)
        var sum: UInt64 = 0

        mutating func take(_ node: OSMNode) throws(Failure) {
            nodes += 1
            sum &+= UInt64(bitPattern: node.id) &* UInt64(bitPattern: Int64(node.x) ^ Int64(node.y))
        }
        mutating func take(_ way: OSMWay) throws(Failure) {
            ways += 1
            for node in way.nodes { sum &+= UInt64(bitPattern: node &* way.id) }
            for tag in way.tags.list { sum &+= UInt64(tag.key.utf8.count * tag.value.utf8.count) }
        }
        mutating func take(_ relation: OSMRelation) throws(Failure) { relations += 1 }

        static func == (left: Tally, right: Tally) -> Bool {
            (left.nodes, left.ways, left.relations, left.sum)
                == (right.nodes, right.ways, right.relations, right.sum)
        }
    }

    private func tally(_ path: String) throws -> Tally {
        var tally = Tally()
        try PBFFile.read(path, into: &tally)
        return tally
    }

    /// The unsorted file has plain nodes only, the sorted one dense nodes.
    @Test func `an unsorted extract of plain nodes has the objects of the sorted one`() throws {
        guard let sorted = SharedData.path("osm/columbus_oh_sorted.osm.pbf"),
            let unsorted = SharedData.path("osm/columbus_oh_unsorted.osm.pbf")
        else { return }
        let counts = try tally(sorted)
        #expect(counts.nodes == 110_560 && counts.ways == 15_503)
        #expect(try tally(unsorted) == counts)
    }

    @Test func `networks of the sorted and the unsorted extract differ in their source alone`()
        throws
    {
        guard let sorted = SharedData.path("osm/columbus_oh_sorted.osm.pbf"),
            let unsorted = SharedData.path("osm/columbus_oh_unsorted.osm.pbf")
        else { return }
        let car = try RoadProfile.named("car")
        var drafts: [RoadDraft] = []
        for paths in [[sorted], [unsorted], [sorted, unsorted]] {
            let (roads, _) = try RoadSources.read(paths, profiles: [car], expandingIn: "/tmp")
            drafts.append(roads)
        }
        for draft in drafts.dropFirst() {
            #expect(draft.nodes.map(\.id) == drafts[0].nodes.map(\.id))
            #expect(draft.ways.map(\.id) == drafts[0].ways.map(\.id))
            #expect(draft.wayNodes == drafts[0].wayNodes)
            #expect(draft.restrictions == drafts[0].restrictions)
        }
    }

    @Test func `damaged and cut extracts are refused or read, and never trap`() throws {
        guard let path = SharedData.path("osm/monaco-2021.osm.pbf") else { return }
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let target = NSTemporaryDirectory() + "/damaged-" + UUID().uuidString + ".osm.pbf"
        defer { try? FileManager.default.removeItem(atPath: target) }
        var random = SeededGenerator(seed: 46)
        for round in 0..<40 {
            var damaged = bytes
            for _ in 0..<1 + round % 3 {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 4 == 0 {
                damaged.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            }
            try Data(damaged).write(to: URL(filePath: target))
            do {
                _ = try tally(target)
            } catch let failure as Failure {
                #expect(failure.code == .unreadable && failure.message.contains(target))
            }
        }
    }

    @Test(
        arguments: [
            ([0, 1, 0, 1], "its header has 65537 bytes"), ([0, 0, 0, 2, 8], "the file is cut"),
            ([0, 0, 0, 4, 10, 0, 24, 9, 1], "the file is cut"), ([], "the file has no header"),
            ([0, 0, 0, 1, 0], "a field has the number 0"),
        ] as [([UInt8], String)])
    func `a damaged block is refused by its number`(bytes: [UInt8], message: String) throws {
        let target = NSTemporaryDirectory() + "/damaged-" + UUID().uuidString + ".osm.pbf"
        defer { try? FileManager.default.removeItem(atPath: target) }
        try Data(bytes).write(to: URL(filePath: target))
        let failure = #expect(throws: Failure.self) { try tally(target) }
        #expect(failure?.message.hasPrefix("'\(target)', block 1: \(message)") == true)
    }
}
