// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import JobKinds
import RoadNetwork
import Routing
import Site
import TestKit

/// A town of streets in an uneven grid, some one-way, one of which is closed from a sequence number
/// and a time on.
final class RoadTown: JobRouters {
    let directory: String
    let network: RoutableNetwork
    private let change: StandingRoadChange

    static let side = 8
    /// Degrees between streets.
    static let step = 0.002
    /// The sequence number from which on a street is closed.
    static let closing: Int64 = 50
    /// The second from which on it is closed.
    static let closed: Int64 = 1_000

    private static let mode = NetworkMode(
        name: "car", kind: .automobile,
        travelModes: [
            NetworkMode.TravelMode(name: "Driving Time", minimises: .time),
            NetworkMode.TravelMode(name: "Driving Distance", minimises: .distance),
        ],
        turns: TurnCosts(
            obeysRestrictions: true, right: [[0, 0], [180, 4]], left: [[0, 0], [180, 6]], back: 20))

    init() throws {
        directory = NSTemporaryDirectory() + "/town-" + UUID().uuidString
        let built = try NetworkBuilder.build(Self.draft(), into: directory)
        let roads = try RoadNetwork(
            path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
        let published = NetworkPublished(
            name: "Town", network: built.id,
            topology: try RoutableNetwork.writeTopology(of: roads, in: directory),
            modes: [Self.mode], edgeCount: built.edgeCount, extent: roads.extent)
        network = try RoutableNetwork(published, in: directory)
        let street = (0..<roads.edgeCount).map { roads.name(of: $0) }.filter { $0.way == 4 }
        var closing = RoadChange(.closed, edges: street.sorted())
        closing.from = Timestamp(microseconds: Self.closed * 1_000_000)
        change = StandingRoadChange(
            number: Self.closing, change: closing, recordedAt: Timestamp(microseconds: 0))
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private static func draft() -> RoadDraft {
        var random = SeededGenerator(seed: 7)
        var draft = RoadDraft(modes: [mode])
        for node in 0..<side * side {
            let (row, column) = (node / side, node % side)
            let shift = { Int32.random(in: -4_000...4_000, using: &random) }
            draft.nodes.append(
                RoadDraft.Node(
                    id: Int64(node), x: Int32(20_000 * column) + shift(),
                    y: Int32(20_000 * row) + shift()))
        }
        for speed in [30.0, 50, 80] {
            var traits = RoadDraft.WayTraits()
            traits.roadClass = "residential"
            traits.forward = [RoadDraft.Passage(access: .open, speed: speed)]
            traits.backward = speed == 80 ? [.closed] : traits.forward
            draft.traits.append(traits)
        }
        func add(_ id: Int, _ nodes: [Int]) {
            draft.ways.append(
                RoadDraft.Way(
                    id: Int64(id), traits: UInt32(id % 3), first: draft.wayNodes.count,
                    count: nodes.count))
            draft.wayNodes += nodes.map(UInt32.init)
        }
        for row in 0..<side { add(row, (0..<side).map { side * row + $0 }) }
        for column in 0..<side { add(side + column, (0..<side).map { side * $0 + column }) }
        return draft
    }

    /// The router itself, whose clock says that nothing is closed yet.
    func plain(_ terms: RouteTerms) throws(Failure) -> Router {
        try Router(
            network, terms,
            at: RouteMoment(
                changes: (terms.at ?? 0) >= Self.closing ? [change] : [], sequence: terms.at ?? 0,
                isPresent: false, now: Timestamp(microseconds: 0)))
    }

    func network(_ terms: RouteTerms) throws(Failure) -> NetworkPublished {
        guard terms.network == "Town" else {
            throw Failure(.notFound, "there is no network '\(terms.network)'")
        }
        return network.published
    }

    func router(_ terms: RouteTerms) throws(Failure) -> JobRouter {
        guard terms.network == "Town" else {
            throw Failure(.notFound, "there is no network '\(terms.network)'")
        }
        let router = try plain(terms)
        return JobRouter(
            route: { request throws(Failure) in try router.route(request) },
            table: { request, isCancelled throws(Failure) in
                try router.table(request, isCancelled: isCancelled)
            },
            reach: { request, isCancelled throws(Failure) in
                try router.reach(request, isCancelled: isCancelled)
            }, positions: { route throws(Failure) in try route.positions() })
    }

    /// A place in the town.
    static func place(_ random: inout SeededGenerator) -> Coordinate {
        let range = 0...step * Double(side - 1)
        return Coordinate(
            x: Double.random(in: range, using: &random), y: Double.random(in: range, using: &random)
        )
    }
}

/// A job whose chunks are done one after the other, without supervisor or bus.
struct JobRun {
    let blobs: BlobStore
    let submission: JobSubmission
    let operations: [String: ChunkOperation]
    var submitted: Int64 = 100
    var messages: [JobMessage] = []
    /// The chunks of the second stage.
    var chunkCount = 0
    /// Attempts that ended before their chunk was done.
    var endedCount = 0

    init(
        _ kind: JobKind, _ parameters: [String: String], csv: String, on town: RoadTown
    ) throws {
        let folder = town.directory + "/blobs-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        blobs = BlobStore(directory: folder)
        submission = JobSubmission(
            id: JobID(rawValue: UUID()), kind: kind,
            parameters: ["network": "Town"].merging(parameters) { $1 },
            input: try blobs.put(Data(csv.utf8), mediaType: "text/csv"))
        operations = JobKinds.operations(with: JobCapabilities(routers: town))
    }

    private func run(
        _ chunk: ChunkDescription, _ gathered: [BlobReference?],
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> ChunkOutcome {
        let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
        let assignment = ChunkAssignment(
            held: HeldAttempt(job: submission.id, attempt: attempt), kind: submission.kind,
            parameters: submission.parameters, jobInput: submission.input, chunk: chunk,
            gathered: gathered, submittedSequence: submitted,
            submittedAt: Timestamp(microseconds: 500_000_000))
        guard let operation = operations[assignment.operation] else {
            throw Failure(.notFound, "there is no operation '\(assignment.operation)'")
        }
        return try operation(
            ChunkContext(assignment: assignment, blobs: blobs, isCancelled: isCancelled))
    }

    /// The product; with a generator every chunk is ended at some check, and done again.
    mutating func product(ending random: SeededGenerator? = nil) throws -> String {
        let isEnding = random != nil
        var random = random ?? SeededGenerator(seed: 0)
        let plan = ChunkDescription(pool: .work, operation: "plan", input: Data(), weight: 0)
        let planned = try run(plan, [])
        messages += planned.messages
        chunkCount = planned.nextStage.count
        var made = [planned.blob]
        for stage in [planned.nextStage] + planned.laterStages {
            var outcomes: [ChunkOutcome] = []
            for chunk in stage {
                let gathered = chunk.gathers ? made : []
                if isEnding {
                    let left = Countdown(Int.random(in: 1...6, using: &random))
                    do {
                        _ = try run(chunk, gathered, isCancelled: left.isOver)
                    } catch let failure as Failure where failure.code == .cancelled {
                        endedCount += 1
                    }
                }
                outcomes.append(try run(chunk, gathered))
            }
            made = outcomes.map(\.blob)
            messages += outcomes.flatMap(\.messages)
        }
        guard let blob = made.last ?? nil else { throw Failure(.internal, "there is no product") }
        return String(decoding: try blobs.read(blob), as: UTF8.self)
    }

    /// The terms of the job's requests.
    var terms: RouteTerms {
        var terms = RouteTerms(network: "Town")
        terms.travelMode = submission.parameters["travelMode"]
        terms.at = submission.parameters["at"].flatMap { Int64($0) } ?? submitted
        terms.departure = Timestamp(microseconds: 500_000_000)
        return terms
    }
}
