// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CPROJ

/// Transforms coordinates from one system to another and back; used from one thread at a time.
///
/// x always comes first: longitude before latitude (in degrees), easting before northing, whatever
/// order the authority's definition states. Between 4326 and 3857 the spherical formulas are used
/// (see ``WebMercator``), between equal systems nothing changes, for all else PROJ decides, without
/// the network. Making one costs about a millisecond: keep it.
public final class CoordinateTransform {
    private enum Way {
        case same
        case toWebMercator
        case fromWebMercator
        case projection(ProjectionObject)
    }

    private let way: Way
    private let source: CoordinateSystem
    private let target: CoordinateSystem

    /// Throws `.unknownCoordinateSystem` or `.noOperation`.
    public init(
        from source: CoordinateSystem, to target: CoordinateSystem
    ) throws(PROJError) {
        (self.source, self.target) = (source, target)
        switch (source.latestWkid, target.latestWkid) {
        case (4326, 3857): way = .toWebMercator
        case (3857, 4326): way = .fromWebMercator
        case (let from?, let to?) where from == to:
            _ = try ProjectionContext().system(source)
            way = .same
        default:
            way = .projection(try Self.operation(source, target))
        }
    }

    private static func operation(
        _ source: CoordinateSystem, _ target: CoordinateSystem
    ) throws(PROJError) -> ProjectionObject {
        let context = ProjectionContext()
        let from = try context.system(source)
        let to = try context.system(target)
        guard
            let operation = unsafe proj_create_crs_to_crs_from_pj(
                context.handle, from.handle, to.handle, nil, nil)
        else { throw noOperation(source, target) }
        let owned = unsafe ProjectionObject(operation, context)
        guard
            let normalised = unsafe proj_normalize_for_visualization(
                context.handle, owned.handle)
        else { throw noOperation(source, target) }
        return unsafe ProjectionObject(normalised, context)
    }

    private static func noOperation(
        _ source: CoordinateSystem, _ target: CoordinateSystem
    ) -> PROJError {
        PROJError(
            code: .noOperation,
            description: "there is no transformation from spatial reference \(source.label) "
                + "to \(target.label)")
    }

    /// Whether coordinates come back as they were given.
    public var isIdentity: Bool {
        if case .same = way { true } else { false }
    }

    /// Transforms from source to target; throws `.outsideDomain` for a result that is not finite.
    public func forward(x: Double, y: Double) throws(PROJError) -> (x: Double, y: Double) {
        let result =
            switch way {
            case .same: (x: x, y: y)
            case .toWebMercator: WebMercator.project(longitude: x, latitude: y)
            case .fromWebMercator: WebMercator.unproject(x: x, y: y)
            case .projection(let object): Self.run(object, PJ_FWD, x, y)
            }
        return try checked(result, of: x, y, in: target)
    }

    /// Transforms from target to source; throws `.outsideDomain` for a result that is not finite.
    public func inverse(x: Double, y: Double) throws(PROJError) -> (x: Double, y: Double) {
        let result =
            switch way {
            case .same: (x: x, y: y)
            case .toWebMercator: WebMercator.unproject(x: x, y: y)
            case .fromWebMercator: WebMercator.project(longitude: x, latitude: y)
            case .projection(let object): Self.run(object, PJ_INV, x, y)
            }
        return try checked(result, of: x, y, in: source)
    }

    private static func run(
        _ object: ProjectionObject, _ direction: PJ_DIRECTION, _ x: Double, _ y: Double
    ) -> (x: Double, y: Double) {
        guard x.isFinite, y.isFinite else { return (.nan, .nan) }
        let result = unsafe proj_trans(object.handle, direction, proj_coord(x, y, 0, 0))
        return (unsafe result.xy.x, unsafe result.xy.y)
    }

    @inline(__always)
    private func checked(
        _ result: (x: Double, y: Double), of x: Double, _ y: Double, in wanted: CoordinateSystem
    ) throws(PROJError) -> (x: Double, y: Double) {
        if case .same = way { return result }
        guard result.x.isFinite, result.y.isFinite else {
            throw PROJError(
                code: .outsideDomain,
                description: "the coordinate \(x), \(y) has no place in spatial reference "
                    + wanted.label)
        }
        return result
    }
}
