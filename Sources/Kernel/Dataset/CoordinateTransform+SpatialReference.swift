// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
public import PROJ

extension CoordinateTransform {
    /// A transform between two spatial references.
    ///
    /// Throws `.invalidParameter` for an unknown one, or without a transformation between them.
    public convenience init(
        from source: SpatialReference, to target: SpatialReference
    ) throws(Failure) {
        do throws(PROJError) {
            try self.init(from: source.coordinateSystem, to: target.coordinateSystem)
        } catch {
            throw Failure(.invalidParameter, error.description)
        }
    }

    /// One coordinate from source to target; throws `.invalidParameter` outside the domain.
    public func forward(_ coordinate: Coordinate) throws(Failure) -> Coordinate {
        do throws(PROJError) {
            let (x, y) = try forward(x: coordinate.x, y: coordinate.y)
            return Coordinate(x: x, y: y)
        } catch {
            throw Failure(.invalidParameter, error.description)
        }
    }

    /// One coordinate from target to source; throws `.invalidParameter` outside the domain.
    public func inverse(_ coordinate: Coordinate) throws(Failure) -> Coordinate {
        do throws(PROJError) {
            let (x, y) = try inverse(x: coordinate.x, y: coordinate.y)
            return Coordinate(x: x, y: y)
        } catch {
            throw Failure(.invalidParameter, error.description)
        }
    }

    /// A shape from source to target, vertex by vertex: edges are not densified.
    ///
    /// Throws `.invalidParameter` for a vertex outside the domain.
    public func forward(_ shape: Shape) throws(Failure) -> Shape {
        guard !isIdentity else { return shape }
        return try shape.mapCoordinates { coordinate throws(Failure) in try forward(coordinate) }
    }
}

extension SpatialReference {
    /// The definition PROJ understands; a reference with neither number nor text is the empty text,
    /// which PROJ refuses.
    public var coordinateSystem: CoordinateSystem {
        latestWkid.map { .wkid($0) } ?? .wkt(wkt ?? "")
    }
}
