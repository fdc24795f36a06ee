// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel

/// A cost attribute of a network: a name for seconds or metres in some unit.
package struct NetworkCost: Hashable, Sendable {
    package var name: String
    package var kind: NetworkMode.Cost
    /// Seconds or metres of one unit.
    package var unit: Double
    /// Esri's name of the unit.
    package var unitName: String

    /// A cost.
    package init(name: String, kind: NetworkMode.Cost, unit: Double, unitName: String) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.unitName = unitName
    }

    /// In the attribute's unit.
    package func value(length: Double, duration: Double) -> Double {
        (kind == .time ? duration : length) / unit
    }

    private static func time(_ name: String, _ unit: NetworkMode.TimeUnit) -> NetworkCost {
        switch unit {
        case .seconds: NetworkCost(name: name, kind: .time, unit: 1, unitName: "esriNAUSeconds")
        case .minutes: NetworkCost(name: name, kind: .time, unit: 60, unitName: "esriNAUMinutes")
        }
    }

    private static func distance(_ name: String, _ unit: NetworkMode.DistanceUnit) -> NetworkCost {
        let (metres, unitName) =
            switch unit {
            case .meters: (1.0, "esriNAUMeters")
            case .kilometers: (1000.0, "esriNAUKilometers")
            case .miles: (1609.344, "esriNAUMiles")
            }
        return NetworkCost(name: name, kind: .distance, unit: metres, unitName: unitName)
    }

    /// The attributes of a travel mode: its time, its length, then `Miles` and `Kilometers`.
    package static func all(of mode: NetworkMode.TravelMode) -> [NetworkCost] {
        var costs = [
            time(mode.timeAttribute ?? "TravelTime", mode.timeUnit ?? .minutes),
            distance(mode.distanceAttribute ?? "Kilometers", mode.distanceUnit ?? .kilometers),
        ]
        for cost in [distance("Miles", .miles), distance("Kilometers", .kilometers)]
        where !costs.contains(where: { $0.name == cost.name }) {
            costs.append(cost)
        }
        return costs
    }
}

/// Units of lengths in directions.
package enum DirectionsUnit {
    /// Metres of one unit by Esri's name in lower case.
    package static let metres: [String: Double] = [
        "esrinaufeet": 0.3048, "esrinaukilometers": 1000, "esrinaumeters": 1,
        "esrinaumiles": 1609.344, "esrinaunauticalmiles": 1852, "esrinauyards": 0.9144,
        "esrinauinches": 0.0254, "esrinaumillimeters": 0.001, "esrinaucentimeters": 0.01,
        "esrinaudecimeters": 0.1,
    ]
    package static let usual = "esriNAUKilometers"
}

/// The travel modes of a network as ArcGIS has them.
package struct NetworkTravelMode: Sendable {
    package let mode: NetworkMode
    package let index: Int
    package let travelMode: NetworkMode.TravelMode

    /// All of a network, the usual one first.
    package static func all(of network: NetworkPublished) -> [NetworkTravelMode] {
        network.travelModes.map {
            NetworkTravelMode(
                mode: network.modes[$0.mode], index: $0.mode, travelMode: $0.travelMode)
        }
    }

    /// A text of sixteen digits that depends on the names of mode and travel mode alone.
    package var id: String {
        // FNV-1a.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in (mode.name + "/" + travelMode.name).utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    package var costs: [NetworkCost] { NetworkCost.all(of: travelMode) }

    /// The cost that is minimised.
    package var impedance: NetworkCost { costs[travelMode.minimises == .time ? 0 : 1] }

    package var type: String {
        switch mode.kind {
        case .automobile: "AUTOMOBILE"
        case .truck: "TRUCK"
        case .walk: "WALK"
        case .bicycle, .other: "OTHER"
        }
    }

    /// The restriction that the mode is, which is always used.
    package var ownRestriction: String {
        switch mode.kind {
        case .automobile: "Driving an Automobile"
        case .truck: "Driving a Truck"
        case .walk: "Walking"
        case .bicycle: "Riding a Bicycle"
        case .other: "Moving"
        }
    }

    /// Restrictions that a request may use.
    package static let avoidances: [(name: String, roads: AvoidedRoads)] = [
        ("Avoid Toll Roads", .toll), ("Avoid Limited Access Roads", .motorway),
        ("Avoid Ferries", .ferry), ("Avoid Tunnels", .tunnel), ("Avoid Unpaved Roads", .unpaved),
    ]

    /// Esri's words for where a route may turn back.
    package static let uTurns: [(name: String, policy: UTurnPolicy)] = [
        ("esriNFSBAllowBacktrack", .everywhere),
        ("esriNFSBAtDeadEndsAndIntersections", .atDeadEndsAndIntersections),
        ("esriNFSBAtDeadEndsOnly", .atDeadEnds), ("esriNFSBNoBacktrack", .nowhere),
    ]
}
