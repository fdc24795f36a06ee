// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import RoadNetwork

extension RoutableNetwork {
    /// A standing change with its roads in this network.
    ///
    /// - Parameters:
    ///   - standing: The change.
    ///   - wantsLines: Whether the lines of its roads are wanted.
    public func report(
        of standing: StandingRoadChange, wantsLines: Bool = false
    ) -> RoadChangeReport {
        let found = roads(of: standing.change)
        var report = RoadChangeReport(standing)
        report.edgeCount = found.edges.count
        report.missingCount = found.missingCount
        report.isFoundAgain = found.isFoundAgain
        report.isUnresolved = found.isUnresolved
        report.roads = found.edges.prefix(RoadChangeAnswer.largestRoadCount)
            .map(changed(road:))
        if wantsLines {
            var links: Set<Int> = []
            report.lines = .polyline(
                paths: found.edges.filter { links.insert(roads.link(of: $0).link).inserted }
                    .map(roads.shape(of:)))
        }
        return report
    }

    /// The answer to a request for standing changes.
    ///
    /// - Parameters:
    ///   - request: Which of them, and whether with lines.
    ///   - moment: The changes that stand, ascending by number.
    /// - Throws: `Failure`: `notFound` where the change of the wanted number does not stand,
    ///   `invalidParameter` for a limit out of range.
    public func report(
        _ request: RoadChangesRequest, at moment: RouteMoment
    ) throws(Failure) -> RoadChangesAnswer {
        let limit = request.limit ?? RoadChangesRequest.largestCount
        guard 1...RoadChangesRequest.largestCount ~= limit else {
            throw Failure(
                .invalidParameter,
                "a limit of \(limit) changes: expected 1 to \(RoadChangesRequest.largestCount)")
        }
        var answer = RoadChangesAnswer(
            network: published.name, sequence: moment.sequence, isStale: moment.isStale,
            changes: [], isExceeded: false)
        if let number = request.number {
            guard let standing = moment.changes.first(where: { $0.number == number }) else {
                throw Failure(
                    .notFound, "no change \(number) stands on network '\(published.name)'")
            }
            answer.changes = [report(of: standing, wantsLines: request.wantsLines == true)]
            return answer
        }
        let after = request.after ?? 0
        let wanted = moment.changes.drop { $0.number <= after }
        var edgeCount = 0
        for standing in wanted {
            let isFull = edgeCount >= RoadChangesRequest.usualEdgeCount
            guard answer.changes.count < limit, !isFull else {
                answer.isExceeded = true
                break
            }
            answer.changes.append(
                report(of: standing, wantsLines: request.wantsLines == true))
            edgeCount += answer.changes.last?.edgeCount ?? 0
        }
        return answer
    }
}
