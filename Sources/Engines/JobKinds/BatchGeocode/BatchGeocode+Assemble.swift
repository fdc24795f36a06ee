// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Site
internal import Tables

extension BatchGeocode {
    /// Concatenates the new header and the chunks' rows, in order, and counts them: a wrong number
    /// of rows fails the job.
    static func assemble(_ context: ChunkContext) throws -> ChunkOutcome {
        let input = try context.input(AssembleInput.self)
        let parts = context.assignment.gathered.compactMap(\.self)
        guard parts.count == context.assignment.gathered.count else {
            throw Failure(.corrupt, "a chunk of rows has no output blob")
        }
        var (rowCount, matchedCount) = (0, 0)
        for (index, part) in parts.enumerated() {
            let file = try open(part, context)
            try scan(file, 0..<file.byteCount, TableForm(), context) { record in
                rowCount += 1
                if record.fields.last == [UInt8(ascii: "M")] { matchedCount += 1 }
            }
            context.report(Double(index + 1) / Double(parts.count + 1))
        }
        guard rowCount == input.rowCount else {
            throw Failure(
                .corrupt, "the chunks have \(rowCount) rows; the input has \(input.rowCount)")
        }
        let product = try context.blobs.put(
            Data(input.header.utf8), then: parts, mediaType: "text/csv")
        return ChunkOutcome(
            blob: product,
            messages: [
                JobMessage(.informative, "\(matchedCount) of \(rowCount) rows have a place")
            ])
    }
}
