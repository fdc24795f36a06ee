// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Tables

/// The table that a job on a road network works on, with its header.
struct JobTable {
    let file: MappedFile
    let form: TableForm
    let names: [String]

    /// Size limit of the input file, in bytes.
    static let maximumInputByteCount: Int64 = 1 << 30
    /// Bytes of an input whose rows are counted before its job is submitted.
    private static let countedByteCount = 8 << 20
    private static let headerByteCount = 256 << 10

    /// Opens the input of a chunk's job.
    ///
    /// `stated` is the form that the plan has found. Throws `Failure`: `invalidParameter`,
    /// `tooLarge`, `notFound`, `corrupt`.
    init(_ context: ChunkContext, _ stated: TableForm? = nil) throws(Failure) {
        guard let blob = context.assignment.jobInput else {
            throw Failure(
                .invalidParameter,
                "a \(context.assignment.kind.rawValue) job needs a CSV file as its input")
        }
        try Self.checkSize(blob)
        let file = try BatchGeocode.open(blob, context)
        try self.init(file, stated ?? TableForm(file))
    }

    private init(_ file: MappedFile, _ form: TableForm) throws(Failure) {
        let beginning = Array(file.copy(0..<min(file.byteCount, Self.headerByteCount)))
        guard let header = try JobOrder.header(of: beginning, form) else {
            throw BatchGeocode.emptyInput
        }
        let size = header.fields.reduce(0) { $0 + $1.count + 3 }
        guard size <= 8 << 10 else {
            throw Failure(.tooLarge, "the header row has \(size) bytes, expected at most 8192")
        }
        self.file = file
        self.form = form
        names = header.fields.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Opens the input of a job that is about to be submitted; throws as ``init(_:_:)``.
    init(_ order: JobOrder) throws(Failure) {
        guard let input = order.input else {
            throw Failure(.invalidParameter, "\(order.kind.rawValue) needs an input file")
        }
        try Self.checkSize(input)
        let file: MappedFile
        do { file = try MappedFile(path: order.blobs.path(input.id)) } catch {
            throw Failure(.notFound, "input \(input.id) cannot be read: \(error)")
        }
        let beginning = file.copy(0..<min(file.byteCount, Self.headerByteCount))
        try self.init(file, TableForm(beginning: Array(beginning)))
    }

    private static func checkSize(_ input: BlobReference) throws(Failure) {
        guard input.byteCount > maximumInputByteCount else { return }
        throw Failure(
            .tooLarge,
            "the CSV file has \(input.byteCount) bytes; at most \(maximumInputByteCount) are taken")
    }

    /// Calls `body` with every row of a file that is small enough to be read before its job is
    /// submitted; returns whether it is.
    func forEachRowIfSmall(_ body: ([[UInt8]]) throws -> Void) throws -> Bool {
        guard file.byteCount <= Self.countedByteCount else { return false }
        var scanner = form.scanner(at: form.start)
        let row = { (record: CSVScanner.Record) in
            if record.number > 0 { try body(record.fields) }
        }
        try scanner.feed(Array(file.copy(form.start..<file.byteCount)), row)
        try scanner.finish(row)
        return true
    }

    /// Calls `body` with each row, which has as many fields as the header; returns the scanner with
    /// its state, and messages on what was read.
    ///
    /// The chunk's progress is reported up to `share`.
    func forEachRow(
        _ context: ChunkContext, share: Double = 1, _ body: (CSVScanner.Record) throws -> Void
    ) throws -> (scanner: CSVScanner, messages: [JobMessage]) {
        var raggedCount = 0
        let range = form.start..<file.byteCount
        let scanner = try BatchGeocode.scan(file, range, form, context) { record in
            guard record.number > 0 else { return }
            if record.fields.count != names.count { raggedCount += 1 }
            if record.number % 1_024 == 0 {
                context.report(share * Double(record.start) / Double(max(1, file.byteCount)))
            }
            var record = record
            record.fields = fitted(record.fields)
            try body(record)
        }
        var messages = form.note.map { [JobMessage(.warning, $0)] } ?? []
        if raggedCount > 0 {
            messages.append(
                JobMessage(
                    .warning,
                    "\(raggedCount) rows have too few or too many fields: the missing ones count "
                        + "as empty, the surplus ones are left out"))
        }
        if scanner.emptyLineCount > 0 {
            messages.append(
                JobMessage(.informative, "\(scanner.emptyLineCount) empty lines are no rows"))
        }
        return (scanner, messages)
    }

    /// Calls `body` with each row of a range, as ``forEachRow(_:share:_:)``.
    ///
    /// Throws `corrupt` where the rows are not those that were planned.
    func forEachRow(
        of range: RowRange, _ context: ChunkContext, share: Double = 1,
        _ body: ([[UInt8]]) throws -> Void
    ) throws {
        guard 0 <= range.start, range.start <= range.end, range.end <= file.byteCount else {
            throw Failure(.corrupt, "rows \(range.start)..<\(range.end) exceed the file")
        }
        var count = 0
        try BatchGeocode.scan(file, range.start..<range.end, form, context) { record in
            try context.checkCancelled()
            context.report(share * Double(count) / Double(max(1, range.rowCount)))
            try body(fitted(record.fields))
            count += 1
        }
        guard count == range.rowCount else {
            throw Failure(
                .corrupt,
                "rows from \(range.firstRow) on: planned \(range.rowCount), found \(count)")
        }
    }

    /// As many fields as the header has: the missing ones empty, the surplus ones left out.
    func fitted(_ fields: [[UInt8]]) -> [[UInt8]] {
        guard fields.count != names.count else { return fields }
        let missing = max(0, names.count - fields.count)
        return Array(fields.prefix(names.count)) + Array(repeating: [], count: missing)
    }

    /// The column that a parameter names: exactly, else without regard to letter case, blanks and
    /// signs.
    ///
    /// Throws `invalidParameter`, naming the columns of the table.
    func column(_ name: String, of parameter: String) throws(Failure) -> Int {
        if let exact = names.firstIndex(of: name) { return exact }
        if let plain = column(known: [Self.plain(name)]) { return plain }
        throw noColumn("parameter '\(parameter)': the CSV file has no column '\(name.prefix(80))'")
    }

    /// The column with the first of some plain names that there is.
    func column(known: [String]) -> Int? {
        let plain = names.map(Self.plain)
        return known.lazy.compactMap { plain.firstIndex(of: $0) }.first
    }

    /// A failure that names the columns.
    func noColumn(_ what: String) -> Failure {
        let known = names.prefix(20).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
        return Failure(.invalidParameter, "\(what); it has \(known)")
    }

    /// A heading without case, blanks and signs.
    private static func plain(_ name: String) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    /// Usual names of a column of longitudes, and of latitudes.
    static let usualX = ["x", "lon", "lng", "long", "longitude"]
    static let usualY = ["y", "lat", "latitude"]
}

/// A range of whole rows of a table.
struct RowRange: Codable, Hashable, Sendable {
    /// Offset of its first byte.
    var start: Int
    /// Offset of the byte after it.
    var end: Int
    var rowCount: Int
    /// The number of its first row; 1 follows the header.
    var firstRow: Int
}

/// Where a table is cut into ranges of rows.
struct RowCuts {
    private let rowsPerMark: Int
    private(set) var rowCount = 0
    /// The offset of the first row of each range.
    private var marks: [Int] = []

    /// Cuts after every so many rows.
    init(every rowsPerMark: Int) { self.rowsPerMark = rowsPerMark }

    mutating func take(_ record: CSVScanner.Record) {
        if rowCount.isMultiple(of: rowsPerMark) { marks.append(record.start) }
        rowCount += 1
    }

    /// Throws `tooLarge` for too many rows, with their number.
    static func check(_ rowCount: Int, most: Int) throws(Failure) {
        guard rowCount > most else { return }
        throw Failure(.tooLarge, "the CSV file has \(rowCount) rows; at most \(most) are taken")
    }

    /// The ranges, at most so many; a table without rows has one, which is empty.
    func ranges(end: Int, limit: Int) -> [RowRange] {
        let marks = marks.isEmpty ? [end] : marks
        let each = (marks.count + limit - 1) / limit
        return stride(from: 0, to: marks.count, by: each).map { mark in
            let next = mark + each
            let first = min(mark * rowsPerMark, rowCount)
            return RowRange(
                start: marks[mark], end: next < marks.count ? marks[next] : end,
                rowCount: min(next * rowsPerMark, rowCount) - first, firstRow: first + 1)
        }
    }
}
