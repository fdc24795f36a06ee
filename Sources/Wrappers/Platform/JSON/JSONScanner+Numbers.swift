// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

extension JSONScanner {
    /// A number written without fraction and exponent that 64 bits hold; nil for one with a
    /// fraction.
    ///
    /// A whole number that is written otherwise, and one beyond 64 bits, abandons the text.
    public func integer(_ value: Int) -> Int64? {
        let number = withNumber(value) { Self.integer($0) }
        if number == nil, kind(value) == .number {
            guard let real = real(value), real != real.rounded() else {
                abandon()
                return nil
            }
        }
        return number
    }

    private static func integer(_ digits: borrowing Span<UInt8>) -> Int64? {
        let isNegative = digits[0] == UInt8(ascii: "-")
        var number: Int64 = 0
        for index in (isNegative ? 1 : 0)..<digits.count {
            let digit = digits[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            // Downwards, because there is one more number below zero.
            let (tens, isOver) = number.multipliedReportingOverflow(by: 10)
            let (sum, isUnder) = tens.subtractingReportingOverflow(Int64(digit))
            guard !isOver, !isUnder else { return nil }
            number = sum
        }
        if isNegative { return number }
        return number == .min ? nil : -number
    }

    /// A number as the nearest floating-point one; one beyond those abandons the text.
    public func real(_ value: Int) -> Double? {
        guard kind(value) == .number else { return nil }
        let number = withNumber(value) { digits in Self.exact(digits) ?? Self.nearest(digits) }
        if number == nil { abandon() }
        return number
    }

    /// The end of the number is followed by another byte, at the end of the text a zero.
    private static func nearest(_ digits: borrowing Span<UInt8>) -> Double? {
        let number = unsafe digits.withUnsafeBufferPointer { bytes -> Double? in
            guard let start = bytes.baseAddress else { return nil }
            return unsafe start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                unsafe strtod($0, nil)
            }
        }
        guard let number, number.isFinite, number != 0 else { return nil }
        return number
    }

    /// Up to fifteen digits and a power of ten that has no error: then one rounding is all there
    /// is.
    private static func exact(_ digits: borrowing Span<UInt8>) -> Double? {
        guard digits.count <= 17 else { return nil }
        var (mantissa, digitCount, fraction) = (Int64(0), 0, 0)
        var isFraction = false
        let isNegative = digits[0] == UInt8(ascii: "-")
        for index in (isNegative ? 1 : 0)..<digits.count {
            let byte = digits[index]
            if byte == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            mantissa = mantissa * 10 + Int64(digit)
            digitCount += 1
            if isFraction { fraction += 1 }
        }
        guard digitCount <= 15 else { return nil }
        let number = Double(mantissa) / powersOfTen[fraction]
        return isNegative ? -number : number
    }

    static let powersOfTen: [Double] = (0...15).map { exponent in
        (0..<exponent).reduce(1.0) { power, _ in power * 10 }
    }
}
