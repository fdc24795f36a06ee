// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// A PostgreSQL database, read as it was at one moment; used from one thread at a time.
///
/// Nothing is written to it: it is opened for reading, and all queries are in one transaction that
/// is read only. Errors do not contain the connection string.
@safe
public final class PostgresDatabase {
    static let driver = "PostgreSQL"
    private let handle: GDALDatasetH
    private let name: String

    /// Connects, and begins the transaction.
    ///
    /// Throws ``GDALError``.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq, `key='value' …`.
    ///   - name: The name of the database in messages.
    public init(connection: String, name: String) throws(GDALError) {
        let log = MessageLog()
        let opened = unsafe log.listen { () -> GDALDatasetH? in
            let drivers = StringList([Self.driver])
            let flags = UInt32(GDAL_OF_VECTOR | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR)
            return unsafe Drivers.withPostgres {
                unsafe GDALOpenEx("PG:" + connection, flags, drivers.constant, nil, nil)
            }
        }
        guard let opened = unsafe opened else {
            throw Self.error(log, "open '\(name)'", without: connection)
        }
        unsafe handle = opened
        self.name = name
        let isBegun = log.listen { unsafe GDALDatasetStartTransaction(handle, 0) == OGRERR_NONE }
        guard isBegun else { throw Self.error(log, "open '\(name)'", without: connection) }
        try run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    }

    private static func error(
        _ log: MessageLog, _ operation: String, without connection: String
    ) -> GDALError {
        let error = log.error(operation)
        let messages = error.messages.map { text in
            let rest = text.firstRange(of: connection).map { text[..<$0.lowerBound] } ?? text[...]
            return String(rest.firstRange(of: "password=").map { rest[..<$0.lowerBound] } ?? rest)
        }
        return GDALError(
            operation: operation, messages: messages, isInputOutput: error.isInputOutput)
    }

    /// Runs a statement without a result, such as `SET …`; throws ``GDALError``.
    public func run(_ statement: String) throws(GDALError) {
        let log = MessageLog()
        log.listen {
            if let result = unsafe GDALDatasetExecuteSQL(handle, statement, nil, nil) {
                unsafe GDALDatasetReleaseResultSet(handle, result)
            }
        }
        guard log.failures.isEmpty else { throw log.error("read '\(name)'") }
    }

    /// The rows of a query, each value as text; nil is null.
    ///
    /// Throws ``GDALError``.
    ///
    /// - Parameter query: Begins with `SELECT`, and has `FROM`: GDAL takes others for statements
    ///   without a result.
    public func rows(_ query: String) throws(GDALError) -> [[String?]] {
        let log = MessageLog()
        let rows = log.listen { () -> [[String?]]? in
            guard let layer = unsafe GDALDatasetExecuteSQL(handle, query, nil, nil) else {
                return nil
            }
            defer { unsafe GDALDatasetReleaseResultSet(handle, layer) }
            let count = unsafe OGR_FD_GetFieldCount(OGR_L_GetLayerDefn(layer))
            var rows: [[String?]] = []
            while let feature = unsafe OGR_L_GetNextFeature(layer) {
                defer { unsafe OGR_F_Destroy(feature) }
                rows.append(
                    (0..<count).map { index in
                        guard unsafe OGR_F_IsFieldSetAndNotNull(feature, index) != 0 else {
                            return nil
                        }
                        return unsafe OGR_F_GetFieldAsString(feature, index).map {
                            unsafe String(cString: $0)
                        }
                    })
            }
            return rows
        }
        guard let rows, log.failures.isEmpty else { throw log.error("read '\(name)'") }
        return rows
    }

    /// A layer of a copy.
    public struct Layer: Hashable, Sendable {
        /// Its name in the copy.
        public var name: String
        /// The rows: `SELECT … FROM …`; a column `ogc_fid` has the ids, where it has them.
        public var query: String
        /// Whether the query has ids; otherwise they are counted.
        public var hasIDs: Bool
        /// The column of ids in the copy.
        public var idColumn: String
        /// The column of geometries in the copy.
        public var geometryColumn: String
        /// The kind of all geometries, `MULTIPOLYGONZ`; nil where it is not stated.
        public var geometryType: String?
        /// The spatial reference: WKT or `EPSG:2056`; nil where it is not stated.
        public var reference: String?

