// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGEOS

/// A failed operation of GEOS, with GEOS's message.
public struct GEOSError: Error, Hashable, Sendable {
    /// The operation: the C function's name.
    public var operation: String
    /// GEOS's message; may be empty.
    public var message: String
    /// Cause of the failure.
    public var cause = Cause.refused

    /// The cause of a missing answer.
    public enum Cause: Hashable, Sendable {
        /// GEOS cannot process the input.
        case refused
        /// The caller has cancelled.
        case cancelled
        /// The answer takes too much memory.
        case memory
        /// Interrupted in place of another thread.
        case interrupted
    }
}

/// A geometry held by GEOS: read from well-known text, and what tests ask as an independent oracle.
///
/// Each geometry has a GEOS context of its own, so different geometries may be used by different
/// threads, one thread each.
@safe public struct GEOSGeometry: ~Copyable {
    let context: Context
    let handle: OpaquePointer

    /// Reads well-known text; throws where GEOS refuses it.
    ///
    /// GEOS calls itself for each collection within another, and reads no further than the
    /// geometry's end: the caller bounds the one and looks after the other.
    public init(wkt: String) throws(GEOSError) {
        let context = try Context()
        guard let reader = unsafe GEOSWKTReader_create_r(context.handle) else {
            throw context.error("GEOSWKTReader_create_r")
        }
        defer { unsafe GEOSWKTReader_destroy_r(context.handle, reader) }
        guard let handle = unsafe GEOSWKTReader_read_r(context.handle, reader, wkt) else {
            throw context.error("GEOSWKTReader_read_r")
        }
        self.context = context
        unsafe self.handle = handle
    }

    init(_ context: Context, _ handle: OpaquePointer) {
        self.context = context
        unsafe self.handle = handle
    }

    deinit { unsafe GEOSGeom_destroy_r(context.handle, handle) }

    /// Whether the geometry keeps the rules of the Simple Features standard (`GEOSisValid`).
    public borrowing func isValid() throws(GEOSError) -> Bool {
        try truth(unsafe GEOSisValid_r(context.handle, handle), "GEOSisValid_r")
    }

    /// A valid geometry with the same lines: areas follow from even-odd (`GEOSMakeValid`).
    public borrowing func madeValid() throws(GEOSError) -> GEOSGeometry {
        guard let result = unsafe GEOSMakeValid_r(context.handle, handle) else {
            throw context.error("GEOSMakeValid_r")
        }
        return unsafe GEOSGeometry(context, result)
    }

    /// Whether the two share a position (`GEOSIntersects`).
    public borrowing func intersects(_ other: borrowing GEOSGeometry) throws(GEOSError) -> Bool {
        try truth(
            unsafe GEOSIntersects_r(context.handle, handle, other.handle), "GEOSIntersects_r")
    }

    /// Whether this geometry is in that relation to the other, without preparation.
    public borrowing func relates(
        _ predicate: GEOSRelation.Predicate, to other: borrowing GEOSGeometry
    ) throws(GEOSError) -> Bool {
        let answer =
            switch predicate {
            case .intersects: unsafe GEOSIntersects_r(context.handle, handle, other.handle)
            case .contains: unsafe GEOSContains_r(context.handle, handle, other.handle)
            case .within: unsafe GEOSWithin_r(context.handle, handle, other.handle)
            case .crosses: unsafe GEOSCrosses_r(context.handle, handle, other.handle)
            case .overlaps: unsafe GEOSOverlaps_r(context.handle, handle, other.handle)
            case .touches: unsafe GEOSTouches_r(context.handle, handle, other.handle)
            case .matches(let pattern):
                unsafe GEOSRelatePattern_r(context.handle, handle, other.handle, pattern)
            }
        return try truth(answer, "GEOSRelate")
    }

    /// The DE-9IM matrix of the two, nine letters `F`, `0`, `1`, `2` (`GEOSRelate`).
    public borrowing func matrix(with other: borrowing GEOSGeometry) throws(GEOSError) -> String {
        guard let text = unsafe GEOSRelate_r(context.handle, handle, other.handle) else {
            throw context.error("GEOSRelate_r")
        }
        defer { unsafe GEOSFree_r(context.handle, text) }
        return unsafe String(cString: text)
    }

    /// The distance to the other geometry in coordinate units (`GEOSDistance`).
    public borrowing func distance(
        to other: borrowing GEOSGeometry
    ) throws(GEOSError) -> Double {
        var distance = 0.0
        guard unsafe GEOSDistance_r(context.handle, handle, other.handle, &distance) == 1 else {
            throw context.error("GEOSDistance_r")
        }
        return distance
    }

    private borrowing func truth(_ answer: CChar, _ operation: String) throws(GEOSError) -> Bool {
        guard answer == 0 || answer == 1 else { throw context.error(operation) }
        return answer == 1
    }
}

/// One GEOS context and the last thing it complained about.
@safe final class Context {
    let handle: GEOSContextHandle_t
    private var message = ""

    init() throws(GEOSError) {
        guard let handle = unsafe GEOS_init_r() else {
            throw GEOSError(operation: "GEOS_init_r", message: "")
        }
        unsafe self.handle = handle
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe GEOSContext_setErrorMessageHandler_r(
            handle,
            { text, this in
                guard let text = unsafe text, let this = unsafe this else { return }
                let context = unsafe Unmanaged<Context>.fromOpaque(this).takeUnretainedValue()
                context.message = unsafe String(cString: text)
            }, this)
    }

    deinit { unsafe GEOS_finish_r(handle) }

    func error(_ operation: String) -> GEOSError {
        GEOSError(
            operation: operation, message: message,
            cause: message.hasPrefix("InterruptedException") ? .interrupted : .refused)
    }
}
