// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// One step of a route's directions.
public struct DirectionManeuver: Sendable {
    /// What is to be done.
    public let text: String
    /// The length of the stretch after it.
    public let length: Measurement<UnitLength>
    /// The seconds that the stretch after it takes.
    public let duration: TimeInterval
    /// The stretch; nil where the service does not send it.
    public let geometry: Geometry?
    /// Its kind.
    public let maneuverKind: Kind
    /// Its kind, by the name that Esri's other SDKs have for it.
    public var maneuverType: Kind { maneuverKind }
    /// When it is reached; nil where the route has no start.
    public let estimatedArrivalTime: Date?
    /// The level that it begins on; -1 for none.
    public let fromLevel: Int
    /// The level that it ends on; -1 for none.
    public let toLevel: Int
    /// The parts of the text that are names.
    public let messages: [DirectionMessage]

    /// The kinds of maneuvers, by the service's names without `esriDMT`.
    public enum Kind: String, Sendable, CaseIterable {
        case unknown = "Unknown", stop = "Stop", straight = "Straight", bearLeft = "BearLeft"
        case bearRight = "BearRight", turnLeft = "TurnLeft", turnRight = "TurnRight"
        case sharpLeft = "SharpLeft", sharpRight = "SharpRight", uTurn = "UTurn", ferry = "Ferry"
        case roundabout = "Roundabout", highwayMerge = "HighwayMerge", highwayExit = "HighwayExit"
        case highwayChange = "HighwayChange", forkCenter = "ForkCenter", forkLeft = "ForkLeft"
        case forkRight = "ForkRight", depart = "Depart", tripItem = "TripItem"
        case endOfFerry = "EndOfFerry", rampRight = "RampRight", rampLeft = "RampLeft"
        case turnLeftRight = "TurnLeftRight", turnRightLeft = "TurnRightLeft"
        case turnRightRight = "TurnRightRight", turnLeftLeft = "TurnLeftLeft"
        case pedestrianRamp = "PedestrianRamp", elevator = "Elevator", escalator = "Escalator"
        case stairs = "Stairs", doorPassage = "DoorPassage"
    }

    init(_ step: JSON, _ reference: SpatialReference, _ metres: Double = 1) {
        let attributes = step["attributes"]
        text = attributes?.text("text") ?? ""
        length = Measurement(
            value: (attributes?["length"]?.number ?? 0) * metres, unit: .meters)
        duration = (attributes?["time"]?.number ?? 0) * 60
        let type = attributes?.text("maneuverType") ?? ""
        maneuverKind = Kind(rawValue: String(type.dropFirst("esriDMT".count))) ?? .unknown
        estimatedArrivalTime = (attributes?["arriveTimeUTC"]?.number)
            .map(Date.init(millisecondsSince1970:))
        func level(_ name: String) -> Int {
            attributes?[name]?.number.flatMap { Int(exactly: $0) } ?? -1
        }
        (fromLevel, toLevel) = (level("fromLevel"), level("toLevel"))
        messages = (step["strings"]?.elements ?? []).map(DirectionMessage.init)
        if let line = Geometry.make(step.member("geometry"), reference) {
            geometry = line
        } else if let text = step.text("compressedGeometry"),
            let places = CompressedLine.points(of: text)
        {
            geometry = Polyline(
                points: places.map { Point(x: $0.x, y: $0.y, spatialReference: reference) })
        } else {
            geometry = nil
        }
    }
}

/// Esri's text form of a line: signed numbers of base 32, a factor and the differences of ordinates
/// (Compressed geometry, Esri's documentation of network services).
enum CompressedLine {
    /// The positions, x and y; nil for other text.
    static func points(of text: String) -> [(x: Double, y: Double)]? {
        var numbers: [Int64] = []
        var digits = ""
        for letter in text + "+" {
            if letter == "+" || letter == "-", !digits.isEmpty {
                guard let number = Int64(digits, radix: 32) else { return nil }
                numbers.append(number)
                digits = ""
            }
            digits.append(letter)
        }
        guard let factor = numbers.first, factor != 0, numbers.count % 2 == 1 else { return nil }
        var (x, y): (Int64, Int64) = (0, 0)
        return stride(from: 1, to: numbers.count, by: 2).map { place in
            x &+= numbers[place]
            y &+= numbers[place + 1]
            return (Double(x) / Double(factor), Double(y) / Double(factor))
        }
    }
}

/// A part of a maneuver's text.
public struct DirectionMessage: Sendable, Hashable {
    /// The part, as a street's name.
    public let text: String
    /// What it is, by the service's name without `esriDST`, as `StreetName`.
    public let kind: String

    init(_ json: JSON) {
        text = json.text("string") ?? ""
        kind = String((json.text("stringType") ?? "").dropFirst("esriDST".count))
    }
}