        /// Makes a layer.
        public init(
            name: String, query: String, hasIDs: Bool, idColumn: String,
            geometryColumn: String, geometryType: String?, reference: String?
        ) {
            self.name = name
            self.query = query
            self.hasIDs = hasIDs
            self.idColumn = idColumn
            self.geometryColumn = geometryColumn
            self.geometryType = geometryType
            self.reference = reference
        }
    }

    /// Copies layers into a new GeoPackage; answers the number of rows of each, and GDAL's
    /// warnings.
    ///
    /// Throws ``GDALError``.
    ///
    /// - Parameters:
    ///   - path: The file, which must not exist.
    ///   - progress: Takes the name of the layer and the part of it that is copied, 0 to 1; false
    ///     ends the copy with an error.
    public func copy(
        _ layers: [Layer], to path: String, progress: @escaping (String, Double) -> Bool
    ) throws(GDALError) -> [(rowCount: Int, warnings: [String])] {
        let log = MessageLog()
        let created = unsafe log.listen { () -> GDALDatasetH? in
            // A copy that is cut short is not read.
            unsafe CPLSetThreadLocalConfigOption("OGR_SQLITE_SYNCHRONOUS", "OFF")
            return unsafe GDALGetDriverByName("GPKG").flatMap {
                unsafe GDALCreate($0, path, 0, 0, 0, GDT_Unknown, nil)
            }
        }
        defer { unsafe CPLSetThreadLocalConfigOption("OGR_SQLITE_SYNCHRONOUS", nil) }
        guard let created = unsafe created else { throw log.error("write '\(path)'") }
        var outcomes: [(rowCount: Int, warnings: [String])] = []
        do throws(GDALError) {
            for layer in layers {
                outcomes.append(
                    unsafe try copy(layer, to: created) { progress(layer.name, $0) })
            }
        } catch {
            log.listen { unsafe GDALClose(created) }
            throw error
        }
        log.clear()
        log.listen { unsafe GDALClose(created) }
        guard log.failures.isEmpty else { throw log.error("write '\(path)'") }
        return outcomes
    }

    /// What GDAL calls during a copy.
    private final class Progress {
        let isGoingOn: (Double) -> Bool

        init(_ isGoingOn: @escaping (Double) -> Bool) { self.isGoingOn = isGoingOn }
    }

    private func copy(
        _ layer: Layer, to target: GDALDatasetH, _ isGoingOn: @escaping (Double) -> Bool
    ) throws(GDALError) -> (rowCount: Int, warnings: [String]) {
        var words = [
            "-update", "-sql", layer.query, "-nln", layer.name, "-gt", "100000",
            layer.hasIDs ? "-preserve_fid" : "-unsetFid", "-lco", "FID=" + layer.idColumn, "-lco",
            "GEOMETRY_NAME=" + layer.geometryColumn, "-lco", "SPATIAL_INDEX=NO",
        ]
        if let type = layer.geometryType { words += ["-nlt", type] }
        if let reference = layer.reference { words += ["-a_srs", reference] }
        let progress = Progress(isGoingOn)
        let log = MessageLog()
        let operation = "copy '\(layer.name)' of '\(name)'"
        let rowCount = log.listen { () -> Int? in
            let list = StringList(words)
            guard let options = unsafe GDALVectorTranslateOptionsNew(list.pointer, nil) else {
                return nil
            }
            defer { unsafe GDALVectorTranslateOptionsFree(options) }
            let pointer = unsafe Unmanaged.passUnretained(progress).toOpaque()
            unsafe GDALVectorTranslateOptionsSetProgress(
                options,
                { part, _, pointer in
                    guard let pointer = unsafe pointer else { return 1 }
                    let progress = unsafe Unmanaged<Progress>.fromOpaque(pointer)
                        .takeUnretainedValue()
                    return progress.isGoingOn(part) ? 1 : 0
                }, pointer)
            var source: GDALDatasetH? = unsafe handle
            let result = unsafe withExtendedLifetime(progress) {
                unsafe GDALVectorTranslate(nil, target, 1, &source, options, nil)
            }
            guard unsafe result != nil,
                let copy = unsafe GDALDatasetGetLayer(
                    target, GDALDatasetGetLayerCount(target) - 1)
            else { return nil }
            return Int(unsafe OGR_L_GetFeatureCount(copy, 1))
        }
        guard let rowCount, log.failures.isEmpty else { throw log.error(operation) }
        return (rowCount, log.warnings)
    }

    deinit {
        let log = MessageLog()
        log.listen { unsafe GDALClose(handle) }
    }
}
