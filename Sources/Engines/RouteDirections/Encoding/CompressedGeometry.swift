// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// The text form of a line in Esri's directions (`compressedGeometry`).
///
/// Signed whole numbers of base 32, digits `0–9a–v`, each with its sign: a factor, then the
/// differences of x and y from position to position, the first from 0, in units of 1/factor.
public enum CompressedGeometry {
    /// The largest factor, and the largest difference where coordinates allow it.
    private static let limit = Double(Int32.max)

    /// Encodes positions in any spatial reference, in whose units they are rounded to 31 bits.
    ///
    /// Each is rounded before the differences are taken, so that errors do not add up. Throws
    /// `invalidParameter` for an ordinate that is no number or beyond `Coordinate.bound`.
    public static func encode(_ line: [Coordinate]) throws(Failure) -> String {
        var extent = 0.0
        for position in line {
            guard position.isFinite else {
                throw Failure(.invalidParameter, "a position of a line is no number")
            }
            extent = max(extent, abs(position.x), abs(position.y))
        }
        guard extent <= Coordinate.bound else {
            throw Failure(.invalidParameter, "a line reaches to \(extent): at most 1e12")
        }
        // Factor 0 begins another form, with z.
        let factor = max(1, min(limit, (limit / extent).rounded(.down)))
        var text = signed(Int64(factor))
        var last: (x: Int64, y: Int64) = (0, 0)
        for position in line {
            let x = Int64((position.x * factor).rounded())
            let y = Int64((position.y * factor).rounded())
            text += signed(x - last.x) + signed(y - last.y)
            last = (x, y)
        }
        return text
    }

    private static func signed(_ number: Int64) -> String {
        (number < 0 ? "-" : "+") + String(number.magnitude, radix: 32)
    }

    /// Decodes positions; throws `invalidParameter` for other text, or the form with z.
    public static func decode(_ text: String) throws(Failure) -> [Coordinate] {
        let numbers = try numbers(in: text)
        guard let factor = numbers.first, factor > 0, numbers.count % 2 == 1 else {
            throw Failure(
                .invalidParameter,
                "compressed geometry of \(numbers.count) numbers: expected a factor above 0 and "
                    + "two for each position")
        }
        var line: [Coordinate] = []
        line.reserveCapacity(numbers.count / 2)
        var x: Int64 = 0
        var y: Int64 = 0
        for place in stride(from: 1, to: numbers.count, by: 2) {
            let (nextX, overflowsX) = x.addingReportingOverflow(numbers[place])
            let (nextY, overflowsY) = y.addingReportingOverflow(numbers[place + 1])
            guard !overflowsX, !overflowsY else {
                throw Failure(.invalidParameter, "compressed geometry: a sum exceeds 64 bits")
            }
            (x, y) = (nextX, nextY)
            line.append(
                Coordinate(x: Double(x) / Double(factor), y: Double(y) / Double(factor)))
        }
        return line
    }

    private static func numbers(in text: String) throws(Failure) -> [Int64] {
        var numbers: [Int64] = []
        let bytes = Array(text.utf8)
        var place = 0
        while place < bytes.count {
            let sign = bytes[place]
            var end = place + 1
            while end < bytes.count, bytes[end] != UInt8(ascii: "+"),
                bytes[end] != UInt8(ascii: "-")
            {
                end += 1
            }
            let isSigned = sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
            let digits = String(decoding: bytes[place..<end], as: UTF8.self)
            guard isSigned, let number = Int64(digits, radix: 32) else {
                throw Failure(
                    .invalidParameter,
                    "compressed geometry at byte \(place): expected a sign and digits of base 32")
            }
            numbers.append(number)
            place = end
        }
        return numbers
    }
}
