// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGEOS

extension GEOSGeometry {
    /// Lines of two positions or more, x and y in turn.
    public init(lines: [[Double]]) throws(GEOSError) {
        let context = try Context()
        var handles: [OpaquePointer?] = unsafe []
        for line in lines {
            let sequence = unsafe GEOSCoordSeq_copyFromBuffer_r(
                context.handle, line, UInt32(line.count / 2), 0, 0)
            guard let sequence = unsafe sequence,
                let handle = unsafe GEOSGeom_createLineString_r(context.handle, sequence)
            else {
                unsafe handles.forEach { unsafe GEOSGeom_destroy_r(context.handle, $0) }
                throw context.error("GEOSGeom_createLineString_r")
            }
            unsafe handles.append(handle)
        }
        let count = unsafe UInt32(handles.count)
        guard
            let handle = unsafe GEOSGeom_createCollection_r(
                context.handle, GEOSKind.multilinestring.rawValue, &handles, count)
        else { throw context.error("GEOSGeom_createCollection_r") }
        unsafe self.init(context, handle)
    }

    /// All positions within a distance (`GEOSBuffer`), quarter circles as so many sides.
    public borrowing func buffered(
        by distance: Double, quarterSides: Int32 = 8
    ) throws(GEOSError) -> GEOSGeometry {
        guard
            let result = unsafe GEOSBuffer_r(context.handle, handle, distance, quarterSides)
        else { throw context.error("GEOSBuffer_r") }
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
