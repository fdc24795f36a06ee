// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Platform
internal import Site

extension ExportFeatures {
    /// Writes the runs, one after the other, into one file.
    static func write(_ context: ChunkContext) throws -> ChunkOutcome {
        let input = try context.input(WriteInput.self)
        let settings = try ExportSettings(context.assignment)
        let parts = context.assignment.gathered.compactMap(\.self)
        guard parts.count == context.assignment.gathered.count, let first = parts.first else {
            throw Failure(.corrupt, "a chunk of features left no blob")
        }
        let staging = try StagingDirectory(in: context.blobs.stagingDirectory)
        let path = staging.path + "/features" + settings.format.ending
        do {
            var file = try ExportedFile(
                settings.format, path: path, layerName: input.layerName,
                table: try table(of: first, context))
            for part in parts {
                try forEachLine(of: part, context) { line, number in
                    guard number > 0 else { return }
                    try file.append(try CairnJSON.decode(FeatureRow.self, from: line))
                    if file.count.isMultiple(of: 256) {
                        context.report(Double(file.count) / Double(max(1, input.featureCount)))
                    }
                }
            }
            guard file.count == input.featureCount else {
                throw Failure(
                    .corrupt,
                    "the chunks have \(file.count) features; \(input.featureCount) are selected")
            }
            try file.close()
            let blob = try context.blobs.put(
                file: path, mediaType: settings.format.mediaType.rawValue)
            return ChunkOutcome(blob: blob, messages: file.messages)
        } catch {
            throw Failure(importing: error)
        }
    }

    private static func table(
        of part: BlobReference, _ context: ChunkContext
    ) throws -> FeatureTable {
        var table: FeatureTable?
        try forEachLine(of: part, context, limit: 1) { line, _ in
            table = try CairnJSON.decode(FeatureTable.self, from: line)
        }
        guard let table else { throw Failure(.corrupt, "blob \(part.id) has no table") }
        return table
    }

    /// Hands out the lines of a blob, numbered from 0.
    private static func forEachLine(
        of part: BlobReference, _ context: ChunkContext, limit: Int = .max,
        _ body: (Data, Int) throws -> Void
    ) throws {
        let file = try BatchGeocode.open(part, context)
        var (rest, number) = (Data(), 0)
        for start in stride(from: 0, to: file.byteCount, by: 256 << 10) {
            try context.checkCancelled()
            rest += file.copy(start..<min(start + (256 << 10), file.byteCount))
            var begin = rest.startIndex
            while let end = rest[begin...].firstIndex(of: UInt8(ascii: "\n")) {
                try body(Data(rest[begin..<end]), number)
                number += 1
                if number == limit { return }
                begin = rest.index(after: end)
            }
            rest = Data(rest[begin...])
        }
    }
}
