// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The turns of a network: the turn-expanded graph, in which arcs are edges (and copies of edges,
/// for sequences that are forbidden) and turns lead from arc to arc.
struct TurnTable {
    private(set) var arcEdges: [UInt32] = []
    private(set) var turnStarts: [UInt32] = [0]
    private(set) var turnTargets: [UInt32] = []
    private(set) var turnClasses: [UInt16] = []
    private(set) var classes: [TurnClass] = []
    /// The turns that each restriction forbids, ascending.
    private(set) var restrictionTurns: [[UInt32]]
    private var classNumbers: [TurnClass: UInt16] = [:]

    /// What turns have in common.
    struct TurnClass: Hashable {
        var flags: TurnFlags
        /// In steps of 5°, −36…36, positive to the right.
        var angle: Int8
        /// Milliseconds by mode; ``RoadNetwork/unreachable`` for a forbidden turn.
        var costs: [UInt32]
    }

    /// Throws `tooLarge` beyond 2³¹ turns, or 65,536 different sorts of turns.
    init(
        _ draft: RoadDraft, _ topology: NetworkTopology, _ resolved: [RestrictionResolver.Resolved],
        progress: (Double) throws(Failure) -> Void
    ) throws(Failure) {
        restrictionTurns = [[UInt32]](repeating: [], count: resolved.count)
        var patterns: [(edges: [UInt32], restriction: Int)] = []
        for (number, restriction) in resolved.enumerated() {
            for edges in restriction.sequences { patterns.append((edges, number)) }
        }
        let automaton = TurnPatterns(patterns, edgeCount: topology.edges.count)
        let bearings = (0..<topology.edges.count).map { topology.bearings(UInt32($0), draft) }
        arcEdges.reserveCapacity(automaton.arcCount)
        for arc in 0..<automaton.arcCount {
            if arc.isMultiple(of: 65_536) {
                try progress(Double(arc) / Double(automaton.arcCount))
            }
            let history = automaton.history(arc)
            let edge = history[history.count - 1]
            arcEdges.append(edge)
            let vertex = topology.edges[Int(edge)].head
            let rule = draft.nodeRules[
                Int(draft.nodes[Int(topology.vertexNodes[Int(vertex)])].rule)]
            let leaving = topology.edges(leaving: vertex)
            let back = topology.opposite(edge)
            // Costs of turning only count where there is a choice.
            let isJunction = leaving.contains { other in
                other != back
                    && leaving.contains { $0 != back && $0 != other }
            }
            for next in leaving {
                let (target, bans) = automaton.turn(from: history, onto: next)
                let turn = UInt32(turnTargets.count)
                for ban in bans { restrictionTurns[ban].append(turn) }
                let angle = Self.angle(
                    from: bearings[Int(edge)].end, to: bearings[Int(next)].start)
                let turnClass = Self.turnClass(
                    angle: angle, rule: rule, isBack: next == back,
                    isDeadEnd: leaving.count == 1, isJunction: isJunction,
                    forbidden: Self.modes(
                        bans.map { draft.restrictions[resolved[$0].restriction] }),
                    draft.modes)
                turnTargets.append(target)
                turnClasses.append(try number(turnClass))
            }
            guard turnTargets.count < 1 << 31 else {
                throw Failure(.tooLarge, "the network has more than 2^31 turns")
            }
            turnStarts.append(UInt32(turnTargets.count))
        }
    }

    /// The modes that may not turn; restrictions that hold at times forbid nothing here.
    private static func modes(_ restrictions: [RoadDraft.Restriction]) -> UInt8 {
        restrictions.reduce(0) { $1.condition.isEmpty ? $0 | $1.modes : $0 }
    }

    private mutating func number(_ turnClass: TurnClass) throws(Failure) -> UInt16 {
        if let known = classNumbers[turnClass] { return known }
        guard let number = UInt16(exactly: classes.count) else {
            throw Failure(
                .tooLarge, "the network has more than 65,536 sorts of turns by angle and cost")
        }
        classes.append(turnClass)
        classNumbers[turnClass] = number
        return number
    }

    /// −180…180 degrees, positive to the right.
    static func angle(from before: Double, to after: Double) -> Double {
        var angle = after - before
        if angle > 180 { angle -= 360 }
        if angle < -180 { angle += 360 }
        return angle
    }

    private static func turnClass(
        angle: Double, rule: RoadDraft.NodeRule, isBack: Bool, isDeadEnd: Bool, isJunction: Bool,
        forbidden: UInt8, _ modes: [NetworkMode]
    ) -> TurnClass {
        let step = isBack ? 36 : (angle / 5).rounded()
        var flags: TurnFlags = []
        if isBack { flags.insert(.back) }
        if isBack && isDeadEnd { flags.insert(.deadEnd) }
        if rule.hasSignals { flags.insert(.signals) }
        if forbidden != 0 { flags.insert(.restricted) }
        let costs = modes.indices.map { mode -> UInt32 in
            let turns = modes[mode].turns
            let delay = rule.delays.isEmpty || isBack ? 0 : rule.delays[mode]
            if delay == .max || turns.obeysRestrictions && forbidden & 1 << UInt8(mode) != 0 {
                return RoadNetwork.unreachable
            }
            var cost = delay
            if isBack {
                cost += UInt32((turns.back * 1000).rounded())
            } else {
                if isJunction { cost += turns.milliseconds(angle: step * 5) }
                if rule.hasSignals { cost += UInt32((turns.signals * 1000).rounded()) }
            }
            return cost
        }
        if rule.delays.contains(where: { $0 != 0 }) { flags.insert(.barrier) }
        return TurnClass(flags: flags, angle: Int8(step), costs: costs)
    }
}
