// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Reads CSV (RFC 4180) from chunks of any size, in one pass and bounded memory.
///
/// Fields are separated by commas, or another character; a field in double quotes may hold
/// separators, line ends and doubled quotes. Input is in any ``TextEncoding``, fields are UTF-8.
/// Lines end with LF, CRLF or CR; empty lines are skipped. Like Python's `csv`, it keeps a quote
/// inside an unquoted field, and text after a closing quote, as they are.
public struct CSVScanner: Sendable {
    /// The longest record that is accepted unless another limit is set, in bytes.
    public static let longestRecord = 64 << 10
    /// The most fields of a record.
    public static let maximumFieldCount = 4_096

    /// One record.
    public struct Record: Hashable, Sendable {
        /// The fields' bytes, unquoted, UTF-8.
        public var fields: [[UInt8]]
        /// Whether each field was quoted.
        public var areQuoted: [Bool]
        /// The offset of its first byte.
        public var start: Int
        /// Its number, 0 for the first (the header, where there is one).
        public var number: Int
    }

    private enum Phase { case fieldStart, plain, quoted, quoteInQuoted }

    /// Bytes taken in so far, counted from the offset the scanner began with.
    public private(set) var offset: Int
    /// Empty lines met so far.
    public private(set) var emptyLineCount = 0
    /// The file's line end: that of the first line; LF before one was read.
    public private(set) var newline: [UInt8] = [Self.lineFeed]
    private var hasSeenNewline = false
    private var phase = Phase.fieldStart
    private var fields: [[UInt8]] = []
    private var field: [UInt8] = []
    private var start: Int
    private var number = 0
    private var lastWasReturn = false
    private var isQuoted = false
    private var areQuoted: [Bool] = []
    private let separator: UInt8
    private let limit: Int
    private var characters: CharacterReader
    /// Byte count in the file of the current character.
    private var width = 1

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Begins at the byte offset of a record.
    ///
    /// - Parameters:
    ///   - separator: The field separator, an ASCII character.
    ///   - limit: The longest accepted record in bytes.
    public init(
        at offset: Int = 0, separator: UInt8 = UInt8(ascii: ","), encoding: TextEncoding = .utf8,
        limit: Int = Self.longestRecord
    ) {
        self.offset = offset
        self.separator = separator
        self.limit = limit
        start = offset
        characters = CharacterReader(encoding)
    }

    /// Takes the next chunk and hands every record that it completes to `body`, in order.
    ///
    /// Throws `Failure` (`tooLarge`) for a record beyond the bounds, and the errors of `body`.
    public mutating func feed(
        _ piece: some Sequence<UInt8>, _ body: (Record) throws -> Void
    ) throws {
        guard characters.encoding != .utf8 else {
            for byte in piece {
                try take(byte, body)
                offset += 1
            }
            return
        }
        for byte in piece {
            guard let character = characters.take(byte) else { continue }
            width = character.width
            for byte in character.utf8 { try take(byte, body) }
            offset += width
        }
    }

    /// Hands out a last record that no line end follows.
    ///
    /// Throws `Failure` (`invalidParameter`) when a quote is still open.
    public mutating func finish(_ body: (Record) throws -> Void) throws {
        if let rest = characters.finish() {
            for byte in rest { try take(byte, body) }
        }
        if phase == .quoted {
            throw Failure(
                .invalidParameter,
                "row \(number): the quote opened after byte \(start) is never closed")
        }
        if phase != .fieldStart || !fields.isEmpty { try endRecord(body) }
    }

    private mutating func take(_ byte: UInt8, _ body: (Record) throws -> Void) throws {
        if lastWasReturn {
            lastWasReturn = false
            if byte == Self.lineFeed {
                if !hasSeenNewline { newline = [Self.carriageReturn, Self.lineFeed] }
                hasSeenNewline = true
                start = offset + width
                return
            }
            hasSeenNewline = true
        }
        switch (phase, byte) {
        case (.quoted, Self.quote): phase = .quoteInQuoted
        case (.quoted, _): try append(byte)
        case (.quoteInQuoted, Self.quote):
            try append(byte)
            phase = .quoted
        case (.fieldStart, Self.quote):
            phase = .quoted
            isQuoted = true
        case (_, separator): try endField()
        case (_, Self.lineFeed):
            hasSeenNewline = true
            try endLine(body)
        case (_, Self.carriageReturn):
            lastWasReturn = true
            try endLine(body)
        default:
            try append(byte)
            phase = .plain
        }
    }

    private mutating func append(_ byte: UInt8) throws(Failure) {
        guard offset - start < limit else {
            throw Failure(
                .tooLarge,
                "row \(number) is longer than \(limit) bytes (from byte \(start) on; "
                    + "is a quote left open?)")
        }
        field.append(byte)
    }

    private mutating func endField() throws(Failure) {
        guard fields.count < Self.maximumFieldCount else {
            throw Failure(
                .tooLarge, "row \(number) has more than \(Self.maximumFieldCount) fields")
        }
        fields.append(field)
        areQuoted.append(isQuoted)
        (field, isQuoted) = ([], false)
        phase = .fieldStart
    }

    private mutating func endLine(_ body: (Record) throws -> Void) throws {
        if phase == .fieldStart && fields.isEmpty {
            emptyLineCount += 1
            start = offset + width
        } else {
            try endRecord(body)
        }
    }

    private mutating func endRecord(_ body: (Record) throws -> Void) throws {
        try endField()
        let record = Record(fields: fields, areQuoted: areQuoted, start: start, number: number)
        (fields, areQuoted) = ([], [])
        number += 1
        start = offset + width
        try body(record)
    }
}

/// Writes CSV.
public enum CSVWriter {
    /// One record with its line end; a field is quoted where it must be.
    public static func record(_ fields: [[UInt8]], newline: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(field, to: &bytes, isAlone: fields.count == 1)
        }
        return bytes + newline
    }

    private static func append(_ field: [UInt8], to bytes: inout [UInt8], isAlone: Bool) {
        let special: Set<UInt8> = [
            UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\n"), UInt8(ascii: "\r"),
        ]
        // An empty field alone in its line would read as an empty line.
        guard field.contains(where: special.contains) || (isAlone && field.isEmpty) else {
            bytes += field
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in field {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
