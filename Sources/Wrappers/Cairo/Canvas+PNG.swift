// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZlib

extension Canvas {
    /// zlib's level: maps are flat colours, of which slower levels make no smaller files.
    private static let level: Int32 = 2

    /// The picture as PNG, of 8 bits a channel, with alpha where anything is translucent; nil when
    /// it would have more than `byteLimit` bytes.
    ///
    /// Rows are not filtered: filters are for photographs, and make pictures of flat colours
    /// larger. Cairo's own writer takes three to five times as long and makes files half as large
    /// again (decision 0219). Layout: https://www.w3.org/TR/png-2/. Throws ``CairoError``.
    public func png(atMost byteLimit: Int) throws(CairoError) -> [UInt8]? {
        var isOpaque = true
        if hasAlpha {
            try forEachRow { row in
                isOpaque = isOpaque && row.indices.allSatisfy { row[$0] >> 24 == 255 }
            }
        }
        guard let stream = Deflation(level: Self.level) else {
            throw CairoError(operation: "write PNG", message: "no memory")
        }
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        var header = UInt32(width).bigEndianBytes + UInt32(height).bigEndianBytes
        header += [8, isOpaque ? 2 : 6, 0, 0, 0]
        file.appendChunk("IHDR", header)

        var line = [UInt8](repeating: 0, count: 1 + width * (isOpaque ? 3 : 4))
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
        try forEachRow { row in
            var index = 1
            for column in row.indices {
                let pixel = row[column]
                if isOpaque {
                    line[index] = UInt8(truncatingIfNeeded: pixel >> 16)
                    line[index + 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                    line[index + 2] = UInt8(truncatingIfNeeded: pixel)
                    index += 3
                } else {
                    let plain = Self.unmultiplied(pixel)
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
