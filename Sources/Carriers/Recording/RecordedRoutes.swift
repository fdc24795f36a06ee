// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry

/// A question about routes, whose moment a recording states.
public protocol RecordedRouteQuestion: RecordedQuestion {
    /// Network, travel mode, barriers, moment.
    var terms: RouteTerms { get set }
    /// Number of its places.
    var placeCount: Int { get }
}

extension RecordedRouteQuestion {
    /// Size of its places and barriers.
    public var waitingByteCount: Int {
        64 * placeCount
            + (terms.barriers ?? []).reduce(0) { $0 + 16 * $1.shape.coordinateCount }
    }

    /// The question as of the moment at which it was answered, whenever it is asked again.
    public func fixed(at moment: Timestamp) -> Self {
        var question = self
        if terms.departure == nil {
            question.terms.departure = moment
            question.terms.regardsTimes = terms.regardsTimes ?? false
        }
        question.terms.minSequence = nil
        return question
    }
}

extension RouteRequest: RecordedRouteQuestion {
    /// Number of its stops.
    public var placeCount: Int { stops.count }
}

extension RouteTableRequest: RecordedRouteQuestion {
    /// Number of its origins and destinations.
    public var placeCount: Int { origins.count + destinations.count }
}

extension ReachRequest: RecordedRouteQuestion {
    /// Number of its facilities.
    public var placeCount: Int { facilities.count }
}

extension NearestRoadsRequest: RecordedRouteQuestion {
    /// One.
    public var placeCount: Int { 1 }
}

extension TraceRequest: RecordedRouteQuestion {
    /// Number of its positions.
    public var placeCount: Int { points.count }
}

/// An answer about routes.
public protocol RecordedRouteAnswer: RecordedAnswer, Codable {
    /// What it was computed from.
    var context: RouteContext { get set }
}

extension RecordedRouteAnswer {
    /// Without its sequence number and staleness.
    public var timeless: Self {
        var answer = self
        (answer.context.sequence, answer.context.isStale) = (0, false)
        return answer
    }
}

extension RouteAnswer: RecordedRouteAnswer {}
extension RouteTableAnswer: RecordedRouteAnswer {}
extension ReachAnswer: RecordedRouteAnswer {}
extension NearestRoadsAnswer: RecordedRouteAnswer {}
extension TraceAnswer: RecordedRouteAnswer {}
