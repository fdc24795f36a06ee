// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Pairs of maneuvers that are one: slip roads, the two halves of a divided road, offset crossings.
struct ShortStretches {
    /// A stretch that only connects: millimetres.
    private static let connector: Int64 = 25_000
    /// A slip road: millimetres.
    private static let slipRoad: Int64 = 100_000
    private static let joined: Set<Maneuver.Kind> = [.turn, .stay, .endOfRoad, .newName, .fork]

    private let leg: [TraversedEdge]

    init(_ leg: [TraversedEdge]) { self.leg = leg }

    /// The maneuvers of a leg, whose `edges` begin where they happen, with such pairs joined.
    func join(_ maneuvers: [Maneuver]) -> [Maneuver] {
        var result: [Maneuver] = []
        for maneuver in maneuvers {
            guard let first = result.last, let pair = joined(first, maneuver) else {
                result.append(maneuver)
                continue
            }
            result.removeLast()
            if let one = pair.maneuver { result.append(one) }
        }
        return result
    }

    private struct Pair {
        /// Nil where the street just goes on.
        var maneuver: Maneuver?
    }

    private func joined(_ first: Maneuver, _ second: Maneuver) -> Pair? {
        guard Self.joined.contains(first.kind), Self.joined.contains(second.kind),
            first.startsPushing == nil, second.startsPushing == nil
        else { return nil }
        let between = leg[first.edges.lowerBound..<second.edges.lowerBound]
        let length = between.reduce(0) { $0 + $1.length }
        let isSlipRoad = between.allSatisfy { $0.traits.contains(.link) && !$0.isRamp }
        guard length < (isSlipRoad ? Self.slipRoad : Self.connector) else { return nil }
        let old = first.streetBefore
        let new = leg[second.edges.lowerBound].street
        let angle = Heading.change(from: first.bearingBefore, to: second.bearingAfter)
        let isSame = old.goesOn(as: new)
        var one = first
        one.bearingAfter = second.bearingAfter
        one.signs = second.signs == RoadSigns() ? first.signs : second.signs
        if isSame, abs(angle) >= 150 {
            one.kind = .stay
            one.modifier = .uturn
            return Pair(maneuver: one)
        }
        guard isSlipRoad || between.allSatisfy(\.street.isNameless) else { return nil }
        one.modifier = TurnModifier(angle: angle)
        if isSame {
            one.kind = .stay
            return Pair(maneuver: one.modifier == .straight ? nil : one)
        }
        let sides = Set([first.modifier?.side, second.modifier?.side].compactMap(\.self))
        guard sides.count == 1, one.modifier?.side == sides.first else { return nil }
        one.kind = first.kind == .endOfRoad ? .endOfRoad : .turn
        return Pair(maneuver: one)
    }
}
