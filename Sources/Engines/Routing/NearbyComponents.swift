// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork
internal import RouteSearch

/// The roads around a place by the component that they are of, looked at from near to far.
struct NearbyComponents {
    /// Of each component that was found the nearest road, with those equally near.
    private(set) var snaps: [Int: [RoadNetwork.Snap]] = [:]
    /// Metres below which every component was found; infinite when there are no more.
    private var horizon = 0.0
    private var edges: RoadNetwork.EdgesByDistance
    private var edgeCount = 0
    /// Metres within which roads are looked at.
    private var reach: Double
    /// Whether the place stays at the nearest road.
    private let isFixed: Bool

    /// How many edges are looked at, at first and where those do not suffice.
    static let edgeCounts = [2, 4, 6, 12, 25, 50, 100, 200, 400]

    init(
        _ place: RoutePlace, isFixed: Bool, mode: Int, _ network: RoutableNetwork
    ) throws(Failure) {
        edges = try network.roads.edges(
            around: place.location, heading: place.headings, mode: mode)
        reach = place.radius ?? RoutePlace.usualRadius
        self.isFixed = isFixed
    }

    /// Looks at the nearest edges that count, so many in all.
    mutating func look(
        at count: Int, _ network: RoutableNetwork, _ costs: RouteCosts,
        _ conditions: RoadConditions
    ) {
        while edgeCount < count, horizon < .infinity {
            let next = edges.next(within: reach) { edge in
                network.cost(ofEdge: edge, costs, conditions) < RouteWeights.infinity
            }
            guard let next else {
                horizon = .infinity
                return
            }
            if edgeCount == 0, isFixed {
                reach = min(reach, next.distance + RoutableNetwork.equalDistance)
            }
            edgeCount += 1
            horizon = next.distance
            guard let component = network.roads.component(of: next.edge, mode: costs.mode) else {
                continue
            }
            if next.distance
                <= distance(of: component, orElse: .infinity) + RoutableNetwork.equalDistance
            {
                snaps[component, default: []].append(next)
            }
        }
    }

    /// A component, with the sum of distances to all places.
    struct Best {
        var component: Int
        var distance: Double
        var isCertain: Bool
    }

    /// Whether no road that was not looked at here can be of the best component's nearest roads, or
    /// make another component as near to all places.
    ///
    /// A component that is not found here is farther than the horizon, and elsewhere no nearer than
    /// the nearest road.
    func isDone(_ best: Best, nearestOfOthers: Double) -> Bool {
        horizon > best.distance - nearestOfOthers
            && distance(of: best.component, orElse: .infinity) + RoutableNetwork.equalDistance
                < horizon
    }

    /// Metres to the nearest road that was found; the horizon where none was.
    var nearest: Double { snaps.values.map { $0[0].distance }.min() ?? horizon }

    /// Metres to the nearest road of a component; `other` where it was not found.
    private func distance(of component: Int, orElse other: Double) -> Double {
        snaps[component]?[0].distance ?? other
    }

    /// The component with the least sum of distances to all places, of equal ones the lowest;
    /// `isCertain` where no edge that was not looked at could change that.
    static func best(of places: [NearbyComponents]) -> Best? {
        var all = Set<Int>()
        for place in places { all.formUnion(place.snaps.keys) }
        var best: (component: Int, distance: Double)?
        // The least sum that a component may have which is not known at every place.
        var possible = places.reduce(0) { $0 + $1.horizon }
        for component in all.sorted() {
            let sum = places.reduce(0) {
                $0 + $1.distance(of: component, orElse: $1.horizon)
            }
            if !places.allSatisfy({ $0.snaps[component] != nil }) {
                possible = min(possible, sum)
            } else if sum < best?.distance ?? .infinity {
                best = (component, sum)
            }
        }
        guard let best else { return nil }
        let areAllNear = places.allSatisfy { place in
            place.distance(of: best.component, orElse: 0) + RoutableNetwork.equalDistance
                < place.horizon
        }
        return Best(
            component: best.component, distance: best.distance,
            isCertain: best.distance < possible && areAllNear)
    }
}
