// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What became of the objects of road sources.
public struct RoadReport: Hashable, Sendable {
    /// Number of ways that are roads of the network.
    public var wayCount = 0
    /// Number of their nodes.
    public var nodeCount = 0
    /// Number of restrictions of turns, before their edges are looked for.
    public var restrictionCount = 0
    /// Number of ferries whose time is assumed from their length.
    public var assumedFerryCount = 0
    /// Number of objects left out, by reason.
    public private(set) var rejections: [String: Int] = [:]
    /// Some of them: object and reason, in no promised order.
    public private(set) var examples: [String] = []

    /// Most examples that are kept.
    public static let exampleLimit = 100
    /// Most different reasons.
    private static let reasonLimit = 500

    /// Number of objects left out.
    public var rejectedCount: Int { rejections.values.reduce(0, +) }

    mutating func reject(_ object: @autoclosure () -> String, _ reason: String) {
        let isKnown = rejections[reason] != nil || rejections.count < Self.reasonLimit
        rejections[isKnown ? reason : "for further reasons", default: 0] += 1
        if examples.count < Self.exampleLimit { examples.append("\(object()): \(reason)") }
    }
}
