// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// A raster's pixels over a rectangle of the ground.
public struct RasterPicture: Sendable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Red, green, blue, alpha of each pixel, 0…255, row by row from the top, colours not
    /// multiplied.
    public internal(set) var rgba: [UInt8]

    /// Creates a picture; the byte count must match the pixels.
    public init(width: Int, height: Int, rgba: [UInt8]) {
        precondition(width > 0 && height > 0 && rgba.count == width * height * 4)
        (self.width, self.height, self.rgba) = (width, height, rgba)
    }
}

/// A rectangle of the ground, x before y, and the coordinate system it is in.
public struct RasterWindow: Hashable, Sendable {
    /// West.
    public var minX: Double
    /// South.
    public var minY: Double
    /// East.
    public var maxX: Double
    /// North.
    public var maxY: Double
    /// EPSG's or ESRI's number of the system.
    public var wkid: Int?
    /// The system, where it has no number.
    public var wkt: String?

    /// States it.
    public init(
        minX: Double, minY: Double, maxX: Double, maxY: Double, wkid: Int?, wkt: String?
    ) {
        (self.minX, self.minY, self.maxX, self.maxY) = (minX, minY, maxX, maxY)
        (self.wkid, self.wkt) = (wkid, wkt)
    }
}

extension RasterSource {
    /// Draws a rectangle of the ground, clear where there is no data (`GDALWarp`).
    ///
    /// A band with a table of colours is shown in these; three bands declared so, or else the first
    /// three, as red, green and blue; one band in grey, the least value black and the greatest
    /// white. Values of other types than bytes are stretched so too, band by band. Least and
    /// greatest are estimates from overviews or part of the blocks (`GDALComputeRasterMinMax`).
    /// Colours of a table are never mixed; otherwise a pixel is mixed from four.
    ///
    /// Memory: four bytes a pixel, and a number of the raster's type for each band shown and for
    /// alpha; GDAL's caches are bounded by 64 MiB each. Nil when cancelled; throws ``GDALError``.
    public func picture(
        of window: RasterWindow, width: Int, height: Int, isCancelled: @escaping () -> Bool
    ) throws(GDALError) -> RasterPicture? {
        precondition(width > 0 && height > 0)
        let log = MessageLog()
        let question = Question(isCancelled)
        let picture = log.listen { () -> RasterPicture? in
            guard let colors = unsafe Colors(handle, bands.count),
                let chosen = unsafe Self.translated(handle, colors.bands)
            else { return nil }
            defer { unsafe GDALClose(chosen) }
            guard
                let warped = unsafe window.warped(
                    chosen, width, height, colors.table == nil ? "bilinear" : "near", question)
            else { return nil }
            defer { unsafe GDALClose(warped) }
            return unsafe colors.picture(of: warped, width, height)
        }
        if let picture { return picture }
        if question.isCancelled() { return nil }
        throw log.error("draw '\(path)'")
    }

    /// The bands of a dataset as a virtual one that reads from it.
    private static func translated(_ source: GDALDatasetH, _ bands: [Int32]) -> GDALDatasetH? {
        let options = StringList(["-of", "VRT"] + bands.flatMap { ["-b", "\($0)"] })
        guard let translation = unsafe GDALTranslateOptionsNew(options.pointer, nil) else {
            return nil
        }
        defer { unsafe GDALTranslateOptionsFree(translation) }
        return unsafe GDALTranslate("", source, translation, nil)
    }
}

extension RasterWindow {
    /// A dataset warped to the window, in memory; nil on failure of GDAL, or when cancelled.
    ///
    /// The last band marks the valid data. The caller closes it.
    func warped(
        _ source: GDALDatasetH, _ width: Int, _ height: Int, _ resampling: String,
        _ question: Question
    ) -> GDALDatasetH? {
        guard let system = SpatialReferenceHandle(wkid: wkid, wkt: wkt)?.wkt() else { return nil }
        let options = StringList(
            ["-of", "MEM", "-t_srs", system, "-te"] + [minX, minY, maxX, maxY].map { "\($0)" }
                + ["-ts", "\(width)", "\(height)", "-dstalpha", "-r", resampling])
        guard let warping = unsafe GDALWarpAppOptionsNew(options.pointer, nil) else { return nil }
        defer { unsafe GDALWarpAppOptionsFree(warping) }
        unsafe GDALWarpAppOptionsSetProgress(
            warping,
            { _, _, pointer in
                guard let pointer = unsafe pointer else { return 1 }
                let question = unsafe Unmanaged<Question>.fromOpaque(pointer).takeUnretainedValue()
                return question.isCancelled() ? 0 : 1
            }, Unmanaged.passUnretained(question).toOpaque())
        var sources: [GDALDatasetH?] = unsafe [source]
        return unsafe withExtendedLifetime(question) {
            unsafe GDALWarp("", nil, 1, &sources, warping, nil)
        }
    }
}

/// The cancellation state, for a C callback.
final class Question {
    let isCancelled: () -> Bool

    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
}

