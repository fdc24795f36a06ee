// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// The edges of one large polygon part, by horizontal stripes, read in place.
///
/// A stripe lists runs: groups of edges whose rectangles, in x, overlap; a gap between runs is
/// wholly inside or wholly outside, as stated by the run. A position in a run is decided by the
/// run's own edges. An edge is listed by its whole rectangle, so the answer also holds in a map
/// where edges bend inside their rectangles (``Frame``).
///
/// Layout from `offset`, little-endian: the offset of the coordinates in the data (8 bytes), the
/// smallest y (8), stripes per unit of y (8), counts of coordinates, stripes, runs and intervals (4
/// each); then for each stripe and the end the number of its first run (4); for each run the
/// smallest and largest x, 32-bit, rounded outwards and relative to the origin (4 each), its first
/// edge or interval (4), its count of edges or intervals (30 bits), whether it is intervals (bit
/// 30), and whether the gap to its right is inside (bit 31); for each interval its first edge (4)
/// and its count (4). Edge i joins coordinates i and i + 1.
struct StripedArea {
    static let headerByteCount = 40
    static let runByteCount = 16
    static let insideBit = 1 << 31
    static let intervalsBit = 1 << 30
    static let countMask = intervalsBit - 1

    private let index: Memory
    private let data: Memory
    private let offset: Int
    private let coordinates: Int
    private let vertexCount: Int
    private let stripeCount: Int
    private let runCount: Int
    private let intervalCount: Int
    private let minY: Double
    private let scale: Double

    /// Throws unless every range of the header is in bounds.
    @inline(__always)
    init(_ index: Memory, at offset: Int, _ data: Memory) throws(IndexDamage) {
        guard index.holds(offset, Self.headerByteCount) else {
            throw IndexDamage(offset, "an area inside the index")
        }
        self.index = index
        self.data = data
        self.offset = offset
        let place = index.uint64(offset)
        minY = index.double(offset + 8)
        scale = index.double(offset + 16)
        vertexCount = index.uint32(offset + 24)
        stripeCount = index.uint32(offset + 28)
        runCount = index.uint32(offset + 32)
        intervalCount = index.uint32(offset + 36)
        let byteCount =
            Self.headerByteCount + 4 * (stripeCount + 1) + Self.runByteCount * runCount
            + 8 * intervalCount
        guard stripeCount > 0, index.holds(offset, byteCount) else {
            throw IndexDamage(offset + 24, "an area inside the index")
        }
        guard place <= UInt64(data.byteCount), data.holds(Int(place), 16 * vertexCount) else {
            throw IndexDamage(offset, "coordinates inside the data")
        }
        coordinates = Int(place)
    }

    private var runs: Int { offset + Self.headerByteCount + 4 * (stripeCount + 1) }

    /// The stripe of an ordinate; the order of ordinates is that of their stripes.
    @inline(__always)
    static func stripe(_ y: Double, _ minY: Double, _ scale: Double, _ count: Int) -> Int {
        let position = (y - minY) * scale
        return position >= 1 ? (position < Double(count) ? Int(position) : count - 1) : 0
    }

    @inline(__always)
    private func stripe(_ y: Double) -> Int { Self.stripe(y, minY, scale, stripeCount) }

    /// The numbers of a stripe's runs.
    @inline(__always)
    private func runs(of stripe: Int) throws(IndexDamage) -> Range<Int> {
        let place = offset + Self.headerByteCount + 4 * stripe
        let (first, end) = (index.uint32(place), index.uint32(place + 4))
        guard first <= end, end <= runCount else { throw IndexDamage(place, "runs in order") }
        return first..<end
    }

    /// Calls `body` with each stretch of a run's edges until it returns stop.
    @inline(__always)
    private func forEachScan(
        _ run: Int, _ body: (SegmentScan) -> Bool
    ) throws(IndexDamage) {
        let first = index.uint32(run + 8)
        let count = index.uint32(run + 12) & Self.countMask
        if index.uint32(run + 12) & Self.intervalsBit == 0 {
            _ = body(try scan(first, count, run + 8))
            return
        }
        guard first + count <= intervalCount else {
            throw IndexDamage(run + 8, "intervals of this area")
        }
        let intervals = runs + Self.runByteCount * runCount
        for interval in first..<first + count {
            let place = intervals + 8 * interval
            guard body(try scan(index.uint32(place), index.uint32(place + 4), place)) else {
                return
            }
        }
    }

    @inline(__always)
    private func scan(
        _ first: Int, _ count: Int, _ place: Int
    ) throws(IndexDamage) -> SegmentScan {
        guard first + count < vertexCount else { throw IndexDamage(place, "edges of this area") }
        return SegmentScan(data, place: coordinates + 16 * first, count: count)
    }

