// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Two successive edges of a path, judged by what else leaves the junction between them.
///
/// Silent is a road that goes on: without an instruction a traveller stays on the street, and at
/// its bends on the street that bends.
struct Junction {
    /// What is to be said at a junction.
    struct Verdict {
        var kind: Maneuver.Kind
        var modifier: TurnModifier
    }

    private struct Rival {
        let angle: Double
        let isPeer: Bool
        let isUsable: Bool
    }

    /// Below it a direction is straight.
    private static let straight = 20.0
    /// Below it a road bends, from it on it turns.
    private static let bend = 60.0
    /// Within it ways ahead compete.
    private static let ahead = 45.0

    private let before: TraversedEdge
    private let after: TraversedEdge
    /// The street so far, kept through nameless stretches.
    private let street: Street
    /// The change of heading, to the right positive.
    private let angle: Double
    private let rivals: [Rival]

    init(
        before: TraversedEdge, after: TraversedEdge, street: Street, bearingBefore: Double,
        bearingAfter: Double
    ) {
        self.before = before
        self.after = after
        self.street = street
        angle = Heading.change(from: bearingBefore, to: bearingAfter)
        let own = Self.rank(after.roadClass, after.traits)
        rivals = before.branches.map { branch in
            Rival(
                angle: Heading.change(from: bearingBefore, to: branch.bearing),
                isPeer: Self.rank(branch.roadClass, branch.traits) <= own + 1,
                isUsable: branch.isUsable)
        }
    }

    /// A road two ranks below another is minor beside it, and so is a ramp beside its road.
    private static func rank(_ roadClass: RoadClass, _ traits: RoadTraits) -> Int {
        roadClass.rank + (traits.contains(.link) ? 2 : 0)
    }

    /// The usable ways that are not minor beside the one taken.
    private var peers: [Rival] { rivals.filter { $0.isPeer && $0.isUsable } }
    private var size: Double { abs(angle) }
    private var isSameStreet: Bool { street.goesOn(as: after.street) }
    private var turn: TurnModifier {
        // Back is said only of the way back.
        let modifier = TurnModifier(angle: angle)
        return modifier == .uturn ? (angle < 0 ? .sharpLeft : .sharpRight) : modifier
    }

    /// What is to be said; nil where nothing is.
    var verdict: Verdict? {
        if let crossing = changeOfMeans { return crossing }
        if isWayBack { return Verdict(kind: isSameStreet ? .stay : .turn, modifier: .uturn) }
        if let ramp { return ramp }
        if rivals.isEmpty { return nil }
        if let fork { return fork }
        return size < Self.straight ? straightOn : turnOff
    }

    private var changeOfMeans: Verdict? {
        let (old, new) = (before.traits, after.traits)
        if old.contains(.ferry) != new.contains(.ferry) {
            return Verdict(
                kind: new.contains(.ferry) ? .boardFerry : .leaveFerry, modifier: .straight)
        }
        if new.contains(.stairs), !old.contains(.stairs) {
            return Verdict(kind: .stairs, modifier: turn)
        }
        return nil
    }

    private var isWayBack: Bool {
        guard size >= 165 else { return false }
        let isReversed =
            after.shape.first == before.shape.last
            && after.shape.dropFirst().first == before.shape.dropLast().last
        return isSameStreet || isReversed || peers.isEmpty
    }

    // MARK: - Ramps

    private var ramp: Verdict? {
        if after.isRamp, !before.isRamp {
            let isExit = before.roadClass.isHighway && !before.traits.contains(.link)
            // The road itself becomes a ramp.
            if rivals.filter(\.isUsable).isEmpty, size < Self.bend, isExit { return nil }
            return Verdict(kind: isExit ? .rampOff : .rampOn, modifier: rampSide)
        }
        let joinsHighway = after.roadClass.isHighway && !after.traits.contains(.link)
        guard before.isRamp, joinsHighway, size < Self.bend else { return nil }
        let usual: TurnModifier = after.traits.contains(.leftHand) ? .slightRight : .slightLeft
        let side: TurnModifier = angle < 0 ? .slightLeft : .slightRight
        return Verdict(kind: .merge, modifier: size < 5 ? usual : side)
    }

    /// Beside the road that goes on, on whatever side of straight both are.
    private var rampSide: TurnModifier {
        guard size < Self.bend else { return turn }
        let others = rivals.filter { $0.isUsable && abs($0.angle) < Self.bend }
        guard let main = others.min(by: { abs($0.angle - angle) < abs($1.angle - angle) }) else {
            return turn
        }
        return angle < main.angle ? .slightLeft : .slightRight
    }

    // MARK: - Ways ahead

    /// Several ways of about one importance ahead, of which the street is not plainly one.
    private var fork: Verdict? {
        guard size <= Self.ahead else { return nil }
        let mates = peers.filter { abs($0.angle) <= Self.ahead }
        guard let nearest = mates.map({ abs($0.angle) }).min() else { return nil }
        if isSameStreet, !isContested { return nil }
        let isHighway = before.roadClass.isHighway && after.roadClass.isHighway
        guard isHighway || abs(size - nearest) < Self.straight else { return nil }
        let isLeftmost = mates.allSatisfy { angle < $0.angle }
        let isRightmost = mates.allSatisfy { angle > $0.angle }
        return Verdict(
            kind: .fork,
            modifier: isLeftmost ? .slightLeft : isRightmost ? .slightRight : .straight)
    }

    /// Whether another way of importance leads straight on, or straighter than the one taken.
    private var isContested: Bool {
        peers.contains { abs($0.angle) < Self.straight || abs($0.angle) + 10 < size }
    }

    private var straightOn: Verdict? {
        let isNewName = !after.street.isNameless && !isSameStreet
        return isNewName ? Verdict(kind: .newName, modifier: .straight) : nil
    }

    private var turnOff: Verdict? {
        if isSameStreet {
            let isSilent = size < Self.bend ? !isContested : peers.isEmpty
            return isSilent ? nil : Verdict(kind: .stay, modifier: turn)
        }
        let isNameless = after.street.isNameless
        if size < Self.bend {
            let isAlone = rivals.allSatisfy { !$0.isUsable }
            let isLikeBefore = isNameless && after.roadClass == before.roadClass
            if isAlone || (isLikeBefore && peers.isEmpty) {
                return isNameless ? nil : Verdict(kind: .newName, modifier: .straight)
            }
        } else if isNameless, street.isNameless, rivals.allSatisfy({ !$0.isUsable }) {
            return nil
        }
        return Verdict(kind: isEndOfRoad ? .endOfRoad : .turn, modifier: turn)
    }

    /// A T: nothing leads ahead, and the street taken goes on to the other side.
    private var isEndOfRoad: Bool {
        guard Self.ahead...135 ~= size else { return false }
        let isClosedAhead = rivals.allSatisfy { abs($0.angle) > Self.ahead }
        return isClosedAhead
            && rivals.contains {
                (angle < 0) == ($0.angle > 0) && Self.ahead...135 ~= abs($0.angle)
            }
    }
}
