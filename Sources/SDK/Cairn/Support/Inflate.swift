// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

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
