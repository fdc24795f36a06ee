// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZlib
internal import Glibc
internal import Platform

/// The lines of a text file, plain or gzip, read from front to back in pieces of 256 KiB.
///
/// Which of the two it is follows from the first bytes, not from the name. Lines end with `\n` or
/// `\r\n`; a last line without an end counts. Used from one thread.
@safe
public struct TextLines: ~Copyable {
    /// The longest line that is accepted, in bytes.
    public static let longestLine = 1 << 20

    private let file: gzFile
    private let path: String
    private var piece = [UInt8](repeating: 0, count: 256 << 10)
    private var available = 0..<0
    private var isAtEnd = false
    /// The number of the line last returned; 1 for the first.
    public private(set) var lineNumber = 0
    /// Bytes of text read, after decompression.
    public private(set) var byteCount: Int64 = 0

    /// Opens a file.
    public init(path: String) throws(TextError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TextError(path: path, reason: Self.systemReason()) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw TextError(path: path, reason: "not a regular file")
        }
        guard let opened = unsafe gzdopen(descriptor, "rb") else {
            close(descriptor)
            throw TextError(path: path, reason: "out of memory")
        }
        unsafe file = opened
        self.path = path
    }

    /// The next line without its end; nil after the last one.
    ///
    /// Throws for a file that cannot be read, damaged or cut gzip data, or a line longer than
    /// ``longestLine``.
    public mutating func next() throws(TextError) -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if available.isEmpty {
                if try !fill() {
                    guard !line.isEmpty else { return nil }
                    lineNumber += 1
                    return line
                }
            }
            if let end = piece[available].firstIndex(of: UInt8(ascii: "\n")) {
                line += piece[available.lowerBound..<end]
                available = (end + 1)..<available.upperBound
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                lineNumber += 1
                return line
            }
            line += piece[available]
            available = 0..<0
            guard line.count <= Self.longestLine else {
                throw TextError(
                    path: path,
                    reason: "line \(lineNumber + 1) is longer than \(Self.longestLine) bytes")
            }
        }
    }

    private mutating func fill() throws(TextError) -> Bool {
        guard !isAtEnd else { return false }
        let count = unsafe piece.withUnsafeMutableBytes { buffer in
            unsafe gzread(file, buffer.baseAddress, UInt32(buffer.count))
        }
        var code: Int32 = Z_OK
        let message = unsafe gzerror(file, &code)
        guard count >= 0, code == Z_OK || code == Z_STREAM_END else {
            let reason =
                code == Z_ERRNO
                ? Self.systemReason()
                : unsafe message.map { unsafe String(cString: $0) } ?? "zlib error \(code)"
            throw TextError(path: path, reason: reason)
        }
        byteCount += Int64(count)
        available = 0..<Int(count)
        isAtEnd = count == 0
        return count > 0
    }

    private static func systemReason() -> String {
        unsafe String(cString: strerror(errno))
    }

    deinit { _ = unsafe gzclose_r(file) }
}

/// A failure to read the text of a file.
public struct TextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// The system's or zlib's reason.
    public let reason: String
    /// Whether a disk is full.
    public var isNoSpace = false

    /// One sentence with the path and the reason.
    public var description: String { "cannot read '\(path)': \(reason)" }
}
