// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import Platform

/// Segments between neighbouring coordinates in memory: `count` of them need `count + 1`
/// coordinates of 16 bytes from `place`, a range checked by callers.
struct SegmentScan {
    /// Number of segments per comparison.
    private static let span = 63

    let memory: Memory
    let place: Int
    let count: Int

    @inline(__always)
    init(_ memory: Memory, place: Int, count: Int) {
        self.memory = memory
        self.place = place
        self.count = count
    }

    /// Whether the ray from the position towards +x crosses the segments an odd number of times;
    /// nil for a position on one.
    ///
    /// Exact; with a frame, for the projected coordinates. Comparisons of ordinates, whose order
    /// the projection keeps, decide all segments but those whose rectangle holds the position or
    /// touches its ray.
    @inline(__always)
    func crossings(_ probe: PointProbe, _ frame: Frame?) -> Bool? {
        var flips: UInt64 = 0
        var first = 0
        repeat {
            let segments = Swift.min(Self.span, count - first)
            let start = place + 16 * first
            let found = memory.crossings(start, count: segments + 1, from: probe.nearby)
            flips ^= found.sure
            for segment in SetBits(found.open) {
                guard let crosses = crosses(start + 16 * segment, probe, frame) else { return nil }
                if crosses { flips ^= 1 }
            }
            first += Self.span
        } while first < count
        return flips.nonzeroBitCount & 1 != 0
    }

    @inline(__always)
    private func crosses(_ place: Int, _ probe: PointProbe, _ frame: Frame?) -> Bool? {
        let (a, b) = (memory.coordinate(place), memory.coordinate(place + 16))
        guard let frame else { return Segment(a: a, b: b).crosses(rayFrom: probe.position) }
        return Segment(a: frame.project(a), b: frame.project(b)).crosses(rayFrom: probe.position)
    }

    /// The least squared distance between the position and a segment, when less than `square`;
    /// segments wholly outside the window are skipped.
    @inline(__always)
    func nearest(
        _ probe: PointProbe, _ frame: Frame?, _ window: Envelope, _ square: inout Double
    ) {
        var a = memory.coordinate(place)
        for index in Swift.min(1, count)...Swift.max(0, count) {
            let b = memory.coordinate(place + 16 * index)
            defer { a = b }
            guard Swift.min(a.x, b.x) <= window.maxX, Swift.max(a.x, b.x) >= window.minX,
                Swift.min(a.y, b.y) <= window.maxY, Swift.max(a.y, b.y) >= window.minY
            else { continue }
            let segment =
                if let frame { Segment(a: frame.project(a), b: frame.project(b)) } else {
                    Segment(a: a, b: b)
                }
            square = Swift.min(square, segment.squaredDistance(to: probe.position))
        }
    }
}
