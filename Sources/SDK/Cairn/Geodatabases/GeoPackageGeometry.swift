// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Geometries as GeoPackages have them: a header and well-known binary (GeoPackage 1.3, 2.1.3).
enum GeoPackageGeometry {
    /// Reads a geometry; nil for an empty one.
    ///
    /// Throws ``CairnError`` for what is none.
    static func read(_ bytes: [UInt8], _ reference: SpatialReference?) throws -> Geometry? {
        guard bytes.count >= 8, bytes[0] == 0x47, bytes[1] == 0x50 else { throw damaged }
        let flags = bytes[3]
        let counts = [0, 32, 48, 48, 64]
        let kind = Int(flags >> 1 & 7)
        guard kind < counts.count, flags & 0x20 == 0, bytes.count >= 8 + counts[kind] else {
            throw damaged
        }
        if flags & 0x10 != 0 { return nil }
        var reader = WKBReader(bytes: bytes, place: 8 + counts[kind])
        return try reader.geometry(reference)
    }

    static var damaged: CairnError {
        CairnError(.invalidDocument, "a geometry of the GeoPackage is damaged, or of no known kind")
    }

    /// Whether it is of a kind that is not a multiple one.
    static func isSingle(_ bytes: [UInt8]) -> Bool {
        let head = bytes[3] & 0x0e == 0 ? 8 : 40
        return (UInt32(bytes[head + 1]) | UInt32(bytes[head + 2]) << 8) % 1_000 < 4
    }

    /// Writes a geometry with the envelope of its x and y; the multiple kinds where `isMultiple`.
    static func write(_ geometry: Geometry, srs: Int32, isMultiple: Bool) -> [UInt8] {
        let isEmpty = geometry.isEmpty
        var bytes: [UInt8] = [0x47, 0x50, 0, isEmpty ? 0x11 : 0x03]
        bytes.put(srs)
        if !isEmpty {
            let extent = geometry.extent
            for side in [extent.xMin, extent.xMax, extent.yMin, extent.yMax] { bytes.put(side) }
        }
        WKBWriter.write(geometry, isMultiple: isMultiple, to: &bytes)
        return bytes
    }
}

/// Reads well-known binary (ISO and the extended kinds of other programs).
private struct WKBReader {
    let bytes: [UInt8]
    var place: Int
    private var isLittle = true

    init(bytes: [UInt8], place: Int) { (self.bytes, self.place) = (bytes, place) }

