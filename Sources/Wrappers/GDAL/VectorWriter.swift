// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// Writes the features of one layer into a new file, through GDAL's drivers.
///
/// The same features give the same bytes. Nothing is on the disk before ``close()`` returns, and
/// temporary files are beside the file. Used from one thread.
@safe
public struct VectorWriter: ~Copyable {
    /// The format of a file that is written.
    public enum Format: Hashable, Sendable, CaseIterable {
        /// FlatGeobuf with a spatial index.
        case flatGeobuf
        /// OGC GeoPackage 1.2, its object ids in a column of that name.
        case geoPackage
        /// RFC 7946: WGS 84, right-handed rings.
        case geoJSON
        /// A shapefile with its companions in one ZIP archive; the path ends in `.shp.zip`.
        case zippedShapefile
        /// CSV with a column `WKT`.
        case csv
        /// OGC KML 2.2: WGS 84.
        case kml

        var driver: String {
            switch self {
            case .flatGeobuf: "FlatGeobuf"
            case .geoPackage: "GPKG"
            case .geoJSON: "GeoJSON"
            case .zippedShapefile: "ESRI Shapefile"
            case .csv: "CSV"
            // The time that LIBKML takes grows with the square of the features.
            case .kml: "KML"
            }
        }

        /// The driver's options of a layer; `idField` names the column of object ids.
        fileprivate func options(idField: String?, geometryField: String) -> [String] {
            switch self {
            case .flatGeobuf: ["SPATIAL_INDEX=YES"]
            case .geoPackage:
                ["GEOMETRY_NAME=" + geometryField] + (idField.map { ["FID=" + $0] } ?? [])
            case .geoJSON: ["RFC7946=YES", "COORDINATE_PRECISION=15"]
            case .zippedShapefile: ["ENCODING=UTF-8", "DBF_DATE_LAST_UPDATE=1970-01-01"]
            case .csv: ["GEOMETRY=AS_WKT", "STRING_QUOTING=IF_NEEDED"]
            case .kml: []
            }
        }

        /// Whether object ids are the driver's feature ids, not a column.
        var hasIDColumn: Bool { self == .geoPackage }
    }

    /// What every feature of the file is.
    public enum Geometry: Hashable, Sendable {
        /// Points.
        case point
        /// Multipoints.
        case multipoint
        /// Multilinestrings.
        case multilinestring
        /// Polygons of one part.
        case polygon
        /// Multipolygons.
        case multipolygon
        /// Features without geometry.
        case none

        var type: OGRwkbGeometryType {
            switch self {
            case .point: wkbPoint
            case .multipoint: wkbMultiPoint
            case .multilinestring: wkbMultiLineString
            case .polygon: wkbPolygon
            case .multipolygon: wkbMultiPolygon
            case .none: wkbNone
            }
        }
    }

    private var dataset: GDALDatasetH?
    private let layer: OGRLayerH
    private let path: String
    private let usesTransaction: Bool
    /// The place of the first of `fields` among the driver's columns.
    private let firstField: Int32
    /// What the driver changed of the columns, in its words.
    public let notes: [String]

