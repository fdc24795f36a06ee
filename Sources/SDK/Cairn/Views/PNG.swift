// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// PNG as servers send it (ISO/IEC 15948), so that an app needs no picture library: all color types
/// of 8 bits, and palettes; written uncompressed.
enum PNG {
    private static let signature: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10]
    /// Most pixels of a picture that is read.
    private static let pixelLimit = 1 << 28

    static func decode(_ bytes: [UInt8]) throws -> Raster {
        func fault(_ what: String) -> CairnError {
            CairnError(.invalidDocument, "a picture cannot be read: \(what)")
        }
        guard bytes.starts(with: signature) else {
            throw CairnError.unsupported(
                bytes.starts(with: [0xFF, 0xD8])
                    ? "JPEG in a picture of several layers"
                    : "picture of this format", by: nil)
        }
        var place = 8
        var header: (width: Int, height: Int, depth: UInt8, color: UInt8, interlace: UInt8)?
        var palette: [UInt8] = []
        var alphas: [UInt8] = []
        var packed: [UInt8] = []
        func number(_ at: Int) -> Int {
            Int(bytes[at]) << 24 | Int(bytes[at + 1]) << 16 | Int(bytes[at + 2]) << 8
                | Int(bytes[at + 3])
        }
        while place + 12 <= bytes.count {
            let length = number(place)
            guard length <= bytes.count - place - 12 else { throw fault("it is cut short") }
            let type = String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self)
            let data = bytes[(place + 8)..<(place + 8 + length)]
            switch type {
            case "IHDR":
                guard length == 13 else { throw fault("its header has another length") }
                let start = place + 8
                header = (
                    number(start), number(start + 4), bytes[start + 8], bytes[start + 9],
                    bytes[start + 12]
                )
            case "PLTE": palette = Array(data)
            case "tRNS": alphas = Array(data)
            case "IDAT": packed += data
            case "IEND": place = bytes.count
            default: break
            }
            place += length + 12
        }
        guard let header, header.width > 0, header.height > 0,
            header.width.multipliedReportingOverflow(by: header.height).partialValue <= pixelLimit,
            header.width <= 65_536, header.height <= 65_536
        else { throw fault("its size is none") }
        let channels: Int? =
            switch header.color {
            case 0, 3: 1
            case 2: 3
            case 4: 2
            case 6: 4
            default: nil
            }
        guard let channels, header.interlace == 0,
            header.depth == 8 || header.color == 3 && [1, 2, 4].contains(header.depth)
        else { throw fault("its color type is not supported") }
        let bits = channels * Int(header.depth)
        let rowLength = (header.width * bits + 7) / 8
        let lines: [UInt8]
        do {
            lines = try Inflate.unpack(packed, byteCount: (rowLength + 1) * header.height)
        } catch { throw fault("its pixels are damaged") }
        var raster = Raster(width: header.width, height: header.height)
        var above = [UInt8](repeating: 0, count: rowLength)
        let step = max(1, bits / 8)
        for y in 0..<header.height {
            let start = y * (rowLength + 1)
            var row = Array(lines[(start + 1)..<(start + 1 + rowLength)])
            guard unfilter(lines[start], &row, above, step) else {
                throw fault("its filter is unknown")
            }
            for x in 0..<header.width {
                let target = (y * header.width + x) * 4
                switch header.color {
                case 0, 4:
                    let gray = row[x * channels]
                    for part in 0..<3 { raster.bytes[target + part] = gray }
                    raster.bytes[target + 3] = channels == 2 ? row[x * 2 + 1] : 255
                case 3:
                    let shift = 8 - (x * bits) % 8 - bits
                    let index = Int(row[x * bits / 8] >> UInt8(shift)) & ((1 << bits) - 1)
                    guard index * 3 + 2 < palette.count else { throw fault("a color is missing") }
                    for part in 0..<3 { raster.bytes[target + part] = palette[index * 3 + part] }
                    raster.bytes[target + 3] = index < alphas.count ? alphas[index] : 255
                default:
                    for part in 0..<3 { raster.bytes[target + part] = row[x * channels + part] }
                    raster.bytes[target + 3] = channels == 4 ? row[x * 4 + 3] : 255
                }
            }
            above = row
        }
        return raster
    }

    private static func unfilter(
        _ kind: UInt8, _ row: inout [UInt8], _ above: [UInt8], _ step: Int
    ) -> Bool {
        for index in row.indices {
            let left = index >= step ? Int(row[index - step]) : 0
            let up = Int(above[index])
            let corner = index >= step ? Int(above[index - step]) : 0
            let guess: Int
            switch kind {
            case 0: return true
            case 1: guess = left
            case 2: guess = up
            case 3: guess = (left + up) / 2
            case 4:
                let estimate = left + up - corner
                let (a, b, c) = (
                    abs(estimate - left), abs(estimate - up), abs(estimate - corner)
                )
                guess = a <= b && a <= c ? left : b <= c ? up : corner
            default: return false
            }
            row[index] &+= UInt8(truncatingIfNeeded: guess)
        }
        return true
    }

    static func encode(_ raster: Raster) -> [UInt8] {
        var bytes = signature
        func bigEndian(_ value: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        func chunk(_ type: String, _ data: [UInt8]) {
            bytes += bigEndian(UInt32(data.count))
            let body = Array(type.utf8) + data
            bytes += body
            bytes += bigEndian(checksum(body))
        }
        chunk(
            "IHDR",
            bigEndian(UInt32(raster.width)) + bigEndian(UInt32(raster.height)) + [8, 6, 0, 0, 0])
        var lines: [UInt8] = []
        lines.reserveCapacity((raster.width * 4 + 1) * raster.height)
        for y in 0..<raster.height {
            lines.append(0)
            lines += raster.bytes[(y * raster.width * 4)..<((y + 1) * raster.width * 4)]
        }
        // Blocks that are stored as they are (RFC 1951, 3.2.4).
        var packed: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let count = min(65_535, lines.count - start)
            packed.append(start + count == lines.count ? 1 : 0)
            packed += [
                UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255),
                UInt8(~count >> 8 & 255),
            ]
            packed += lines[start..<(start + count)]
            start += count
        } while start < lines.count
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in lines {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        packed += bigEndian(b << 16 | a)
        chunk("IDAT", packed)
        chunk("IEND", [])
        return bytes
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
        }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { value, byte in
            table[Int((value ^ UInt32(byte)) & 255)] ^ (value >> 8)
        }
    }
}
