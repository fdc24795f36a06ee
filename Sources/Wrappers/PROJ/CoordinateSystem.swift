// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CPROJ

/// The definition of a coordinate system, by number or by text.
public enum CoordinateSystem: Hashable, Sendable {
    /// An EPSG number, or an ESRI number where EPSG has none.
    case wkid(Int)
    /// WKT of any version.
    case wkt(String)

    /// The number without Esri's and Google's aliases for Web Mercator; nil for WKT.
    public var latestWkid: Int? {
        switch self {
        case .wkid(102_100), .wkid(102_113), .wkid(900_913): 3857
        case .wkid(let number): number
        case .wkt: nil
        }
    }

    /// The unit of a system's coordinates.
    public struct Unit: Hashable, Sendable {
        /// Whether coordinates are angles.
        public var isAngular: Bool
        /// Metres per unit, or radians per unit when angular.
        public var factor: Double
        /// Whether the authority puts latitude or northing first.
        public var isNorthFirst: Bool
    }

    /// The unit of the system's x axis.
    ///
    /// Those of WGS 84 and Web Mercator are built in; for any other PROJ reads its database, which
    /// takes a millisecond and three megabytes of memory that the process then keeps.
    public func unit() throws(PROJError) -> Unit {
        switch latestWkid {
        case 4326: Unit(isAngular: true, factor: 0.017453292519943295, isNorthFirst: true)
        case 3857: Unit(isAngular: false, factor: 1, isNorthFirst: false)
        default: try unitInDatabase()
        }
    }

    /// The unit according to PROJ's database, for every system.
    package func unitInDatabase() throws(PROJError) -> Unit {
        let context = ProjectionContext()
        let system = try context.system(self)
        return try context.unit(of: system, self)
    }
}

/// A PROJ context: used from one thread at a time, without network access or output.
@safe
final class ProjectionContext {
    let handle: OpaquePointer?

    init() {
        unsafe handle = proj_context_create()
        unsafe proj_log_level(handle, PJ_LOG_NONE)
        _ = unsafe proj_context_set_enable_network(handle, 0)
    }

    deinit { _ = unsafe proj_context_destroy(handle) }

    /// The objects of a definition, of whatever kind of system; empty for an unknown one.
    func objects(_ definition: CoordinateSystem) -> [ProjectionObject] {
        var objects: [OpaquePointer?] = unsafe []
        switch definition {
        case .wkt(let text):
            // Not proj_create: it would also take pipelines and names of files.
            unsafe objects = [proj_create_from_wkt(handle, text, nil, nil, nil)]
        case .wkid:
            let number = "\(definition.latestWkid ?? 0)"
            for authority in ["EPSG", "ESRI"] {
                unsafe objects.append(
                    proj_create_from_database(
                        handle, authority, number, PJ_CATEGORY_CRS, 0, nil))
            }
        }
        return unsafe objects.compactMap { unsafe $0 }.map { unsafe ProjectionObject($0, self) }
    }

    func system(_ definition: CoordinateSystem) throws(PROJError) -> ProjectionObject {
        if let object = objects(definition).first(where: \.isHorizontal) { return object }
        throw PROJError(
            code: .unknownCoordinateSystem,
            description: "spatial reference \(definition.label) is not known")
    }

    func unit(
        of system: ProjectionObject, _ definition: CoordinateSystem
    ) throws(PROJError) -> CoordinateSystem.Unit {
        var plain = system
        if unsafe proj_get_type(plain.handle) == PJ_TYPE_BOUND_CRS,
            let inner = unsafe proj_get_source_crs(handle, plain.handle)
        {
            plain = unsafe ProjectionObject(inner, self)
        }
        if unsafe proj_get_type(plain.handle) == PJ_TYPE_COMPOUND_CRS,
            let inner = unsafe proj_crs_get_sub_crs(handle, plain.handle, 0)
        {
            plain = unsafe ProjectionObject(inner, self)
        }
        guard let found = unsafe proj_crs_get_coordinate_system(handle, plain.handle) else {
            throw PROJError(
                code: .unknownCoordinateSystem,
                description: "spatial reference \(definition.label) has no axes")
        }
        let axes = unsafe ProjectionObject(found, self)
        var factor = 0.0
        var direction: UnsafePointer<CChar>?
        _ = unsafe proj_cs_get_axis_info(
            handle, axes.handle, 0, nil, nil, &direction, &factor, nil, nil, nil)
        let first = unsafe direction.map { unsafe String(cString: $0) }
        let kind = unsafe proj_cs_get_type(handle, axes.handle)
        return CoordinateSystem.Unit(
            isAngular: kind == PJ_CS_TYPE_ELLIPSOIDAL, factor: factor,
            isNorthFirst: first == "north")
    }
}

/// A `PJ` and the context it must not outlive.
@safe
final class ProjectionObject {
    let handle: OpaquePointer
    let context: ProjectionContext

    init(_ handle: OpaquePointer, _ context: ProjectionContext) {
        unsafe self.handle = handle
        self.context = context
    }

    deinit { _ = unsafe proj_destroy(handle) }

    /// Whether it is a coordinate system whose first two axes locate a position on a map.
    var isHorizontal: Bool {
        switch unsafe proj_get_type(handle) {
        case PJ_TYPE_GEOGRAPHIC_2D_CRS, PJ_TYPE_GEOGRAPHIC_3D_CRS, PJ_TYPE_PROJECTED_CRS,
            PJ_TYPE_BOUND_CRS, PJ_TYPE_COMPOUND_CRS:
            true
        default: false
        }
    }
}

extension CoordinateSystem {
    /// Names the system in a sentence.
    var label: String {
        switch self {
        case .wkid(let number): "\(number)"
        case .wkt(let text): "'\(text.prefix(60))'"
        }
    }
}