    /// Creates the file, which must not exist.
    ///
    /// - Parameters:
    ///   - name: The layer's name.
    ///   - idField: The name of the object ids' column, which is not one of `fields`; used by
    ///     formats that keep ids apart.
    ///   - hasZ: Whether every coordinate has a Z.
    ///   - hasM: Whether every coordinate has an M.
    ///   - wkid: The coordinate system's number; when nil, `wkt` is used.
    public init(
        _ format: Format = .flatGeobuf, path: String, name: String, geometry: Geometry,
        hasZ: Bool = false, hasM: Bool = false, fields: [SourceField], idField: String? = nil,
        wkid: Int?, wkt: String?
    ) throws(GDALError) {
        let log = MessageLog()
        let operation = "create '\(path)'"
        let created = unsafe log.listen { () -> (GDALDatasetH, OGRLayerH, Int32)? in
            guard let reference = SpatialReferenceHandle(wkid: wkid, wkt: wkt),
                let driver = unsafe GDALGetDriverByName(format.driver),
                let dataset = unsafe GDALCreate(driver, path, 0, 0, 0, GDT_Unknown, nil)
            else { return nil }
            if wkid == nil { reference.keepUnnumbered() }
            // The time at which a GeoPackage says that it was changed.
            unsafe CPLSetThreadLocalConfigOption("OGR_CURRENT_DATE", "1970-01-01T00:00:00.000Z")
            let taken = Set((fields.map(\.name) + [idField ?? ""]).map { $0.lowercased() })
            let geometryField = ["geom", "geometry", "shape"].first { !taken.contains($0) }
            let options = StringList(
                format.options(idField: idField, geometryField: geometryField ?? "cairn_geometry"))
            let type = OGR_GT_SetModifier(geometry.type, hasZ ? 1 : 0, hasM ? 1 : 0)
            guard
                let layer = unsafe GDALDatasetCreateLayer(
                    dataset, name, reference.handle, type, options.pointer)
            else {
                unsafe GDALClose(dataset)
                return nil
            }
            // KML has columns of its own in front.
            let first = unsafe OGR_FD_GetFieldCount(OGR_L_GetLayerDefn(layer))
            for field in fields { unsafe Self.add(field, to: layer) }
            // Else each feature of a database is a transaction.
            if format == .geoPackage { _ = unsafe GDALDatasetStartTransaction(dataset, 0) }
            return unsafe (dataset, layer, first)
        }
        guard let created = unsafe created, log.failures.isEmpty else {
            if let created = unsafe created { log.listen { unsafe GDALClose(created.0) } }
            throw log.error(operation)
        }
        unsafe (dataset, layer) = unsafe (created.0, created.1)
        firstField = unsafe created.2
        self.path = path
        notes = log.warnings
        usesTransaction = format == .geoPackage
    }

    private static func add(_ field: SourceField, to layer: OGRLayerH) {
        let (type, subtype): (OGRFieldType, OGRFieldSubType) =
            switch field.kind {
            case .boolean, .integer16: (OFTInteger, OFSTInt16)
            case .integer32: (OFTInteger, OFSTNone)
            case .integer64: (OFTInteger64, OFSTNone)
            case .real32: (OFTReal, OFSTFloat32)
            case .real64: (OFTReal, OFSTNone)
            case .date: (OFTDateTime, OFSTNone)
            case .text, .binary: (OFTString, OFSTNone)
            }
        let definition = unsafe OGR_Fld_Create(field.name, type)
        unsafe OGR_Fld_SetSubType(definition, subtype)
        if !field.alias.isEmpty { unsafe OGR_Fld_SetAlternativeName(definition, field.alias) }
        if type == OFTString, field.width > 0 {
            unsafe OGR_Fld_SetWidth(definition, Int32(clamping: field.width))
        }
        _ = unsafe OGR_L_CreateField(layer, definition, 0)
        unsafe OGR_Fld_Destroy(definition)
    }

    /// Adds a feature.
    ///
    /// - Parameters:
    ///   - values: One per field, in order; text must be UTF-8.
    ///   - wkb: The geometry, of the file's kind, with the ordinates that the file has; nil for
    ///     none.
    ///   - id: The object id, for formats that keep ids apart.
    ///
    /// What the driver changed of the values, in its words.
    @discardableResult
    public func append(
        _ values: [SourceValue], wkb: [UInt8]?, id: Int64? = nil
    ) throws(GDALError) -> [String] {
        let log = MessageLog()
        let isWritten = log.listen { () -> Bool in
            guard let feature = unsafe OGR_F_Create(OGR_L_GetLayerDefn(layer)) else { return false }
            defer { unsafe OGR_F_Destroy(feature) }
            for (index, value) in values.enumerated() {
                unsafe Self.set(value, feature, firstField + Int32(index))
            }
            if let id { _ = unsafe OGR_F_SetFID(feature, id) }
            if let wkb {
                var geometry: OGRGeometryH?
                guard
                    unsafe OGR_G_CreateFromWkb(wkb, nil, &geometry, Int32(clamping: wkb.count))
                        == OGRERR_NONE,
                    unsafe OGR_F_SetGeometryDirectly(feature, geometry) == OGRERR_NONE
                else { return false }
            }
            return unsafe OGR_L_CreateFeature(layer, feature) == OGRERR_NONE
        }
        guard isWritten, log.failures.isEmpty else { throw log.error("write '\(path)'") }
        return log.warnings
    }

