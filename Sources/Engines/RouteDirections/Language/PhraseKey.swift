// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The phrases that every language's table has.
enum PhraseKey {
    /// All keys, in the order of the tables.
    static let all: [String] =
        ["depart", "departAgain", "go", "arrive", "finish", "side.left", "side.right", "location"]
        + turns.map { "turn." + $0 } + turns.map { "stay." + $0 }
        + ["newName", "endOfRoad.left", "endOfRoad.right"]
        + ["fork", "rampOn", "rampOff", "merge"].flatMap { kind in
            ["left", "straight", "right"].map { kind + "." + $0 }
        }
        + ["roundabout", "enterRoundabout", "leaveRoundabout"]
        + ["left", "straight", "right", "uturn"].map { "roundaboutTurn." + $0 }
        + ["boardFerry", "leaveFerry", "stairs", "dismount", "mount", "pair"]

    private static let turns = TurnModifier.allCases.map { String(describing: $0) }
    private static let turnKeys = keys("turn")
    private static let stayKeys = keys("stay")

    private static func keys(_ kind: String) -> [TurnModifier: String] {
        Dictionary(
            uniqueKeysWithValues: zip(TurnModifier.allCases, turns.map { "\(kind).\($0)" }))
    }

    /// The phrase of a maneuver; a departure's and an arrival's are those of the first departure
    /// and the last arrival.
    static func key(of maneuver: Maneuver) -> String {
        let kind = maneuver.kind
        let modifier = maneuver.modifier ?? .straight
        let side = modifier.side?.rawValue ?? "straight"
        switch kind {
        case .turn: return turnKeys[modifier] ?? ""
        case .stay: return stayKeys[modifier] ?? ""
        case .fork, .rampOn, .rampOff, .merge: return "\(kind.rawValue).\(side)"
        // A T has two arms.
        case .endOfRoad: return "endOfRoad." + (modifier.side ?? .right).rawValue
        case .roundaboutTurn: return "roundaboutTurn." + (modifier == .uturn ? "uturn" : side)
        case .arrive: return "finish"
        case .depart, .newName, .roundabout, .enterRoundabout, .leaveRoundabout, .boardFerry,
            .leaveFerry, .stairs, .dismount, .mount:
            return kind.rawValue
        }
    }
}
