// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials

/// The simple symbol a layer is listed with: its geometry's kind in a colour that follows from the
/// layer's number.
struct MapSymbol {
    private let type: GeometryType
    private let color: [UInt8]

    private static let size = 20
    private static let colors: [[UInt8]] = [
        [46, 94, 140], [178, 76, 48], [62, 122, 62], [122, 78, 142], [166, 124, 32],
        [44, 128, 132], [150, 54, 96], [90, 90, 90],
    ]

    /// The symbol of a layer.
    init(_ layer: LayerID, _ type: GeometryType) {
        self.type = type
        color = Self.colors[abs(layer % Self.colors.count)]
    }

    /// Writes the members of Esri's symbol object.
    func write(to json: inout JSONWriter) {
        switch type {
        case .point, .multipoint:
            json.member("type", "esriSMS")
            json.member("style", "esriSMSCircle")
            json.member("color", array: color + [255]) { $0.integer(Int64($1)) }
            json.member("size", 6)
        case .polyline: writeLine(to: &json)
        case .polygon:
            json.member("type", "esriSFS")
            json.member("style", "esriSFSSolid")
            json.member("color", array: color + [102]) { $0.integer(Int64($1)) }
            json.member("outline") { writeLine(to: &$0) }
        }
    }

    private func writeLine(to json: inout JSONWriter) {
        json.member("type", "esriSLS")
        json.member("style", "esriSLSSolid")
        json.member("color", array: color + [255]) { $0.integer(Int64($1)) }
        json.member("width", 1)
    }

    /// Writes one entry of a legend, picture included.
    func writeLegend(to json: inout JSONWriter) {
        json.object { json in
            json.member("label", "")
            json.member("url", type.rawValue.lowercased())
            json.member(
                "imageData", Data(PNG.encode(pixels(), width: Self.size)).base64EncodedString())
            json.member("contentType", "image/png")
            json.member("height", Self.size)
            json.member("width", Self.size)
        }
    }

    /// 20 by 20 pixels, red, green, blue, alpha: a disc, a diagonal line or a bordered square.
    private func pixels() -> [UInt8] {
        var result: [UInt8] = []
        for row in 0..<Self.size {
            for column in 0..<Self.size {
                result += color + [alpha(column: column, row: row)]
            }
        }
        return result
    }

    private func alpha(column: Int, row: Int) -> UInt8 {
        let middle = Self.size - 1
        switch type {
        case .point, .multipoint:
            let (dx, dy) = (2 * column - middle, 2 * row - middle)
            return dx * dx + dy * dy <= 64 ? 255 : 0
        case .polyline: return abs(column + row - middle) <= 1 ? 255 : 0
        case .polygon:
            guard 2...17 ~= column, 2...17 ~= row else { return 0 }
            return 3...16 ~= column && 3...16 ~= row ? 102 : 255
        }
    }
}

/// Writes small pictures as PNG with stored (uncompressed) data.
enum PNG {
    /// Encodes rows of red, green, blue and alpha bytes.
    ///
    /// The whole must fit one stored block: 64 KiB.
    static func encode(_ pixels: [UInt8], width: Int) -> [UInt8] {
        let height = pixels.count / (width * 4)
        var rows: [UInt8] = []
        for row in 0..<height {
            rows.append(0)
            rows += pixels[row * width * 4..<(row + 1) * width * 4]
        }
        precondition(rows.count <= 0xFFFF, "one stored block holds 65,535 bytes")
        let count = UInt16(rows.count)
        let stored: [UInt8] =
            [0x78, 0x01, 0x01, UInt8(count & 0xFF), UInt8(count >> 8)]
            + [UInt8(~count & 0xFF), UInt8(~count >> 8)] + rows + bigEndian(adler32(rows))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk(
                "IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 6, 0, 0, 0])
            + chunk("IDAT", stored) + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bigEndian(UInt32(data.count)) + body + bigEndian(crc32(body))
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }

    /// CRC-32 as PNG's specification has it.
    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
        }
        return ~crc
    }
}