    /// Whether the position belongs to the area, rings included; nil for a projected position that
    /// rounds to between two stripes.
    @inline(__always)
    func holds(
        _ probe: PointProbe, _ frame: Frame?, _ origin: Coordinate
    ) throws(IndexDamage) -> Bool? {
        let stripe = stripe(probe.nearby.minY)
        if frame != nil && stripe != self.stripe(probe.nearby.maxY) { return nil }
        let left = probe.nearby.minX - origin.x
        let right = probe.nearby.maxX - origin.x
        var isInside = false
        for number in try runs(of: stripe) {
            let run = runs + Self.runByteCount * number
            if left <= Double(index.float(run + 4)) {
                if right < Double(index.float(run)) { return isInside }
                return try holds(probe, frame, run)
            }
            isInside = index.uint32(run + 12) & Self.insideBit != 0
        }
        return isInside
    }

    @inline(__always)
    private func holds(
        _ probe: PointProbe, _ frame: Frame?, _ run: Int
    ) throws(IndexDamage) -> Bool {
        var isInside = index.uint32(run + 12) & Self.insideBit != 0
        var isOnRing = false
        try forEachScan(run) { scan in
            guard let crosses = scan.crossings(probe, frame) else {
                isOnRing = true
                return false
            }
            isInside = isInside != crosses
            return true
        }
        return isOnRing || isInside
    }

    /// Throws unless every run and every edge listed is the area's.
    func check() throws(IndexDamage) {
        for stripe in 0..<stripeCount {
            for number in try runs(of: stripe) {
                try forEachScan(runs + Self.runByteCount * number) { _ in true }
            }
        }
    }

    /// Whether the position belongs to the area, by a scan of every edge: the fallback of the
    /// stripes.
    func holdsByScan(_ probe: PointProbe, _ frame: Frame) throws(IndexDamage) -> Bool {
        var isInside = false
        var isOnRing = false
        // Every edge once: an edge is listed in each stripe it meets, and belongs to the lowest.
        for stripe in 0..<stripeCount {
            for number in try runs(of: stripe) {
                try forEachScan(runs + Self.runByteCount * number) { scan in
                    for edge in 0..<scan.count {
                        let one = SegmentScan(data, place: scan.place + 16 * edge, count: 1)
                        let (a, b) = (data.coordinate(one.place), data.coordinate(one.place + 16))
                        guard self.stripe(min(a.y, b.y)) == stripe else { continue }
                        guard let crosses = one.crossings(probe, frame) else {
                            isOnRing = true
                            return false
                        }
                        if crosses { isInside.toggle() }
                    }
                    return true
                }
                if isOnRing { return true }
            }
        }
        return isInside
    }

    /// The least square of a distance between the position and an edge, when less than `square`.
    ///
    /// Stripes are opened outwards from the position, as far as the nearest edge yet allows.
    func nearest(
        _ probe: PointProbe, _ frame: Frame?, _ origin: Coordinate, _ square: inout Double
    ) throws(IndexDamage) {
        var window = probe.window
        var low = stripe(probe.nearby.minY)
        var high = low + 1
        while true {
            let opensLow = low >= 0 && low >= stripe(window.minY)
            let opensHigh = high < stripeCount && high <= stripe(window.maxY)
            if !opensLow && !opensHigh { return }
            if opensLow { try nearest(probe, frame, origin, stripe: low, &window, &square) }
            if opensHigh { try nearest(probe, frame, origin, stripe: high, &window, &square) }
            low -= 1
            high += 1
        }
    }

    private func nearest(
        _ probe: PointProbe, _ frame: Frame?, _ origin: Coordinate, stripe: Int,
        _ window: inout Envelope, _ square: inout Double
    ) throws(IndexDamage) {
        for number in try runs(of: stripe) {
            let run = runs + Self.runByteCount * number
            guard Double(index.float(run)) <= window.maxX - origin.x,
                Double(index.float(run + 4)) >= window.minX - origin.x
            else { continue }
            let before = square
            try forEachScan(run) { scan in
                scan.nearest(probe, frame, window, &square)
                return true
            }
            if square < before && frame == nil { window = probe.window(within: square) }
        }
    }
}

extension PointProbe {
    /// The part of the window that can hold anything nearer than the root of `square`.
    fileprivate func window(within square: Double) -> Envelope {
        let reach = square.squareRoot() * (1 + 0x1p-20)
        let hair = 0x1p-40 * Swift.max(abs(position.x), abs(position.y))
        let near = Envelope(
            minX: position.x, minY: position.y, maxX: position.x, maxY: position.y
        ).expanded(by: reach + hair)
        return Envelope(
            minX: Swift.max(near.minX, window.minX), minY: Swift.max(near.minY, window.minY),
            maxX: Swift.min(near.maxX, window.maxX), maxY: Swift.min(near.maxY, window.maxY))
    }
}
