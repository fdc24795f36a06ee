// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
public import Tables

/// The format of a file of identify queries.
public enum BatchFormat: String, Hashable, Sendable, Codable {
    /// A JSON object per line.
    case jsonLines = "jsonl"
    /// CSV with a header row.
    case csv

    /// Detects the format from the first byte that is no white space: a brace means JSON Lines.
    public init(firstBytes: some Sequence<UInt8>) {
        // Byte order marks, and the zeros of UTF-16, are skipped.
        let marks: Set<UInt8> = [0xEF, 0xBB, 0xBF, 0xFE, 0xFF]
        let first = firstBytes.first { $0 > UInt8(ascii: " ") && !marks.contains($0) }
        self = first == UInt8(ascii: "{") ? .jsonLines : .csv
    }
}

/// One raw query of a file.
public struct BatchRecord: Hashable, Sendable {
    /// The content of a record.
    public enum Content: Hashable, Sendable {
        /// The bytes of a line, presumably a JSON object.
        case json([UInt8])
        /// The fields of a row.
        case fields([[UInt8]])
        /// The size of a line that is too long to be kept, in bytes.
        case tooLong(Int)
    }

    /// Its line, from 1; of CSV its row, the header being 1.
    public var line: Int
    /// The offset of its first byte.
    public var start: Int
    /// Its content.
    public var content: Content
}

/// Splits a file of queries into records, in one pass and bounded memory.
public struct BatchRecords: Sendable {
    /// Size limit of a line of JSON Lines, in bytes.
    public static let longestLine = 4 << 20

    private var csv: CSVScanner?
    private var firstLine: Int
    private var offset: Int
    private var start: Int
    private var lineNumber: Int
    private var text: [UInt8] = []
    private var byteCount = 0
    private var isBlank = true

    /// Starts at the byte offset of the beginning of line number `line`; `form` is that of a table.
    public init(
        _ format: BatchFormat, at offset: Int = 0, line: Int = 1, form: TableForm = TableForm()
    ) {
        csv = format == .csv ? form.scanner(at: offset) : nil
        (firstLine, lineNumber) = (line, line)
        (self.offset, start) = (offset, offset)
    }

    /// Scans the next piece and calls `body` with every record that it completes, in order,
    /// skipping blank lines.
    ///
    /// Throws `Failure` for malformed CSV, and what `body` throws.
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

    /// Ends the scan with a last record that has no line end.
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
