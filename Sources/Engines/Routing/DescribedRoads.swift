// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork
internal import RouteDirections

/// What directions say of a network's roads; names and kind that edges share are read once.
struct DescribedRoads {
    private let roads: RoadNetwork
    private let mode: NetworkMode.Kind
    /// By the number of their traits.
    private var known: [Int: DescribedRoad] = [:]

    init(_ roads: RoadNetwork, _ mode: NetworkMode.Kind) {
        self.roads = roads
        self.mode = mode
    }

    /// The road of an edge.
    mutating func road(of edge: Int) -> DescribedRoad {
        let number = roads.traitsNumber(of: edge)
        if let road = known[number] { return road }
        let road = DescribedRoad(roads.traits(of: edge), mode)
        known[number] = road
        return road
    }
}

/// A road as directions have it.
struct DescribedRoad {
    let name: String
    let ref: String
    let roadClass: RoadClass
    let kinds: RoadTraits
    let signs: RoadSigns

    init(_ traits: RoadNetwork.Traits, _ mode: NetworkMode.Kind) {
        (name, ref) = (traits.name, traits.ref)
        signs = RoadSigns(
            destinations: Self.list(traits.destination), refs: Self.list(traits.destinationRef))
        var className = traits.roadClass
        var kinds: RoadTraits = []
        if className.hasSuffix("_link") {
            className.removeLast(5)
            kinds.insert(.link)
        }
        let pairs: [(RoadFlags, RoadTraits)] = [
            (.roundabout, .roundabout), (.ramp, .link), (.ferry, .ferry), (.toll, .toll),
            (.tunnel, .tunnel), (.steps, .stairs), (.leftHandTraffic, .leftHand),
        ]
        for (flag, kind) in pairs where traits.flags.contains(flag) { kinds.insert(kind) }
        roadClass = Self.classes[className] ?? .unclassified
        if mode == .bicycle, roadClass == .footway { kinds.insert(.pushed) }
        self.kinds = kinds
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ";").map { piece in
            String(piece.drop { $0 == " " })
        }
    }

    private static let classes: [String: RoadClass] = [
        "motorway": .motorway, "trunk": .trunk, "primary": .primary, "secondary": .secondary,
        "tertiary": .tertiary, "unclassified": .unclassified, "road": .unclassified,
        "residential": .residential, "living_street": .livingStreet, "service": .service,
        "track": .track, "cycleway": .cycleway, "footway": .footway, "pedestrian": .footway,
        "steps": .footway, "path": .path, "bridleway": .path,
    ]
}
