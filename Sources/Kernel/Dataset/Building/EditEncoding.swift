// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL
import Geometry
import Platform

extension FlatGeometry {
    /// The geometry of a feature in a file of a kind.
    init(_ feature: EditedFeature, _ kind: GeometryKind) {
        if let shape = feature.shape {
            self.init(shape, feature.ordinates)
        } else {
            self.init(kind)
        }
    }

    /// The geometry of an edited feature; the nesting of rings determines the parts of a polygon.
    init(_ shape: Shape, _ ordinates: FurtherOrdinates) {
        func numbers(_ values: [Double?]?) -> [Double] { values?.map { $0 ?? .nan } ?? [] }
        let (z, m) = (numbers(ordinates.z), numbers(ordinates.m))
        switch shape {
        case .point(let place):
            self.init(.point)
            append([place], z[...], m[...])
        case .multipoint(let places):
            self.init(.multipoint)
            append(places[...], z[...], m[...])
        case .polyline(let paths):
            self.init(.polyline)
            var start = 0
            for path in paths {
                append(path[...], z.dropFirst(start), m.dropFirst(start))
                start += path.count
            }
        case .polygon(let rings):
            self.init(.polygon)
            let starts = rings.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
            for part in RingNesting(rings).polygons {
                for ring in part {
                    append(rings[ring][...], z.dropFirst(starts[ring]), m.dropFirst(starts[ring]))
                }
                endPart()
            }
        case .envelope(let box):
            self.init(.polygon)
            append(
                [
                    Coordinate(x: box.minX, y: box.minY), Coordinate(x: box.minX, y: box.maxY),
                    Coordinate(x: box.maxX, y: box.maxY), Coordinate(x: box.maxX, y: box.minY),
                    Coordinate(x: box.minX, y: box.minY),
                ], [], [])
            endPart()
        }
    }

    /// The geometry of a feature of a dataset.
    init(_ kind: GeometryKind, _ chains: FeatureChains) {
        self.init(kind)
        func append(_ chain: Int) {
            let range = chains.range(chain)
            self.append(
                chains.coordinates[range], chains.z.dropFirst(range.lowerBound),
                chains.m.dropFirst(range.lowerBound))
        }
        guard kind == .polygon else {
            for chain in chains.ends.indices { append(chain) }
            return
        }
        for part in chains.parts.indices {
            for ring in chains.rings(part) { append(ring) }
            endPart()
        }
    }

    /// Appends a chain; `z` and `m` begin with its own, and are empty if absent.
    private mutating func append(
        _ chain: ArraySlice<Coordinate>, _ z: ArraySlice<Double>, _ m: ArraySlice<Double>
    ) {
        var numbers: [Double] = []
        numbers.reserveCapacity(4 * chain.count)
        for (place, coordinate) in chain.enumerated() {
            numbers += [coordinate.x, coordinate.y]
            for further in [z, m] where !further.isEmpty {
                numbers.append(place < further.count ? further[further.startIndex + place] : .nan)
            }
        }
        unsafe numbers.withUnsafeBytes { bytes in
            _ = unsafe append(bytes, hasZ: !z.isEmpty, hasM: !m.isEmpty)
        }
    }
}

extension GeometryKind {
    init(_ kind: FlatGeobufHeader.Kind) {
        switch kind {
        case .point: self = .point
        case .multiPoint: self = .multipoint
        case .lineString, .multiLineString: self = .polyline
        case .polygon, .multiPolygon: self = .polygon
        }
    }
}

extension FlatGeobufHeader.Kind {
    /// The geometry kind of a file with features of this kind, some of which may have several
    /// parts.
    func holding(severalParts: Bool) -> FlatGeobufHeader.Kind {
        switch self {
        case .lineString: .multiLineString
        case .polygon: severalParts ? .multiPolygon : .polygon
        default: self
        }
    }
}

extension Column {
    /// Appends the pair of a column's number and a value in the column's form; null is omitted.
    func append(_ value: AttributeValue, number: Int, to bytes: inout [UInt8]) {
        guard value != .null, type != .binary else { return }
        bytes.append(number: UInt16(number))
        switch (type, value) {
        case (.byte, .integer(let value)), (.unsignedByte, .integer(let value)),
            (.bool, .integer(let value)):
            bytes.append(UInt8(truncatingIfNeeded: value))
        case (.short, .integer(let value)), (.unsignedShort, .integer(let value)):
            bytes.append(number: UInt16(truncatingIfNeeded: value))
        case (.int, .integer(let value)), (.unsignedInt, .integer(let value)):
            bytes.append(number: UInt32(truncatingIfNeeded: value))
        case (.long, .integer(let value)), (.unsignedLong, .integer(let value)):
            bytes.append(number: value)
        case (.float, .real(let value)): bytes.append(number: Float(value).bitPattern)
        case (.double, .real(let value)): bytes.append(number: value.bitPattern)
        case (.dateTime, .date(let moment)):
            bytes.append(text: ISODate.text(ISODate.civil(milliseconds: moment)))
        case (_, .string(let text)) where type.byteCount == nil: bytes.append(text: text)
        default:
            // A value that the column cannot hold was refused when it was decided on.
            bytes.removeLast(2)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(text: String) {
        append(number: UInt32(text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
