// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Tables

/// Finds the best candidate for one row, nil without a match; deterministic.
///
/// Provided by locator workers: the programs of other pools do not link the locator.
public typealias RowGeocoder = @Sendable (_ address: RowAddress) throws -> Candidate?

/// The job kind `BatchGeocode`: takes a CSV file, returns its rows with their places.
///
/// Parameters: `query`, the name of the column with the whole address, or `address`, `city`,
/// `region` and `postal`, those of its parts; `countryCode`, that of ISO country codes; columns are
/// known by their usual names where none is stated (``AddressTable``); `locator` (default `World`).
/// The output has every input row once, in order, with ``resultColumns`` more columns: `X` and `Y`
/// are longitude and latitude in degrees, `Score` is 0…100, `Status` `M` (matched) or `U`.
public enum BatchGeocode: JobKindDefinition {
    /// The published description.
    public static let description = JobKindDescription(
        kind: .batchGeocode, summary: "Finds the place of the address in every row.",
        input: "CSV with a header row",
        output:
            "the same rows with Match_addr, Addr_type, LongLabel, X, Y (longitude and latitude, "
            + "degrees), Score, Status",
        outputMediaType: "text/csv",
        parameters: [
            .text("query", "The column that holds the whole address."),
            .text("address", "The column that holds street and house number."),
            .text("city", "The column that holds the town."),
            .text("region", "The column that holds the first-level division."),
            .text("postal", "The column that holds the postcode."),
            .text("countryCode", "The column that holds an ISO country code."),
            .text("country", "The same as countryCode."),
            .text("locator", "The locator that is asked.", "World"),
        ], reads: [.locator(parameter: "locator")], inputNamesBlobs: false)

    /// Smallest number of rows in a chunk.
    public static let rowsPerChunk = 250
    /// Limit of chunks per file; larger files get larger chunks.
    public static let maximumChunkCount = 4_000
    /// Size limit of the input file, in bytes.
    public static let maximumInputByteCount: Int64 = 4 << 30

    /// The input of `geocodeRows`: a range of whole records of the input file.
    struct RowsInput: Codable, Hashable, Sendable {
        var start: Int
        var end: Int
        var rowCount: Int
        /// The number of its first row; 1 follows the header.
        var firstRow: Int
        var columnCount: Int
        /// The columns of addresses; nil in chunks of an earlier version, which had the next two.
        var address: AddressTable?
        var queryColumn: Int?
        var countryColumn: Int?
        var locator: String
        /// CRLF or LF.
        var newline: String
        /// The text form of the input; nil for UTF-8 and commas.
        var form: TableForm?

        /// The columns of addresses, whatever version planned the chunk.
        var table: AddressTable {
            address ?? AddressTable(query: queryColumn ?? 0, countryCode: countryColumn)
        }
    }

    /// The columns of the product behind those of the input, in Esri's names.
    static let resultColumns = [
        "Match_addr", "Addr_type", "LongLabel", "X", "Y", "Score", "Status",
    ]

    /// A name of a column that none of `names` is, `NAME_1` where the name is taken.
    static func free(_ name: String, among names: [String]) -> String {
        var (free, number) = (name, 1)
        while names.contains(where: { $0.lowercased() == free.lowercased() }) {
            free = "\(name)_\(number)"
            number += 1
        }
        return free
    }

    /// The input of `assemble`.
    struct AssembleInput: Codable, Hashable, Sendable {
        var header: String
        var rowCount: Int
    }

    /// Splits the file, geocodes its ranges of rows, concatenates them.
    public static let operations = [plan, geocodeRows, assemble]

    static let plan = JobOperation.files("plan") { try plan($0) }
    static let geocodeRows = JobOperation.locators("geocodeRows") {
        try geocodeRows($0, geocoder: $1)
    }
    static let assemble = JobOperation.files("assemble") { try assemble($0) }

    /// Checks that the input has the columns that the parameters name.
    public static func check(_ order: JobOrder, _ texts: ParameterTexts) throws(Failure) {
        try checkSize(order.input)
        guard let header = try JobOrder.header(of: try order.beginning()) else { throw emptyInput }
        _ = try PlanColumns(header: header, parameters: texts)
    }

    static let emptyInput = Failure(
        .invalidParameter, "the CSV file is empty: expected a header row and rows")

    static func openInput(_ context: ChunkContext) throws(Failure) -> MappedFile {
        guard let blob = context.assignment.jobInput else {
            throw Failure(.invalidParameter, "a BatchGeocode job needs a CSV file as its input")
        }
        try checkSize(blob)
        return try open(blob, context)
    }

    private static func checkSize(_ input: BlobReference?) throws(Failure) {
        guard let input, input.byteCount > maximumInputByteCount else { return }
        throw Failure(
            .tooLarge,
            "the CSV file has \(input.byteCount) bytes; at most \(maximumInputByteCount) are taken")
    }

    /// Opens a blob after verifying its hash, once per process.
    ///
    /// Throws `Failure`: `notFound`, `unreadable`, `corrupt`.
    static func open(
        _ blob: BlobReference, _ context: ChunkContext
    ) throws(Failure) -> MappedFile {
        try check(blob, context)
        do {
            return try MappedFile(path: context.blobs.path(blob.id))
        } catch {
            throw Failure(.notFound, "blob \(blob.id) cannot be read: \(error)")
        }
    }

    /// Verifies the hash of a blob, once per process.
    ///
    /// Throws `Failure`: `notFound`, `unreadable`, `corrupt`.
    static func check(_ blob: BlobReference, _ context: ChunkContext) throws(Failure) {
        let isInput = blob == context.assignment.jobInput
        try context.blobs.check(blob) { () throws(Failure) in
            try context.checkCancelled()
            // A large input is read for a while before there is progress; the report prevents a
            // stall verdict.
            if isInput { context.report(0) }
        }
    }

    /// Feeds a range of the file to a scanner in pieces of 256 KiB; returns the scanner with its
    /// state.
    @discardableResult
    static func scan(
        _ file: MappedFile, _ range: Range<Int>, _ form: TableForm,
        _ context: ChunkContext, _ body: (CSVScanner.Record) throws -> Void
    ) throws -> CSVScanner {
        var scanner = form.scanner(at: range.lowerBound)
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 256 << 10) {
            try context.checkCancelled()
            let piece = file.copy(start..<min(start + (256 << 10), range.upperBound))
            try scanner.feed(piece, body)
        }
        try scanner.finish(body)
        return scanner
    }
}
