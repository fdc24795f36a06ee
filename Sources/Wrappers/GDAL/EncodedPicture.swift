// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Synchronization

/// Decodes untrusted pictures, in memory; any thread.
public enum EncodedPicture {
    /// The formats that are read.
    private static let formats = ["PNG", "JPEG", "WEBP"]
    private static let count = Atomic<UInt64>(0)

    /// The pixels of a PNG, JPEG or WebP, scaled to a size.
    ///
    /// The stated size is checked before decompression. Colours of a table and of pictures that are
    /// smaller or larger are not mixed. Throws ``GDALError`` for other bytes, for a truncated
    /// picture, and for one wider or higher than `sideBound`.
    ///
    /// - Parameters:
    ///   - width: Columns of the result.
    ///   - height: Rows of the result.
    public static func pixels(
        _ bytes: [UInt8], width: Int, height: Int, sideBound: Int
    ) throws(GDALError) -> RasterPicture {
        precondition(width > 0 && height > 0)
        let log = MessageLog()
        let number = count.add(1, ordering: .relaxed).newValue
        let path = "/vsimem/cairn-read-\(number)"
        var stated = (0, 0)
        let picture = log.listen { () -> RasterPicture? in
            // GDAL reads from the bytes, and frees nothing.
            unsafe bytes.withUnsafeBufferPointer { buffer -> RasterPicture? in
                guard
                    let file = unsafe VSIFileFromMemBuffer(
                        path, UnsafeMutablePointer(mutating: buffer.baseAddress),
                        vsi_l_offset(buffer.count), 0)
                else { return nil }
                unsafe VSIFCloseL(file)
                defer { unsafe VSIUnlink(path) }
                let drivers = StringList(formats)
                let flags = UInt32(GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR)
                guard
                    let opened = unsafe GDALOpenEx(path, flags, drivers.constant, nil, nil)
                else { return nil }
                defer { unsafe GDALClose(opened) }
                stated = unsafe (
                    Int(GDALGetRasterXSize(opened)), Int(GDALGetRasterYSize(opened))
                )
                guard 1...sideBound ~= stated.0, 1...sideBound ~= stated.1 else { return nil }
                return unsafe read(opened, stated, width, height)
            }
        }
        if let picture { return picture }
        if stated.0 > sideBound || stated.1 > sideBound {
            throw GDALError(
                operation: "read a picture",
                messages: [
                    "it is \(stated.0) pixels wide and \(stated.1) high, the most is \(sideBound)"
                ], isInputOutput: false)
        }
        throw log.error("read a picture")
    }

    private static func read(
        _ source: GDALDatasetH, _ size: (Int, Int), _ width: Int, _ height: Int
    ) -> RasterPicture? {
        let count = unsafe Int(GDALGetRasterCount(source))
        guard 1...4 ~= count, let first = unsafe GDALGetRasterBand(source, 1) else { return nil }
        func values(_ band: GDALRasterBandH?) -> [UInt8]? {
            guard let band = unsafe band else { return nil }
            // The upper byte of 16 bits.
            let isWide = unsafe GDALGetRasterDataType(band) != GDT_Byte
            var wide = [UInt16](repeating: 0, count: width * height)
            guard
                unsafe GDALRasterIO(
                    band, GF_Read, 0, 0, Int32(size.0), Int32(size.1), &wide, Int32(width),
                    Int32(height), GDT_UInt16, 0, 0) == CE_None
            else { return nil }
            return wide.map { UInt8(truncatingIfNeeded: isWide ? $0 >> 8 : $0) }
        }
        func isAlpha(_ number: Int) -> Bool {
            unsafe GDALGetRasterColorInterpretation(GDALGetRasterBand(source, Int32(number)))
                == GCI_AlphaBand
        }
        let colorCount = count - (isAlpha(count) ? 1 : 0)
        var channels: [[UInt8]] = []
        for number in 1...max(1, min(3, colorCount)) {
            guard let channel = unsafe values(GDALGetRasterBand(source, Int32(number))) else {
                return nil
            }
            channels.append(channel)
        }
        // An alpha band, or another mask of missing data.
        guard let mask = unsafe values(GDALGetMaskBand(first)) else { return nil }
        var rgba = [UInt8](repeating: 0, count: width * height * 4)
        let table = unsafe Colors.table(GDALGetRasterColorTable(first))
        for pixel in 0..<width * height {
            let target = pixel * 4
            if colorCount == 1, let table {
                let index = Int(channels[0][pixel])
                guard table.indices.contains(index) else { continue }
                for channel in 0..<4 { rgba[target + channel] = table[index][channel] }
                continue
            }
            for channel in 0..<3 {
                rgba[target + channel] = channels[channels.count < 3 ? 0 : channel][pixel]
            }
            rgba[target + 3] = mask[pixel]
        }
        return RasterPicture(width: width, height: height, rgba: rgba)
    }
}

extension RasterPicture {
    /// The ground in another window, resampled from four pixels each (`GDALWarp`), clear beyond the
    /// picture.
    ///
    /// Nil when cancelled; throws ``GDALError``.
    ///
    /// - Parameter window: The extent of this picture, border to border.
    public func brought(
        from window: RasterWindow, to other: RasterWindow, width: Int, height: Int,
        isCancelled: @escaping () -> Bool
    ) throws(GDALError) -> RasterPicture? {
        let log = MessageLog()
        let question = Question(isCancelled)
        let result = log.listen { () -> RasterPicture? in
            guard let memory = unsafe GDALGetDriverByName("MEM"),
                let system = SpatialReferenceHandle(wkid: window.wkid, wkt: window.wkt)?.wkt(),
                let source = unsafe GDALCreate(
                    memory, "", Int32(self.width), Int32(self.height), 4, GDT_Byte, nil)
            else { return nil }
            defer { unsafe GDALClose(source) }
            var numbers = [
                window.minX, (window.maxX - window.minX) / Double(self.width), 0, window.maxY, 0,
                (window.minY - window.maxY) / Double(self.height),
            ]
            unsafe GDALSetGeoTransform(source, &numbers)
            unsafe GDALSetProjection(source, system)
            let meanings = [GCI_RedBand, GCI_GreenBand, GCI_BlueBand, GCI_AlphaBand]
            for (index, meaning) in meanings.enumerated() {
                unsafe GDALSetRasterColorInterpretation(
                    GDALGetRasterBand(source, Int32(index + 1)), meaning)
            }
            var pixels = rgba
            guard
                unsafe GDALDatasetRasterIO(
                    source, GF_Write, 0, 0, Int32(self.width), Int32(self.height), &pixels,
                    Int32(self.width), Int32(self.height), GDT_Byte, 4, nil, 4,
                    Int32(4 * self.width), 1) == CE_None,
                let warped = unsafe other.warped(source, width, height, "bilinear", question)
            else { return nil }
            defer { unsafe GDALClose(warped) }
            var result = [UInt8](repeating: 0, count: width * height * 4)
            guard
                unsafe GDALDatasetRasterIO(
                    warped, GF_Read, 0, 0, Int32(width), Int32(height), &result, Int32(width),
                    Int32(height), GDT_Byte, 4, nil, 4, Int32(4 * width), 1) == CE_None
            else { return nil }
            return RasterPicture(width: width, height: height, rgba: result)
        }
        if let result { return result }
        if question.isCancelled() { return nil }
        throw log.error("project a picture")
    }
}
