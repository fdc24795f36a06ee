// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Site

extension ExportFeatures {
    /// Counts the selected features and cuts them into runs.
    static func cut(_ context: ChunkContext, _ maps: any JobMaps) throws -> ChunkOutcome {
        let settings = try ExportSettings(context.assignment)
        let position = try maps.position(
            settings.asOf, of: settings.map, submitted: settings.submitted, context)
        let map = try context.patiently { () throws(Failure) -> MapDescription in
            try maps.map(named: settings.map, at: position)
        }
        let layer = try settings.layer(of: map)
        var request = settings.request(layer.id, at: position)
        // Read once with everything, so that a wrong field fails here; the features are not.
        _ = try maps.forEachFeature(
            request, in: map, ids: .min ... .min, isCancelled: context.isCancelled
        ) { _ in }
        (request.outFields, request.returnGeometry) = ([], false)
        var (count, starts) = (0, [Int64]())
        _ = try maps.forEachFeature(
            request, in: map, ids: .min ... .max, isCancelled: context.isCancelled
        ) { row throws(Failure) in
            if count.isMultiple(of: featuresPerChunk) {
                starts.append(row.objectID)
                context.report(0)
            }
            count += 1
        }
        // A selection without features gives a file with the columns alone.
        if starts.isEmpty { starts = [.min] }
        let chunks = try starts.indices.map { index in
            let isLast = index + 1 == starts.count
            let input = ReadInput(
                position: position, layer: layer.id, firstID: starts[index],
                lastID: isLast ? .max : starts[index + 1] - 1,
                featureCount: isLast ? count - index * featuresPerChunk : featuresPerChunk)
            return try read.chunk(input, weight: max(1, input.featureCount))
        }
        let write = try write.chunk(
            WriteInput(layerName: layer.name, featureCount: count), weight: max(1, count),
            gathers: true)
        return ChunkOutcome(
            nextStage: chunks, laterStages: [[write]],
            messages: [
                JobMessage(
                    .informative,
                    "\(count) features of layer '\(layer.name)' as of sequence number \(position)")
            ])
    }

    /// Reads one run into a blob: a line with the table, then a line for each feature.
    static func read(_ context: ChunkContext, _ maps: any JobMaps) throws -> ChunkOutcome {
        let input = try context.input(ReadInput.self)
        let settings = try ExportSettings(context.assignment)
        let map = try context.patiently { () throws(Failure) -> MapDescription in
            try maps.map(named: settings.map, at: input.position)
        }
        guard input.firstID <= input.lastID else {
            throw Failure(.corrupt, "the run of object ids \(input.firstID) to \(input.lastID)")
        }
        let request = settings.request(input.layer, at: input.position)
        let table = try maps.forEachFeature(
            request, in: map, ids: .min ... .min, isCancelled: context.isCancelled
        ) { _ in }
        var count = 0
        let blob = try context.blobs.put(mediaType: MediaType.jsonLines.rawValue) { write in
            let lineEnd = [UInt8(ascii: "\n")]
            try write(try CairnJSON.encode(table) + lineEnd)
            var damage: (any Error)?
            _ = try maps.forEachFeature(
                request, in: map, ids: input.firstID...input.lastID,
                isCancelled: context.isCancelled
            ) { row throws(Failure) in
                let line = try CairnJSON.encode(row) + lineEnd
                do { try write(line) } catch {
                    damage = error
                    throw Failure(.internal, "the run could not be written")
                }
                count += 1
                if count.isMultiple(of: 256) {
                    context.report(Double(count) / Double(max(1, input.featureCount)))
                }
            }
            if let damage { throw damage }
        }
        guard count == input.featureCount else {
            throw Failure(
                .corrupt,
                "features from object id \(input.firstID) on: planned \(input.featureCount), "
                    + "found \(count)")
        }
        return ChunkOutcome(blob: blob)
    }
}
