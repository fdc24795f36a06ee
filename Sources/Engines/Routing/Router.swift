// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import RoadNetwork
internal import RouteSearch

/// What is known of a network's roads at a moment.
public struct RouteMoment: Sendable {
    /// The changes that stand.
    public var changes: [StandingRoadChange]
    /// The sequence number up to which they are known.
    public var sequence: Int64
    /// Whether the log may have gone on unheard.
    public var isStale: Bool
    /// Whether they are those of the present, whose metrics are kept.
    public var isPresent: Bool
    /// The time of the request.
    public var now: Timestamp

    /// States it.
    public init(
        changes: [StandingRoadChange], sequence: Int64, isStale: Bool = false,
        isPresent: Bool = true, now: Timestamp
    ) {
        self.changes = changes
        self.sequence = sequence
        self.isStale = isStale
        self.isPresent = isPresent
        self.now = now
    }
}

/// Answers requests on one network at one moment.
///
/// A value for one request: answers are a function of the network's files, the moment and the
/// request.
public struct Router: Sendable {
    let network: RoutableNetwork
    let moment: RouteMoment
    /// When the travel begins.
    let time: Timestamp
    let costs: RouteCosts
    let travelMode: NetworkMode.TravelMode
    /// What changes of roads and barriers have made of the roads.
    var conditions: RoadConditions
    /// The changes, with what the map says of the time.
    let standing: RoadConditions
    /// What the map says of the time alone.
    let timed: RoadConditions
    /// Whether what holds at times only is regarded.
    let regardsTimes: Bool
    let barriers: [PlacedBarrier]
    var metric: RouteMetric
    var context: RouteContext

    /// Prepares a request's terms.
    ///
    /// Throws `Failure`: `invalidParameter` for a travel mode that the network does not publish and
    /// for barriers that cannot be understood.
    public init(
        _ network: RoutableNetwork, _ terms: RouteTerms, at moment: RouteMoment
    ) throws(Failure) {
        let (mode, travelMode) = try network.published.travelMode(named: terms.travelMode)
        let costs = RouteCosts(
            mode: mode, minimises: travelMode.minimises, uTurns: terms.uTurns ?? .everywhere,
            avoiding: Set(terms.avoiding ?? []))
        let time = terms.departure ?? moment.now
        regardsTimes = terms.regardsTimes ?? (terms.departure != nil)
        let standing = network.conditions(
            moment.changes, mode: mode, at: time, regardsTimes: regardsTimes)
        timed =
            regardsTimes
            ? network.conditions([], mode: mode, at: time, regardsTimes: true) : .none
        var conditions = standing
        var barriers: [PlacedBarrier] = []
        var messages: [RouteMessage] = []
        for (place, barrier) in (terms.barriers ?? []).enumerated() {
            let placed = try network.placed(barrier, place, costs)
            if placed.edges.isEmpty {
                let name = barrier.name ?? "\(place + 1)"
                messages.append(
                    RouteMessage(.idleBarrier, "Barrier \"\(name)\" touches no road."))
            }
            conditions.add(placed)
            barriers.append(placed)
        }
        self.network = network
        self.moment = moment
        self.time = time
        self.costs = costs
        self.travelMode = travelMode
        self.conditions = conditions
        self.standing = standing
        self.barriers = barriers
        metric = try network.metrics.metric(
            costs, conditions, isPresent: moment.isPresent && barriers.isEmpty, of: network)
        context = RouteContext(
            network: network.published.name, file: network.published.network,
            sequence: moment.sequence, isStale: moment.isStale,
            mode: network.roads.modes[mode].name, travelMode: travelMode, messages: messages)
    }

    /// Seconds or metres of a whole cost.
    func value(_ cost: UInt32) -> Double { Double(cost) / network.units(costs.minimises) }

    /// A place as answers have it.
    func located(_ snaps: [RoadNetwork.Snap]?, status: LocatedPlace.Status = .ok) -> LocatedPlace {
        guard let snap = snaps?.first else { return LocatedPlace(status: .notLocated) }
        var place = LocatedPlace(status: status)
        place.position = snap.position
        place.distance = snap.distance
        place.street = network.roads.street(of: snap.edge)
        place.edge = network.roads.name(of: snap.edge)
        let length = Double(network.roads.length(of: snap.edge))
        place.fraction = length > 0 ? Double(snap.offset) / length : 0
        switch snap.side {
        case .right: place.side = .right
        case .left: place.side = .left
        case .on: place.side = nil
        }
        return place
    }

    /// A place of a list as answers have it, with what is to be said of it.
    func located(
        _ place: RoutePlace, _ number: Int, _ list: String, _ snaps: [RoadNetwork.Snap]?,
        _ context: inout RouteContext
    ) throws(Failure) -> LocatedPlace {
        let location = "Location \"\(name(of: place, number))\" in \"\(list)\""
        guard let snaps else {
            context.messages.append(RouteMessage(.unlocated, "\(location) is unlocated."))
            return located(nil)
        }
        guard try network.isClosedNearer(place, snaps, costs, conditions) else {
            return located(snaps)
        }
        context.messages.append(
            RouteMessage(.moved, "\(location) was moved: a nearer road is closed."))
        return located(snaps, status: .moved)
    }

    /// The roads nearest to a place.
    public func nearest(_ request: NearestRoadsRequest) throws(Failure) -> NearestRoadsAnswer {
        guard 1...100 ~= request.count else {
            throw Failure(.invalidParameter, "\(request.count) roads: expected 1 to 100")
        }
        let place = request.place
        let snaps = try network.roads.nearestEdges(
            to: place.location, radius: place.radius ?? RoutePlace.usualRadius,
            count: 2 * request.count, heading: place.headings, mode: costs.mode
        ) { network.cost(ofEdge: $0, costs, conditions) < RouteWeights.infinity }
        var links: Set<Int> = []
        let roads = snaps.filter { links.insert(network.roads.link(of: $0.edge).link).inserted }
        return NearestRoadsAnswer(
            context: context, roads: roads.prefix(request.count).map { located([$0]) })
    }
}
