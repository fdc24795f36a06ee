// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

extension SegmentScan {
    /// Whether the ray from the probe's position towards +x crosses the segments, each straight in
    /// the map, an odd number of times; nil when the position lies on one.
    ///
    /// Exact for the projected coordinates.
    ///
    /// Only segments whose rectangle holds the place are projected: the others are decided by the
    /// order of their ordinates, which projecting keeps.
    func crossings(_ probe: PointProbe, _ frame: Frame) -> Bool? {
        let (place, slack) = (probe.place, probe.slack)
        var isOdd = false
        var a = memory.coordinate(self.place)
        for index in 1...max(1, count) where index <= count {
            let b = memory.coordinate(self.place + 16 * index)
            defer { a = b }
            let low = Swift.min(a.y, b.y)
            let high = Swift.max(a.y, b.y)
            if low > place.y + slack.y || high < place.y - slack.y { continue }
            let isClear = low < place.y - slack.y && high > place.y + slack.y
            if Swift.max(a.x, b.x) < place.x - slack.x { continue }
            if isClear && Swift.min(a.x, b.x) > place.x + slack.x {
                isOdd.toggle()
                continue
            }
            let segment = Segment(a: frame.project(a), b: frame.project(b))
            guard let crosses = segment.crosses(rayFrom: probe.position) else { return nil }
            if crosses { isOdd.toggle() }
        }
        return isOdd
    }

    /// The least square of a distance in the map between the position and a segment, when less than
    /// `square`.
    func nearest(_ probe: PointProbe, _ frame: Frame, _ square: inout Double) {
        let window = probe.window
        var a = memory.coordinate(place)
        for index in Swift.min(1, count)...count {
            let b = memory.coordinate(place + 16 * index)
            defer { a = b }
            guard Swift.min(a.x, b.x) <= window.maxX, Swift.max(a.x, b.x) >= window.minX,
                Swift.min(a.y, b.y) <= window.maxY, Swift.max(a.y, b.y) >= window.minY
            else { continue }
            let segment = Segment(a: frame.project(a), b: frame.project(b))
            square = Swift.min(square, segment.squaredDistance(to: probe.position))
        }
    }
}
