// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZlib

extension Canvas {
    /// zlib's level: maps are flat colours, of which slower levels make no smaller files.
    private static let level: Int32 = 2

    /// The picture, or a part of it, as PNG, of 8 bits a channel, with alpha where anything is
    /// translucent; nil when it would have more than `byteLimit` bytes.
    ///
    /// Rows are not filtered: filters are for photographs, and make pictures of flat colours
    /// larger. Cairo's own writer takes three to five times as long and makes files half as large
    /// again (decision 0219). Layout: https://www.w3.org/TR/png-2/. Throws ``CairoError``.
    ///
    /// - Parameter part: Columns and rows of the canvas, at least one of each; nil for all.
    public func png(
        atMost byteLimit: Int, of part: (columns: Range<Int>, rows: Range<Int>)? = nil
    ) throws(CairoError) -> [UInt8]? {
        let columns = (part?.columns ?? 0..<width).clamped(to: 0..<width)
        let rows = (part?.rows ?? 0..<height).clamped(to: 0..<height)
        guard !columns.isEmpty, !rows.isEmpty else {
            throw CairoError(operation: "write PNG", message: "the part has no pixels")
        }
        var isOpaque = true
        if hasAlpha {
            try forEachRow(rows) { row in
                isOpaque = isOpaque && columns.allSatisfy { row[$0] >> 24 == 255 }
            }
        }
        guard let stream = Deflation(level: Self.level) else {
            throw CairoError(operation: "write PNG", message: "no memory")
        }
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        var header = UInt32(columns.count).bigEndianBytes + UInt32(rows.count).bigEndianBytes
        header += [8, isOpaque ? 2 : 6, 0, 0, 0]
        file.appendChunk("IHDR", header)

        var line = [UInt8](repeating: 0, count: 1 + columns.count * (isOpaque ? 3 : 4))
        var isFull = false
        var isBroken = false
        func put(_ line: [UInt8], isLast: Bool = false) {
            guard !isFull && !isBroken else { return }
            isBroken = !stream.take(line, isLast: isLast) { part in
                // The file's trailer has 12 bytes, and the framing of this part as many.
                isFull = isFull || file.count + part.count + 24 > byteLimit
                if !isFull { file.appendChunk("IDAT", part) }
            }
        }
        try forEachRow(rows) { row in
            var index = 1
            // Most pixels are like the one before.
            var last: UInt32 = 0
            var plain: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
            for column in columns {
                let pixel = row[column]
                if isOpaque {
                    line[index] = UInt8(truncatingIfNeeded: pixel >> 16)
                    line[index + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                    line[index + 2] = UInt8(truncatingIfNeeded: pixel)
                    index += 3
                } else {
                    if pixel != last { (last, plain) = (pixel, Self.unmultiplied(pixel)) }
                    line[index] = plain.0
                    line[index + 1] = plain.1
                    line[index + 2] = plain.2
                    line[index + 3] = plain.3
                    index += 4
                }
            }
            put(line)
        }
        put([], isLast: true)
        if isFull { return nil }
        guard !isBroken else { throw CairoError(operation: "write PNG", message: "zlib failed") }
        file.appendChunk("IEND", [])
        return file
    }

    /// The one colour of all pixels of a part, as in memory; nil where there are several, and for a
    /// canvas without alpha.
    ///
    /// Two parts of the same size and colour are the same picture. Throws ``CairoError``.
    public func uniformPixel(
        columns: Range<Int>, rows: Range<Int>
    ) throws(CairoError) -> UInt32? {
        let (columns, rows) = (columns.clamped(to: 0..<width), rows.clamped(to: 0..<height))
        var pixel: UInt32?
        var isUniform = hasAlpha
        try forEachRow(rows) { row in
            guard isUniform, let first = columns.first else { return }
            let wanted = pixel ?? row[first]
            pixel = wanted
            isUniform = columns.allSatisfy { row[$0] == wanted }
        }
        return isUniform ? pixel : nil
    }
}

/// Bytes made smaller by zlib, handed out in parts (`deflate`); used by one thread.
@safe
private final class Deflation {
    private var stream: z_stream
    private var part: [UInt8]
    private static let partSize = 64 << 10

    /// Nil where there is no memory.
    init?(level: Int32) {
        unsafe stream = z_stream()
        part = [UInt8](repeating: 0, count: Self.partSize)
        guard
            unsafe deflateInit_(
                &stream, level, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
    }

    deinit { unsafe deflateEnd(&stream) }

    /// Takes bytes, and calls `body` with each part that is ready.
    ///
    /// False where zlib failed.
    func take(_ bytes: [UInt8], isLast: Bool, _ body: (ArraySlice<UInt8>) -> Void) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
            unsafe stream.avail_in = UInt32(source.count)
            while true {
                let code = unsafe part.withUnsafeMutableBufferPointer { target in
                    if unsafe stream.avail_out == 0 || stream.next_out == nil {
                        unsafe stream.next_out = target.baseAddress
                        unsafe stream.avail_out = UInt32(target.count)
                    }
                    return unsafe deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                }
                // Z_BUF_ERROR means that there was no output left to write.
                guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(code) else { return false }
                let isEnd = code == Z_STREAM_END
                if unsafe isEnd || stream.avail_out == 0 {
                    body(part[..<(part.count - Int(unsafe stream.avail_out))])
                    unsafe stream.avail_out = 0
                    if isEnd { return true }
                } else {
                    return !isLast
                }
            }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendChunk<Bytes: Collection<UInt8>>(_ kind: String, _ data: Bytes) {
        append(contentsOf: UInt32(data.count).bigEndianBytes)
        let start = count
        append(contentsOf: kind.utf8)
        append(contentsOf: data)
        let sum = unsafe self[start...].withUnsafeBufferPointer {
            unsafe crc32(0, $0.baseAddress, UInt32($0.count))
        }
        append(contentsOf: UInt32(truncatingIfNeeded: sum).bigEndianBytes)
    }
}

extension UInt32 {
    fileprivate var bigEndianBytes: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> UInt32($0)) }
    }
}
