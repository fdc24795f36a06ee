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
        // Runs of equal bytes, as of empty ground, are packed; nothing else is.
        var lines: [UInt8] = []
        lines.reserveCapacity((raster.width * 4 + 1) * raster.height)
        for y in 0..<raster.height {
            lines.append(0)
            lines += raster.bytes[(y * raster.width * 4)..<((y + 1) * raster.width * 4)]
        }
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

/// Unpacks a zlib stream (RFC 1950), or the deflated bytes in it alone (RFC 1951).
struct Inflate {
    private let bytes: [UInt8]
    private var place: Int
    private var bits: UInt32 = 0
    private var bitCount: UInt32 = 0
    private var output: [UInt8] = []
    private let limit: Int

    private static let fault = CairnError(.invalidDocument, "packed bytes are damaged")

    /// The bytes of a stream; throws unless there are exactly `byteCount`.
    static func unpack(
        _ bytes: [UInt8], byteCount: Int, hasHeader: Bool = true
    ) throws -> [UInt8] {
        guard !hasHeader || bytes.count > 2 && bytes[0] & 15 == 8 else { throw fault }
        var state = Inflate(bytes: bytes, place: hasHeader ? 2 : 0, limit: byteCount)
        state.output.reserveCapacity(byteCount)
        while try state.block() {}
        guard state.output.count == byteCount else { throw fault }
        return state.output
    }

    /// Most bytes of a file that is unpacked.
    private static let fileLimit = 64 << 20

    /// The bytes of a gzip file (RFC 1952) of one member without a name; others are as they are.
    static func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
        guard bytes.starts(with: [0x1f, 0x8b]) else { return bytes }
        guard bytes.count >= 18, bytes[2] == 8, bytes[3] == 0 else { throw fault }
        let count = bytes.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= fileLimit else { throw fault }
        return try unpack(Array(bytes[10..<(bytes.count - 8)]), byteCount: count, hasHeader: false)
    }

    private init(bytes: [UInt8], place: Int, limit: Int) {
        self.bytes = bytes
        self.place = place
        self.limit = limit
    }

    private mutating func take(_ count: UInt32) throws -> Int {
        while bitCount < count {
            guard place < bytes.count else { throw Self.fault }
            bits |= UInt32(bytes[place]) << bitCount
            place += 1
            bitCount += 8
        }
        defer {
            bits >>= count
            bitCount -= count
        }
        return Int(bits & ((1 << count) - 1))
    }

    /// Canonical Huffman code: numbers of codes by length, and symbols in order.
    private struct Code {
        var counts = [Int](repeating: 0, count: 16)
        var symbols: [Int] = []

        init(_ lengths: [Int]) {
            for length in lengths { counts[length] += 1 }
            counts[0] = 0
            var offsets = [Int](repeating: 0, count: 17)
            for length in 1..<16 { offsets[length + 1] = offsets[length] + counts[length] }
            symbols = [Int](repeating: 0, count: lengths.count)
            for (symbol, length) in lengths.enumerated() where length > 0 {
                symbols[offsets[length]] = symbol
                offsets[length] += 1
            }
        }
    }

    private mutating func symbol(_ code: Code) throws -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1..<16 {
            value |= try take(1)
            let count = code.counts[length]
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Self.fault
    }

    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
        131, 163, 195, 227, 258,
    ]
    private static let lengthExtras = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
        2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
    ]
    private static let fixedLengths = Code(
        (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
    private static let fixedDistances = Code([Int](repeating: 5, count: 30))
    private static let order = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ]

    /// Unpacks a block; whether another follows.
    private mutating func block() throws -> Bool {
        let isLast = try take(1) == 1
        switch try take(2) {
        case 0:
            (bits, bitCount) = (0, 0)
            guard place + 4 <= bytes.count else { throw Self.fault }
            let count = Int(bytes[place]) | Int(bytes[place + 1]) << 8
            place += 4
            guard place + count <= bytes.count, output.count + count <= limit else {
                throw Self.fault
            }
            output += bytes[place..<(place + count)]
            place += count
        case 1: try codes(Self.fixedLengths, Self.fixedDistances)
        case 2:
            let lengthCount = try take(5) + 257
            let distanceCount = try take(5) + 1
            let codeCount = try take(4) + 4
            guard lengthCount <= 286, distanceCount <= 30 else { throw Self.fault }
            var lengths = [Int](repeating: 0, count: 19)
            for index in 0..<codeCount { lengths[Self.order[index]] = try take(3) }
            let code = Code(lengths)
            lengths = []
            while lengths.count < lengthCount + distanceCount {
                let symbol = try symbol(code)
                switch symbol {
                case 16:
                    guard let last = lengths.last else { throw Self.fault }
                    lengths += [Int](repeating: last, count: 3 + (try take(2)))
                case 17: lengths += [Int](repeating: 0, count: 3 + (try take(3)))
                case 18: lengths += [Int](repeating: 0, count: 11 + (try take(7)))
                default: lengths.append(symbol)
                }
            }
            guard lengths.count == lengthCount + distanceCount else { throw Self.fault }
            try codes(
                Code(Array(lengths[..<lengthCount])), Code(Array(lengths[lengthCount...])))
        default: throw Self.fault
        }
        return !isLast
    }

    private mutating func codes(_ lengths: Code, _ distances: Code) throws {
        while true {
            let symbol = try symbol(lengths)
            if symbol == 256 { return }
            guard symbol > 256 else {
                guard output.count < limit else { throw Self.fault }
                output.append(UInt8(symbol))
                continue
            }
            guard symbol - 257 < Self.lengthBases.count else { throw Self.fault }
            let length =
                Self.lengthBases[symbol - 257]
                + (try take(UInt32(Self.lengthExtras[symbol - 257])))
            let code = try self.symbol(distances)
            guard code < Self.distanceBases.count else { throw Self.fault }
            let distance =
                Self.distanceBases[code] + (try take(UInt32(max(0, code / 2 - 1))))
            guard distance <= output.count, output.count + length <= limit else {
                throw Self.fault
            }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
    }
}
