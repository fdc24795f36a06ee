// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Tables

extension BatchGeocode {
    /// Reads the whole file once: checks it, reports irregular rows, and splits it.
    static func plan(_ context: ChunkContext) throws -> ChunkOutcome {
        let file = try openInput(context)
        var reader = PlanReader(
            parameters: try ParameterTexts(context.assignment.parameters, of: description))
        let form = TableForm(file)
        let scanner = try scan(file, form.start..<file.byteCount, form, context) { record in
            try reader.take(record)
            if record.number % 1_024 == 0 {
                context.report(Double(record.start) / Double(file.byteCount))
            }
        }
        guard let columns = reader.columns else { throw emptyInput }
        let header = CSVWriter.record(
            columns.output.map { Array($0.utf8) }, newline: scanner.newline)
        let input = AssembleInput(
            header: String(decoding: header, as: UTF8.self), rowCount: reader.rowCount)
        return ChunkOutcome(
            nextStage: try chunks(
                of: reader, columns, scanner, form, end: file.byteCount),
            laterStages: [
                [
                    try assemble.chunk(
                        input, weight: max(1, reader.rowCount / 20), gathers: true)
                ]
            ],
            messages: (form.note.map { [JobMessage(.warning, $0)] } ?? [])
                + reader.messages(emptyLineCount: scanner.emptyLineCount))
    }

    /// A file without rows still gets one, empty, chunk.
    private static func chunks(
        of reader: PlanReader, _ columns: PlanColumns, _ scanner: CSVScanner, _ form: TableForm,
        end: Int
    ) throws -> [ChunkDescription] {
        let marks = reader.marks.isEmpty ? [end] : reader.marks
        let marksPerChunk = (marks.count + maximumChunkCount - 1) / maximumChunkCount
        guard let locator = reader.parameters["locator"] else {
            throw ParameterTexts.fault("locator", "the name of a locator")
        }
        return try stride(from: 0, to: marks.count, by: marksPerChunk).map { mark in
            let next = mark + marksPerChunk
            let firstRow = mark * rowsPerChunk
            let rowCount =
                min(next * rowsPerChunk, reader.rowCount) - min(firstRow, reader.rowCount)
            let input = RowsInput(
                start: marks[mark], end: next < marks.count ? marks[next] : end,
                rowCount: rowCount, firstRow: firstRow + 1, columnCount: columns.names.count,
                address: columns.address, locator: locator,
                newline: String(decoding: scanner.newline, as: UTF8.self), form: form)
            return try geocodeRows.chunk(input, weight: rowCount)
        }
    }
}

/// Columns of input and output, from the input's header.
struct PlanColumns {
    var names: [String]
    var address: AddressTable

    /// The input's columns, then the results under unused names.
    var output: [String] {
        var names = self.names
        for name in BatchGeocode.resultColumns {
            names.append(BatchGeocode.free(name, among: names))
        }
        return names
    }

    init(header: CSVScanner.Record, parameters: ParameterTexts) throws(Failure) {
        names = header.fields.map { String(decoding: $0, as: UTF8.self) }
        let size = header.fields.reduce(0) { $0 + $1.count + 3 }
        guard size <= 8 << 10 else {
            throw Failure(.tooLarge, "the header row has \(size) bytes, expected at most 8192")
        }
        address = try AddressTable(names, parameters)
    }
}

/// One pass over the file, with its findings.
struct PlanReader {
    let parameters: ParameterTexts
    var columns: PlanColumns?
    var rowCount = 0
    /// The offset of every 250th row.
    var marks: [Int] = []
    private var raggedRows: [JobMessage] = []
    private var raggedCount = 0

    init(parameters: ParameterTexts) { self.parameters = parameters }

    mutating func take(_ record: CSVScanner.Record) throws(Failure) {
        guard let columns else {
            self.columns = try PlanColumns(header: record, parameters: parameters)
            return
        }
        if rowCount.isMultiple(of: BatchGeocode.rowsPerChunk) { marks.append(record.start) }
        rowCount += 1
        guard record.fields.count != columns.names.count else { return }
        raggedCount += 1
        guard raggedRows.count < 15 else { return }
        let rule =
            record.fields.count < columns.names.count
            ? "the missing ones count as empty" : "the surplus ones are left out"
        raggedRows.append(
            JobMessage(
                .warning,
                "row \(rowCount) has \(record.fields.count) fields, the header has "
                    + "\(columns.names.count): \(rule)"))
    }

    func messages(emptyLineCount: Int) -> [JobMessage] {
        var messages = raggedRows
        if raggedCount > raggedRows.count {
            messages.append(
                JobMessage(
                    .warning,
                    "\(raggedCount - raggedRows.count) further rows have too few or too many fields"
                ))
        }
        if emptyLineCount > 0 {
            messages.append(
                JobMessage(.informative, "\(emptyLineCount) empty lines are no rows"))
        }
        if let columns {
            messages.append(
                JobMessage(
                    .informative, "columns read: \(columns.address.described(columns.names))"))
        }
        messages.append(JobMessage(.informative, "\(rowCount) rows to geocode"))
        return messages
    }
}
