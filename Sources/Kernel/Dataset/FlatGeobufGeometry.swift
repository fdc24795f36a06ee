// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Reads the geometry table of one feature.
///
/// Its slots: 0 `ends` (end index of each ring or path in the coordinates), 1 `xy`, 2 `z`, 3 `m`, 4
/// and 5 times (not read), 6 `type`, 7 `parts`.
enum FlatGeobufGeometry {
    /// The shape; nil for a feature without coordinates.
    static func shape(
        _ bytes: RawSpan, _ table: FlatTable, _ kind: FlatGeobufHeader.Kind
    ) throws(Damage) -> Shape? {
        switch kind {
        case .point:
            guard let first = try coordinates(bytes, table).first else { return nil }
            return .point(first)
        case .multiPoint:
            let all = try coordinates(bytes, table)
            return all.isEmpty ? nil : .multipoint(all)
        case .lineString, .multiLineString:
            let paths = try chains(bytes, table)
            return paths.isEmpty ? nil : .polyline(paths: paths)
        case .polygon, .multiPolygon:
            let rings = try polygons(bytes, table, kind).flatMap { $0 }
            return rings.isEmpty ? nil : .polygon(rings: rings)
        }
    }

    /// The polygons of a (multi)polygon, each a list of rings.
    static func polygons(
        _ bytes: RawSpan, _ table: FlatTable, _ kind: FlatGeobufHeader.Kind
    ) throws(Damage) -> [[[Coordinate]]] {
        guard kind == .multiPolygon else { return [try chains(bytes, table)] }
        guard let parts = try table.tables(bytes, 7) else { return [] }
        var polygons: [[[Coordinate]]] = []
        polygons.reserveCapacity(parts.count)
        for index in 0..<parts.count {
            polygons.append(try chains(bytes, try parts.table(bytes, index)))
        }
        return polygons
    }

    /// Calls `body` with the bytes of the coordinates of each path, polygon part or group of
    /// positions, and for a polygon part with the counts of coordinates before the end of each
    /// ring.
    static func forEachPiece(
        _ bytes: RawSpan, _ table: FlatTable, _ kind: FlatGeobufHeader.Kind,
        _ body: (Range<Int>, [Int]) throws(Damage) -> Void
    ) throws(Damage) {
        if kind == .multiPolygon {
            guard let parts = try table.tables(bytes, 7) else { return }
            for index in 0..<parts.count {
                try forEachPiece(bytes, try parts.table(bytes, index), .polygon, body)
            }
            return
        }
        guard let xy = try table.vector(bytes, 1, elementByteCount: 8) else { return }
        var ends: [Int] = []
        for place in try table.vector(bytes, 0, elementByteCount: 4).map({
            stride(from: $0.lowerBound, to: $0.upperBound, by: 4)
        }) ?? stride(from: 0, to: 0, by: 4) {
            let end = Int(try bytes.number(at: place, as: UInt32.self))
            guard end >= ends.last ?? 0, end <= xy.count / 16 else {
                throw Damage(offset: place, expected: "ends in order and inside the coordinates")
            }
            ends.append(end)
        }
        if ends.isEmpty { ends = [xy.count / 16] }
        switch kind {
        case .polygon, .multiPolygon:
            let count = ends.last ?? 0
            try body(xy.lowerBound..<xy.lowerBound + 16 * count, ends)
        case .lineString, .multiLineString:
            var start = 0
            for end in ends {
                try body(xy.lowerBound + 16 * start..<xy.lowerBound + 16 * end, [])
                start = end
            }
        case .point:
            try body(xy.lowerBound..<xy.lowerBound + 16 * min(1, xy.count / 16), [])
        case .multiPoint: try body(xy.lowerBound..<xy.lowerBound + xy.count / 16 * 16, [])
        }
    }

    /// One further ordinate per coordinate, in the order of the shape's coordinates; NaN where the
    /// vector is left out or too short.
    static func ordinates(
        _ bytes: RawSpan, _ table: FlatTable, _ kind: FlatGeobufHeader.Kind, slot: Int
    ) throws(Damage) -> [Double] {
        guard kind == .multiPolygon, let parts = try table.tables(bytes, 7) else {
            return try ordinates(bytes, table, slot: slot)
        }
        var result: [Double] = []
        for index in 0..<parts.count {
            result += try ordinates(bytes, try parts.table(bytes, index), slot: slot)
        }
        return result
    }

    private static func ordinates(
        _ bytes: RawSpan, _ table: FlatTable, slot: Int
    ) throws(Damage) -> [Double] {
        let count = try table.vector(bytes, 1, elementByteCount: 8).map { $0.count / 16 } ?? 0
        var result = [Double](repeating: .nan, count: count)
        guard let values = try table.vector(bytes, slot, elementByteCount: 8) else {
            return result
        }
        for index in 0..<min(count, values.count / 8) {
            result[index] = try bytes.double(at: values.lowerBound + 8 * index)
        }
        return result
    }

    /// `xy` cut at `ends`; one chain when `ends` is left out.
    private static func chains(
        _ bytes: RawSpan, _ table: FlatTable
    ) throws(Damage) -> [[Coordinate]] {
        guard let xy = try table.vector(bytes, 1, elementByteCount: 8) else { return [] }
        guard let ends = try table.vector(bytes, 0, elementByteCount: 4), !ends.isEmpty else {
            let all = try coordinates(bytes, xy)
            return all.isEmpty ? [] : [all]
        }
        var chains: [[Coordinate]] = []
        chains.reserveCapacity(ends.count / 4)
        var start = 0
        for place in stride(from: ends.lowerBound, to: ends.upperBound, by: 4) {
            let end = Int(try bytes.number(at: place, as: UInt32.self))
            guard end >= start, end <= xy.count / 16 else {
                throw Damage(offset: place, expected: "ends in order and inside the coordinates")
            }
            chains.append(
                try coordinates(
                    bytes, xy.lowerBound + 16 * start..<xy.lowerBound + 16 * end))
            start = end
        }
        return chains
    }

    private static func coordinates(
        _ bytes: RawSpan, _ table: FlatTable
    ) throws(Damage) -> [Coordinate] {
        guard let xy = try table.vector(bytes, 1, elementByteCount: 8) else { return [] }
        return try coordinates(bytes, xy)
    }

    private static func coordinates(
        _ bytes: RawSpan, _ range: Range<Int>
    ) throws(Damage) -> [Coordinate] {
        var result: [Coordinate] = []
        result.reserveCapacity(range.count / 16)
        for place in stride(from: range.lowerBound, to: range.upperBound - 15, by: 16) {
            result.append(
                Coordinate(x: try bytes.double(at: place), y: try bytes.double(at: place + 8)))
        }
        return result
    }
}
