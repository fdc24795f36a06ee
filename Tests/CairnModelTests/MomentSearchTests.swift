// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import TestKit
import Testing

/// Beside a look at every event.
@Suite struct MomentSearchTests {
    @Test(.slow, arguments: Seeds.chosen(3, from: 1))
    func `the last event until a moment is found, and for which moments it is the last`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let events = try Self.events(&random)
            let end =
                (events.last?.globalPosition ?? 0) + 1 + Int64.random(in: 0...2, using: &random)
            let isEndKnown = Bool.random(using: &random)
            for moment in Int64(-1)...45 {
                let later = isEndKnown ? Timestamp(microseconds: 46) : nil
                let (search, steps) = Self.run(
                    MomentSearch(
                        at: Timestamp(microseconds: moment), before: end, recordedAt: later),
                    events)

                #expect(search.position == Self.last(events, until: moment), "seed \(seed)")
                #expect(steps <= 64 - end.leadingZeroBitCount, "seed \(seed)")
                #expect(search.sameMoments.contains(moment))
                for other in search.sameMoments.clamped(to: -5...45) {
                    #expect(
                        Self.last(events, until: other) == search.position,
                        "seed \(seed): \(other) is not as \(moment)")
                }
                let next = events.first { $0.recordedAt.microseconds > moment }
                if let next {
                    #expect(search.sameMoments.upperBound == next.recordedAt.microseconds - 1)
                } else {
                    #expect(search.sameMoments.upperBound == (isEndKnown ? 45 : moment))
                }
            }
        }
    }

    /// Up to a dozen events with gaps between them, of times from 0 to 40 that never go back.
    private static func events(_ random: inout SeededGenerator) throws -> [RecordedEvent] {
        let map = try MapName(parsing: "A")
        var (position, time) = (Int64(0), Int64(0))
        return try (0..<Int.random(in: 0...12, using: &random)).map { _ in
            position += Int64.random(in: 1...5, using: &random)
            time = min(time + Int64.random(in: 0...4, using: &random), 40)
            let event = try MapCreated(name: map).newEvent(
                id: .timeOrdered(), metadata: EventMetadata())
            return RecordedEvent(
                globalPosition: position, stream: .map(map),
                streamPosition: position,
                recordedAt: Timestamp(microseconds: time), event: event)
        }
    }

    private static func run(
        _ start: MomentSearch, _ events: [RecordedEvent]
    ) -> (MomentSearch, steps: Int) {
        var (search, steps) = (start, 0)
        while let next = search.next {
            search.take(events.first { $0.globalPosition >= next })
            steps += 1
        }
        return (search, steps)
    }

    private static func last(_ events: [RecordedEvent], until moment: Int64) -> Int64 {
        events.last { $0.recordedAt.microseconds <= moment }?.globalPosition ?? 0
    }
}
