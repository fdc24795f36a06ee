// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import Testing

@Suite struct JobMessageTests {
    @Test func `a message has a sentence for readers who may not know what is inside`() {
        let inside = Failure(.corrupt, "'/srv/inner/layer.fgb' at byte 8", details: ["/srv/inner"])
        let attempt = ChunkAttempt(chunk: 0, number: 1, lease: UUID())
        let events: [JobEvent] = [
            .failed(JobFailed(error: inside)),
            .chunkFailed(
                JobChunkFailed(attempt: attempt, error: inside, retryAfterMilliseconds: 5)),
        ]
        for message in events.flatMap(\.messages) {
            #expect(message.text.contains("/srv/inner"))
            #expect(message.outsideText?.contains("/srv/inner") == false)
        }
        let own = JobEvent.failed(JobFailed(error: Failure(.invalidParameter, "row 3 is bad")))
        #expect(own.messages.map(\.text) == ["row 3 is bad"])
        #expect(own.messages.map(\.outsideText) == [nil])
    }

    @Test func `a message has the time of its record, and its event has none`() throws {
        let time = Timestamp(microseconds: 1_764_444_000_123_456)
        let event = JobEvent.messagePosted(
            JobMessagePosted(message: JobMessage(.warning, "row 3 is bad")))
        #expect(event.messages(recordedAt: time).map(\.recordedAt) == [time])
        #expect(event.messages.map(\.recordedAt) == [nil])
    }
}
