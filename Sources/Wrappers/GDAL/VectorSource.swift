// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Platform
internal import SQLite

/// A vector file, or directory, opened for reading; used from one thread at a time.
///
/// Only formats of ``VectorFormats`` are opened, and nothing is fetched from a network. The caller
/// must check and confine other references of a file. The file is not changed (SQLite may make its
/// own `-shm` and `-wal` beside a GeoPackage meanwhile). A pass over a layer of a database may take
/// a bounded number of SQLite's steps, since it may be a view without an end.
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
    /// Most steps of SQLite in one pass over a layer; nil for files that are no databases of it.
    private let stepLimit: Int64?
    /// Layers whose features could not be counted within them.
    private let uncounted: Set<Int>

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
        let limit = Self.stepLimit(ofFile: path)
        let (opened, isUsedUp) = unsafe log.listen {
            unsafe StepBound.run(limit) { unsafe (Self.open(path, options), StepBound.isUsedUp) }
        }
        if isUsedUp {
            if let opened = unsafe opened { unsafe GDALClose(opened) }
            throw Self.endless("open '\(shown)'", limit)
        }
        guard let opened = unsafe opened else {
            throw log.error("open '\(shown)'").renaming(path, shown)
        }
        unsafe handle = opened
        self.path = shown
        stepLimit = limit
        var uncounted: Set<Int> = []
        let (driver, layers) = log.listen {
            let name = unsafe GDALGetDriverShortName(GDALGetDatasetDriver(opened))
            var layers: [SourceLayer] = []
            for index in 0..<(unsafe GDALDatasetGetLayerCount(opened)) {
                guard let layer = unsafe GDALDatasetGetLayer(opened, index) else { continue }
                StepBound.run(limit) {
                    unsafe layers.append(Self.describe(layer))
                    if StepBound.isUsedUp { uncounted.insert(layers.count - 1) }
                }
            }
            return (unsafe name.map { unsafe String(cString: $0) } ?? "", layers)
        }
        (self.driver, self.layers, self.uncounted) = (driver, layers, uncounted)
        warnings = log.warnings.map { SourceWarning(text: $0, row: nil) }
    }

    private static func open(_ path: String, _ options: [String]) -> GDALDatasetH? {
        let drivers = StringList(VectorFormats.drivers.sorted())
        let options = StringList(options)
        let flags = UInt32(GDAL_OF_VECTOR | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR)
        return unsafe GDALOpenEx(path, flags, drivers.constant, options.constant, nil)
    }

    /// Most steps of SQLite in one pass over a layer of a database: 500 million, and 20 for each
    /// byte, which is several times what all rows of its tables take; nil for other files.
    static func stepLimit(ofFile path: String) -> Int64? {
        guard let file = try? MappedFile(path: path), file.byteCount >= 16,
            file.copy(0..<16) == Array("SQLite format 3\0".utf8)
        else { return nil }
        let logByteCount = FileSystem.byteCount(of: path + "-wal") ?? 0
        return 500_000_000 + 20 * (Int64(file.byteCount) + logByteCount)
    }

    private static func endless(_ operation: String, _ limit: Int64?) -> GDALError {
        GDALError(
            operation: operation,
            messages: [
                "a view in it has not ended after \(limit ?? 0) steps of SQLite: expected a table, "
                    + "or a view that ends"
            ], isInputOutput: false)
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
        guard !uncounted.contains(index) else {
            throw Self.endless("read layer '\(layers[index].name)'", stepLimit)
        }
        let swapsAxes = unsafe SpatialReferenceHandle.isLatitudeFirst(OGR_L_GetSpatialRef(layer))
        let kinds = layers[index].fields.map(\.kind)
        let log = MessageLog()
        defer { skipped.add(log.takeSkipped()) }
        try log.listen {
            try StepBound.run(stepLimit) {
                unsafe OGR_L_ResetReading(layer)
                var count = 0
                while let next = unsafe try nextFeature(layer, index, count, log) {
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
    }

    /// The feature after `count` others; nil at the end of the layer.
    private func nextFeature(
        _ layer: OGRLayerH, _ index: Int, _ count: Int, _ log: MessageLog
    ) throws(GDALError) -> OGRFeatureH? {
        log.clear()
        let next = unsafe OGR_L_GetNextFeature(layer)
        remark(log.warnings, row: count + 1)
        guard unsafe next == nil else { return unsafe next }
        if StepBound.isUsedUp {
            throw Self.endless("read layer '\(layers[index].name)'", stepLimit)
        }
        guard log.failures.isEmpty else {
            throw log.error("read on after \(count) features of '\(layers[index].name)'")
        }
        return nil
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