    private static func set(_ value: SourceValue, _ feature: OGRFeatureH, _ index: Int32) {
        switch value {
        case .null: unsafe OGR_F_SetFieldNull(feature, index)
        case .integer(let integer): unsafe OGR_F_SetFieldInteger64(feature, index, integer)
        case .real(let real): unsafe OGR_F_SetFieldDouble(feature, index, real)
        case .text(let bytes):
            unsafe (bytes + [0]).withUnsafeBytes { buffer in
                unsafe OGR_F_SetFieldString(
                    feature, index, buffer.bindMemory(to: CChar.self).baseAddress)
            }
        case .moment(let moment):
            unsafe OGR_F_SetFieldDateTimeEx(
                feature, index, Int32(moment.year), Int32(moment.month), Int32(moment.day),
                Int32(moment.hour), Int32(moment.minute), Float(moment.milliseconds) / 1000,
                Int32(100 + moment.zoneMinutes / 15))
        }
    }

    /// Sorts the features, writes index and file; throws what GDAL complained of meanwhile.
    ///
    /// GDAL cannot tell everything that goes wrong here, so the file is to be checked afterwards.
    public mutating func close() throws(GDALError) {
        guard let open = unsafe dataset else { return }
        unsafe dataset = nil
        let log = MessageLog()
        log.listen {
            if usesTransaction { _ = unsafe GDALDatasetCommitTransaction(open) }
            unsafe GDALClose(open)
        }
        guard log.failures.isEmpty else { throw log.error("write '\(path)'") }
    }

    deinit {
        guard let open = unsafe dataset else { return }
        let log = MessageLog()
        log.listen { unsafe GDALClose(open) }
    }
}

extension VectorWriter {
    /// Magic and header of a FlatGeobuf file: what precedes its index and features.
    public static func flatGeobufHeader(
        name: String, geometry: Geometry, hasZ: Bool, hasM: Bool, fields: [SourceField],
        wkid: Int?, wkt: String?
    ) throws(GDALError) -> [UInt8] {
        // A file in GDAL's own memory, of which two at a time must not have one name.
        let path = "/vsimem/cairn-\(UInt64.random(in: 0 ... .max))/header.fgb"
        defer { _ = unsafe VSIUnlink(path) }
        var writer = try VectorWriter(
            path: path, name: name, geometry: geometry, hasZ: hasZ, hasM: hasM, fields: fields,
            wkid: wkid, wkt: wkt)
        try writer.append(fields.map { _ in .null }, wkb: geometry.smallest(hasZ, hasM))
        try writer.close()
        var count: vsi_l_offset = 0
        guard let bytes = unsafe VSIGetMemFileBuffer(path, &count, 0), count > 12 else {
            throw GDALError(
                operation: "make the header of '\(name)'", messages: [], isInputOutput: true)
        }
        let file = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
        let length = 12 + Int(unsafe file.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        return unsafe [UInt8](file.prefix(length))
    }
}

extension VectorWriter.Geometry {
    /// WKB of a geometry of this kind with all ordinates 0.
    fileprivate func smallest(_ hasZ: Bool, _ hasM: Bool) -> [UInt8] {
        func begin(_ type: UInt32) -> [UInt8] {
            let code = type + (hasZ ? 1000 : 0) + (hasM ? 2000 : 0)
            return [1, UInt8(code & 255), UInt8(code >> 8), 0, 0]
        }
        func count(_ number: UInt8) -> [UInt8] { [number, 0, 0, 0] }
        let ordinates = 2 + (hasZ ? 1 : 0) + (hasM ? 1 : 0)
        func zeros(_ coordinates: Int) -> [UInt8] {
            [UInt8](repeating: 0, count: coordinates * ordinates * 8)
        }
        let point = begin(1) + zeros(1)
        let polygon = begin(3) + count(1) + count(4) + zeros(4)
        return switch self {
        case .point: point
        case .multipoint: begin(4) + count(1) + point
        case .multilinestring: begin(5) + count(1) + begin(2) + count(2) + zeros(2)
        case .polygon: polygon
        case .multipolygon: begin(6) + count(1) + polygon
        case .none: []
        }
    }
}
