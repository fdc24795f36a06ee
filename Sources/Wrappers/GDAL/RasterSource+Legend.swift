// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CGDAL

/// The legend of a raster's pictures, row by row from the top.
public struct RasterKey: Hashable, Sendable {
    /// One row.
    public struct Row: Hashable, Sendable {
        /// Label; empty between the ends of a ramp.
        public var label: String
        /// Red, green, blue and alpha, 0…255, from the top down: one colour, or the steps of a
        /// ramp.
        public var colors: [[UInt8]]
    }

    /// The rows.
    public var rows: [Row]
    /// Number of further classes.
    public var leftOutCount: Int
}

extension RasterSource {
    /// Number of pixels sampled for classes; of a larger raster whole blocks, evenly spread.
    private static let sampleLimit = 16 << 20
    /// Classes have numbers below.
    private static let classLimit = 65_536

    /// The legend of ``picture(of:width:height:isCancelled:)``, in its colours.
    ///
    /// One band with a table of colours, or whose values have names (categories, or a column of
    /// names in the table of attributes): a row for each value that has a name or occurs, except
    /// clear colours and the no-data value. Three bands: a row each. Another band: a ramp of three
    /// rows, the greatest value first, or one where all values are equal; none without a value.
    /// Values that occur are those of 16 million pixels; of a larger raster, of some of the blocks.
    /// Nil when cancelled; throws ``GDALError``.
    ///
    /// - Parameters:
    ///   - rowLimit: The most rows; further classes are counted.
    ///   - steps: Number of colours in each row of a ramp.
    public func key(
        rowLimit: Int, steps: Int, isCancelled: () -> Bool
    ) throws(GDALError) -> RasterKey? {
        precondition(rowLimit > 0 && steps > 1)
        let log = MessageLog()
        var wasCancelled = false
        let key = log.listen { () -> RasterKey? in
            guard let colors = unsafe Colors(handle, bands.count),
                let number = colors.bands.first,
                let band = unsafe GDALGetRasterBand(handle, number)
            else { return nil }
            if colors.table == nil, colors.rangeCount == 3 { return mixed(colors.bands) }
            let names = unsafe classNames(band, bands[Int(number) - 1])
            guard colors.table != nil || !names.isEmpty else {
                let isSingle = unsafe GDALGetRasterDataType(band) == GDT_Float32
                return colors.ramp(steps) { isSingle ? "\(Float($0))" : Self.text($0) }
            }
            guard let found = unsafe occurring(band, isCancelled, &wasCancelled) else { return nil }
            let blank = unsafe Self.noData(of: band)
            var key = RasterKey(rows: [], leftOutCount: 0)
            for value in found.union(names.keys).sorted() where value != blank {
                guard let color = colors.color(of: value), color[3] > 0 else { continue }
                guard key.rows.count < rowLimit else {
                    key.leftOutCount += 1
                    continue
                }
                key.rows.append(.init(label: names[value] ?? "\(value)", colors: [color]))
            }
            return key
        }
        if wasCancelled { return nil }
        guard let key else { throw log.error("read the classes of '\(path)'") }
        return key
    }

    private func mixed(_ numbers: [Int32]) -> RasterKey {
        let lights = [("Red", 0), ("Green", 1), ("Blue", 2)]
        return RasterKey(
            rows: zip(lights, numbers).map { light, number in
                let name = bands[Int(number) - 1].name
                var color: [UInt8] = [0, 0, 0, 255]
                color[light.1] = 255
                return .init(
                    label: "\(light.0): " + (name.isEmpty ? "Band \(number)" : name),
                    colors: [color])
            }, leftOutCount: 0)
    }

