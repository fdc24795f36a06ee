// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux

/// Numbers as decimal text, appended to bytes without a string in between.
public enum DecimalText {
    /// Appends a whole number.
    public static func append(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(addingCapacity: 20) { text in append(value.magnitude, to: &text) }
    }

    /// Appends a finite number: the shortest text that reads back equal, as `description` has it,
    /// but whole numbers of a magnitude below 2^53 without a fraction.
    public static func append(_ value: Double, to bytes: inout [UInt8]) {
        let isShort = unsafe bytes.appendInPlace(Int(CAIRN_SHORT_DECIMAL_BYTES)) { text in
            unsafe cairn_short_decimal(value, text)
        }
        if !isShort { appendAny(value, to: &bytes) }
    }

    /// Appends `[x,y]` for each of the positions, with commas between; a number that is not finite
    /// is `null`.
    ///
    /// `pairs` holds the two ordinates of each, sixteen bytes a position.
    public static func append(
        positions pairs: RawSpan, isReversed: Bool = false, isSecondFirst: Bool = false,
        to bytes: inout [UInt8]
    ) {
        let count = pairs.byteCount / 16
        var done = 0
        while done < count {
            let wanted = min(count - done, positionStride)
            let first = isReversed ? count - 1 - done : done
            if done > 0 { bytes.append(UInt8(ascii: ",")) }
            var written = 0
            _ = unsafe bytes.appendInPlace(wanted * (2 * Int(CAIRN_SHORT_DECIMAL_BYTES) + 4)) {
                text in
                unsafe pairs.withUnsafeBytes { pairs in
                    guard let start = pairs.baseAddress else { return 0 }
                    var byteCount = 0
                    written = unsafe cairn_short_positions(
                        start + 16 * first, isReversed ? -1 : 1, isSecondFirst ? 1 : 0, wanted,
                        text,
                        &byteCount)
                    return byteCount
                }
            }
            done += written
            guard written < wanted else { continue }
            if written > 0 { bytes.append(UInt8(ascii: ",")) }
            let place = 16 * (isReversed ? count - 1 - done : done)
            let (x, y) = (pairs.double(at: place), pairs.double(at: place + 8))
            appendAny(isSecondFirst ? y : x, isSecondFirst ? x : y, to: &bytes)
            done += 1
        }
    }

    /// Number of positions written into one buffer.
    private static let positionStride = 256

    private static func appendAny(_ x: Double, _ y: Double, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        appendOrNull(x, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        appendOrNull(y, to: &bytes)
        bytes.append(UInt8(ascii: "]"))
    }

    private static func appendOrNull(_ value: Double, to bytes: inout [UInt8]) {
        if value.isFinite {
            append(value, to: &bytes)
        } else {
            bytes.append(contentsOf: "null".utf8)
        }
    }

    private static func appendAny(_ value: Double, to bytes: inout [UInt8]) {
        let magnitude = value.magnitude
        if magnitude < 0x1p53, magnitude == magnitude.rounded(.towardZero) {
            return append(Int64(value), to: &bytes)
        }
        var text = AppendedText(bytes: [])
        swap(&text.bytes, &bytes)
        value.write(to: &text)
        swap(&text.bytes, &bytes)
    }

    fileprivate static func append(_ value: UInt64, to text: inout OutputSpan<UInt8>) {
        var power: UInt64 = 1
        while value / power >= 10 { power *= 10 }
        var rest = value
        while power > 0 {
            text.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / power))
            rest %= power
            power /= 10
        }
    }
}

extension [UInt8] {
    /// Makes room for `capacity` bytes and a little more, and keeps those that `write` has written;
    /// false for none.
    @inline(__always)
    fileprivate mutating func appendInPlace(
        _ capacity: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int
    ) -> Bool {
        let before = count
        append(addingCapacity: capacity + Int(CAIRN_SHORT_DECIMAL_SLACK)) { text in
            unsafe text.withUnsafeMutableBufferPointer { room, count in
                guard let start = room.baseAddress else { return }
                unsafe count += write(start + count)
            }
        }
        return count > before
    }
}

/// Takes text as it is written, ASCII without a string around it.
private struct AppendedText: TextOutputStream {
    var bytes: [UInt8]

    mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    // The output of the standard library's numbers; without it they make a string.
    mutating func _writeASCII(_ text: UnsafeBufferPointer<UInt8>) {
        unsafe bytes.append(contentsOf: text)
    }
}
