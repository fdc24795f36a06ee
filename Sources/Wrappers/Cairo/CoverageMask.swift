// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The coverage of pixels, 0…255, in some rows of a picture, from the first to the last covered
/// column of each.
///
/// Reused from shape to shape, with its memory.
public struct CoverageMask {
    /// The picture's columns.
    public let width: Int
    /// The rows of the mask.
    public private(set) var rows = 0..<0
    private var columns: [Range<Int>] = []
    private var coverages: [UInt8] = []

    /// A mask without rows, of a picture of `width` columns.
    public init(width: Int) { self.width = width }

    /// Begins again with these rows, covered nowhere.
    public mutating func reset(rows: Range<Int>) {
        self.rows = rows
        columns.removeAll(keepingCapacity: true)
        columns.append(contentsOf: repeatElement(0..<0, count: rows.count))
        let count = rows.count * width
        if coverages.count < count { coverages = [UInt8](repeating: 0, count: count) }
    }

    /// States in which columns a row is covered; the coverage of each of them has to follow.
    public mutating func begin(_ row: Int, _ covered: Range<Int>) {
        columns[row - rows.lowerBound] = covered.clamped(to: 0..<width)
    }

    /// States the coverage of one pixel; columns beyond the picture are left out.
    @inline(__always)
    public mutating func set(_ row: Int, _ column: Int, _ value: UInt8) {
        guard column < width else { return }
        coverages[(row - rows.lowerBound) * width + column] = value
    }

    /// States one coverage of some of a row's columns.
    public mutating func cover(_ row: Int, _ part: Range<Int>, all value: UInt8) {
        let base = (row - rows.lowerBound) * width
        for column in part.clamped(to: 0..<width) { coverages[base + column] = value }
    }

    /// The columns of a row that may be covered.
    public func columns(of row: Int) -> Range<Int> { columns[row - rows.lowerBound] }

    /// The coverage of one pixel; 0 outside.
    public subscript(row: Int, column: Int) -> UInt8 {
        guard rows.contains(row), columns(of: row).contains(column) else { return 0 }
        return coverages[(row - rows.lowerBound) * width + column]
    }

    /// Lends the coverages of a row; outside its ``columns(of:)`` they are undefined.
    func withCoverages(of row: Int, _ body: (Span<UInt8>) -> Void) {
        let base = (row - rows.lowerBound) * width
        body(coverages.span.extracting(base..<base + width))
    }
}

/// A colour as `0xAARRGGBB`, multiplied by its alpha, to be laid over pixels of that form.
struct Ink {
    /// Alpha and green, red and blue: two channels in one number, 16 bits each.
    private let alphaGreen: UInt32
    private let redBlue: UInt32
    private let whole: UInt32
    private let isOpaque: Bool

    init(_ color: PaintColor) {
        func channel(_ value: Double) -> UInt32 {
            UInt32((max(0, min(1, value)) * max(0, min(1, color.alpha)) * 255).rounded())
        }
        alphaGreen = channel(1) << 16 | channel(color.green)
        redBlue = channel(color.red) << 16 | channel(color.blue)
        whole = alphaGreen << 8 | redBlue
        isOpaque = channel(1) == 255
    }

    /// A pixel of these channels, not multiplied yet.
    static func pixel(_ red: UInt8, _ green: UInt8, _ blue: UInt8, _ alpha: UInt8) -> UInt32 {
        let upper = scaled(255 << 16 | UInt32(green), UInt32(alpha))
        let lower = scaled(UInt32(red) << 16 | UInt32(blue), UInt32(alpha))
        return upper << 8 | lower
    }

    /// The pixel after compositing the colour with a coverage of 0…255.
    func laid(over pixel: UInt32, _ coverage: UInt8) -> UInt32 {
        if coverage == 255 && isOpaque { return whole }
        let share = UInt32(coverage)
        let (upper, lower) = (Self.scaled(alphaGreen, share), Self.scaled(redBlue, share))
        let rest = 255 - upper >> 16
        // No channel exceeds its alpha, so no sum exceeds 255.
        return (upper &+ Self.scaled(pixel >> 8 & 0xFF_00FF, rest)) << 8
            | (lower &+ Self.scaled(pixel & 0xFF_00FF, rest))
    }

    /// Two channels times `share` / 255, rounded.
    private static func scaled(_ channels: UInt32, _ share: UInt32) -> UInt32 {
        let product = channels &* share &+ 0x80_0080
        return (product &+ (product >> 8 & 0xFF_00FF)) >> 8 & 0xFF_00FF
    }
}

extension Span<UInt8> {
    /// The end of the bytes from `start` on that are all the same, `end` at most.
    func runEnd(from start: Int, to end: Int) -> Int {
        let value = self[start]
        let pattern = UInt64(value) &* 0x0101_0101_0101_0101
        let end = Swift.min(end, count)
        var index = start + 1
        unsafe withUnsafeBytes { bytes in
            while index + 8 <= end,
                unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) == pattern
            {
                index += 8
            }
        }
        while index < end, self[index] == value { index += 1 }
        return index
    }
}
