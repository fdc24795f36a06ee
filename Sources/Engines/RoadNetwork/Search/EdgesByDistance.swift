// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension RoadNetwork {
    /// The edges around a position from near to far, edges of equal distance by number.
    ///
    /// Reads no farther than the edge that was asked for last.
    public struct EdgesByDistance {
        private let roads: RoadNetwork
        private let heading: HeadingRange?
        private var links: LinksByDistance
        /// Edges of one distance, the next one last.
        private var ready: [Snap] = []

        init(_ roads: RoadNetwork, _ links: LinksByDistance, _ heading: HeadingRange?) {
            self.roads = roads
            self.links = links
            self.heading = heading
        }

        /// The next edge that counts; nil when none is within a distance in metres, of which
        /// ``RoadNetwork/snapRadiusLimit`` are regarded.
        public mutating func next(
            within reach: Double, accepts: (Int) -> Bool = { _ in true }
        ) -> Snap? {
            if ready.isEmpty { gather(within: min(reach, RoadNetwork.snapRadiusLimit), accepts) }
            guard let next = ready.last, next.distance <= reach else { return nil }
            return ready.removeLast()
        }

        private mutating func gather(within reach: Double, _ accepts: (Int) -> Bool) {
            roads.mapped.withBytes { bytes in
                while let (link, foot) = links.next(
                    within: ready.first?.distance ?? reach, bytes)
                {
                    for isBackward in [false, true] {
                        let bearing = foot.bearing(isBackward: isBackward)
                        guard let edge = roads.edge(ofLink: link, isBackward: isBackward),
                            !roads.flags(of: edge).contains(.ferry),
                            heading?.contains(bearing) ?? true, accepts(edge)
                        else { continue }
                        ready.append(
                            roads.snap(edge, link, foot, isBackward: isBackward, bearing, bytes))
                    }
                }
            }
            ready.sort { $0.edge > $1.edge }
        }
    }
}
