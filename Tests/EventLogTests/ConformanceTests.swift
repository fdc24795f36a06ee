// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import Foundation
import Testing

/// The contract of a store, tested on each implementation.
@Suite struct ConformanceTests {
    typealias Kind = StoreUnderTest.Kind

    @Test(arguments: Kind.allCases)
    func `an empty log has head 0, no streams and verifies`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)

        #expect(try log.store.head() == 0)
        #expect(try log.store.lastPosition(of: name("map-a")) == nil)
        #expect(try log.store.categoryHeads() == [:])
        #expect(
            try log.store.verify(after: 0, limit: 10)
                == VerifyPage(checkedThrough: 0, head: 0, chainHash: ""))
        #expect(try log.store.read(ReadRange(after: 0, limit: 5)).isLast)
    }

    @Test(arguments: Kind.allCases)
    func `commits of every size come back as they were appended`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let streams = [try name("map-a"), try name("job-b")]
        var expected: [RecordedEvent] = []
        var ends: [StreamName: Int64] = [:]
        // Rows are written 64, 16, 4 and one at a time.
        for size in [1, 2, 3, 4, 5, 15, 16, 17, 21, 63, 64, 65, 85, 128, 149] {
            let appends = streams.map { stream in
                StreamAppend(
                    stream: stream, expected: .any,
                    events: (0..<size).map { number in
                        NewEvent(
                            id: .timeOrdered(), type: "t\(number)", schema: number + 1,
                            data: Data(repeating: UInt8(number), count: number * size % 50),
                            metadata: EventMetadata(actor: number % 3 == 0 ? "a\(size)" : nil))
                    })
            }
            log.clock.now += 1
            try log.store.append(appends)
            for append in appends {
                for event in append.events {
                    let place = ends[append.stream, default: -1] + 1
                    ends[append.stream] = place
                    expected.append(
                        RecordedEvent(
                            globalPosition: Int64(expected.count) + 1, stream: append.stream,
                            streamPosition: place,
                            recordedAt: Timestamp(microseconds: log.clock.now), event: event))
                }
            }
        }
        #expect(try log.store.everything() == expected)
        try log.reopen()

        #expect(try log.store.everything() == expected)
        // An archive is a page of its own.
        var through: Int64 = 0
        while through < expected.count {
            let page = try log.store.verify(after: through, limit: 10_000)
            try #require(page.fault == nil && page.checkedThrough > through)
            through = page.checkedThrough
        }
    }

    @Test(arguments: Kind.allCases)
    func `an appended event comes back byte for byte, also after opening again`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let odd = NewEvent(
            id: UUID(), type: "a.B-c_9", schema: 65_535, data: Data([0, 255, 0, 10]),
            metadata: EventMetadata(
                causation: UUID(), correlation: nil, actor: "Zoë \"Ω\" \u{0}/", producer: ""))
        let empty = NewEvent(
            id: UUID(), type: "t", schema: 1, data: Data(), metadata: EventMetadata())
        log.clock.now = 77

        try log.store.append([
            StreamAppend(stream: name("map-ä-b"), expected: .noStream, events: [odd, empty])
        ])
        try log.reopen()

        let time = Timestamp(microseconds: 77)
        let stream = try name("map-ä-b")
        #expect(
            try log.store.everything() == [
                RecordedEvent(
                    globalPosition: 1, stream: stream, streamPosition: 0, recordedAt: time,
                    event: odd),
                RecordedEvent(
                    globalPosition: 2, stream: stream, streamPosition: 1, recordedAt: time,
                    event: empty),
            ])
    }

    @Test(arguments: Kind.allCases)
    func `each expected version admits what it says and tells the actual one`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let stream = try name("map-a")
        func append(_ expected: ExpectedVersion) throws {
            try log.store.append([
                StreamAppend(stream: stream, expected: expected, events: [event("x")])
            ])
        }

        #expect(code { try append(.streamExists) } == .conflict)
        #expect(failure { try append(.exact(0)) }?.details == ["actual=none"])
        #expect(code { try append(.noStream) } == nil)
        #expect(failure { try append(.noStream) }?.details == ["actual=0"])
        #expect(code { try append(.exact(0)) } == nil)
        #expect(failure { try append(.exact(0)) }?.details == ["actual=1"])
        #expect(code { try append(.exact(2)) } == .conflict)
        #expect(code { try append(.streamExists) } == nil)
        #expect(code { try append(.any) } == nil)
        #expect(try log.store.head() == 4)
        #expect(try log.store.lastPosition(of: stream) == 3)
    }

    @Test(arguments: Kind.allCases)
    func `an append over several streams is all or nothing`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let (a, b) = (try name("map-a"), try name("job-b"))

        #expect(
            code {
                try log.store.append([
                    StreamAppend(stream: a, expected: .noStream, events: [event("1")]),
                    StreamAppend(stream: b, expected: .streamExists, events: [event("2")]),
                ])
            } == .conflict)
        #expect(try log.store.head() == 0)
        #expect(try log.store.lastPosition(of: a) == nil)

        try log.store.append([
            StreamAppend(stream: a, expected: .noStream, events: [event("1")]),
            StreamAppend(stream: b, expected: .noStream, events: [event("2")]),
            StreamAppend(stream: a, expected: .exact(0), events: [event("3")]),
        ])
        #expect(try log.store.everything().map(\.streamPosition) == [0, 0, 1])
    }

    @Test(arguments: Kind.allCases)
    func `a bad append does not touch its neighbours and leaves no gap`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let a = try name("map-a")
        func one(_ expected: ExpectedVersion, _ text: String) -> [StreamAppend] {
            [StreamAppend(stream: a, expected: expected, events: [event(text)])]
        }

        let batch = log.store.append(batch: [
            one(.noStream, "1"), one(.noStream, "bad"), one(.exact(0), "2"), [],
            one(.exact(1), "3"),
        ])

        let positions = batch.results.map { try? $0.get().firstPosition }
        #expect(positions == [1, nil, 2, nil, 3])
        #expect(
            batch.events.map { String(decoding: $0.event.data, as: UTF8.self) } == ["1", "2", "3"])
        #expect(try log.store.everything() == batch.events)
    }

    @Test(arguments: Kind.allCases)
    func `the same append twice is one append, in every mode and after opening again`(
        kind: Kind
    ) throws {
        let log = try StoreUnderTest(kind)
        for (index, expected) in [ExpectedVersion.noStream, .exact(1), .streamExists, .any]
            .enumerated()
        {
            let append = [
                StreamAppend(
                    stream: try name("map-a"), expected: expected,
                    events: [event("p\(index)"), event("q\(index)")])
            ]
            let first = try log.store.append(append)
            try log.reopen()
            let second = try log.store.append(append)
            let together = log.store.append(batch: [append, append])

            #expect(!first.isRepeat)
            #expect(
                second
                    == AppendResult(
                        firstPosition: first.firstPosition, lastPosition: first.lastPosition,
                        isRepeat: true, recordedAt: first.recordedAt))
            #expect(together.results.map { try? $0.get() } == [second, second])
            #expect(together.events.isEmpty)
        }
        #expect(try log.store.head() == 8)
    }

    @Test(arguments: Kind.allCases)
    func `a repeat inside one commit gets the first one's positions`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let append = [StreamAppend(stream: try name("map-a"), expected: .any, events: [event("1")])]

        let batch = log.store.append(batch: [append, append])

        #expect(batch.results.map { try? $0.get().isRepeat } == [false, true])
        #expect(batch.results.map { try? $0.get().firstPosition } == [1, 1])
        #expect(try log.store.head() == 1)
    }

    @Test(arguments: Kind.allCases)
    func `an id with other content is refused`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let (a, b) = (try name("map-a"), try name("map-b"))
        let (one, two) = (event("1"), event("2"))
        try log.store.append([StreamAppend(stream: a, expected: .any, events: [one, two])])
        func attempt(_ stream: StreamName, _ events: [NewEvent]) -> Failure.Code? {
            code {
                try log.store.append([StreamAppend(stream: stream, expected: .any, events: events)])
            }
        }

        #expect(attempt(a, [event("other", id: one.id)]) == .idReused)
        #expect(attempt(a, [event("1", id: one.id, type: "other")]) == .idReused)
        #expect(attempt(b, [one]) == .idReused)
        #expect(attempt(a, [two, one]) == .idReused)
        #expect(attempt(a, [one, event("3")]) == .idReused)
        #expect(attempt(a, [event("3"), two]) == .idReused)
        #expect(attempt(a, [event("3"), event("4")]) == nil)
        #expect(attempt(a, [one, two]) == nil)
        #expect(try log.store.head() == 4)
    }

    @Test(arguments: Kind.allCases)
    func `an event that may never be appended is refused by a sentence`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        let stream = try name("map-a")
        func attempt(_ events: [NewEvent]) -> Failure.Code? {
            code {
                try log.store.append([StreamAppend(stream: stream, expected: .any, events: events)])
            }
        }
        func changed(_ change: (inout NewEvent) -> Void) -> NewEvent {
            var result = event("x")
            change(&result)
            return result
        }
        let twin = event("x")

        #expect(attempt([]) == .invalidParameter)
        #expect(attempt([twin, twin]) == .invalidParameter)
        #expect(attempt([changed { $0.type = "" }]) == .invalidParameter)
        #expect(attempt([changed { $0.type = "a b" }]) == .invalidParameter)
        #expect(attempt([changed { $0.schema = 0 }]) == .invalidParameter)
        #expect(attempt([changed { $0.schema = 65_536 }]) == .invalidParameter)
        #expect(
            attempt([changed { $0.data = Data(count: AppendLimits.eventByteCount + 1) }])
                == .tooLarge)
        #expect(
            attempt([changed { $0.metadata.actor = String(repeating: "a", count: 501) }])
                == .tooLarge)
        #expect(attempt((0...AppendLimits.eventCount).map { event("\($0)") }) == .tooLarge)
        #expect(
            attempt((0..<5).map { _ in changed { $0.data = Data(count: 1 << 20) } }) == .tooLarge)
        #expect(try log.store.head() == 0)
        #expect(attempt((1...AppendLimits.eventCount).map { event("\($0)") }) == nil)
    }

    @Test(arguments: Kind.allCases)
    func `time never goes back, whatever the clock does`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        for now: Int64 in [500, 400, 600, 100] {
            log.clock.now = now
            try log.store.append([
                StreamAppend(stream: name("map-a"), expected: .any, events: [event("\(now)")])
            ])
            try log.reopen()
        }

        #expect(
            try log.store.everything().map(\.recordedAt.microseconds) == [500, 500, 600, 600])
    }

    @Test(arguments: Kind.allCases)
    func `a page is bounded in events and bytes, but never empty before the end`(
        kind: Kind
    ) throws {
        let log = try StoreUnderTest(kind)
        for number in 1...6 {
            try log.store.append([
                StreamAppend(
                    stream: name("map-\(number % 2)"), expected: .any,
                    events: [event(String(repeating: "x", count: 1_000))])
            ])
        }
        func page(_ limit: Int, _ byteLimit: Int, after: Int64 = 0) throws -> EventSlice {
            try log.store.read(ReadRange(after: after, limit: limit, byteLimit: byteLimit))
        }

        #expect(try page(6, .max).isLast)
        #expect(try page(5, .max).events.count == 5)
        #expect(try !page(5, .max).isLast)
        #expect(try page(6, 1).events.count == 1)
        #expect(try page(6, 3_000).events.count == 2)
        #expect(try page(2, .max, after: 4).isLast)
        #expect(try page(2, .max, after: 99).events.isEmpty)
        #expect(try page(0, .max).events.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a thousand categories are enough, and their streams go on`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        func append(_ streams: [String]) throws {
            _ = try log.store.append(
                try streams.map { stream in
                    StreamAppend(stream: try name(stream), expected: .any, events: [event("e")])
                })
        }
        try append((0..<600).map { "c\($0)-a" })
        try append((600..<999).map { "c\($0)-a" })
        let head = try log.store.head()

        // Two at once are one too many; of a refused append nothing stays, its categories neither.
        let both = failure { try append(["new-a", "newer-a"]) }
        #expect(both?.code == .tooLarge && both?.message.contains("newer-a") == true)
        #expect(try log.store.head() == head)
        try append(["newer-a", "newer-b"])
        #expect(failure { try append(["new-a"]) }?.code == .tooLarge)

        try append(["c0-b", "c998-a", "newer-c"])
        #expect(try log.store.categoryHeads().count == AppendLimits.categoryCount)
        try log.reopen()
        #expect(failure { try append(["new-a"]) }?.code == .tooLarge)
        try append(["c5-new"])
        #expect(try log.store.verify(after: 0, limit: .max).fault == nil)
    }

    @Test(arguments: Kind.allCases)
    func `a read with the largest limit gets every event`(kind: Kind) throws {
        let log = try StoreUnderTest(kind)
        for number in 1...6 {
            try log.store.append([
                StreamAppend(
                    stream: name("map-\(number % 2)"), expected: .any, events: [event("e")])
            ])
        }
        let all = try log.store.read(ReadRange(after: 0, limit: 6)).events
        #expect(all.count == 6)
        for filter in [ReadRange.Filter.all, .stream(try name("map-1")), .category("map")] {
            for after in 0...6 as ClosedRange<Int64> {
                let page = try log.store.read(
                    ReadRange(after: after, limit: .max, byteLimit: .max, filter: filter))
                #expect(
                    page.events
                        == all.filter { $0.globalPosition > after && filter.admits($0.stream) })
                #expect(page.isLast)
            }
        }
        for after in 0...5 as ClosedRange<Int64> {
            let page = try log.store.verify(after: after, limit: .max)
            #expect(page.checkedThrough == 6 && page.fault == nil)
        }
    }
}
