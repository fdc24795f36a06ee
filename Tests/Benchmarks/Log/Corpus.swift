// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Jobs
import MapState

/// The life of a site as its log has it: jobs that lease, complete and progress, and maps whose
/// layers are turned on and off, renamed and limited, two thirds to one third.
struct Corpus {
    private static let chunkCount = 200
    private static let mapNames = (0..<8).map { "Map\($0)" }
    private static let metadata = EventMetadata(
        causation: UUID(), actor: "local", producer: "cairn-bench/0.1.0")

    private var job: (id: JobID, chunk: Int) = (JobID(rawValue: .timeOrdered()), -1)
    private var count = 0
    private var lease = UUID()

    /// The next events, about `limit`, each an append of its own or with those it belongs to.
    mutating func next(_ limit: Int) throws -> [StreamAppend] {
        var appends: [StreamAppend] = []
        var made = 0
        while made < limit {
            let append = count == 0 ? try maps() : [try step()]
            count += 1
            appends += append
            made += append.reduce(0) { $0 + $1.events.count }
        }
        return appends
    }

    /// Every map, with eight layers.
    private func maps() throws -> [StreamAppend] {
        try Self.mapNames.map { text in
            let name = try MapName(parsing: text)
            let layers = (0..<8).map { number in
                LayerAdded(
                    layer: number, name: "Layer \(number)", kind: .group, parent: nil,
                    index: number)
            }
            return try append(.map(name), [MapCreated(name: name)] + layers)
        }
    }

    private mutating func step() throws -> StreamAppend {
        if count % 3 == 0 { return try mapStep() }
        guard job.chunk >= 0 else {
            let submission = JobSubmission(
                id: job.id, kind: .batchGeocode, parameters: ["address": "street, city"])
            let chunk = ChunkDescription(
                pool: .locator, operation: "geocodeRows", input: Data(#"{"first":0}"#.utf8),
                weight: 100)
            job.chunk = 0
            let planned = JobStagePlanned(
                stage: 0, firstChunk: 0,
                chunks: Array(repeating: chunk, count: Self.chunkCount))
            return try append(.job(job.id), [JobSubmitted(submission: submission), planned])
        }
        let (number, part) = (job.chunk / 3, job.chunk % 3)
        let id = job.id
        job.chunk += 1
        if number == Self.chunkCount {
            job = (JobID(rawValue: .timeOrdered()), -1)
            return try append(.job(id), [JobSucceeded(result: nil)])
        }
        if part == 0 { lease = UUID() }
        let attempt = ChunkAttempt(chunk: number, number: 1, lease: lease)
        let event: any EventPayload =
            switch part {
            case 0: JobChunkLeased(attempt: attempt, worker: Self.worker, processID: 4711)
            case 1: JobProgressed(progress: 100 * Double(number) / Double(Self.chunkCount))
            default: JobChunkCompleted(attempt: attempt, blob: nil, messages: [])
            }
        return try append(.job(id), [event])
    }

    private static let worker = UUID()

    private func mapStep() throws -> StreamAppend {
        let turn = count / 3
        let name = try MapName(parsing: Self.mapNames[turn % 8])
        let layer = turn / 8 % 8
        let event: any EventPayload =
            switch turn / 64 % 3 {
            case 0: LayerVisibilityChanged(layer: layer, isVisible: turn / 192 % 2 == 0)
            case 1: LayerRenamed(layer: layer, name: "Layer \(layer) of \(turn)")
            default:
                LayerScaleRangeChanged(
                    layer: layer,
                    scaleRange: ScaleRange(minScale: Double(turn), maxScale: 1_000))
            }
        return try append(.map(name), [event])
    }

    private func append(
        _ stream: StreamName, _ payloads: [any EventPayload]
    ) throws -> StreamAppend {
        StreamAppend(
            stream: stream, expected: .any,
            events: try payloads.map {
                try $0.newEvent(id: .timeOrdered(), metadata: Self.metadata)
            })
    }
}

/// Both folds that the services of a site keep.
struct Folded {
    private(set) var maps = MapsState()
    private(set) var jobs = JobTable()

    mutating func apply(_ record: RecordedEvent) throws {
        try maps.apply(record)
        try jobs.apply(record)
    }
}