    /// Whole numbers without a fraction.
    private static func text(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func noData(of band: GDALRasterBandH) -> Int? {
        var isStated: Int32 = 0
        let value = unsafe GDALGetRasterNoDataValue(band, &isStated)
        return isStated == 0 ? nil : Int(exactly: value)
    }

    /// By value.
    private func classNames(_ band: GDALRasterBandH, _ described: RasterBand) -> [Int: String] {
        guard described.kind == .integer else { return [:] }
        var names: [Int: String] = [:]
        if let table = unsafe GDALGetDefaultRAT(band) {
            let values = [GFU_MinMax, GFU_Min].map {
                unsafe GDALRATGetColOfUsage(table, $0)
            }.first { $0 >= 0 }
            let labels = unsafe GDALRATGetColOfUsage(table, GFU_Name)
            if let values, labels >= 0 {
                for row in 0..<min(unsafe GDALRATGetRowCount(table), Int32(Self.classLimit)) {
                    guard
                        let value = Int(
                            exactly: unsafe GDALRATGetValueAsDouble(table, row, values)),
                        let text = unsafe GDALRATGetValueAsString(table, row, labels)
                    else { continue }
                    unsafe names[value] = String(cString: text)
                }
            }
        }
        for (value, name) in described.categories.enumerated() where !name.isEmpty {
            names[value] = name
        }
        return names.filter { !$0.value.isEmpty }
    }

    /// Whole numbers from 0 that pixels with data hold; nil where it was cancelled, or cannot be
    /// read.
    private func occurring(
        _ band: GDALRasterBandH, _ isCancelled: () -> Bool, _ wasCancelled: inout Bool
    ) -> Set<Int>? {
        var (blockWidth, blockHeight): (Int32, Int32) = (0, 0)
        unsafe GDALGetBlockSize(band, &blockWidth, &blockHeight)
        guard blockWidth > 0, blockHeight > 0, let mask = unsafe GDALGetMaskBand(band) else {
            return nil
        }
        let (across, down) = (
            (width - 1) / Int(blockWidth) + 1, (height - 1) / Int(blockHeight) + 1
        )
        let step = (width * height - 1) / Self.sampleLimit + 1
        var isFound = [Bool](repeating: false, count: Self.classLimit)
        var line = [Float](repeating: 0, count: min(Int(blockWidth), width))
        var present = [UInt8](repeating: 0, count: line.count)
        for block in stride(from: 0, to: across * down, by: step) {
            let left = block % across * Int(blockWidth)
            let top = block / across * Int(blockHeight)
            let count = Int32(min(Int(blockWidth), width - left))
            for row in top..<min(top + Int(blockHeight), height) {
                if isCancelled() {
                    wasCancelled = true
                    return nil
                }
                guard
                    unsafe GDALRasterIO(
                        band, GF_Read, Int32(left), Int32(row), count, 1, &line, count, 1,
                        GDT_Float32, 0, 0) == CE_None,
                    unsafe GDALRasterIO(
                        mask, GF_Read, Int32(left), Int32(row), count, 1, &present, count, 1,
                        GDT_Byte, 0, 0) == CE_None
                else { return nil }
                for column in 0..<Int(count) where present[column] > 0 {
                    guard let value = Int(exactly: line[column]), isFound.indices.contains(value)
                    else { continue }
                    isFound[value] = true
                }
            }
        }
        return Set(isFound.indices.filter { isFound[$0] })
    }
}

extension Colors {
    /// Number of bands whose values become shades.
    var rangeCount: Int { ranges.count }

    /// The colour of a whole number in a single band; nil for one that is not drawn.
    fileprivate func color(of value: Int) -> [UInt8]? {
        if let table { return table.indices.contains(value) ? table[value] : nil }
        guard let range = ranges.first, let shade = shade(Double(value), range) else { return nil }
        return [shade, shade, shade, 255]
    }

    /// The ramp of a single band, the greatest value first.
    fileprivate func ramp(_ steps: Int, _ text: (Double) -> String) -> RasterKey {
        var key = RasterKey(rows: [], leftOutCount: 0)
        guard let range = ranges.first, range.isKnown else { return key }
        func colors(_ places: Range<Int>, of count: Int) -> [[UInt8]] {
            places.compactMap { place in
                let part = 1 - Double(place) / Double(max(1, count - 1))
                let value = part == 1 ? range.high : range.low + (range.high - range.low) * part
                return shade(value, range).map { [$0, $0, $0, 255] }
            }
        }
        guard range.low < range.high else {
            key.rows = [.init(label: text(range.low), colors: colors(0..<1, of: 1))]
            return key
        }
        for (row, label) in [text(range.high), "", text(range.low)].enumerated() {
            key.rows.append(
                .init(
                    label: label,
                    colors: colors(row * steps..<(row + 1) * steps, of: 3 * steps)))
        }
        return key
    }
}
