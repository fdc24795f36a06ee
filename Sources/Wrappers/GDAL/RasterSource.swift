// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// A raster file opened for reading; used from one thread at a time.
///
/// Nothing is fetched from a network, and formats that point at other data are not opened. The file
/// and its directory are never written to.
@safe
public final class RasterSource {
    let handle: GDALDatasetH
    let path: String
    /// The short name of the driver that reads it, `GTiff`.
    public let driver: String
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// The affine transform from a column and row (whole numbers are the upper left corners of
    /// pixels) to x and y: `x = t0 + column·t1 + row·t2`, `y = t3 + column·t4 + row·t5`; nil for a
    /// file without one.
    public let transform: [Double]?
    /// The coordinate system; nil when not stated.
    public let spatialReference: SourceSpatialReference?
    /// The bands, in order.
    public let bands: [RasterBand]
    /// Every file it is made of, as GDAL names them: the one opened first.
    public let files: [String]

    /// The formats of self-contained files that hold pixels of the ground.
    public static let formats: Set<String> = [
        "AAIGrid", "BMP", "DTED", "EHdr", "ENVI", "GIF", "GTiff", "HFA", "JP2OpenJPEG", "JPEG",
        "PNG", "RST", "SAGA", "SRTMHGT", "USGSDEM", "WEBP",
    ]

    /// The format GDAL takes a file for, among ``formats``; nil for none of them.
    public static func format(of path: String) -> String? {
        guard PlainPath.isPlain(path) else { return nil }
        let log = MessageLog()
        return log.listen {
            let drivers = StringList(formats.sorted())
            let driver = unsafe GDALIdentifyDriverEx(
                path, UInt32(GDAL_OF_RASTER), drivers.constant, nil)
            return unsafe driver.flatMap { driver in
                unsafe GDALGetDriverShortName(driver).map { unsafe String(cString: $0) }
            }
        }
    }

    /// Opens a file.
    ///
    /// Throws ``GDALError`` also for another format, and for a path that is not absolute, or one of
    /// GDAL's own file systems (`/vsi…`).
    ///
    /// - Parameters:
    ///   - path: The absolute path.
    ///   - name: Its name in messages; the path when nil.
    ///   - format: The one format it may have; any of ``formats`` when nil.
    public init(path: String, name: String? = nil, format: String? = nil) throws(GDALError) {
        let shown = name ?? path
        guard PlainPath.isPlain(path) else { throw PlainPath.error(shown) }
        let log = MessageLog()
        // Classes and tables of attributes are in a file beside the raster, which drivers read on
        // first use: here, for the georeferencing and the list of files.
        unsafe CPLSetThreadLocalConfigOption("GDAL_PAM_ENABLED", "YES")
        defer { unsafe CPLSetThreadLocalConfigOption("GDAL_PAM_ENABLED", nil) }
        let opened = unsafe log.listen { () -> GDALDatasetH? in
            let drivers = StringList(format.map { [$0] } ?? Self.formats.sorted())
            let flags = UInt32(GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR)
            return unsafe GDALOpenEx(path, flags, drivers.constant, nil, nil)
        }
        guard let opened = unsafe opened else {
            throw log.error("open '\(shown)'").renaming(path, shown)
        }
        // Read where a picture is smaller than the raster, by any driver and from anywhere.
        guard !log.listen({ unsafe Self.namesOverviews(opened) }) else {
            log.listen { unsafe GDALClose(opened) }
            throw GDALError(
                operation: "open '\(shown)'",
                messages: [
                    "it names overviews in another file: expected a raster with its own pixels; "
                        + "gdal_translate makes one"
                ], isInputOutput: false)
        }
        unsafe handle = opened
        self.path = shown
        driver = log.listen {
            unsafe GDALGetDriverShortName(GDALGetDatasetDriver(opened))
                .map { unsafe String(cString: $0) } ?? ""
        }
        width = Int(unsafe GDALGetRasterXSize(opened))
        height = Int(unsafe GDALGetRasterYSize(opened))
        transform = log.listen {
            var numbers = [Double](repeating: 0, count: 6)
            return unsafe GDALGetGeoTransform(opened, &numbers) == CE_None ? numbers : nil
        }
        spatialReference = unsafe SpatialReferenceHandle.describe(GDALGetSpatialRef(opened))
        bands = log.listen {
            unsafe (0..<GDALGetRasterCount(opened)).compactMap { index in
                unsafe GDALGetRasterBand(opened, index + 1).map { unsafe RasterBand($0) }
            }
        }
        files = log.listen {
            let list = unsafe GDALGetFileList(opened)
            defer { unsafe CSLDestroy(list) }
            return unsafe (0..<CSLCount(list)).compactMap { index in
                unsafe CSLGetField(list, index).map { unsafe String(cString: $0) }
            }
        }
    }

