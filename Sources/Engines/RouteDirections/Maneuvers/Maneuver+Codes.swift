// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Maneuver types of Esri's directions; raw values are those of its SDKs.
public enum EsriManeuver: Int, Hashable, Sendable, CaseIterable {
    case unknown, stop, straight, bearLeft, bearRight, turnLeft, turnRight, sharpLeft, sharpRight
    case uTurn, ferry, roundabout, highwayMerge, highwayExit, highwayChange, forkCenter, forkLeft
    case forkRight, depart, tripItem, endOfFerry, rampRight, rampLeft, turnLeftRight
    case turnRightLeft, turnRightRight, turnLeftLeft, pedestrianRamp, elevator, escalator, stairs
    case doorPassage

    /// The name in JSON: `esriDMTTurnLeft`.
    public var name: String {
        let text = String(describing: self)
        return "esriDMT" + text.prefix(1).uppercased() + text.dropFirst()
    }

    /// The type of a turn.
    init(_ modifier: TurnModifier?) {
        self =
            switch modifier {
            case .sharpLeft: .sharpLeft
            case .left: .turnLeft
            case .slightLeft: .bearLeft
            case .slightRight: .bearRight
            case .right: .turnRight
            case .sharpRight: .sharpRight
            case .uturn: .uTurn
            case .straight, nil: .straight
            }
    }

    /// Two turns in one instruction.
    init(_ first: VehicleSide, _ second: VehicleSide) {
        self =
            switch (first, second) {
            case (.left, .left): .turnLeftLeft
            case (.left, .right): .turnLeftRight
            case (.right, .left): .turnRightLeft
            case (.right, .right): .turnRightRight
            }
    }
}

extension Maneuver {
    /// The type in Esri's directions.
    public var esri: EsriManeuver {
        switch kind {
        case .depart: .depart
        case .arrive: .stop
        case .turn, .stay, .endOfRoad, .roundaboutTurn: EsriManeuver(modifier)
        case .newName, .dismount, .mount: .straight
        case .fork:
            switch modifier?.side {
            case .left: .forkLeft
            case .right: .forkRight
            case nil: .forkCenter
            }
        case .rampOn:
            switch modifier?.side {
            case .left: .rampLeft
            case .right: .rampRight
            case nil: .straight
            }
        case .rampOff: .highwayExit
        case .merge: .highwayMerge
        case .roundabout, .enterRoundabout, .leaveRoundabout: .roundabout
        case .boardFerry: .ferry
        case .leaveFerry: .endOfFerry
        case .stairs: .stairs
        }
    }

    /// The `type` of OSRM's `maneuver`; its `modifier` is ``osrmModifier``.
    public var osrmType: String {
        switch kind {
        case .depart: "depart"
        case .arrive: "arrive"
        case .turn: "turn"
        case .stay: "continue"
        case .newName: "new name"
        case .endOfRoad: "end of road"
        case .fork: "fork"
        case .rampOn: "on ramp"
        case .rampOff: "off ramp"
        case .merge: "merge"
        case .roundabout, .enterRoundabout: rotaryName.isEmpty ? "roundabout" : "rotary"
        case .roundaboutTurn: "roundabout turn"
        case .leaveRoundabout: rotaryName.isEmpty ? "exit roundabout" : "exit rotary"
        case .boardFerry, .leaveFerry, .stairs, .dismount, .mount: "notification"
        }
    }

    /// The `modifier` of OSRM's `maneuver`: on arrival the side of the stop; nil for none.
    public var osrmModifier: String? {
        kind == .arrive ? side?.rawValue : modifier?.rawValue
    }
}
