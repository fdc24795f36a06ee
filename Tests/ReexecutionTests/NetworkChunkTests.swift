// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import Foundation
import Geometry
import JobKinds
import RoadNetwork
import Routing
import Site
import TestKit
import Testing

@testable import Replay

/// Chunks of jobs on a road network, done again from the files of a site.
@Suite struct NetworkChunkTests {
    private let files: TestSite
    private let site: Site
    private let network: RoutableNetwork
    private let change: StandingRoadChange
    private static let csv = "x1,y1,x2,y2\n0.0001,0.001,0.0019,0.001\n"

    /// A site whose network is published at 1, and has its middle street closed at 2, open at 3.
    init() throws {
        files = try TestSite()
        site = try Site(openingOrCreating: files.path)
        try Site.makePrivateDirectory(site.networksDirectory)
        let mode = NetworkMode(
            name: "car", kind: .automobile,
            travelModes: [NetworkMode.TravelMode(name: "Driving Time", minimises: .time)],
            turns: .free)
        var draft = RoadDraft(modes: [mode])
        for node in 0..<9 {
            draft.nodes.append(
                RoadDraft.Node(
                    id: Int64(node), x: Int32(10_000 * (node % 3)), y: Int32(10_000 * (node / 3))))
        }
        var traits = RoadDraft.WayTraits()
        traits.forward = [RoadDraft.Passage(access: .open, speed: 36)]
        traits.backward = traits.forward
        draft.traits = [traits]
        for (id, nodes) in [
            [0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8],
        ].enumerated() {
            draft.ways.append(
                RoadDraft.Way(
                    id: Int64(id), traits: 0, first: draft.wayNodes.count, count: nodes.count))
            draft.wayNodes += nodes.map { UInt32($0) }
        }
        let built = try NetworkBuilder.build(draft, into: site.networksDirectory)
        let roads = try RoadNetwork(
            path: "\(site.networksDirectory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)",
            id: built.id)
        let published = NetworkPublished(
            name: "Town", network: built.id,
            topology: try RoutableNetwork.writeTopology(of: roads, in: site.networksDirectory),
            modes: [mode], edgeCount: built.edgeCount, extent: roads.extent)
        network = try RoutableNetwork(published, in: site.networksDirectory)
        let street = (0..<roads.edgeCount).map { roads.name(of: $0) }.filter { $0.way == 1 }
        let closing = RoadChange(.closed, edges: street.sorted())
        change = StandingRoadChange(
            number: 2, change: closing, recordedAt: Timestamp(microseconds: 1))
        let store = try SQLiteEventStore(path: site.logFile) { Timestamp(microseconds: 1) }
        let events: [any EventPayload] = [
            published, RoadsChanged(name: "Town", change: closing),
            RoadsRestored(name: "Town", changes: [2]),
        ]
        for event in events {
            let new = try event.newEvent(id: UUID(), metadata: EventMetadata())
            try store.append([
                StreamAppend(stream: .network("Town"), expected: .any, events: [new])
            ])
        }
    }

    /// A chunk of a job that was submitted at a sequence number, with what it made.
    private func chunk(submitted: Int64, made text: String) throws -> RecordedChunk {
        var assignment = ChunkAssignment(
            held: HeldAttempt(
                job: JobID(rawValue: UUID()),
                attempt: ChunkAttempt(chunk: 0, number: 1, lease: UUID())),
            kind: .batchRoute, parameters: ["network": "Town"],
            jobInput: try site.blobs.put(Data(Self.csv.utf8), mediaType: "text/csv"),
            chunk: ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0),
            gathered: [], submittedSequence: submitted, submittedAt: Timestamp(microseconds: 9))
        let plan = try #require(JobKinds.operations(with: JobCapabilities())["BatchRoute.plan"])
        assignment.chunk = try #require(
            try plan(ChunkContext(assignment: assignment, blobs: site.blobs)).nextStage.first)
        return RecordedChunk(
            sequence: 9, assignment: assignment,
            blob: try site.blobs.put(Data(text.utf8), mediaType: "text/csv"), build: nil,
            locators: [:])
    }

    /// The row of the product as the router gives it, the street closed or not.
    private func row(isClosed: Bool) throws -> String {
        let terms = RouteTerms(network: "Town")
        let router = try Router(
            network, terms,
            at: RouteMoment(
                changes: isClosed ? [change] : [], sequence: 0, now: Timestamp(microseconds: 9)))
        let stops = [Coordinate(x: 0.0001, y: 0.001), Coordinate(x: 0.0019, y: 0.001)]
        let answer = try router.route(RouteRequest(terms, stops: stops.map { RoutePlace($0) }))
        let route = try #require(answer.routes.first)
        let numbers = [route.length, route.duration].map { number in
            Int(exactly: number).map { "\($0)" } ?? "\(number)"
        }
        // Both stops are nearest to the street.
        let status = isClosed ? "moved" : "ok"
        return "0.0001,0.001,0.0019,0.001,\(numbers.joined(separator: ",")),\(status)\n"
    }

    @Test(arguments: [1, 2, 3] as [Int64])
    func `a chunk is done again on the roads as they were at its job's submission`(
        _ submitted: Int64
    ) throws {
        defer { files.end() }
        let (open, closed) = (try row(isClosed: false), try row(isClosed: true))
        #expect(open != closed)
        let comparison = try ChunkComparison(
            site: site, engine: try SiteEngine(site: site.path), scratch: site.path + "/scratch",
            tolerance: 0, build: { _ in nil })
        let (right, wrong) = submitted == 2 ? (closed, open) : (open, closed)

        let same = comparison.compare(try chunk(submitted: submitted, made: right))
        #expect(same == nil, "\(same?.message ?? "")")
        #expect(comparison.compare(try chunk(submitted: submitted, made: wrong)) != nil)
    }
}
