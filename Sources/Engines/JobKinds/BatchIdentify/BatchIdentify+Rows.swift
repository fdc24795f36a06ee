// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Tables

extension BatchIdentify {
    /// Answers one range of queries into a blob of as many lines.
    static func identifyRows(
        _ context: ChunkContext, _ maps: any JobMaps
    ) throws -> ChunkOutcome {
        let input = try context.input(RowsInput.self)
        let settings = try BatchSettings(context.assignment)
        let file = try openInput(context)
        guard 0 <= input.start, input.start <= input.end, input.end <= file.byteCount else {
            throw Failure(.corrupt, "queries \(input.start)..<\(input.end) exceed the file")
        }
        let template = try template(settings, maps, context)
        let reader = BatchQueryReader(template: template, columns: input.columns)
        let records = BatchRecords(
            input.format, at: input.start, line: input.firstLine, form: input.form ?? TableForm())
        var count = 0
        let blob = try context.blobs.put(mediaType: "application/jsonl") { write in
            try scan(file, input.start..<input.end, records, context) { record in
                try context.checkCancelled()
                try write(try answer(reader.query(record), maps, context))
                count += 1
                context.report(Double(count) / Double(max(1, input.queryCount)))
            }
        }
        guard count == input.queryCount else {
            throw Failure(
                .corrupt,
                "queries from line \(input.firstLine) on: planned \(input.queryCount), found "
                    + "\(count)"
            )
        }
        return ChunkOutcome(blob: blob)
    }

    /// The request shared by all queries, on the map at its past moment.
    ///
    /// Throws `invalidParameter` for an unknown spatial reference.
    private static func template(
        _ settings: BatchSettings, _ maps: any JobMaps, _ context: ChunkContext
    ) throws -> IdentifyRequest {
        let position = try maps.position(
            settings.asOf, of: settings.map, submitted: settings.submitted, context)
        let map = try context.patiently { () throws(Failure) in
            try maps.map(named: settings.map, at: position)
        }
        if let reference = settings.reference, let own = map.spatialReference {
            var request = IdentifyRequest.ofNothing(settings.map, .sequence(position))
            (request.spatialReference, request.geometrySpatialReference) = (reference, own)
            _ = try context.patiently { [request] () throws(Failure) in
                try maps.answer(request, isCancelled: context.isCancelled)
            }
        }
        return try settings.template(map, at: position)
    }

    /// A line; what is wrong with a query alone is its answer, anything else ends the attempt.
    private static func answer(
        _ query: BatchQuery, _ maps: any JobMaps, _ context: ChunkContext
    ) throws -> Data {
        let result: Result<IdentifyAnswer, Failure>
        do throws(Failure) {
            result = .success(
                try maps.answer(
                    try query.request.get(), isCancelled: context.isCancelled))
        } catch {
            guard error.code == .invalidParameter || error.code == .tooLarge else { throw error }
            result = .failure(error)
        }
        return try CairnJSON.encode(BatchAnswer(query, result)) + [UInt8(ascii: "\n")]
    }

    /// Concatenates the chunks' lines, in order, and counts them: a wrong number of lines fails the
    /// job.
    static func assemble(_ context: ChunkContext) throws -> ChunkOutcome {
        let input = try context.input(AssembleInput.self)
        let parts = context.assignment.gathered.compactMap(\.self)
        guard parts.count == context.assignment.gathered.count else {
            throw Failure(.corrupt, "a chunk of queries has no output blob")
        }
        let settings = try BatchSettings(context.assignment)
        if settings.product != .jsonLines { return try joined(context, input, parts, settings) }
        var (lineCount, errorCount) = (0, 0)
        for (index, part) in parts.enumerated() {
            let file = try BatchGeocode.open(part, context)
            try scan(file, 0..<file.byteCount, BatchRecords(.jsonLines), context) { record in
                lineCount += 1
                if case .json(let bytes) = record.content, bytes.starts(with: #"{"error":"#.utf8) {
                    errorCount += 1
                }
            }
            context.report(Double(index + 1) / Double(parts.count + 1))
        }
        guard lineCount == input.queryCount else {
            throw Failure(
                .corrupt, "the chunks have \(lineCount) lines; the input has \(input.queryCount)")
        }
        let product = try context.blobs.put(Data(), then: parts, mediaType: "application/jsonl")
        return ChunkOutcome(
            blob: product,
            messages: [
                JobMessage(
                    errorCount > 0 ? .warning : .informative,
                    "\(lineCount - errorCount) of \(lineCount) queries have an answer")
            ])
    }
}
