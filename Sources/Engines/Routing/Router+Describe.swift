// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform
internal import RoadNetwork
internal import RouteDirections
internal import RouteSearch

/// Metres and seconds along a way.
struct MeasuredPart {
    var part: TravelledPart
    var edge: Int
    var length: Double
    /// With the turn into it.
    var duration: Double
}

extension Router {
    /// The parts of a way with their lengths and durations; parts without length are left out,
    /// unless they are all.
    func measured(_ way: RouteWay) -> [MeasuredPart] {
        let roads = network.roads
        var measured: [MeasuredPart] = []
        var last: UInt32?
        var turning = 0.0
        for part in way.parts {
            let edge = Int(network.arcEdges[Int(part.arc)])
            if let last { turning += seconds(from: last, to: part.arc) }
            last = part.arc
            let share = part.to - part.from
            let whole = network.seconds(edge, mode: costs.mode, conditions) ?? 0
            guard share > 0 else { continue }
            measured.append(
                MeasuredPart(
                    part: part, edge: edge, length: roads.exactLength(of: edge) * share,
                    duration: whole * share + turning))
            turning = 0
        }
        // A turn before a part without length is still made.
        if turning > 0, !measured.isEmpty { measured[measured.count - 1].duration += turning }
        return measured
    }

    private func seconds(from arc: UInt32, to target: UInt32) -> Double {
        for turn in Int(network.turnStarts[Int(arc)])..<Int(network.turnStarts[Int(arc) + 1])
        where network.turnTargets[turn] == target {
            let cost = network.roads.turnDuration(turn, mode: costs.mode)
            return cost < RouteWeights.infinity ? Double(cost) / 1000 : 0
        }
        return 0
    }

    /// The line of a part, longitude and latitude; two positions at least.
    func shape(of part: MeasuredPart) -> [Coordinate] {
        let shape = network.roads.shape(of: part.edge)
        guard part.part.from > 0 || part.part.to < 1 else { return shape }
        return LineCut(shape).part(part.part.from, part.part.to)
    }

    /// A route as answers have it.
    func described(
        _ ways: [RouteWay], _ visits: [Visit], _ request: RouteRequest
    ) throws(Failure) -> FoundRoute {
        let legs = ways.map(measured)
        // Whole millimetres and milliseconds, so that the parts add up to the route exactly.
        var (length, duration) = (RunningSum(), RunningSum())
        var found = FoundRoute(length: 0, duration: 0, legs: [])
        var traversed: [[TraversedEdge]] = []
        var described = DescribedRoads(network.roads, network.roads.modes[costs.mode].kind)
        for (number, parts) in legs.enumerated() {
            var leg = FoundRoute.Leg(length: 0, duration: 0)
            var edges: [TraversedEdge] = []
            var (legLength, legDuration): (Int64, Int64) = (0, 0)
            for (place, part) in parts.enumerated() {
                let (own, took) = (length.add(part.length), duration.add(part.duration))
                legLength += own
                legDuration += took
                if request.directions != nil {
                    let next = place + 1 < parts.count ? parts[place + 1] : nil
                    edges.append(
                        traversedEdge(
                            part, before: next, length: own, duration: took, &described))
                }
            }
            leg.length = Double(legLength) / 1000
            leg.duration = Double(legDuration) / 1000
            if request.directions != nil {
                leg.summary = summary(edges)
                traversed.append(edges)
            } else if number == 0 || !parts.isEmpty {
                leg.summary = nil
            }
            found.legs.append(leg)
        }
        found.length = Double(length.whole) / 1000
        found.duration = Double(duration.whole) / 1000
        if let directions = request.directions {
            try direct(&found, traversed, visits, directions, wantsShape: request.wantsShape)
        } else if request.wantsShape != false {
            var line: [Coordinate] = []
            for part in legs.joined() {
                let shape = shape(of: part)
                line += line.last == shape.first ? shape.dropFirst() : shape[...]
            }
            if line.isEmpty { line = visits.map { $0.snaps[0].position } }
            found.shape = try EncodedPolyline.seven.encode(line)
        }
        return found
    }

    /// The names of the two streets of a leg with the greatest lengths, in the order of travel.
    private func summary(_ edges: [TraversedEdge]) -> String {
        var lengths: [String: Int64] = [:]
        var order: [String] = []
        for edge in edges {
            let name = edge.name.isEmpty ? edge.ref : edge.name
            guard !name.isEmpty else { continue }
            if lengths[name] == nil { order.append(name) }
            lengths[name, default: 0] += edge.length
        }
        let longest = order.sorted { (lengths[$0] ?? 0, $1) > (lengths[$1] ?? 0, $0) }.prefix(2)
        return order.filter(longest.contains).joined(separator: ", ")
    }
}

/// A sum of numbers of which each adds whole thousandths, so that they add up to the rounded sum.
struct RunningSum {
    private var exact = 0.0
    /// Thousandths.
    private(set) var whole: Int64 = 0

    /// Adds a number; returns the whole thousandths by which the sum has grown.
    mutating func add(_ number: Double) -> Int64 {
        exact += number
        let next = Int64((exact * 1000).rounded())
        defer { whole = next }
        return next - whole
    }
}

/// A line that is cut at shares of its length.
struct LineCut {
    private let line: [Coordinate]
    /// Metres from the start to each position.
    private let distances: [Double]

    init(_ line: [Coordinate]) {
        self.line = line
        var distances = [0.0]
        for (first, second) in zip(line, line.dropFirst()) {
            let distance = Sphere.distance(
                Self.unit(first.x), Self.unit(first.y), Self.unit(second.x), Self.unit(second.y))
            distances.append(distances[distances.count - 1] + distance)
        }
        self.distances = distances
    }

    static func unit(_ degrees: Double) -> Int32 {
        Int32((degrees * Sphere.unitsPerDegree).rounded())
    }

    /// The part between two shares, the first not above the second; two positions at least.
    func part(_ from: Double, _ to: Double) -> [Coordinate] {
        let whole = distances[distances.count - 1]
        let (start, end) = (from * whole, to * whole)
        var part = [position(start)]
        for (place, distance) in zip(line, distances) where distance > start && distance < end {
            part.append(place)
        }
        part.append(position(end))
        return part
    }

    private func position(_ distance: Double) -> Coordinate {
        guard let next = distances.firstIndex(where: { $0 >= distance }) else {
            return line[line.count - 1]
        }
        guard next > 0 else { return line[0] }
        let span = distances[next] - distances[next - 1]
        let share = span > 0 ? (distance - distances[next - 1]) / span : 0
        let (first, second) = (line[next - 1], line[next])
        return Coordinate(
            x: first.x + share * (second.x - first.x), y: first.y + share * (second.y - first.y))
    }
}
