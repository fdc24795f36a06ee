// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGEOS

extension GEOSGeometry {
    /// All positions within a distance of lines, each of two positions or more, x and y in turn;
    /// quarter circles as so many sides.
    ///
    /// The buffers of the lines (`GEOSBuffer`) are joined (`GEOSUnaryUnion`). One buffer of
    /// thousands of lines that cross each other takes minutes: it is noded as a whole, and where
    /// that fails again with rounder coordinates.
    ///
    /// Throws `GEOSError` of the cause `cancelled` once `isCancelled` answers true, and `memory`
    /// once the process has grown by more than `mostMiB`.
    public init(
        within distance: Double, of lines: [[Double]], quarterSides: Int32 = 8,
        mostMiB: Int = 1_024, isCancelled: () -> Bool = { false }
    ) throws(GEOSError) {
        let context = try Context()
        let handle = try unsafe Watch.over(mostMiB: mostMiB, isCancelled) {
            () throws(GEOSError) in
            try unsafe Self.union(of: lines, within: distance, quarterSides, context)
        }
        unsafe self.init(context, handle)
    }

    private static func union(
        of lines: [[Double]], within distance: Double, _ quarterSides: Int32, _ context: Context
    ) throws(GEOSError) -> OpaquePointer {
        var buffers: [OpaquePointer?] = unsafe []
        unsafe buffers.reserveCapacity(lines.count)
        for line in lines {
            do throws(GEOSError) {
                unsafe buffers.append(try buffer(of: line, distance, quarterSides, context))
            } catch {
                unsafe buffers.forEach { unsafe GEOSGeom_destroy_r(context.handle, $0) }
                throw error
            }
        }
        let count = unsafe UInt32(buffers.count)
        guard
            let all = unsafe GEOSGeom_createCollection_r(
                context.handle, GEOSKind.collection.rawValue, &buffers, count)
        else { throw context.error("GEOSGeom_createCollection_r") }
        defer { unsafe GEOSGeom_destroy_r(context.handle, all) }
        guard let union = unsafe GEOSUnaryUnion_r(context.handle, all) else {
            throw context.error("GEOSUnaryUnion_r")
        }
        return unsafe union
    }

    private static func buffer(
        of line: [Double], _ distance: Double, _ quarterSides: Int32, _ context: Context
    ) throws(GEOSError) -> OpaquePointer {
        let sequence = unsafe GEOSCoordSeq_copyFromBuffer_r(
            context.handle, line, UInt32(line.count / 2), 0, 0)
        guard let sequence = unsafe sequence,
            let geometry = unsafe GEOSGeom_createLineString_r(context.handle, sequence)
        else { throw context.error("GEOSGeom_createLineString_r") }
        defer { unsafe GEOSGeom_destroy_r(context.handle, geometry) }
        guard let buffer = unsafe GEOSBuffer_r(context.handle, geometry, distance, quarterSides)
        else { throw context.error("GEOSBuffer_r") }
        return unsafe buffer
    }

    /// What is of this geometry or of the other (`GEOSUnion`).
    public borrowing func joined(
        with other: borrowing GEOSGeometry
    ) throws(GEOSError) -> GEOSGeometry {
        guard let result = unsafe GEOSUnion_r(context.handle, handle, other.handle) else {
            throw context.error("GEOSUnion_r")
        }
        return unsafe GEOSGeometry(context, result)
    }

    /// What of this geometry is not of the other (`GEOSDifference`).
    public borrowing func minus(
        _ other: borrowing GEOSGeometry
    ) throws(GEOSError) -> GEOSGeometry {
        guard let result = unsafe GEOSDifference_r(context.handle, handle, other.handle) else {
            throw context.error("GEOSDifference_r")
        }
        return unsafe GEOSGeometry(context, result)
    }
}
