// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// GDAL's drivers and its process-wide settings, set up once.
enum Drivers {
    /// Formats that name other files or servers instead of holding features, and databases behind a
    /// server: a file to import must be a file.
    private static let indirect: Set<String> = [
        "AmigoCloud", "CAD_REMOTE", "CSW", "Carto", "EEDA", "ESRIC", "Elasticsearch", "GMLAS",
        "HTTP", "MSSQLSpatial", "MongoDBv3", "MySQL", "NGW", "OAPIF", "OCI", "ODBC", "OGR_VRT",
        "PLSCENES", "PostgreSQL", "WFS",
    ]

    private static let names: [String] = {
        for (key, value) in [
            ("GDAL_PAM_ENABLED", "NO"), ("GML_DOWNLOAD_SCHEMA", "NO"),
            ("GDAL_DISABLE_READDIR_ON_OPEN", "FALSE"), ("OGR_GEOJSON_MAX_OBJ_SIZE", "512"),
            // Mebibytes of pixels, in all threads together.
            ("GDAL_CACHEMAX", "64"),
        ] {
            unsafe CPLSetConfigOption(key, value)
        }
        GDALAllRegister()
        var names: [String] = []
        for index in 0..<GDALGetDriverCount() {
            guard let driver = unsafe GDALGetDriver(index),
                unsafe GDALGetMetadataItem(driver, "DCAP_VECTOR", nil) != nil,
                let name = unsafe GDALGetDriverShortName(driver)
            else { continue }
            let text = unsafe String(cString: name)
            if !indirect.contains(text) { names.append(text) }
        }
        return names
    }()

    /// Registers the drivers on first use.
    static func register() { _ = names }

    /// The short names of the drivers that may open a source.
    static var readable: [String] { names }
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
