// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Lists of positions as geometries of the REST have them, `[[[x, y], …], …]`, without a tree:
/// every position has the same count of numbers.
public struct JSONPositions: Sendable {
    /// The numbers of all positions, one position after the other.
    public internal(set) var numbers: [Double] = []
    /// Numbers of a position: 2 to 4.
    public internal(set) var stride = 2
    /// How many positions there are up to the end of each list.
    public internal(set) var ends: [Int] = []
    /// Whether it is one list, `[[x, y], …]`.
    public internal(set) var isFlat = false

    /// Whether each list ends with its first position.
    public var areClosed: Bool {
        var start = 0
        for end in ends where end > start {
            for index in 0..<stride
            where numbers[start * stride + index] != numbers[(end - 1) * stride + index] {
                return false
            }
            start = end
        }
        return true
    }

    /// The value as any other has it.
    var elements: [JSONTree] {
        var start = 0
        let lists = ends.map { end in
            defer { start = end }
            return (start..<end).map { position in
                JSONTree.array(
                    numbers[position * stride..<(position + 1) * stride].map { .real($0) })
            }
        }
        return isFlat ? lists.first ?? [] : lists.map { .array($0) }
    }
}

/// A power of ten that decimal fractions are divided by, so that the outcome is the nearest
/// `Double`: division by an invariant (Möller and Granlund, *Improved division by invariant
/// integers*, 2011, algorithm 4) is exact, and what remains decides the rounding.
@safe
struct DecimalScale {
    /// The power, exact.
    private let divisor: Double
    /// The power shifted up until its highest bit is set, by how much, and its reciprocal.
    private let shifted: UInt64
    private let shift: Int
    private let reciprocal: UInt64

    /// Divisors for 0 to 19 digits behind the point.
    static let all = (0...19).map { DecimalScale($0) }

    private init(_ digits: Int) {
        let power = (0..<digits).reduce(UInt64(1)) { power, _ in power * 10 }
        divisor = Double(power)
        shift = power.leadingZeroBitCount
        shifted = power << UInt64(shift)
        reciprocal = shifted.dividingFullWidth((UInt64.max - shifted, .max)).quotient
    }

    /// The `Double` nearest to a whole number divided by the power.
    @inline(__always)
    func nearest(_ whole: UInt64) -> Double {
        // Both are exact: one rounding is all there is.
        if whole <= 1 << 53 { return Double(whole) / divisor }
        let left = whole.leadingZeroBitCount
        let normal = whole << UInt64(left)
        let (high, low) = (normal >> 1, normal << 63)
        let product = reciprocal.multipliedFullWidth(by: high)
        let (rest, carry) = product.low.addingReportingOverflow(low)
        var quotient = product.high &+ high &+ (carry ? 1 : 0) &+ 1
        var remainder = low &- quotient &* shifted
        if remainder > rest {
            quotient &-= 1
            remainder &+= shifted
        }
        if remainder >= shifted {
            quotient &+= 1
            remainder &-= shifted
        }
        // The quotient has 63 bits or 64, of which a `Double` keeps 53.
        let exponent = shift - left - 63
        return Double(quotient | (remainder == 0 ? 0 : 1))
            * Double(bitPattern: UInt64(1_023 + exponent) << 52)
    }
}

/// Reads lists of positions; gives up at anything else, which is left to ``JSONReader``.
@safe
struct JSONPositionReader {
    private let bytes: UnsafePointer<UInt8>
    private let count: Int
    private let scales: UnsafePointer<DecimalScale>