/// The mapping of band values to colours.
struct Colors {
    /// The bands, from 1; after those of colours one of alpha, if there is any.
    let bands: [Int32]
    /// Red, green, blue and alpha by value; nil where the bands are not indexes.
    let table: [[UInt8]]?
    /// The range of values of each band of colour, from dark to bright, and whether it has values.
    let ranges: [Stretch]

    /// A range from the value that is dark to the one that is bright.
    struct Stretch {
        var low, high: Double
        /// Whether any pixel has a value.
        var isKnown: Bool
    }

    /// Nil where GDAL cannot read the bands.
    init?(_ dataset: GDALDatasetH, _ count: Int) {
        var meanings: [GDALColorInterp: Int32] = [:]
        for number in (1...Int32(count)).reversed() {
            guard let band = unsafe GDALGetRasterBand(dataset, number) else { return nil }
            meanings[unsafe GDALGetRasterColorInterpretation(band)] = number
        }
        let alpha = meanings[GCI_AlphaBand]
        let stated = [GCI_RedBand, GCI_GreenBand, GCI_BlueBand].compactMap { meanings[$0] }
        let usual = (1...Int32(count)).filter { $0 != alpha }
        let colors =
            stated.count == 3
            ? stated : usual.count >= 3 ? Array(usual.prefix(3)) : Array(usual.prefix(1))
        guard let first = colors.first, let band = unsafe GDALGetRasterBand(dataset, first) else {
            return nil
        }
        bands = colors + (alpha.map { [$0] } ?? [])
        table = unsafe colors.count == 1 ? Self.table(GDALGetRasterColorTable(band)) : nil
        var ranges: [Stretch] = []
        if table == nil {
            for number in colors {
                guard let band = unsafe GDALGetRasterBand(dataset, number) else { return nil }
                if unsafe colors.count == 3 && GDALGetRasterDataType(band) == GDT_Byte {
                    ranges.append(Stretch(low: 0, high: 255, isKnown: true))
                    continue
                }
                var bounds = [0.0, 0.0]
                let status = unsafe GDALComputeRasterMinMax(band, 1, &bounds)
                ranges.append(
                    Stretch(low: bounds[0], high: bounds[1], isKnown: status == CE_None))
            }
        }
        self.ranges = ranges
    }

    /// Red, green, blue and alpha by value; nil for no table.
    static func table(_ table: GDALColorTableH?) -> [[UInt8]]? {
        guard let table = unsafe table else { return nil }
        return unsafe (0..<GDALGetColorEntryCount(table)).map { index in
            var entry = GDALColorEntry()
            unsafe GDALGetColorEntryAsRGB(table, index, &entry)
            return [entry.c1, entry.c2, entry.c3, entry.c4].map { UInt8(clamping: $0) }
        }
    }

    /// The picture in a dataset that has ``bands``, and last where there is data.
    func picture(of dataset: GDALDatasetH, _ width: Int, _ height: Int) -> RasterPicture? {
        var rgba = [UInt8](repeating: 0, count: width * height * 4)
        let colorCount = table == nil ? ranges.count : 1
        var line = [Float](repeating: 0, count: width)
        var alpha = [UInt8](repeating: 0, count: width)
        let last = unsafe GDALGetRasterCount(dataset)
        for row in 0..<height {
            guard let band = unsafe GDALGetRasterBand(dataset, last),
                unsafe GDALRasterIO(
                    band, GF_Read, 0, Int32(row), Int32(width), 1, &alpha, Int32(width), 1,
                    GDT_Byte, 0, 0) == CE_None
            else { return nil }
            for number in 0..<colorCount {
                guard let band = unsafe GDALGetRasterBand(dataset, Int32(number + 1)),
                    unsafe GDALRasterIO(
                        band, GF_Read, 0, Int32(row), Int32(width), 1, &line, Int32(width), 1,
                        GDT_Float32, 0, 0) == CE_None
                else { return nil }
                for column in 0..<width where alpha[column] > 0 {
                    let target = (row * width + column) * 4
                    if let table {
                        let index = Int(exactly: line[column]) ?? -1
                        guard table.indices.contains(index) else { continue }
                        for channel in 0..<4 { rgba[target + channel] = table[index][channel] }
                        continue
                    }
                    let value = shade(Double(line[column]), ranges[number])
                    guard let value else { continue }
                    rgba[target + number] = value
                    if colorCount == 1 {
                        rgba[target + 1] = value
                        rgba[target + 2] = value
                    }
                    rgba[target + 3] = alpha[column]
                }
            }
        }
        return RasterPicture(width: width, height: height, rgba: rgba)
    }

    /// Nil for NaN.
    func shade(_ value: Double, _ range: Stretch) -> UInt8? {
        guard value.isFinite else { return nil }
        let size = range.high - range.low
        // All values are equal: neither dark nor bright.
        guard size > 0 else { return 128 }
        return UInt8((max(0, min(1, (value - range.low) / size)) * 255).rounded())
    }
}
