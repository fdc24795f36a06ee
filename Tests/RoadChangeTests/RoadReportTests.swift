// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import RoadNetwork
import TestKit
import Testing

@testable import Routing

/// What is reported of standing changes.
@Suite struct RoadReportTests {
    private let made: MadeNetwork

    init() throws { made = try MadeNetwork(side: 5) }

    private func moment(_ changes: [RoadChange]) -> RouteMoment {
        RouteMoment(changes: made.standing(changes), sequence: 9, now: MadeNetwork.now)
    }

    private func code(_ request: RoadChangesRequest, at moment: RouteMoment) -> Failure.Code? {
        do throws(Failure) {
            _ = try made.network.report(request, at: moment)
            return nil
        } catch { return error.code }
    }

    @Test func `a change is reported with its terms, its roads and each line once`() throws {
        var change = try made.change(.delay(9), .pieces([RoadPiece(way: 3)])) {
            $0.modes = ["car"]
            $0.reason = "works"
        }
        // One of the edges is gone.
        change.edges.append(RoadEdge(way: 77, segment: 0, isBackward: false))
        change.shape = nil
        var request = RoadChangesRequest(network: "Grid")
        request.wantsLines = true
        let answer = try made.network.report(request, at: moment([change]))
        #expect(answer.sequence == 9 && !answer.isExceeded)
        let report = try #require(answer.changes.first)
        #expect(report.number == 1 && report.effect == .delay(9) && report.modes == ["car"])
        #expect(report.reason == "works" && report.recordedAt == MadeNetwork.now)
        // A row of five junctions: four roads, both ways.
        #expect(report.edgeCount == 8 && report.roads.count == 8)
        #expect(report.missingCount == 1 && report.isUnresolved && !report.isFoundAgain)
        guard case .polyline(let paths)? = report.lines else {
            throw Failure(.internal, "no lines")
        }
        #expect(paths.count == 4)
        #expect(paths.joined().allSatisfy { abs($0.y - 0.002) < 1e-9 })
        request.wantsLines = nil
        #expect(try made.network.report(request, at: moment([change])).changes[0].lines == nil)
    }

    @Test func `changes are read in parts, and one by its number`() throws {
        let changes = try (1...5).map {
            try made.change(.closed, .pieces([RoadPiece(way: Int64($0))]))
        }
        let moment = moment(changes)
        var request = RoadChangesRequest(network: "Grid")
        request.limit = 2
        var numbers: [Int64] = []
        for round in 0..<3 {
            let answer = try made.network.report(request, at: moment)
            #expect(answer.isExceeded == (round < 2))
            numbers += answer.changes.map(\.number)
            request.after = numbers.last
        }
        #expect(numbers == [1, 2, 3, 4, 5])
        #expect(try made.network.report(request, at: moment).changes.isEmpty)

        request = RoadChangesRequest(network: "Grid")
        request.number = 4
        #expect(try made.network.report(request, at: moment).changes.map(\.number) == [4])
        request.number = 6
        #expect(code(request, at: moment) == .notFound)
        for limit in [0, RoadChangesRequest.largestCount + 1] {
            request = RoadChangesRequest(network: "Grid")
            request.limit = limit
            #expect(code(request, at: moment) == .invalidParameter)
        }
    }

    @Test func `an answer ends with the change after which it describes many edges`() throws {
        let whole = try made.change(
            .closed, .shape(.envelope(Envelope(minX: -1, minY: -1, maxX: 1, maxY: 1))))
        let size = whole.edges.count
        let count = (RoadChangesRequest.usualEdgeCount + size - 1) / size
        let answer = try made.network.report(
            RoadChangesRequest(network: "Grid"),
            at: moment(Array(repeating: whole, count: count + 5)))
        #expect(answer.changes.count == count && answer.isExceeded)
    }
}
