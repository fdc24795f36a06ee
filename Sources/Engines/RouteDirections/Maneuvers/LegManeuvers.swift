// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The maneuvers of one leg, found edge after edge.
struct LegManeuvers {
    /// Each where the edge begins that its `edges` name, an empty range within the leg; the
    /// stretches after them are not summed up yet.
    private(set) var maneuvers: [Maneuver]

    private let leg: [TraversedEdge]
    private let number: Int
    private let headings: [(departure: Double, arrival: Double)]
    /// The street so far, kept through nameless stretches.
    private var street: Street
    /// The street that the last maneuver led into, or the leg began on.
    private var announced: Street
    /// Millimetres since the last maneuver.
    private var sinceLast: Int64

    /// Within it a nameless stretch after a maneuver takes the name that follows: millimetres.
    private static let adoption: Int64 = 100_000
    /// Below it a roundabout may be a turn.
    private static let smallDiameter = 20.0

    /// Reads a leg; the number is its place in the path.
    init(_ leg: [TraversedEdge], number: Int) {
        self.leg = leg
        self.number = number
        headings = Self.headings(of: leg)
        street = leg.first?.isRing == false ? leg[0].street : Street()
        announced = street
        sinceLast = leg.first?.length ?? 0
        maneuvers = [
            Maneuver(
                kind: .depart, leg: number, bearingBefore: 0,
                bearingAfter: headings.first?.departure ?? 0, edges: 0..<0)
        ]
        read()
    }

    /// The directions at both ends of each edge; one without length has those of its neighbour.
    private static func headings(
        of leg: [TraversedEdge]
    ) -> [(departure: Double, arrival: Double)] {
        var known: Double?
        var result: [(departure: Double, arrival: Double)] = []
        for edge in leg {
            let departure = Heading.departure(of: edge.shape)
            let arrival = Heading.arrival(of: edge.shape)
            if let first = departure ?? arrival, known == nil {
                for place in result.indices { result[place] = (first, first) }
            }
            result.append((departure ?? known ?? 0, arrival ?? departure ?? known ?? 0))
            known = arrival ?? departure ?? known
        }
        return result
    }

    /// The direction in which the leg ends; 0 for a leg without edges.
    var arrivalBearing: Double { headings.last?.arrival ?? 0 }

    private mutating func read() {
        var place = 0
        if leg.first?.isRing == true {
            let passage = RoundaboutPassage(from: 0, in: leg)
            place = passage.edges.upperBound - 1
            if place + 1 < leg.count { leave(passage) }
        }
        while place + 1 < leg.count {
            if leg[place + 1].isRing {
                let passage = RoundaboutPassage(from: place + 1, in: leg)
                enter(passage)
                place = passage.edges.upperBound
                guard place < leg.count else { return }
                // Out of one ring into the next.
                if leg[place].isRing { place -= 1 }
            } else {
                // A ring that is the first edge has no street.
                if !leg[place].isRing { judge(place) }
                place += 1
            }
        }
    }

    private mutating func append(
        _ kind: Maneuver.Kind, _ modifier: TurnModifier?, at place: Int, exit: Int? = nil,
        rotaryName: String = "", out: Int? = nil
    ) {
        let from = headings[place - 1].arrival
        var maneuver = Maneuver(
            kind: kind, modifier: modifier, leg: number, bearingBefore: from,
            bearingAfter: headings[place].departure, edges: place..<place)
        maneuver.roundaboutExit = exit
        maneuver.rotaryName = rotaryName
        maneuver.streetBefore = street
        maneuver.signs = leg[out ?? place].signs
        let (old, new) = (leg[place - 1].traits, leg[out ?? place].traits)
        if old.contains(.pushed) != new.contains(.pushed) {
            maneuver.startsPushing = new.contains(.pushed)
        }
        maneuvers.append(maneuver)
        street = leg[out ?? place].street
        announced = street
        sinceLast = 0
    }

    // MARK: - Junctions

    private mutating func judge(_ place: Int) {
        let (before, after) = (leg[place], leg[place + 1])
        let junction = Junction(
            before: before, after: after, street: street,
            bearingBefore: headings[place].arrival, bearingAfter: headings[place + 1].departure)
        let verdict = junction.verdict
        let isAdopted =
            verdict?.kind == .newName && street.isNameless && sinceLast <= Self.adoption
            && !before.traits.contains(.link)
        // A bridge or a square has a name of its own between two parts of a street.
        let isResumed = verdict?.kind == .newName && announced.goesOn(as: after.street)
        if let verdict, !isAdopted, !isResumed {
            append(verdict.kind, verdict.modifier, at: place + 1)
        } else if before.traits.contains(.pushed) != after.traits.contains(.pushed) {
            let isPushed = after.traits.contains(.pushed)
            append(isPushed ? .dismount : .mount, .straight, at: place + 1)
        } else if !after.street.isNameless {
            street = after.street
            if isAdopted { announced = street }
        }
        sinceLast += after.length
    }

    // MARK: - Roundabouts

    private mutating func enter(_ passage: RoundaboutPassage) {
        let start = passage.edges.lowerBound
        let end = passage.edges.upperBound
        guard end < leg.count else {
            append(.enterRoundabout, .straight, at: start, rotaryName: ownName(passage, nil))
            return
        }
        let angle = Heading.change(
            from: headings[start - 1].arrival, to: headings[end].departure)
        let name = ownName(passage, end)
        // Four arms: an exit at each right angle.
        let isTurn =
            passage.diameter.map { $0 < Self.smallDiameter } ?? false
            && passage.exitCount <= 3 && name.isEmpty
        let modifier = TurnModifier(angle: angle)
        append(
            isTurn ? .roundaboutTurn : .roundabout, modifier, at: start,
            exit: max(1, passage.exitCount), rotaryName: name, out: end)
        sinceLast = leg[end].length
    }

    private mutating func leave(_ passage: RoundaboutPassage) {
        let end = passage.edges.upperBound
        let angle = Heading.change(
            from: headings[end - 1].arrival, to: headings[end].departure)
        append(
            .leaveRoundabout, TurnModifier(angle: angle), at: end,
            exit: max(1, passage.exitCount), rotaryName: ownName(passage, end))
        sinceLast = leg[end].length
    }

    /// The ring's name, unless it is that of the street that leads into it or out of it.
    private func ownName(_ passage: RoundaboutPassage, _ end: Int?) -> String {
        let ring = Street(name: passage.name)
        if let end, ring.goesOn(as: leg[end].street) { return "" }
        return ring.goesOn(as: street) ? "" : passage.name
    }
}
