// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The edges of a path along one roundabout.
struct RoundaboutPassage {
    /// The first edge, and the one after the last, within the leg.
    let edges: Range<Int>
    /// The exits passed, the one taken included where the path leaves.
    let exitCount: Int
    /// About the diameter in metres; nil where too little of the ring is travelled to say.
    let diameter: Double?
    /// The ring's own name; empty for none.
    let name: String

    /// Follows the ring from its first edge.
    init(from start: Int, in leg: [TraversedEdge]) {
        var end = start
        var count = 0
        while end < leg.count, leg[end].isRing {
            let edge = leg[end]
            end += 1
            guard end < leg.count else { break }
            let arrival = Heading.arrival(of: edge.shape) ?? 0
            func outwards(_ bearing: Double) -> Double {
                let angle = Heading.change(from: arrival, to: bearing)
                return edge.traits.contains(.leftHand) ? -angle : angle
            }
            let exits = edge.branches.filter { $0.isUsable && !$0.traits.contains(.roundabout) }
            let next = Heading.departure(of: leg[end].shape).map(outwards) ?? 0
            // Where two rings touch, the other one is the way out.
            let rings = edge.branches.filter { $0.traits.contains(.roundabout) && $0.isUsable }
            let leaves = !leg[end].isRing || rings.contains { outwards($0.bearing) < next }
            if leaves {
                // Of two exits at one junction the sharper one comes first.
                count += 1 + exits.count { outwards($0.bearing) > next }
                break
            }
            count += exits.count + rings.count
        }
        edges = start..<end
        exitCount = count
        let ring = leg[start..<end]
        name = ring.first { !$0.name.isEmpty }?.name ?? ""
        diameter = Self.diameter(of: ring)
    }

    private static func diameter(of ring: ArraySlice<TraversedEdge>) -> Double? {
        let shape = ring.flatMap(\.shape)
        var length = 0.0
        var turned = 0.0
        var last: Double?
        for (start, end) in zip(shape, shape.dropFirst()) {
            guard let bearing = Heading.bearing(from: start, to: end) else { continue }
            length += Heading.distance(start, end)
            if let last { turned += Heading.change(from: last, to: bearing) }
            last = bearing
        }
        guard abs(turned) >= 45 else { return nil }
        return 2 * length / (abs(turned) * .pi / 180)
    }
}
