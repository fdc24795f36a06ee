// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// A vector file (or directory, or archive) opened for reading; used from one thread at a time.
///
/// Nothing is fetched from a network, and formats that only point at other data are not opened. The
/// file is not changed (SQLite may make its own `-shm` and `-wal` beside a GeoPackage meanwhile).
@safe
public final class VectorSource {
    private let handle: GDALDatasetH
    private let path: String
    /// The short name of the driver that reads it, `GeoJSON`.
    public let driver: String
    /// Its layers, in order.
    public let layers: [SourceLayer]

    /// Opens a path; GDAL's `/vsizip/…` forms are taken too.
    ///
    /// - Parameter options: Open options of the one driver meant, `KEY=VALUE`.
    public init(path: String, options: [String] = []) throws(GDALError) {
        let log = MessageLog()
        let opened = unsafe log.listen { () -> GDALDatasetH? in
            let drivers = StringList(Drivers.readable)
            let options = StringList(options)
            let flags = UInt32(GDAL_OF_VECTOR | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR)
            return unsafe GDALOpenEx(path, flags, drivers.constant, options.constant, nil)
        }
        guard let opened = unsafe opened else { throw log.error("open '\(path)'") }
        unsafe handle = opened
        self.path = path
        (driver, layers) = log.listen {
            let name = unsafe GDALGetDriverShortName(GDALGetDatasetDriver(opened))
            let layers = unsafe (0..<GDALDatasetGetLayerCount(opened)).compactMap { index in
                unsafe GDALDatasetGetLayer(opened, index).map { unsafe Self.describe($0) }
            }
            return (unsafe name.map { unsafe String(cString: $0) } ?? "", layers)
        }
    }

    /// Calls `body` with every feature of a layer in the source's order, from the first; the
    /// feature is only valid during the call.
    ///
    /// Throws what `body` throws, or a ``GDALError`` when the source cannot be read to its end.
    ///
    /// - Parameter index: The layer's place in ``layers``.
    public func forEachFeature(
        inLayer index: Int, _ body: (borrowing SourceFeature) throws -> Void
    ) throws {
        guard layers.indices.contains(index),
            let layer = unsafe GDALDatasetGetLayer(handle, Int32(index))
        else {
            throw GDALError(
                operation: "read layer \(index) of '\(path)'", messages: [], isInputOutput: false)
        }
        let swapsAxes = unsafe SpatialReferenceHandle.isLatitudeFirst(OGR_L_GetSpatialRef(layer))
        let kinds = layers[index].fields.map(\.kind)
        unsafe OGR_L_ResetReading(layer)
        let log = MessageLog()
        try log.listen {
            var count = 0
            while true {
                log.clear()
                let next = unsafe OGR_L_GetNextFeature(layer)
                guard let next = unsafe next else {
                    if log.failures.isEmpty { break }
                    throw log.error("read on after \(count) features of '\(layers[index].name)'")
                }
                let feature = unsafe SourceFeature(
                    next, kinds: kinds, swapsAxes: swapsAxes, complaints: log.failures)
                if log.hasInputOutputFailure {
                    throw log.error("read feature \(count + 1) of '\(layers[index].name)'")
                }
                try body(feature)
                count += 1
            }
        }
    }

    /// Calls `body` with every feature of all layers in the order the source has them, and the place of
    /// its layer in ``layers``; the feature is only valid during the call.
    ///
    /// The way to read formats whose layers lie mixed in one file, such as OpenStreetMap's. Throws what
    /// `body` throws, or a ``GDALError`` where GDAL reports any failure.
    public func forEachFeature(_ body: (Int, borrowing SourceFeature) throws -> Void) throws {
        var handles: [OGRLayerH?] = unsafe []
        var swapsAxes: [Bool] = []
        for index in 0..<layers.count {
            let layer = unsafe GDALDatasetGetLayer(handle, Int32(index))
            unsafe handles.append(layer)
            swapsAxes.append(
                unsafe layer.map {
                    unsafe SpatialReferenceHandle.isLatitudeFirst(OGR_L_GetSpatialRef($0))
                } ?? false)
        }
        let kinds = layers.map { $0.fields.map(\.kind) }
        unsafe GDALDatasetResetReading(handle)
        let log = MessageLog()
        try log.listen {
            var count = 0
            while true {
                log.clear()
                var layer: OGRLayerH?
                let next = unsafe GDALDatasetGetNextFeature(handle, &layer, nil, nil, nil)
                guard let next = unsafe next else {
                    if log.failures.isEmpty { break }
                    throw log.error("read on after \(count) features of '\(path)'")
                }
                let place = unsafe handles.firstIndex { unsafe $0 == layer } ?? 0
                let feature = unsafe SourceFeature(
                    next, kinds: kinds[place], swapsAxes: swapsAxes[place],
                    complaints: log.failures)
                guard log.failures.isEmpty else {
                    throw log.error("read feature \(count + 1) of '\(path)'")
                }
                try body(place, feature)
                count += 1
            }
        }
    }

    private static func describe(_ layer: OGRLayerH) -> SourceLayer {
        let definition = unsafe OGR_L_GetLayerDefn(layer)
        let fields = (0..<(unsafe OGR_FD_GetFieldCount(definition))).map { index in
            unsafe describe(field: OGR_FD_GetFieldDefn(definition, index))
        }
        let count = unsafe OGR_L_GetFeatureCount(layer, 0)
        return SourceLayer(
            name: unsafe OGR_L_GetName(layer).map { unsafe String(cString: $0) } ?? "",
            hasGeometry: unsafe OGR_FD_GetGeomFieldCount(definition) > 0,
            geometry: SourceGeometry(unsafe OGR_FD_GetGeomType(definition)),
            fields: fields,
            spatialReference: unsafe SpatialReferenceHandle.describe(OGR_L_GetSpatialRef(layer)),
            announcedCount: count < 0 ? nil : Int(count))
    }

    private static func describe(field: OGRFieldDefnH?) -> SourceField {
        let subtype = unsafe OGR_Fld_GetSubType(field)
        let kind: SourceField.Kind =
            switch unsafe OGR_Fld_GetType(field) {
            case OFTInteger where subtype == OFSTBoolean: .boolean
            case OFTInteger where subtype == OFSTInt16: .integer16
            case OFTInteger: .integer32
            case OFTInteger64: .integer64
            case OFTReal where subtype == OFSTFloat32: .real32
            case OFTReal: .real64
            case OFTDate, OFTDateTime: .date
            case OFTBinary: .binary
            default: .text
            }
        let name = unsafe OGR_Fld_GetNameRef(field).map { unsafe String(cString: $0) } ?? ""
        let alias =
            unsafe OGR_Fld_GetAlternativeNameRef(field).map { unsafe String(cString: $0) } ?? ""
        return SourceField(
            name: name, kind: kind, width: Int(unsafe OGR_Fld_GetWidth(field)), alias: alias)
    }

    deinit {
        let log = MessageLog()
        log.listen { unsafe GDALClose(handle) }
    }
}

extension SourceGeometry {
    /// Nil for what may be of any kind, and for curves and surfaces, which are read as lines and polygons only once
    /// there are some.
    fileprivate init?(_ type: OGRwkbGeometryType) {
        switch OGR_GT_Flatten(type) {
        case wkbPoint: kind = .point
        case wkbMultiPoint: kind = .multipoint
        case wkbLineString, wkbMultiLineString: kind = .polyline
        case wkbPolygon, wkbMultiPolygon: kind = .polygon
        default: return nil
        }
        hasZ = OGR_GT_HasZ(type) != 0
        hasM = OGR_GT_HasM(type) != 0
    }
}
