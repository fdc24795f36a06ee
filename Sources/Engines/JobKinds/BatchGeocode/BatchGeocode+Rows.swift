// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Site
internal import Tables

extension BatchGeocode {
    /// Geocodes one range of rows into a blob of as many rows.
    static func geocodeRows(
        _ context: ChunkContext, geocoder open: (String) throws -> RowGeocoder
    ) throws -> ChunkOutcome {
        let input = try context.input(RowsInput.self)
        let file = try openInput(context)
        guard 0 <= input.start, input.start <= input.end, input.end <= file.byteCount else {
            throw Failure(.corrupt, "rows \(input.start)..<\(input.end) exceed the file")
        }
        let geocoder = try open(input.locator)
        var output: [UInt8] = []
        var rowCount = 0
        try scan(file, input.start..<input.end, input.form ?? TableForm(), context) { record in
            if rowCount.isMultiple(of: 8) {
                try context.checkCancelled()
                context.report(Double(rowCount) / Double(max(1, input.rowCount)))
            }
            output += try row(record, input, geocoder)
            rowCount += 1
        }
        guard rowCount == input.rowCount else {
            throw Failure(
                .corrupt,
                "rows from \(input.firstRow) on: planned \(input.rowCount), found \(rowCount)")
        }
        return ChunkOutcome(blob: try context.blobs.put(Data(output), mediaType: "text/csv"))
    }

    private static func row(
        _ record: CSVScanner.Record, _ input: RowsInput, _ geocoder: RowGeocoder
    ) throws -> [UInt8] {
        var fields = Array(record.fields.prefix(input.columnCount))
        while fields.count < input.columnCount { fields.append([]) }
        let candidate = try input.table.address(in: fields).flatMap { try geocoder($0) }
        func attribute(_ name: String) -> String {
            guard case .string(let text)? = candidate?.attributes[name] else { return "" }
            return text
        }
        var found =
            candidate.map {
                [
                    $0.address, decimal($0.location.x), decimal($0.location.y),
                    decimal($0.score), "M",
                ]
            } ?? ["", "", "", "0", "U"]
        // A chunk that an earlier version planned has five results.
        if input.address != nil {
            found.insert(contentsOf: [attribute("Addr_type"), attribute("LongLabel")], at: 1)
        }
        fields += found.map { Array($0.utf8) }
        return CSVWriter.record(fields, newline: Array(input.newline.utf8))
    }

    /// The shortest decimal text that reads back as the same number; whole numbers without a point.
    static func decimal(_ number: Double) -> String {
        guard let whole = Int(exactly: number) else { return number.description }
        return String(whole)
    }
}
