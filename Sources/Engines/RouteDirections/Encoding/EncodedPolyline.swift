// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// Google's text form of a line: latitude and longitude as differences of whole numbers, five bits
/// a character.
public struct EncodedPolyline: Hashable, Sendable {
    /// The decimals kept.
    public let decimals: Int
    private let factor: Double

    /// Google's: five decimals.
    public static let five = EncodedPolyline(decimals: 5, factor: 1e5)
    /// Seven decimals, those of road networks.
    public static let seven = EncodedPolyline(decimals: 7, factor: 1e7)
    /// Six decimals.
    public static let six = EncodedPolyline(decimals: 6, factor: 1e6)

    private init(decimals: Int, factor: Double) {
        self.decimals = decimals
        self.factor = factor
    }

    /// Encodes positions, longitude (x) and latitude (y) in degrees; throws `invalidParameter` for
    /// an ordinate that is no number or beyond ±1000.
    public func encode(_ line: [Coordinate]) throws(Failure) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * line.count)
        var last: (x: Int64, y: Int64) = (0, 0)
        for position in line {
            guard abs(position.x) <= 1000, abs(position.y) <= 1000 else {
                throw Failure(
                    .invalidParameter,
                    "a position of a line is \(position.x), \(position.y): expected degrees")
            }
            let x = Int64((position.x * factor).rounded())
            let y = Int64((position.y * factor).rounded())
            Self.append(y - last.y, to: &bytes)
            Self.append(x - last.x, to: &bytes)
            last = (x, y)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ number: Int64, to bytes: inout [UInt8]) {
        // The sign is the lowest bit.
        var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
        while rest >= 0x20 {
            bytes.append(UInt8(truncatingIfNeeded: 0x20 | (rest & 0x1F)) + 63)
            rest >>= 5
        }
        bytes.append(UInt8(truncatingIfNeeded: rest) + 63)
    }

    /// Decodes positions; throws `invalidParameter` for other text.
    public func decode(_ text: String) throws(Failure) -> [Coordinate] {
        var line: [Coordinate] = []
        line.reserveCapacity(text.utf8.count / 4)
        var (x, y): (Int64, Int64) = (0, 0)
        var isLatitude = true
        var rest: UInt64 = 0
        var shift: UInt64 = 0
        let span = text.utf8.span
        for place in span.indices {
            let byte = span[place]
            guard 63...126 ~= byte, shift < 40 else {
                throw Failure(
                    .invalidParameter,
                    "polyline at byte \(place): expected characters ? to ~, eight a number at most")
            }
            let bits = UInt64(byte - 63)
            rest |= (bits & 0x1F) << shift
            if bits & 0x20 != 0 {
                shift += 5
            } else {
                // Numbers are below 2^40, so that sums of as many as memory has do not overflow.
                let number = Int64(rest >> 1) ^ -Int64(rest & 1)
                if isLatitude {
                    y &+= number
                } else {
                    x &+= number
                    line.append(Coordinate(x: Double(x) / factor, y: Double(y) / factor))
                }
                isLatitude.toggle()
                (rest, shift) = (0, 0)
            }
        }
        guard shift == 0, isLatitude else {
            throw Failure(
                .invalidParameter, "polyline of \(text.utf8.count) bytes: it ends in a position")
        }
        return line
    }
}
