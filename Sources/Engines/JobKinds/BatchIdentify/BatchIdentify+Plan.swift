// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Tables

extension BatchIdentify {
    /// Reads the whole file once: checks the parameters and the header, counts, and splits.
    static func plan(_ context: ChunkContext) throws -> ChunkOutcome {
        let file = try openInput(context)
        let settings = try BatchSettings(context.assignment)
        let begin = file.copy(0..<min(64 << 10, file.byteCount))
        let format = settings.format ?? BatchFormat(firstBytes: begin)
        try settings.checkProduct(of: format)
        var form = TableForm()
        if format == .csv {
            form = TableForm(file)
        } else if begin.starts(with: [0xEF, 0xBB, 0xBF]) {
            form.start = 3
        }
        var cuts = BatchCuts(hasHeader: format == .csv)
        try scan(
            file, form.start..<file.byteCount, BatchRecords(format, at: form.start, form: form),
            context
        ) { record in
            try cuts.take(record)
            if record.line % 4_096 == 0 {
                context.report(Double(record.start) / Double(max(1, file.byteCount)))
            }
        }
        guard format == .jsonLines || cuts.columns != nil else {
            throw emptyInput
        }
        let assemble = try assemble.chunk(
            AssembleInput(
                queryCount: cuts.count, format: format, columns: cuts.columns, form: form),
            weight: max(1, cuts.count / 20), gathers: true)
        return ChunkOutcome(
            nextStage: try chunks(cuts, format, form, end: file.byteCount),
            laterStages: [[assemble]],
            messages: (form.note.map { [JobMessage(.warning, $0)] } ?? []) + [
                JobMessage(
                    .informative,
                    "\(cuts.count) queries, asked as of \(settings.asOf)")
            ])
    }

    /// A file without queries still gets one, empty, chunk.
    private static func chunks(
        _ cuts: BatchCuts, _ format: BatchFormat, _ form: TableForm, end: Int
    ) throws -> [ChunkDescription] {
        let marks = cuts.marks.isEmpty ? [(start: end, line: 1)] : cuts.marks
        let each = (marks.count + maximumChunkCount - 1) / maximumChunkCount
        return try stride(from: 0, to: marks.count, by: each).map { mark in
            let next = mark + each
            let count =
                min(next * queriesPerChunk, cuts.count) - min(mark * queriesPerChunk, cuts.count)
            let input = RowsInput(
                start: marks[mark].start, end: next < marks.count ? marks[next].start : end,
                queryCount: count, firstLine: marks[mark].line, format: format,
                columns: cuts.columns, form: format == .csv ? form : nil)
            return try identifyRows.chunk(input, weight: count)
        }
    }
}

/// One pass over the file, with its findings.
private struct BatchCuts {
    let hasHeader: Bool
    var columns: BatchColumns?
    var count = 0
    /// The offset of every 500th query.
    var marks: [(start: Int, line: Int)] = []

    init(hasHeader: Bool) { self.hasHeader = hasHeader }

    mutating func take(_ record: BatchRecord) throws(Failure) {
        if hasHeader, columns == nil, case .fields(let header) = record.content {
            columns = try BatchColumns(header: header)
            return
        }
        if count.isMultiple(of: BatchIdentify.queriesPerChunk) {
            marks.append((record.start, record.line))
        }
        count += 1
    }
}