    /// Reads from a `[`, of one list or of several; nil where there is anything else than
    /// positions.
    static func read(
        _ bytes: [UInt8], at place: Int, isFlat: Bool
    ) -> (positions: JSONPositions, end: Int)? {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe DecimalScale.all.withUnsafeBufferPointer { scales in
                guard let start = bytes.baseAddress, let scales = scales.baseAddress else {
                    return nil
                }
                let reader = unsafe JSONPositionReader(
                    bytes: start, count: bytes.count, scales: scales)
                var (place, positions) = (place, JSONPositions())
                positions.isFlat = isFlat
                guard reader.lists(&place, &positions) else { return nil }
                return (positions, place)
            }
        }
    }

    private init(
        bytes: UnsafePointer<UInt8>, count: Int, scales: UnsafePointer<DecimalScale>
    ) {
        unsafe self.bytes = bytes
        self.count = count
        unsafe self.scales = scales
    }

    /// The byte at an offset; 0 behind the end, where nothing is allowed.
    @inline(__always)
    private func byte(_ offset: Int) -> UInt8 { offset < count ? unsafe bytes[offset] : 0 }

    @inline(__always)
    private func take(_ character: Unicode.Scalar, _ place: inout Int) -> Bool {
        while true {
            switch byte(place) {
            case UInt8(ascii: character):
                place += 1
                return true
            case 0x20, 0x0A, 0x0D, 0x09: place += 1
            default: return false
            }
        }
    }

    private func lists(_ place: inout Int, _ positions: inout JSONPositions) -> Bool {
        if positions.isFlat { return list(&place, &positions) }
        guard take("[", &place) else { return false }
        if take("]", &place) { return true }
        repeat {
            guard list(&place, &positions) else { return false }
        } while take(",", &place)
        return take("]", &place)
    }

    private func list(_ start: inout Int, _ positions: inout JSONPositions) -> Bool {
        // Of its own, so that they are in registers.
        var place = start
        var numbers: [Double] = []
        swap(&numbers, &positions.numbers)
        guard take("[", &place) else { return false }
        if !take("]", &place) {
            if numbers.isEmpty {
                guard let stride = stride(place) else { return false }
                positions.stride = stride
                numbers.reserveCapacity(min(count - place, 1 << 16) / 16)
            }
            let stride = positions.stride
            repeat {
                guard take("[", &place) else { return false }
                var left = stride
                while true {
                    guard let number = number(&place) else { return false }
                    numbers.append(number)
                    left -= 1
                    if left == 0 { break }
                    guard take(",", &place) else { return false }
                }
                guard take("]", &place) else { return false }
            } while take(",", &place)
            guard take("]", &place) else { return false }
        }
        positions.ends.append(numbers.count / positions.stride)
        swap(&numbers, &positions.numbers)
        start = place
        return true
    }

    /// How many numbers a position has.
    private func stride(_ place: Int) -> Int? {
        var (offset, commas) = (place, 0)
        while byte(offset) != UInt8(ascii: "]") {
            guard offset < count, commas < 4 else { return nil }
            if byte(offset) == UInt8(ascii: ",") { commas += 1 }
            offset += 1
        }
        return 1...3 ~= commas ? commas + 1 : nil
    }

    @inline(__always)
    private func number(_ place: inout Int) -> Double? {
        while byte(place) == 0x20 || 0x09...0x0D ~= byte(place) {
            guard byte(place) != 0x0B, byte(place) != 0x0C else { return nil }
            place += 1
        }
        return shortNumber(&place) ?? longNumber(&place)
    }

    /// A number with more digits or with an exponent.
    @inline(never)
    private func longNumber(_ place: inout Int) -> Double? {
        let start = place
        while JSONReader.isWord(byte(place)) { place += 1 }
        let text = unsafe Substring(
            decoding: UnsafeBufferPointer(start: bytes + start, count: place - start),
            as: UTF8.self)
        guard JSONReader.isNumber(text.utf8), let number = Double(text), number.isFinite else {
            return nil
        }
        return number
    }

    /// A number of RFC 8259 of at most 19 digits, without an exponent; nil, without moving on, for
    /// anything else.
    @inline(__always)
    private func shortNumber(_ start: inout Int) -> Double? {
        var place = start
        let isNegative = byte(place) == UInt8(ascii: "-")
        if isNegative { place += 1 }
        let first = place
        var whole: UInt64 = 0
        while byte(place) &- UInt8(ascii: "0") < 10 {
            whole = whole &* 10 &+ UInt64(byte(place) &- UInt8(ascii: "0"))
            place += 1
        }
        let wholeCount = place - first
        guard wholeCount == 1 || wholeCount > 1 && byte(first) != UInt8(ascii: "0") else {
            return nil
        }
        var fractionCount = 0
        if byte(place) == UInt8(ascii: ".") {
            place += 1
            let point = place
            fraction(&whole, &place)
            fractionCount = place - point
            guard fractionCount > 0 else { return nil }
        } else if whole == 0 {
            // A whole zero has no sign.
            guard wholeCount == 1, byte(place) | 0x20 != UInt8(ascii: "e") else { return nil }
            start = place
            return 0
        }
        guard wholeCount + fractionCount <= 19, byte(place) | 0x20 != UInt8(ascii: "e") else {
            return nil
        }
        start = place
        let value = unsafe scales[fractionCount].nearest(whole)
        return isNegative ? -value : value
    }

    /// Takes digits, eight and four at once where there are as many; wrong beyond 19, which are
    /// refused.
    @inline(__always)
    private func fraction(_ value: inout UInt64, _ place: inout Int) {
        while place + 8 <= count {
            let word = unsafe UnsafeRawPointer(bytes + place).loadUnaligned(as: UInt64.self)
                .littleEndian
            if Self.areDigits(word) {
                value = value &* 100_000_000 &+ Self.number(word)
                place += 8
            } else if Self.areDigits(word & 0xFFFF_FFFF | 0x3030_3030_0000_0000) {
                value = value &* 10_000 &+ Self.number(word << 32 | 0x3030_3030)
                place += 4
                break
            } else {
                break
            }
        }
        while byte(place) &- UInt8(ascii: "0") < 10 {
            value = value &* 10 &+ UInt64(byte(place) &- UInt8(ascii: "0"))
            place += 1
        }
    }

    /// Whether each byte is a digit: its upper half is 3, also after 6 is added.
    @inline(__always)
    private static func areDigits(_ word: UInt64) -> Bool {
        let upper: UInt64 = 0xF0F0_F0F0_F0F0_F0F0
        return (word & upper) | ((word &+ 0x0606_0606_0606_0606) & upper) >> 4
            == 0x3333_3333_3333_3333
    }

    /// The number of eight digits, the first of which is in the lowest byte: of pairs, of fours,
    /// then of all.
    @inline(__always)
    private static func number(_ digits: UInt64) -> UInt64 {
        var word = ((digits & 0x0F0F_0F0F_0F0F_0F0F) &* 2_561) >> 8
        word = ((word & 0x00FF_00FF_00FF_00FF) &* 6_553_601) >> 16
        return ((word & 0x0000_FFFF_0000_FFFF) &* 42_949_672_960_001) >> 32
    }
}
