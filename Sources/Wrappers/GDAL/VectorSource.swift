// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// A vector file, or directory, opened for reading; used from one thread at a time.
///
/// Only formats of ``VectorFormats`` are opened, and nothing is fetched from a network. The caller
/// must check and confine other references of a file. The file is not changed (SQLite may make its
/// own `-shm` and `-wal` beside a GeoPackage meanwhile).
@safe
public final class VectorSource {
    private let handle: GDALDatasetH
    private let path: String
    /// The short name of the driver that reads it, `GeoJSON`.
    public let driver: String
    /// Its layers, in order.
    public let layers: [SourceLayer]
    /// GDAL's warnings from opening the file.
    public let warnings: [SourceWarning]
    private var remarks: [SourceWarning] = []

    /// Opens a plain file or a directory.
    ///
    /// Throws ``GDALError`` for an unsupported format, and for a path that is not absolute, or one
    /// of GDAL's own file systems (`/vsi…`).
    ///
    /// - Parameters:
    ///   - path: The absolute path.
    ///   - name: Its name in messages; the path when nil.
    ///   - options: Open options of the one driver meant, `KEY=VALUE`.
    public init(path: String, name: String? = nil, options: [String] = []) throws(GDALError) {
        let shown = name ?? path
        guard PlainPath.isPlain(path) else { throw PlainPath.error(shown) }
        let log = MessageLog()
        let opened = unsafe log.listen { () -> GDALDatasetH? in
            let drivers = StringList(VectorFormats.drivers.sorted())
            let options = StringList(options)
            let flags = UInt32(GDAL_OF_VECTOR | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR)
            return unsafe GDALOpenEx(path, flags, drivers.constant, options.constant, nil)
        }
        guard let opened = unsafe opened else {
            throw log.error("open '\(shown)'").renaming(path, shown)
        }
        unsafe handle = opened
        self.path = shown
        let (driver, layers) = log.listen {
            let name = unsafe GDALGetDriverShortName(GDALGetDatasetDriver(opened))
            let layers = unsafe (0..<GDALDatasetGetLayerCount(opened)).compactMap { index in
                unsafe GDALDatasetGetLayer(opened, index).map { unsafe Self.describe($0) }
            }
            return (unsafe name.map { unsafe String(cString: $0) } ?? "", layers)
        }
        (self.driver, self.layers) = (driver, layers)
        warnings = log.warnings.map { SourceWarning(text: $0, row: nil) }
    }

    /// Takes GDAL's warnings since layers were last read.
    public func takeWarnings() -> [SourceWarning] {
        defer { remarks = [] }
        return remarks
    }

    private func remark(_ warnings: [String], row: Int) {
        for text in warnings where remarks.count < Self.remarkLimit {
            remarks.append(SourceWarning(text: text, row: row))
        }
    }

    private static let remarkLimit = 64

    /// Sets GDAL, on the calling thread, to read untyped values as text.
    public static func readsTextAsText() {
        unsafe CPLSetThreadLocalConfigOption("GML_FIELDTYPES", "ALWAYS_STRING")
    }

    /// Loads GDAL and sets it up, which an import does before it is confined.
    public static func prepare() { Drivers.register() }

    /// Sets GDAL's directory for temporary files of the calling thread.
    public static func keepTemporaryFiles(in directory: String) {
        unsafe CPLSetThreadLocalConfigOption("CPL_TMPDIR", directory)
    }

    /// Calls `body` with every feature of a layer in the source's order, from the first; the
    /// feature is only valid during the call.
    ///
    /// Throws the errors of `body`, or a ``GDALError`` when the source cannot be read to its end.
    ///
    /// - Parameter index: The layer's index in ``layers``.
    public func forEachFeature(
        inLayer index: Int, _ body: (borrowing SourceFeature) throws -> Void
    ) throws {
        var skipped = SkippedFeatures()
        try forEachFeature(inLayer: index, skipped: &skipped, body)
    }

    /// Calls `body` with every feature; malformed ones that the driver skips are added to
    /// `skipped`.
    public func forEachFeature(
        inLayer index: Int, skipped: inout SkippedFeatures,
        _ body: (borrowing SourceFeature) throws -> Void
    ) throws {
        guard layers.indices.contains(index),
            let layer = unsafe GDALDatasetGetLayer(handle, Int32(index))
        else {
            throw GDALError(
                operation: "read layer \(index) of '\(path)'", messages: [], isInputOutput: false)
        }
        let swapsAxes = unsafe SpatialReferenceHandle.isLatitudeFirst(OGR_L_GetSpatialRef(layer))
        let kinds = layers[index].fields.map(\.kind)
        let log = MessageLog()
        defer { skipped.add(log.takeSkipped()) }
        try log.listen {
            unsafe OGR_L_ResetReading(layer)
            var count = 0
            while true {
                log.clear()
                let next = unsafe OGR_L_GetNextFeature(layer)
                remark(log.warnings, row: count + 1)
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

    /// Calls `body` with every feature of all layers in the order of the source, and the index of
    /// its layer in ``layers``; the feature is only valid during the call.
    ///
    /// The way to read formats with layers mixed in one file, such as OpenStreetMap's. Throws the
    /// errors of `body`, or a ``GDALError`` for any failure of GDAL.
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
        let log = MessageLog()
        try log.listen {
            unsafe GDALDatasetResetReading(handle)
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
            announcedCount: count < 0 ? nil : Int(count),
            idColumn: unsafe OGR_L_GetFIDColumn(layer).map { unsafe String(cString: $0) }
                .flatMap { $0.isEmpty ? nil : $0 })
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
    /// Nil for any kind, and for curves and surfaces, which are converted to lines and polygons on
    /// read.
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
