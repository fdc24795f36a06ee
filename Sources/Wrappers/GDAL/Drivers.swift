// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Synchronization

/// GDAL's drivers and its process-wide settings, set up once.
///
/// Unneeded parts are removed from GDAL: drivers, so that no file can refer to one; its file
/// systems but those on files of this machine, and its HTTP, so that no file can refer to a server.
enum Drivers {
    /// Drivers that draw and encode pictures, and read the tiles in MBTiles, beside the supported
    /// formats; no file is opened with these.
    private static let tools: Set<String> = ["MEM", "MVT", "VRT"]

    /// Memory, archives, and the file systems behind MBTiles and tar archives.
    private static let fileSystems: Set<String> = [
        "/vsigzip/", "/vsimem/", "/vsisubfile/", "/vsitar/", "/vsizip/",
    ]

    private static let settings = [
        ("GDAL_PAM_ENABLED", "NO"), ("GDAL_DISABLE_READDIR_ON_OPEN", "FALSE"),
        // Mebibytes of pixels, in all threads together.
        ("GDAL_CACHEMAX", "64"),
        // Mebibytes of one object.
        ("OGR_GEOJSON_MAX_OBJ_SIZE", "512"),
        // An import is confined with its thread, and must not give work to another.
        ("GDAL_NUM_THREADS", "1"),
        ("GML_DOWNLOAD_SCHEMA", "NO"), ("GML_SKIP_RESOLVE_ELEMS", "ALL"),
        // Each is reported (SkippedFeature).
        ("GML_SKIP_CORRUPTED_FEATURES", "YES"),
        ("GML_SAVE_RESOLVED_TO", "NO"), ("GML_USE_SCHEMA_IMPORT", "NO"),
        ("LIBKML_EXTERNAL_STYLE", "NO"),
        // Names of systems are no addresses of servers, nor of files.
        ("OSR_SET_FROM_USER_INPUT_ALLOW_NETWORK_ACCESS", "NO"),
        ("OSR_SET_FROM_USER_INPUT_ALLOW_FILE_ACCESS", "NO"),
        ("GDAL_VRT_ENABLE_PYTHON", "NO"), ("GDAL_DRIVER_PATH", "disable"),
        // Functions and virtual tables that reach beyond the database are not for its views; sorts
        // stay in memory.
        ("OGR_SQLITE_PRAGMA", "trusted_schema=OFF,temp_store=MEMORY"),
        ("OGR_SQLITE_LOAD_EXTENSIONS", ""), ("OGR_SQLITE_LIST_VIRTUAL_OGR", "NO"),
        ("OGR_SQLITE_STATIC_VIRTUAL_OGR", "NO"),
    ]

    /// What the set-up leaves.
    // `@unchecked`: a driver is never released, and used under the lock of `opening` alone.
    @safe
    private struct Setup: @unchecked Sendable {
        /// The driver of PostgreSQL, which is registered only while a database is opened.
        let postgres: GDALDriverH?
    }

    private static let opening = Mutex(())

    private static let setup: Setup = {
        for (key, value) in settings { unsafe CPLSetConfigOption(key, value) }
        GDALAllRegister()
        let postgres = unsafe GDALGetDriverByName(PostgresDatabase.driver)
        let kept = VectorFormats.drivers.union(RasterSource.formats).union(tools)
        for index in (0..<GDALGetDriverCount()).reversed() {
            guard let driver = unsafe GDALGetDriver(index),
                let name = unsafe GDALGetDriverShortName(driver)
            else { continue }
            if !kept.contains(unsafe String(cString: name)) { unsafe GDALDeregisterDriver(driver) }
        }
        closeFileSystems()
        // A failed answer; without any GDAL would contact the server itself.
        unsafe CPLHTTPSetFetchCallback(
            { _, _, _, _, _, _, _ in
                let room = unsafe VSICalloc(1, MemoryLayout<CPLHTTPResult>.size)
                let result = unsafe room?.assumingMemoryBound(to: CPLHTTPResult.self)
                unsafe result?.pointee.nStatus = 1
                unsafe result?.pointee.pszErrBuf = CPLStrdup("nothing is fetched from servers")
                return unsafe result
            }, nil)
        return unsafe Setup(postgres: postgres)
    }()

    /// Replaces each unneeded file system by one without files.
    private static func closeFileSystems() {
        guard let callbacks = unsafe VSIAllocFilesystemPluginCallbacksStruct() else { return }
        defer { unsafe VSIFreeFilesystemPluginCallbacksStruct(callbacks) }
        unsafe callbacks.pointee.stat = { _, _, _, _ in -1 }
        unsafe callbacks.pointee.open = { _, _, _ in nil }
        let prefixes = unsafe VSIGetFileSystemsPrefixes()
        defer { unsafe CSLDestroy(prefixes) }
        for index in 0..<(unsafe CSLCount(prefixes)) {
            guard let prefix = unsafe CSLGetField(prefixes, index),
                case let name = unsafe String(cString: prefix), name.hasPrefix("/vsi"),
                !fileSystems.contains(name)
            else { continue }
            // `/vsicurl/http://…` is `/vsicurl?url=http://…` too, which is not among the prefixes.
            let stem = String(name.dropLast())
            for form in [stem, stem + "/", stem + "?"] {
                unsafe VSIInstallPluginHandler(form, callbacks)
            }
        }
    }

    /// Registers the drivers on first use.
    static func register() { _ = setup }

    /// Runs `body` while the driver of PostgreSQL is registered; no file is opened with it, because
    /// ``VectorSource`` names the drivers that it allows.
    static func withPostgres<R>(_ body: () -> R) -> R {
        let driver = unsafe setup.postgres
        return opening.withLock { _ in
            guard let driver = unsafe driver else { return body() }
            unsafe GDALRegisterDriver(driver)
            defer { unsafe GDALDeregisterDriver(driver) }
            return body()
        }
    }
}

/// A list of C strings in GDAL's form, freed with the value.
@safe
struct StringList: ~Copyable {
    private(set) var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

    init(_ strings: [String]) {
        unsafe pointer = nil
        for string in strings { unsafe pointer = CSLAddString(pointer, string) }
    }

    /// The list as the parameters take it that promise not to change it.
    var constant: UnsafePointer<UnsafePointer<CChar>?>? {
        unsafe UnsafeRawPointer(pointer)?.assumingMemoryBound(to: UnsafePointer<CChar>?.self)
    }

    deinit { unsafe CSLDestroy(pointer) }
}
