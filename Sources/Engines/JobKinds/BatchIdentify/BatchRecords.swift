// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
public import Tables

/// How a file of identify queries is written.
public enum BatchFormat: String, Hashable, Sendable, Codable {
    /// A JSON object per line.
    case jsonLines = "jsonl"
    /// CSV with a header row.
    case csv

    /// By the first byte of a file that is no white space: a brace begins JSON Lines.
    public init(firstBytes: some Sequence<UInt8>) {
        // Byte order marks, and the zeros of UTF-16, say nothing.
        let marks: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0xFE, 0xFF]
        let first = firstBytes.first { $0 > UInt8(ascii: " ") && !marks.contains($0) }
        self = first == UInt8(ascii: "{") ? .jsonLines : .csv
    }
}

/// One query of a file as it stands there.
public struct BatchRecord: Hashable, Sendable {
    /// What it is written in.
    public enum Content: Hashable, Sendable {
        /// The bytes of a JSON object, at least.
        case json([UInt8])
        /// The fields of a row.
        case fields([[UInt8]])
        /// A line of so many bytes, too long to be kept.
        case tooLong(Int)
    }

    /// Its line, from 1; of CSV its row, the header being 1.
    public var line: Int
    /// The offset of its first byte.
    public var start: Int
    /// What it says.
    public var content: Content
}

/// Cuts a file of queries into records, in one pass and bounded memory.
public struct BatchRecords: Sendable {
    /// The longest line of JSON Lines that is taken, in bytes.
    public static let longestLine = 4 << 20

    private var csv: CSVScanner?
    private var firstLine: Int
    private var offset: Int
    private var start: Int
    private var lineNumber: Int
    private var text: [UInt8] = []
    private var byteCount = 0
    private var isBlank = true

    /// Begins at a byte offset where a line begins, the one of number `line`; `form` is that of a
    /// table.
    public init(
        _ format: BatchFormat, at offset: Int = 0, line: Int = 1, form: TableForm = TableForm()
    ) {
        csv = format == .csv ? form.scanner(at: offset) : nil
        (firstLine, lineNumber) = (line, line)
        (self.offset, start) = (offset, offset)
    }

    /// Takes the next piece in and hands every record that it completes to `body`, in order; blank
    /// lines are none.
    ///
    /// Throws `Failure` for CSV that cannot be read on, and what `body` throws.
    public mutating func feed(
        _ piece: some Sequence<UInt8>, _ body: (BatchRecord) throws -> Void
    ) throws {
        let first = firstLine
        guard csv == nil else {
            try csv?.feed(piece) { try body(Self.record($0, first)) }
            return
        }
        for byte in piece {
            offset += 1
            if byte == UInt8(ascii: "\n") {
                try endLine(body)
            } else {
                byteCount += 1
                if byte > UInt8(ascii: " ") { isBlank = false }
                if byteCount <= Self.longestLine { text.append(byte) }
            }
        }
    }

    /// Hands out a last record that no line end follows.
    public mutating func finish(_ body: (BatchRecord) throws -> Void) throws {
        let first = firstLine
        guard csv == nil else {
            try csv?.finish { try body(Self.record($0, first)) }
            return
        }
        if byteCount > 0 { try endLine(body) }
    }

    private static func record(_ record: CSVScanner.Record, _ firstLine: Int) -> BatchRecord {
        BatchRecord(
            line: firstLine + record.number, start: record.start, content: .fields(record.fields))
    }

    private mutating func endLine(_ body: (BatchRecord) throws -> Void) throws {
        let record = BatchRecord(
            line: lineNumber, start: start,
            content: byteCount > Self.longestLine ? .tooLong(byteCount) : .json(text))
        let wasBlank = isBlank
        lineNumber += 1
        start = offset
        (byteCount, isBlank) = (0, true)
        text.removeAll(keepingCapacity: true)
        if !wasBlank { try body(record) }
    }
}
