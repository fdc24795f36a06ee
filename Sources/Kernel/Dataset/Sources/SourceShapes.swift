// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import GDAL
public import Geometry

/// Reads the geometries of a source's features; its memory is kept from one feature to the next.
public struct SourceShapes {
    private var reader = WKBReader()
    private var wkb: [UInt8] = []

    /// Makes a reader.
    public init() {}

    /// The shapes of a feature, in the source's spatial reference: one, or one for each kind of
    /// geometry in a collection.
    ///
    /// Throws `Failure` (`invalidParameter`) with the fault in a few words, as an import rejects
    /// it: no geometry, a coordinate that is not finite, a line of one coordinate, a ring that is
    /// open.
    public mutating func shapes(of feature: borrowing SourceFeature) throws(Failure) -> [Shape] {
        guard let count = feature.wkb(into: &wkb) else {
            throw Failure(.invalidParameter, "no geometry")
        }
        do throws(FlatGeometry.Refusal) {
            try reader.read(wkb, count: count)
        } catch {
            throw Failure(.invalidParameter, error.reason)
        }
        if reader.isEmpty { throw Failure(.invalidParameter, "empty geometry") }
        var shapes: [Shape] = []
        reader.forEachGeometry { shapes.append($0.shape) }
        return shapes
    }
}

extension FlatGeometry {
    fileprivate var shape: Shape {
        let coordinates = (0..<coordinateCount).map {
            Coordinate(x: xy[2 * $0], y: xy[2 * $0 + 1])
        }
        var chains: [[Coordinate]] = []
        var start = 0
        for end in ends {
            chains.append(Array(coordinates[start..<Int(end)]))
            start = Int(end)
        }
        switch kind {
        case .point where coordinates.count == 1: return .point(coordinates[0])
        case .point, .multipoint: return .multipoint(coordinates)
        case .polyline: return .polyline(paths: chains)
        case .polygon: return .polygon(rings: chains)
        }
    }
}