    private mutating func number(_ count: Int) throws -> UInt64 {
        guard place + count <= bytes.count else { throw GeoPackageGeometry.damaged }
        defer { place += count }
        let part = bytes[place..<(place + count)]
        return (isLittle ? Array(part.reversed()) : Array(part))
            .reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func count(_ size: Int) throws -> Int {
        let count = Int(try number(4))
        guard count <= (bytes.count - place) / size else { throw GeoPackageGeometry.damaged }
        return count
    }

    private struct Head {
        var kind: UInt64
        var hasZ: Bool
        var hasM: Bool
        var size: Int { 16 + (hasZ ? 8 : 0) + (hasM ? 8 : 0) }
    }

    private mutating func head() throws -> Head {
        guard place < bytes.count, bytes[place] <= 1 else { throw GeoPackageGeometry.damaged }
        isLittle = bytes[place] == 1
        place += 1
        let code = try number(4)
        let (kind, step) = (code % 1_000, code & 0xffff / 1_000)
        return Head(
            kind: code & 0x8000_0000 != 0 || code & 0x4000_0000 != 0 ? code & 0xff : kind,
            hasZ: code & 0x8000_0000 != 0 || step == 1 || step == 3,
            hasM: code & 0x4000_0000 != 0 || step == 2 || step == 3)
    }

    private mutating func vertex(_ head: Head) throws -> Place {
        let x = Double(bitPattern: try number(8))
        let y = Double(bitPattern: try number(8))
        let z = head.hasZ ? Double(bitPattern: try number(8)) : nil
        let m = head.hasM ? Double(bitPattern: try number(8)) : nil
        return Place(x, y, z: z, m: m)
    }

    private mutating func line(_ head: Head) throws -> [Place] {
        let count = try count(head.size)
        var line: [Place] = []
        line.reserveCapacity(count)
        for _ in 0..<count { line.append(try vertex(head)) }
        guard line.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else {
            throw GeoPackageGeometry.damaged
        }
        return line
    }

    private mutating func lines(_ head: Head) throws -> [[Place]] {
        let count = try count(4)
        var lines: [[Place]] = []
        for _ in 0..<count { lines.append(try line(head)) }
        return lines
    }

    mutating func geometry(_ reference: SpatialReference?) throws -> Geometry? {
        let head = try head()
        switch head.kind {
        case 1:
            let vertex = try vertex(head)
            return vertex.x.isFinite && vertex.y.isFinite ? Point(vertex, reference) : nil
        case 2: return Polyline(places: [try line(head)], spatialReference: reference)
        case 3: return Polygon(places: try lines(head), spatialReference: reference)
        case 4, 5, 6:
            var parts: [[Place]] = []
            for _ in 0..<(try count(5)) {
                let part = try self.head()
                guard part.kind == head.kind - 3 else { throw GeoPackageGeometry.damaged }
                switch part.kind {
                case 1: parts.append([try vertex(part)])
                case 2: parts.append(try line(part))
                default: parts += try lines(part)
                }
            }
            switch head.kind {
            case 4: return Multipoint(places: Array(parts.joined()), spatialReference: reference)
            case 5: return Polyline(places: parts, spatialReference: reference)
            default: return Polygon(places: parts, spatialReference: reference)
            }
        default: throw GeoPackageGeometry.damaged
        }
    }
}

/// Writes well-known binary.
private enum WKBWriter {
    static func write(_ geometry: Geometry, isMultiple: Bool, to bytes: inout [UInt8]) {
        let vertices = geometry.places
        let hasZ = vertices.contains { $0.z != nil }
        let hasM = vertices.contains { $0.m != nil }
        func head(_ kind: UInt32) {
            bytes.append(1)
            bytes.put(kind + (hasZ ? 1_000 : 0) + (hasM ? 2_000 : 0))
        }
        func vertex(_ place: Place) {
            bytes.put(place.x)
            bytes.put(place.y)
            if hasZ { bytes.put(place.z ?? 0) }
            if hasM { bytes.put(place.m ?? .nan) }
        }
        func line(_ places: [Place]) {
            bytes.put(UInt32(places.count))
            for place in places { vertex(place) }
        }
        func area(_ rings: [[Place]]) {
            head(3)
            bytes.put(UInt32(rings.count))
            for ring in rings { line(ring) }
        }
        switch geometry {
        case let point as Point:
            head(1)
            vertex(point.place)
        case let points as Multipoint:
            head(4)
            bytes.put(UInt32(points.places.count))
            for place in points.places {
                head(1)
                vertex(place)
            }
        case let lines as Polyline:
            if isMultiple || lines.lines.count != 1 {
                head(5)
                bytes.put(UInt32(lines.lines.count))
                for part in lines.lines {
                    head(2)
                    line(part)
                }
            } else {
                head(2)
                line(lines.lines[0])
            }
        case let box as Envelope: write(box.polygon, isMultiple: isMultiple, to: &bytes)
        case let polygon as Polygon:
            let areas = areas(polygon.lines)
            if isMultiple || areas.count != 1 {
                head(6)
                bytes.put(UInt32(areas.count))
                for rings in areas { area(rings) }
            } else {
                area(areas[0])
            }
        default: break
        }
    }

    /// Twice the area of a ring, negative clockwise.
    private static func turn(_ ring: [Place]) -> Double {
        zip(ring, ring.dropFirst()).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y }
    }

    /// Rings by the areas that they are of: those that turn as the first one are outer ones, each
    /// hole is of the outer ring that has its first vertex.
    private static func areas(_ rings: [[Place]]) -> [[[Place]]] {
        guard let first = rings.first else { return [] }
        let isClockwise = turn(first) < 0
        var areas: [[[Place]]] = []
        var holes: [[Place]] = []
        for ring in rings {
            if (turn(ring) < 0) == isClockwise { areas.append([ring]) } else { holes.append(ring) }
        }
        for hole in holes {
            let owner = areas.firstIndex { area in
                hole.first.map { $0.isInside(zip(area[0], area[0].dropFirst())) } ?? false
            }
            areas[owner ?? areas.count - 1].append(hole)
        }
        return areas
    }
}

extension [UInt8] {
    fileprivate mutating func put(_ value: some FixedWidthInteger) {
        var left = UInt64(truncatingIfNeeded: value)
        for _ in 0..<(type(of: value).bitWidth / 8) {
            append(UInt8(truncatingIfNeeded: left))
            left >>= 8
        }
    }

    fileprivate mutating func put(_ value: Double) { put(value.bitPattern) }
}
