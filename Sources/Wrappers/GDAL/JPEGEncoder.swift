// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL
internal import Synchronization

/// Encodes pictures as JPEG, in memory; any thread.
public enum JPEGEncoder {
    private static let count = Atomic<UInt64>(0)

    /// A baseline JPEG of three channels (GDAL's `MEM` and `JPEG` drivers, `GDALCreateCopy`).
    ///
    /// Throws ``GDALError``.
    ///
    /// - Parameters:
    ///   - rgb: Rows from the top; red, green and blue of each pixel.
    ///   - quality: 1…100.
    public static func encode(
        rgb: [UInt8], width: Int, height: Int, quality: Int
    ) throws(GDALError) -> [UInt8] {
        precondition(width > 0 && height > 0 && rgb.count == width * height * 3)
        let log = MessageLog()
        let number = count.add(1, ordering: .relaxed).newValue
        let bytes = log.listen { encode(rgb, Int32(width), Int32(height), quality, number) }
        guard let bytes else { throw log.error("write JPEG") }
        return bytes
    }

    private static func encode(
        _ rgb: [UInt8], _ width: Int32, _ height: Int32, _ quality: Int, _ number: UInt64
    ) -> [UInt8]? {
        guard let memory = unsafe GDALGetDriverByName("MEM"),
            let jpeg = unsafe GDALGetDriverByName("JPEG"),
            let source = unsafe GDALCreate(memory, "", width, height, 3, GDT_Byte, nil)
        else { return nil }
        defer { unsafe GDALClose(source) }
        var pixels = rgb
        let written = unsafe GDALDatasetRasterIO(
            source, GF_Write, 0, 0, width, height, &pixels, width, height, GDT_Byte, 3, nil, 3,
            3 * width, 1)
        guard written == CE_None else { return nil }
        let path = "/vsimem/cairn-picture-\(number).jpg"
        let options = StringList(["QUALITY=\(quality)"])
        guard
            let copy = unsafe GDALCreateCopy(jpeg, path, source, 0, options.pointer, nil, nil)
        else {
            unsafe VSIUnlink(path)
            return nil
        }
        unsafe GDALClose(copy)
        var byteCount: vsi_l_offset = 0
        // Seizing the buffer moves it to the caller and removes the file.
        guard let bytes = unsafe VSIGetMemFileBuffer(path, &byteCount, 1) else { return nil }
        defer { unsafe VSIFree(bytes) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(byteCount)))
    }
}
