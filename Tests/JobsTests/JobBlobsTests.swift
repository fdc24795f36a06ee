// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import TestKit
import Testing

/// What a sweep must keep, against a table of what random jobs name.
@Suite struct JobBlobsTests {
    /// The model of one job.
    private struct Told {
        var id: JobID
        var parent: Int?
        var endedAt: Int64?
        var input: BlobReference?
        var ends: [ContentID] = []
        var parts: [ContentID] = []
        var position: Int64 = 0
    }

    private struct Story {
        var random: SeededGenerator
        var jobs: [Told] = []
        var blobs = JobBlobs()
        var sequence: Int64 = 0
        var blobCount: UInt64 = 0

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        /// Now and then one that is known already: equal bytes are one blob.
        mutating func blob() throws -> BlobReference {
            if blobCount == 0 || Int.random(in: 0..<4, using: &random) > 0 { blobCount += 1 }
            let number =
                Int.random(in: 0..<5, using: &random) == 0
                ? UInt64.random(in: 1...blobCount, using: &random) : blobCount
            let digits = String(number, radix: 16)
            let text = String(repeating: "0", count: 64 - digits.count) + digits
            let name = try #require(ContentID(rawValue: text))
            return BlobReference(
                id: name, byteCount: Int64(number),
                mediaType: "text/csv")
        }

        mutating func tell(_ index: Int, _ event: JobEvent, at time: Int64) throws {
            sequence += 1
            jobs[index].position += 1
            try blobs.apply(
                RecordedEvent(
                    globalPosition: sequence, stream: .job(jobs[index].id),
                    streamPosition: jobs[index].position,
                    recordedAt: Timestamp(microseconds: time),
                    event: event.payload.newEvent(id: UUID(), metadata: EventMetadata())))
        }

        mutating func submit(at time: Int64) throws {
            var job = Told(id: JobID(rawValue: UUID()))
            if !jobs.isEmpty, Bool.random(using: &random) {
                job.parent = Int.random(in: 0..<jobs.count, using: &random)
            }
            if Bool.random(using: &random) { job.input = try blob() }
            job.ends = job.input.map { [$0.id] } ?? []
            jobs.append(job)
            let parent = job.parent.map { JobParent(job: jobs[$0].id, chunk: 1, depth: 1) }
            var submission = JobSubmission(
                id: job.id, kind: .batch, parameters: [:], input: job.input)
            submission.parent = parent
            try tell(
                jobs.count - 1, .submitted(JobSubmitted(submission: submission)), at: time)
        }

        mutating func goOn(with index: Int, at time: Int64) throws {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let input = try blob()
                jobs[index].ends.append(input.id)
                let chunk = ChunkDescription(
                    pool: .work, operation: "job", input: Data(), weight: 1,
                    subJob: SubJob(kind: .batchGeocode, parameters: [:], input: input))
                try tell(
                    index,
                    .stagePlanned(JobStagePlanned(stage: 1, firstChunk: 1, chunks: [chunk])),
                    at: time)
            case 1, 2:
                let part = Int.random(in: 0..<4, using: &random) == 0 ? nil : try blob()
                if let part { jobs[index].parts.append(part.id) }
                let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
                try tell(
                    index,
                    .chunkCompleted(
                        JobChunkCompleted(attempt: attempt, blob: part, messages: [])), at: time)
            default:
                jobs[index].endedAt = time
                guard Bool.random(using: &random) else {
                    return try tell(
                        index, .failed(JobFailed(error: Failure(.internal, "broken"))), at: time)
                }
                let product = try blob()
                jobs[index].ends.append(product.id)
                try tell(index, .succeeded(JobSucceeded(result: product)), at: time)
            }
        }

        /// Whether the job and all its ancestors ended before a moment.
        func isOver(_ index: Int, before moment: Int64) -> Bool {
            guard let end = jobs[index].endedAt, end < moment else { return false }
            return jobs[index].parent.map { isOver($0, before: moment) } ?? true
        }
    }

    @Test(arguments: Seeds.chosen(40, from: 1))
    func `the blobs of an open job are kept, and of other jobs those asked for`(
        seed: UInt64
    ) throws {
        var story = Story(seed: seed)
        for time in 1...150 as ClosedRange<Int64> {
            let open = story.jobs.indices.filter { story.jobs[$0].endedAt == nil }
            if open.isEmpty || Int.random(in: 0..<4, using: &story.random) == 0 {
                try story.submit(at: time)
            } else if let index = open.randomElement(using: &story.random) {
                try story.goOn(with: index, at: time)
            }
        }
        #expect(
            Set(story.blobs.openInputs.map(\.id)).isSuperset(
                of: story.jobs.filter { $0.endedAt == nil }.compactMap { $0.input?.id }))

        for moment in [0, 40, 90, 151] as [Int64] {
            for keepsProducts in [true, false] {
                var expected: Set<ContentID> = []
                for (index, job) in story.jobs.enumerated() {
                    let isOver = story.isOver(index, before: moment)
                    if !isOver || keepsProducts { expected.formUnion(job.ends) }
                    if !isOver { expected.formUnion(job.parts) }
                }
                let kept = story.blobs.kept(
                    before: Timestamp(microseconds: moment), keepsProducts: keepsProducts)
                #expect(kept == expected, "seed \(seed), before \(moment), \(keepsProducts)")
            }
        }
    }
}
