// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGEOS

/// The kinds of geometry, by the numbers that GEOS has for them.
public enum GEOSKind: Int32, Sendable {
    /// A position, or none.
    case point = 0
    /// A line, open or closed.
    case linestring, linearRing
    /// An area within a ring, less those of further rings.
    case polygon
    /// Several of the same kind.
    case multipoint, multilinestring, multipolygon
    /// Several of any kind, collections among them.
    case collection
}

extension GEOSGeometry {
    /// Its kind; throws for a curve, of which there are none in GEOS 3.11.
    public borrowing func kind() throws(GEOSError) -> GEOSKind {
        guard let kind = unsafe GEOSKind(rawValue: GEOSGeomTypeId_r(context.handle, handle)) else {
            throw context.error("GEOSGeomTypeId_r")
        }
        return kind
    }

    /// The positions of every point, line and ring in it, in order: x and y in turn.
    ///
    /// What is empty is left out.
    public borrowing func chains() throws(GEOSError) -> [[Double]] {
        var chains: [[Double]] = []
        try unsafe Self.append(handle, context, to: &chains)
        return chains
    }

    private static func append(
        _ geometry: OpaquePointer, _ context: Context, to chains: inout [[Double]]
    ) throws(GEOSError) {
        let here = unsafe context.handle
        switch unsafe GEOSKind(rawValue: GEOSGeomTypeId_r(here, geometry)) {
        case .point, .linestring, .linearRing:
            guard let positions = unsafe GEOSGeom_getCoordSeq_r(here, geometry) else {
                throw context.error("GEOSGeom_getCoordSeq_r")
            }
            var count: UInt32 = 0
            guard unsafe GEOSCoordSeq_getSize_r(here, positions, &count) != 0 else {
                throw context.error("GEOSCoordSeq_getSize_r")
            }
            guard count > 0 else { return }
            var chain = [Double](repeating: 0, count: 2 * Int(count))
            guard unsafe GEOSCoordSeq_copyToBuffer_r(here, positions, &chain, 0, 0) != 0 else {
                throw context.error("GEOSCoordSeq_copyToBuffer_r")
            }
            chains.append(chain)
        case .polygon:
            guard let shell = unsafe GEOSGetExteriorRing_r(here, geometry) else {
                throw context.error("GEOSGetExteriorRing_r")
            }
            try unsafe append(shell, context, to: &chains)
            for number in 0..<(unsafe GEOSGetNumInteriorRings_r(here, geometry)) {
                guard let hole = unsafe GEOSGetInteriorRingN_r(here, geometry, number) else {
                    throw context.error("GEOSGetInteriorRingN_r")
                }
                try unsafe append(hole, context, to: &chains)
            }
        case .multipoint, .multilinestring, .multipolygon, .collection:
            for number in 0..<(unsafe GEOSGetNumGeometries_r(here, geometry)) {
                guard let part = unsafe GEOSGetGeometryN_r(here, geometry, number) else {
                    throw context.error("GEOSGetGeometryN_r")
                }
                try unsafe append(part, context, to: &chains)
            }
        case nil: throw context.error("GEOSGeomTypeId_r")
        }
    }
}
