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
        _ context: ChunkContext, _ identifier: any RowIdentifier
    ) throws -> ChunkOutcome {
        let input = try context.input(RowsInput.self)
        let settings = try BatchSettings(context.assignment)
        let file = try openInput(context)
        guard 0 <= input.start, input.start <= input.end, input.end <= file.byteCount else {
            throw Failure(.corrupt, "queries \(input.start)..<\(input.end) exceed the file")
        }
        let template = try template(settings, identifier, context)
        let reader = BatchQueryReader(template: template, columns: input.columns)
        let records = BatchRecords(
            input.format, at: input.start, line: input.firstLine, form: input.form ?? TableForm())
        var count = 0
        let blob = try context.blobs.put(mediaType: "application/jsonl") { write in
            try scan(file, input.start..<input.end, records, context) { record in
                try context.checkCancelled()
                try write(try answer(reader.query(record), identifier, context))
                count += 1
                context.report(Double(count) / Double(max(1, input.queryCount)))
            }
        }
        guard count == input.queryCount else {
            throw Failure(
                .corrupt,
                "queries from line \(input.firstLine) on: planned \(input.queryCount), found \(count)"
            )
        }
        return ChunkOutcome(blob: blob)
    }

    /// The request shared by all queries, on the map at its past moment.
    ///
    /// Throws `invalidParameter` for an unknown spatial reference.
    private static func template(
        _ settings: BatchSettings, _ identifier: any RowIdentifier, _ context: ChunkContext
    ) throws -> IdentifyRequest {
        let position = try position(settings, identifier, context)
        let map = try patiently(context) { () throws(Failure) in
            try identifier.map(named: settings.map, at: position)
        }
        if let reference = settings.reference, let own = map.spatialReference {
            var request = settings.bare(.sequence(position))
            (request.spatialReference, request.geometrySpatialReference) = (reference, own)
            _ = try patiently(context) { [request] () throws(Failure) in
                try identifier.answer(request, isCancelled: context.isCancelled)
            }
        }
        return try settings.template(map, at: position)
    }

    /// The sequence number at which the map is queried: for a time, the resolved one that the
    /// answer states, and never one after the job's own.
    private static func position(
        _ settings: BatchSettings, _ identifier: any RowIdentifier, _ context: ChunkContext
    ) throws -> Int64 {
        if case .sequence(let position) = settings.asOf { return position }
        var request = settings.bare(settings.asOf)
        request.minSequence = settings.submitted
        let answer = try patiently(context) { [request] () throws(Failure) in
            try identifier.answer(request, isCancelled: context.isCancelled)
        }
        return min(answer.sequence, settings.submitted)
    }

    /// Retries while the sequence number is not known yet: this worker may have just been started.
    private static func patiently<Value>(
        _ context: ChunkContext, _ ask: () throws(Failure) -> Value
    ) throws -> Value {
        for _ in 0..<10 {
            do throws(Failure) {
                return try ask()
            } catch {
                guard error.isRetriable else { throw error }
                try context.checkCancelled()
                context.report(0)
            }
        }
        return try ask()
    }

    /// Answers one line; an invalid query is answered with its error, any other failure ends the
    /// attempt.
    private static func answer(
        _ query: BatchQuery, _ identifier: any RowIdentifier, _ context: ChunkContext
    ) throws -> Data {
        let result: Result<IdentifyAnswer, Failure>
        do throws(Failure) {
            result = .success(
                try identifier.answer(
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
