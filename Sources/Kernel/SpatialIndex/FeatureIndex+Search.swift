// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// A feature near a position.
public struct NearFeature: Hashable, Sendable {
    /// The place among all features, from 0.
    public var feature: Int
    /// Its object id.
    public var objectID: Int64
    /// Distance in the map's units; 0 exactly when the position belongs to the feature.
    public var distance: Double
}

extension FeatureIndex {
    /// Appends every feature within the probe's limit, each once, in an unspecified but stable
    /// order.
    ///
    /// Searches in place: no geometry is decoded, and only `found` may allocate. Throws for an
    /// offset out of either file.
    ///
    /// - Parameters:
    ///   - frame: The projection from the index to the map, if any.
    ///   - limit: The most pieces to test.
    ///   - counted: Incremented by the number of pieces tested.
    /// - Returns: False beyond the limit, when some features may be missing.
    @discardableResult
    public func search(
        _ index: RawSpan, _ data: RawSpan, _ probe: PointProbe, _ frame: Frame? = nil,
        atMost limit: Int = .max, into found: inout [NearFeature], counted: inout Int
    ) throws(IndexDamage) -> Bool {
        guard index.byteCount == byteCount, data.byteCount == dataByteCount else {
            throw IndexDamage(0, "the files this index was opened with")
        }
        return try unsafe index.withUnsafeBytes { index throws(IndexDamage) in
            try unsafe data.withUnsafeBytes { data throws(IndexDamage) in
                try unsafe search(
                    Memory(index), Memory(data), probe, frame, limit, &found, &counted)
            }
        }
    }

    @inline(__always)
    func search(
        _ index: Memory, _ data: Memory, _ probe: PointProbe, _ frame: Frame?, _ limit: Int,
        _ found: inout [NearFeature], _ counted: inout Int
    ) throws(IndexDamage) -> Bool {
        guard probe.position.isFinite, !probe.window.isEmpty else { return true }
        let start = found.count
        let box = FloatBox(around: probe.window, from: origin)
        let last = counted &+ min(limit, .max &- counted)
        // Pieces to test, with their data being prefetched.
        var waiting = InlineArray<16, Int>(repeating: 0)
        var waitingCount = 0
        let isWhole = try tree.search(index, at: Self.headerByteCount, box) {
            records, children throws(IndexDamage) in
            for child in SetBits(children) {
                guard counted < last else { return false }
                counted += 1
                if waitingCount == waiting.count {
                    for place in 0..<waitingCount {
                        try take(
                            waiting[place], index, data, probe, frame, from: start, &found)
                    }
                    waitingCount = 0
                }
                let record = records + FloatTree.recordByteCount * child
                Self.prefetch(record, index, data)
                waiting[waitingCount] = record
                waitingCount += 1
            }
            return true
        }
        for place in 0..<waitingCount {
            try take(waiting[place], index, data, probe, frame, from: start, &found)
        }
        return isWhole
    }

    /// Appends the feature of a piece that is near enough, unless it is there from `start` on.
    @inline(__always)
    func take(
        _ record: Int, _ index: Memory, _ data: Memory, _ probe: PointProbe, _ frame: Frame?,
        from start: Int, _ found: inout [NearFeature]
    ) throws(IndexDamage) {
        let piece = Self.piece(record, index)
        let square = try self.square(piece, record, index, data, probe, frame)
        guard square <= probe.bound else { return }
        let distance = square.squareRoot()
        guard distance <= probe.limit else { return }
        for known in start..<found.count where found[known].feature == piece.feature {
            found[known].distance = min(found[known].distance, distance)
            return
        }
        guard piece.feature < featureCount else {
            throw IndexDamage(record, "a feature's number")
        }
        found.append(
            NearFeature(
                feature: piece.feature, objectID: Int64(piece.objectID), distance: distance))
    }

    /// The square of the distance to a piece; infinite when it is more than the limit.
    @inline(__always)
    private func square(
        _ piece: Piece, _ record: Int, _ index: Memory, _ data: Memory, _ probe: PointProbe,
        _ frame: Frame?
    ) throws(IndexDamage) -> Double {
        if piece.isStriped {
            return try square(StripedArea(index, at: piece.place, data), probe, frame)
        }
        let vertexCount = kind == .points ? piece.count : piece.count + 1
        guard data.holds(piece.place, 16 * vertexCount) else {
            throw IndexDamage(record + 8, "coordinates inside the data")
        }
        var square = Double.infinity
        if kind == .points {
            for position in 0..<piece.count {
                let alone = SegmentScan(data, place: piece.place + 16 * position, count: 0)
                alone.nearest(probe, frame, probe.window, &square)
            }
            return square
        }
        let scan = SegmentScan(data, place: piece.place, count: piece.count)
        if kind == .areas {
            if scan.crossings(probe, frame) ?? true { return 0 }
            if probe.limit == 0 { return .infinity }
        }
        scan.nearest(probe, frame, probe.window, &square)
        return square
    }

    @inline(__always)
    private func square(
        _ area: StripedArea, _ probe: PointProbe, _ frame: Frame?
    ) throws(IndexDamage) -> Double {
        var holds = try area.holds(probe, frame, origin)
        if holds == nil, let frame { holds = try area.holdsByScan(probe, frame) }
        if holds == true { return 0 }
        if probe.limit == 0 { return .infinity }
        var square = Double.infinity
        try area.nearest(probe, frame, origin, &square)
        return square
    }
}
