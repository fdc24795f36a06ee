// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGEOS

/// A geometry prepared by GEOS for comparison with many others.
///
/// Geometries that violate the Simple Features standard are made valid first, with areas by
/// even-odd. Used from one thread.
@safe public final class GEOSRelation {
    /// A relation of the Simple Features standard, read as "prepared geometry … other geometry".
    public enum Predicate: Hashable, Sendable {
        /// They share a position.
        case intersects
        /// The other is inside the prepared one, and their interiors meet.
        case contains
        /// The prepared one is inside the other, and their interiors meet.
        case within
        /// Their insides meet in a lower dimension than the higher of theirs.
        case crosses
        /// Their interiors meet in their common dimension, and each has positions of its own.
        case overlaps
        /// They share positions, but no interior ones.
        case touches
        /// The matrix of their insides, borders and outsides has this pattern
        /// (`GEOSRelatePattern`); this one is not any quicker for being prepared.
        case matches(String)
    }

    /// Segments of a quarter circle: a buffer's round parts are inside the true ones, by 0.008 % of
    /// its distance at most.
    private static let quarterSides: Int32 = 64

    private let context: Context
    private let mostMiB: Int
    private let geometry: OpaquePointer
    private let prepared: OpaquePointer
    private let reader: OpaquePointer

    /// Prepares the geometry of well-known binary, or its buffer of the distance `buffer`, in its
    /// own units.
    ///
    /// Throws for input that GEOS refuses, once `isCancelled` returns true, and when the private
    /// memory of the process grows by more than `mostMiB`: of invalid areas all crossings of their
    /// lines are computed. The same holds for each geometry that is compared with it.
    public init(
        wkb: [UInt8], buffer: Double = 0, mostMiB: Int = 512,
        isCancelled: () -> Bool = { false }
    ) throws(GEOSError) {
        let context = try Context()
        guard let reader = unsafe GEOSWKBReader_create_r(context.handle) else {
            throw context.error("GEOSWKBReader_create_r")
        }
        let geometry: OpaquePointer
        do throws(GEOSError) {
            unsafe geometry = try Watch.over(mostMiB: mostMiB, isCancelled) {
                () throws(GEOSError) in
                let read = unsafe try Self.read(wkb, context, reader)
                return buffer > 0 ? unsafe try Self.buffer(read, buffer, context) : unsafe read
            }
        } catch {
            unsafe GEOSWKBReader_destroy_r(context.handle, reader)
            throw error
        }
        guard let prepared = unsafe GEOSPrepare_r(context.handle, geometry) else {
            unsafe GEOSGeom_destroy_r(context.handle, geometry)
            unsafe GEOSWKBReader_destroy_r(context.handle, reader)
            throw context.error("GEOSPrepare_r")
        }
        self.context = context
        self.mostMiB = mostMiB
        unsafe self.reader = reader
        unsafe self.geometry = geometry
        unsafe self.prepared = prepared
    }

    deinit {
        unsafe GEOSPreparedGeom_destroy_r(context.handle, prepared)
        unsafe GEOSGeom_destroy_r(context.handle, geometry)
        unsafe GEOSWKBReader_destroy_r(context.handle, reader)
    }

    /// Whether the relation holds with the geometry of well-known binary; throws as the initializer
    /// does.
    public func holds(
        _ predicate: Predicate, wkb: [UInt8], isCancelled: () -> Bool = { false }
    ) throws(GEOSError) -> Bool {
        try Watch.over(mostMiB: mostMiB, isCancelled) { () throws(GEOSError) in
            try holds(predicate, wkb)
        }
    }

    private func holds(_ predicate: Predicate, _ wkb: [UInt8]) throws(GEOSError) -> Bool {
        let other = unsafe try Self.read(wkb, context, reader)
        defer { unsafe GEOSGeom_destroy_r(context.handle, other) }
        let handle = unsafe context.handle
        let answer =
            switch predicate {
            case .intersects: unsafe GEOSPreparedIntersects_r(handle, prepared, other)
            case .contains: unsafe GEOSPreparedContains_r(handle, prepared, other)
            case .within: unsafe GEOSPreparedWithin_r(handle, prepared, other)
            case .crosses: unsafe GEOSPreparedCrosses_r(handle, prepared, other)
            case .overlaps: unsafe GEOSPreparedOverlaps_r(handle, prepared, other)
            case .touches: unsafe GEOSPreparedTouches_r(handle, prepared, other)
            case .matches(let pattern):
                unsafe GEOSRelatePattern_r(handle, geometry, other, pattern)
            }
        guard answer == 0 || answer == 1 else {
            throw context.error("GEOSPrepared…_r or GEOSRelatePattern_r")
        }
        return answer == 1
    }

    /// Takes the geometry, and gives the one around it.
    private static func buffer(
        _ geometry: OpaquePointer, _ distance: Double, _ context: Context
    ) throws(GEOSError) -> OpaquePointer {
        defer { unsafe GEOSGeom_destroy_r(context.handle, geometry) }
        guard
            let around = unsafe GEOSBuffer_r(context.handle, geometry, distance, quarterSides)
        else { throw context.error("GEOSBuffer_r") }
        return unsafe around
    }

    private static func read(
        _ wkb: [UInt8], _ context: Context, _ reader: OpaquePointer
    ) throws(GEOSError) -> OpaquePointer {
        let read = unsafe wkb.withUnsafeBufferPointer { bytes in
            unsafe GEOSWKBReader_read_r(context.handle, reader, bytes.baseAddress, bytes.count)
        }
        guard let read = unsafe read else { throw context.error("GEOSWKBReader_read_r") }
        switch unsafe GEOSisValid_r(context.handle, read) {
        case 1: return unsafe read
        case 0: break
        default:
            unsafe GEOSGeom_destroy_r(context.handle, read)
            throw context.error("GEOSisValid_r")
        }
        defer { unsafe GEOSGeom_destroy_r(context.handle, read) }
        guard let valid = unsafe GEOSMakeValid_r(context.handle, read) else {
            throw context.error("GEOSMakeValid_r")
        }
        return unsafe valid
    }
}
