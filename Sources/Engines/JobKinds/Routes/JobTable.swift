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
    /// The kinds of the columns where the input has features, whose places are in the last columns;
    /// nil for a table.
    let kinds: [AttributeKind]?
    /// The table that was made of features; nil where the input is one.
    let made: BlobReference?

    /// Size limit of the input file, in bytes.
    static let maximumInputByteCount: Int64 = 1 << 30
    /// Bytes of an input whose rows are counted before its job is submitted.
    private static let countedByteCount = 8 << 20
    private static let headerByteCount = 256 << 10

    /// Opens the input of a job whose chunks are planned, made a table where it has features.
    ///
    /// Throws `Failure`: `invalidParameter`, `tooLarge`, `notFound`, `corrupt`.
    init(
        _ context: ChunkContext, _ places: PlaceFeatures.Places, _ texts: ParameterTexts
    ) throws(Failure) {
        let input = try Self.input(of: context)
        let file = try BatchGeocode.open(input, context)
        let isFeatures = PlaceFeatures.isFeatures(Array(file.copy(0..<min(file.byteCount, 1_024))))
        guard isFeatures else {
            try Self.checkNoFields(texts)
            try self.init(file, TableForm(file))
            return
        }
        let (made, kinds) = try Self.make(file, places, texts, in: context.blobs)
        let table = try BatchGeocode.open(made, context)
        try self.init(table, TableForm(), kinds, made)
    }

    /// Opens the table that the plan has found, or made: of features the blob of the stage before.
    ///
    /// Throws as ``init(_:_:_:)`` does.
    init(
        _ context: ChunkContext, _ form: TableForm, _ kinds: [AttributeKind]?
    ) throws(Failure) {
        guard let kinds else {
            try self.init(BatchGeocode.open(Self.input(of: context), context), form)
            return
        }
        guard let made = context.assignment.gathered.first ?? nil else {
            throw Failure(.corrupt, "the plan has no table of the features")
        }
        try self.init(BatchGeocode.open(made, context), form, kinds, made)
    }

    private static func input(of context: ChunkContext) throws(Failure) -> BlobReference {
        guard let blob = context.assignment.jobInput else {
            throw Failure(
                .invalidParameter,
                "a \(context.assignment.kind.rawValue) job needs a CSV file or features as its "
                    + "input")
        }
        try Self.checkSize(blob)
        return blob
    }

    private static func make(
        _ file: MappedFile, _ places: PlaceFeatures.Places, _ texts: ParameterTexts,
        in blobs: BlobStore
    ) throws(Failure) -> (made: BlobReference, kinds: [AttributeKind]) {
        guard file.byteCount <= PlaceFeatures.maximumByteCount else {
            throw Failure(
                .tooLarge,
                "the file of features has \(file.byteCount) bytes; at most "
                    + "\(PlaceFeatures.maximumByteCount) are taken")
        }
        if texts["columns"] != nil {
            throw ParameterTexts.fault(
                "columns", "none: features have their places in their geometries")
        }
        let fields = texts["fields"]?.split(separator: ",").map { field in
            String(field.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        let table = try PlaceFeatures(file.copy(0..<file.byteCount), places, keeping: fields)
        let made = try blobs.put(Data(table.csv), mediaType: MediaType.csv.rawValue)
        return (made, table.kinds)
    }

    private static func checkNoFields(_ texts: ParameterTexts) throws(Failure) {
        guard texts["fields"] != nil else { return }
        throw ParameterTexts.fault("fields", "none: it is for features, and the input is a table")
    }

    private init(
        _ file: MappedFile, _ form: TableForm, _ kinds: [AttributeKind]? = nil,
        _ made: BlobReference? = nil
    ) throws(Failure) {
        let beginning = Array(file.copy(0..<min(file.byteCount, Self.headerByteCount)))
        guard let header = try JobOrder.header(of: beginning, form) else {
            throw BatchGeocode.emptyInput
        }
        let size = header.fields.reduce(0) { $0 + $1.count + 3 }
        guard size <= 8 << 10 else {
            throw Failure(
                .tooLarge,
                kinds == nil
                    ? "the header row has \(size) bytes, expected at most 8192"
                    : "the names of the features' attributes have \(size) bytes, expected at most "
                        + "8192: choose some with 'fields'")
        }
        self.file = file
        self.form = form
        self.kinds = kinds
        self.made = made
        names = header.fields.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Opens the input of a job that is about to be submitted; throws as ``init(_:_:_:)``.
    ///
    /// Features are made a table here, too, so that they are known to be right; nil for so many
    /// that this is left to the plan.
    init?(
        _ order: JobOrder, _ places: PlaceFeatures.Places, _ texts: ParameterTexts
    ) throws(Failure) {
        guard let input = order.input else {
            throw Failure(.invalidParameter, "\(order.kind.rawValue) needs an input file")
        }
        try Self.checkSize(input)
        let file = try Self.open(input, of: order)
        let beginning = Array(file.copy(0..<min(file.byteCount, Self.headerByteCount)))
        guard PlaceFeatures.isFeatures(beginning) else {
            try Self.checkNoFields(texts)
            try self.init(file, TableForm(beginning: beginning))
            return
        }
        guard
            file.byteCount <= Self.countedByteCount
                || file.byteCount > PlaceFeatures.maximumByteCount
        else { return nil }
        let (made, kinds) = try Self.make(file, places, texts, in: order.blobs)
        try self.init(Self.open(made, of: order), TableForm(), kinds, made)
    }

    private static func open(
        _ blob: BlobReference, of order: JobOrder
    ) throws(Failure) -> MappedFile {
        do { return try MappedFile(path: order.blobs.path(blob.id)) } catch {
            throw Failure(.notFound, "input \(blob.id) cannot be read: \(error)")
        }
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

    /// The value of a field in features of a product: text for one of a table.
    func value(_ field: [UInt8], of column: Int) -> JSONValue {
        (kinds?[column] ?? .text).value(field)
    }

    /// The columns of attributes that go along with features: all but those of their places; none
    /// of a table.
    func attributeColumns(besides others: [Int?] = [], places: Int) -> [Int] {
        guard kinds != nil else { return [] }
        return names.indices.dropLast(places).filter {
            !others.contains($0) && kinds?[$0] != .role
        }
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

    /// The parameter that chooses among the attributes of features.
    static let fields = JobKindDescription.Parameter.text(
        "fields", "The attributes of features that go along, with commas; else all.")

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
