// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CGEOS
import Geometry

/// GEOS's C API as a program would use it: an STRtree over all features, prepared geometries, one
/// query point at a time.
@safe final class GEOSPeer {
    private let context: GEOSContextHandle_t
    private let tree: OpaquePointer
    private var prepared: [OpaquePointer?] = unsafe []
    private var candidates: [Int] = []

    /// Features as parts of rings each.
    init(_ features: [[[[Coordinate]]]]) {
        unsafe context = GEOS_init_r()
        unsafe tree = GEOSSTRtree_create_r(context, 10)
        for (number, parts) in features.enumerated() {
            let polygons = unsafe parts.map { unsafe polygon($0) }
            let geometry = unsafe polygons.count == 1 ? polygons[0] : collection(polygons)
            unsafe GEOSSTRtree_insert_r(
                context, tree, geometry, UnsafeMutableRawPointer(bitPattern: number + 1))
            unsafe prepared.append(GEOSPrepare_r(context, geometry))
        }
    }

    private func collection(_ polygons: [OpaquePointer?]) -> OpaquePointer? {
        var polygons = unsafe polygons
        let count = unsafe UInt32(polygons.count)
        return unsafe GEOSGeom_createCollection_r(
            context, Int32(GEOS_MULTIPOLYGON.rawValue), &polygons, count)
    }

    private func polygon(_ rings: [[Coordinate]]) -> OpaquePointer? {
        var made: [OpaquePointer?] = unsafe []
        for ring in rings {
            let flat = ring.flatMap { [$0.x, $0.y] }
            let sequence = unsafe GEOSCoordSeq_copyFromBuffer_r(
                context, flat, UInt32(ring.count), 0, 0)
            unsafe made.append(GEOSGeom_createLinearRing_r(context, sequence))
        }
        let shell = unsafe made.removeFirst()
        let count = unsafe UInt32(made.count)
        return unsafe GEOSGeom_createPolygon_r(context, shell, &made, count)
    }

    /// Calls `body` with every feature that holds the position.
    @inline(__always)
    func features(at position: Coordinate, _ body: (Int) -> Void) {
        let point = unsafe GEOSGeom_createPointFromXY_r(context, position.x, position.y)
        candidates.removeAll(keepingCapacity: true)
        unsafe GEOSSTRtree_query_r(
            context, tree, point,
            { item, this in
                guard let item = unsafe item, let this = unsafe this else { return }
                let peer = unsafe Unmanaged<GEOSPeer>.fromOpaque(this).takeUnretainedValue()
                peer.candidates.append(Int(bitPattern: item) - 1)
            }, Unmanaged.passUnretained(self).toOpaque())
        for candidate in candidates
        where unsafe GEOSPreparedIntersects_r(context, prepared[candidate], point) == 1 {
            body(candidate)
        }
        unsafe GEOSGeom_destroy_r(context, point)
    }
}