    /// Whether a raster, or its companion file, names a file of overviews.
    private static func namesOverviews(_ raster: GDALDatasetH) -> Bool {
        let places = [("OVERVIEW_FILE", "OVERVIEWS"), ("FILENAME", "ProxyOverviewRequest")]
        return places.contains { item, domain in
            unsafe GDALGetMetadataItem(raster, item, domain) != nil
        }
    }

    /// The values of one pixel, band by band; nil for a band without data there.
    ///
    /// Throws ``GDALError`` for an unreadable file.
    ///
    /// - Parameters:
    ///   - column: 0..<``width``.
    ///   - row: 0..<``height``.
    public func pixel(column: Int, row: Int) throws(GDALError) -> [RasterValue?] {
        precondition(0..<width ~= column && 0..<height ~= row)
        var values: [RasterValue?] = []
        for (index, band) in bands.enumerated() {
            let log = MessageLog()
            let value = log.listen { () -> RasterValue?? in
                guard let handle = unsafe GDALGetRasterBand(handle, Int32(index + 1)) else {
                    return nil
                }
                return unsafe Self.read(handle, band.kind, Int32(column), Int32(row))
            }
            guard let value, log.failures.isEmpty else {
                throw log.error("read column \(column), row \(row) of '\(path)'")
            }
            values.append(value)
        }
        return values
    }

    /// Nil when it cannot be read; `.some(nil)` when there is no data.
    private static func read(
        _ band: GDALRasterBandH, _ kind: RasterBand.Kind, _ column: Int32, _ row: Int32
    ) -> RasterValue?? {
        let flags = unsafe GDALGetMaskFlags(band)
        // An alpha band states how a pixel is drawn, not whether it has a value.
        if flags & GMF_ALL_VALID == 0, flags & GMF_ALPHA == 0 {
            var mask: UInt8 = 0
            let result = unsafe GDALRasterIO(
                GDALGetMaskBand(band), GF_Read, column, row, 1, 1, &mask, 1, 1, GDT_Byte, 0, 0)
            guard result == CE_None else { return nil }
            if mask == 0 { return .some(nil) }
        }
        switch kind {
        case .integer:
            var value: Int64 = 0
            let result = unsafe GDALRasterIO(
                band, GF_Read, column, row, 1, 1, &value, 1, 1, GDT_Int64, 0, 0)
            return result == CE_None ? .integer(value) : nil
        case .real:
            var value = 0.0
            let result = unsafe GDALRasterIO(
                band, GF_Read, column, row, 1, 1, &value, 1, 1, GDT_Float64, 0, 0)
            guard result == CE_None else { return nil }
            return .some(value.isFinite ? .real(value) : nil)
        case .other: return nil
        }
    }

    /// The row of a band's attribute table for a value, as columns and values; empty for none.
    public func tableRow(band: Int, value: Double) -> [(name: String, value: RasterTableValue)] {
        let log = MessageLog()
        return log.listen {
            guard let handle = unsafe GDALGetRasterBand(handle, Int32(band + 1)),
                let table = unsafe GDALGetDefaultRAT(handle)
            else { return [] }
            let row = unsafe GDALRATGetRowOfValue(table, value)
            guard row >= 0 else { return [] }
            return unsafe (0..<GDALRATGetColumnCount(table)).map { column in
                let name =
                    unsafe GDALRATGetNameOfCol(table, column)
                    .map { unsafe String(cString: $0) } ?? ""
                let value: RasterTableValue =
                    switch unsafe GDALRATGetTypeOfCol(table, column) {
                    case GFT_Integer:
                        .integer(Int64(unsafe GDALRATGetValueAsInt(table, row, column)))
                    case GFT_Real: .real(unsafe GDALRATGetValueAsDouble(table, row, column))
                    default:
                        .text(
                            unsafe GDALRATGetValueAsString(table, row, column)
                                .map { unsafe String(cString: $0) } ?? "")
                    }
                return (name, value)
            }
        }
    }

    deinit {
        let log = MessageLog()
        log.listen { unsafe GDALClose(handle) }
    }
}
