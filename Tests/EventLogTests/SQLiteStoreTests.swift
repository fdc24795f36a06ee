// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import Foundation
import Platform
import SQLite
import TestKit
import Testing

/// Failures specific to the store in a file.
@Suite struct SQLiteStoreTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func open() throws -> SQLiteEventStore {
        try SQLiteEventStore(path: scratch.file) { Timestamp(microseconds: 5) }
    }

    /// So that most bytes of the file are those of events.
    private let padding = String(repeating: "·", count: 1_000)

    /// Commits of 1, 2, 3 … events until there are 45.
    private func fill() throws -> [RecordedEvent] {
        let store = try open()
        for size in 1...9 {
            try store.append([
                StreamAppend(
                    stream: name("map-\(size % 3)"), expected: .any,
                    events: (0..<size).map { event("event \(size).\($0) " + padding) })
            ])
        }
        try store.checkpoint(truncating: true)
        return try store.everything()
    }

    private func tamper(_ sql: String) throws {
        let connection = try Connection(path: scratch.file, mode: .write)
        try connection.execute(sql)
    }

    @Test func `a second opener is refused while the first is there`() throws {
        let first = try open()

        let refusal = failure { _ = try open() }

        #expect(refusal?.code == .conflict)
        #expect(refusal?.message.contains("\(ProcessInfo.processInfo.processIdentifier)") == true)
        #expect(try first.head() == 0)
    }

    @Test func `a file that is not a log is refused and left as it is`() throws {
        let text = Data("name,city\nZoë,Ulm\n".utf8) + Data(repeating: 65, count: 2_000)
        try text.write(to: URL(fileURLWithPath: scratch.file))
        #expect(code { _ = try open() } == .unreadable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file)) == text)
    }

    @Test func `another program's database is refused and left as it is`() throws {
        do {
            let other = try Connection(path: scratch.file, mode: .create)
            try other.execute("CREATE TABLE event (position INTEGER)")
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: scratch.file))

        #expect(code { _ = try open() } == .unreadable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file)) == before)
    }

    @Test func `a newer schema is refused by a sentence that says so`() throws {
        _ = try fill()
        try tamper("PRAGMA user_version = 99")

        let refusal = failure { _ = try open() }

        #expect(refusal?.code == .newerVersion)
        #expect(refusal?.message.contains("schema 99") == true)
    }

    @Test(arguments: [1, 2, 3])
    func `a file of an older version is brought up to date, keeps every event, and goes on`(
        version: Int
    ) throws {
        let golden = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Golden/v1/log/version-\(version).sqlite").standardized
        try FileManager.default.copyItem(at: golden, to: URL(filePath: scratch.file))
        let asWritten = try SQLiteEventReader(path: scratch.file).everything()
        #expect(asWritten.map(\.event.type).first == "map.created")
        let filters = asWritten.flatMap { record -> [ReadRange.Filter] in
            [.stream(record.stream), .category(record.stream.category)]
        }
        // Also as it is, which an archive of that version stays.
        for filter in filters {
            #expect(
                try SQLiteEventReader(path: scratch.file)
                    .read(ReadRange(after: 1, limit: 2, filter: filter)).events
                    == asWritten.filter { filter.admits($0.stream) && $0.globalPosition > 1 }
                    .prefix(2) + [])
        }
        let hash = "401f11119d5f01faa6ae7d111a8bf02860b19bc851afae0863a06792276b9285"
        let whole = VerifyPage(checkedThrough: 7, head: 7, chainHash: hash)
        #expect(try SQLiteEventReader(path: scratch.file).verify(after: 0, limit: 100) == whole)
        #expect(try LogAudit.verify(path: scratch.file) == whole)

        do {
            let store = try open()

            #expect(try store.setting("user_version") == 4)
            #expect(try store.everything() == asWritten)
            for filter in filters {
                #expect(
                    try store.read(ReadRange(after: 0, limit: 100, filter: filter)).events
                        == asWritten.filter { filter.admits($0.stream) })
            }
            #expect(try store.verify(after: 0, limit: 100) == whole)
            #expect(try store.lastPosition(of: name("map-World")) == 1)
            #expect(try store.categoryHeads() == ["map": 2, "job": 7])
            let again = asWritten[0]
            #expect(
                try store.append([
                    StreamAppend(stream: again.stream, expected: .any, events: [again.event])
                ]).isRepeat)
            let claim = try store.claim(
                ClaimRequest(category: "map", instance: UUID(), holder: "tests/1"))
            try store.append(
                [
                    StreamAppend(
                        stream: name("map-World"), expected: .exact(1), events: [event("new")])
                ], epochs: ["map": claim.epoch])
        }
        #expect(try scratch.indexFault() == nil)
        try open().writeIndexes()
        #expect(try scratch.indexFault() == nil)
        let store = try open()
        #expect(try store.head() == 8)
        #expect(try store.firstFault() == nil)
        #expect(try store.everything().prefix(7) == asWritten[...])
    }

    @Test func `the file is written ahead, synced fully and checkpointed by hand`() throws {
        let store = try open()
        try store.append([
            StreamAppend(stream: name("map-a"), expected: .any, events: [event("x")])
        ])

        #expect(FileManager.default.fileExists(atPath: scratch.file + "-wal"))
        #expect(try store.setting("synchronous") == 2)
        #expect(try store.setting("wal_autocheckpoint") == 0)
        #expect(try store.setting("page_size") == 8192)
    }

    private func indexed() throws -> Int64? {
        try Connection(path: scratch.file, mode: .read).integer("SELECT through FROM indexed")
    }

    private func stream(_ text: String) throws -> [Int64] {
        let range = ReadRange(after: 0, limit: 10_000, filter: .stream(try name(text)))
        return try SQLiteEventReader(path: scratch.file).read(range).events.map(\.streamPosition)
    }

    @Test func `indexes are written when there is enough, sooner when nobody waits`() throws {
        let store = try open()
        func append(_ count: Int) throws {
            try store.append([
                StreamAppend(
                    stream: name("map-a"), expected: .any,
                    events: (0..<count).map { event("\($0)") })
            ])
        }
        try append(1_000)
        try append(23)
        try store.writeIndexesIfDue(isIdle: true)
        #expect(try indexed() == 0)
        try append(1)
        try store.writeIndexesIfDue(isIdle: false)
        #expect(try indexed() == 0)
        try store.writeIndexesIfDue(isIdle: true)
        #expect(try indexed() == 1_024)
        for count in [1_000, 1_000, 1_000, 1_000, 95] { try append(count) }
        try store.writeIndexesIfDue(isIdle: false)
        #expect(try indexed() == 1_024)
        try append(1)
        try store.writeIndexesIfDue(isIdle: false)
        #expect(try indexed() == 5_120)
        try append(1)
        #expect(try stream("map-a") == Array(0..<5_121))
    }

    @Test func `events not yet in the indexes when a process ends are known to the next`() throws {
        let first = event("first"), second = event("second", id: .timeOrdered())
        do {
            let store = try open()
            try store.append([
                StreamAppend(stream: name("map-a"), expected: .noStream, events: [first])
            ])
            try store.writeIndexes()
            try store.append([
                StreamAppend(stream: name("map-a"), expected: .exact(0), events: [second])
            ])
        }
        #expect(try indexed() == 1)
        let store = try open()
        for (place, known) in [first, second].enumerated() {
            let again = try store.append([
                StreamAppend(stream: name("map-a"), expected: .any, events: [known])
            ])
            #expect(again.isRepeat)
            #expect(again.firstPosition == Int64(place + 1))
            let other = failure {
                try store.append([
                    StreamAppend(
                        stream: name("map-b"), expected: .any, events: [event("x", id: known.id)])
                ])
            }
            #expect(other?.code == .idReused)
        }
        #expect(
            code {
                try store.append([
                    StreamAppend(stream: name("map-a"), expected: .exact(0), events: [event("y")])
                ])
            } == .conflict)
        #expect(try store.head() == 2)
        #expect(try stream("map-a") == [0, 1])
    }

    @Test func `an index that leaves an event out is noticed by whoever reads the stream`() throws {
        _ = try fill()
        try open().writeIndexes()
        let whole = try stream("map-1")
        #expect(whole.count == 12)
        try tamper(
            """
            INSERT INTO stream_run SELECT stream, first + 2, count - 2 FROM stream_run WHERE first = 22;
            UPDATE stream_run SET count = 1 WHERE first = 22;
            """)

        let reader = try SQLiteEventReader(path: scratch.file)
        let range = ReadRange(after: 0, limit: 100, filter: .stream(try name("map-1")))
        let page = try reader.read(range)
        #expect(page.events.map(\.streamPosition) == Array(0...5))
        #expect(!page.isLast)
        let rest = ReadRange(
            after: try #require(page.events.last).globalPosition, limit: 100, filter: range.filter)
        #expect(code { _ = try reader.read(rest) } == .corrupt)
    }

    @Test(arguments: ["stream", "category"])
    func `an index that names an event of something else is noticed by whoever reads by it`(
        kind: String
    ) throws {
        let store = try open()
        for (stream, count) in [("map-1", 3), ("job-1", 2), ("map-1", 2)] {
            try store.append([
                StreamAppend(
                    stream: name(stream), expected: .any,
                    events: (0..<count).map { event("\($0)") })
            ])
        }
        try store.writeIndexes()
        try store.checkpoint(truncating: true)
        let map: ReadRange.Filter = kind == "stream" ? .stream(try name("map-1")) : .category("map")
        #expect(
            try store.read(ReadRange(after: 0, limit: 9, filter: map)).events.map(\.globalPosition)
                == [1, 2, 3, 6, 7])
        // The first run of maps now includes an event of a job, the second a missing one.
        try tamper("UPDATE \(kind)_run SET count = count + 1 WHERE first IN (1, 6)")

        let reader = try SQLiteEventReader(path: scratch.file)
        let page = try reader.read(ReadRange(after: 0, limit: 9, filter: map))
        #expect(page.events.map(\.globalPosition) == [1, 2, 3])
        #expect(!page.isLast)
        #expect(
            code { _ = try reader.read(ReadRange(after: 3, limit: 9, filter: map)) } == .corrupt)
        // A range that starts after it is checked, too, where places count up from event to event.
        let behind = ReadRange(after: 4, limit: 2, filter: map)
        if kind == "category" {
            #expect(try reader.read(behind).events.map(\.globalPosition) == [6, 7])
        } else {
            #expect(code { _ = try reader.read(behind) } == .corrupt)
        }
        #expect(
            code { _ = try reader.read(ReadRange(after: 7, limit: 9, filter: map)) } == .corrupt)
    }

    @Test func `neighbours of one stream or category are one row of their index`() throws {
        let store = try open()
        for _ in 0..<3 {
            try store.append([
                StreamAppend(
                    stream: name("map-a"), expected: .any, events: (0..<500).map { event("\($0)") }),
                StreamAppend(stream: name("map-b"), expected: .any, events: [event("b")]),
            ])
        }
        try store.writeIndexes()

        let file = try Connection(path: scratch.file, mode: .read)
        #expect(try file.integer("SELECT count(*) FROM stream_run") == 6)
        #expect(try file.integer("SELECT count(*) FROM category_run") == 1)
        #expect(try scratch.indexFault() == nil)
    }

    @Test func `a full disk refuses, keeps what is there, and works again afterwards`() throws {
        let store = try open()
        func append(_ byteCount: Int) throws {
            try store.append([
                StreamAppend(
                    stream: name("map-a"), expected: .any,
                    events: [event(String(repeating: "x", count: byteCount))])
            ])
        }
        try append(10)
        try store.limitPages(to: 30)
        var accepted: Int64 = 1
        while code({ try append(20_000) }) == nil { accepted += 1 }
        #expect(accepted > 2)
        #expect(code { try append(20_000) } == .noSpace)

        let huge = [
            StreamAppend(
                stream: try name("map-b"), expected: .any,
                events: [event(String(repeating: "y", count: 100_000))])
        ]
        let small = [
            StreamAppend(stream: try name("map-a"), expected: .any, events: [event("small")])
        ]
        let batch = store.append(batch: [huge, small])
        #expect(batch.results.map { refusal(of: $0) } == [.noSpace, nil])
        accepted += 1
        #expect(try store.head() == accepted)
        #expect(try store.everything().map(\.globalPosition) == Array(1...accepted))

        try store.limitPages(to: 1_000_000)
        #expect(refusal(of: store.append(batch: [huge]).results[0]) == nil)
        #expect(try store.head() == accepted + 1)
        #expect(try store.firstFault() == nil)
    }

    private func refusal(of result: Result<AppendResult, Failure>) -> Failure.Code? {
        guard case .failure(let failure) = result else { return nil }
        return failure.code
    }

    @Test(
        .slow,
        arguments: [
            ("UPDATE event SET data = CAST('forged' AS BLOB) WHERE position = 20", Int64(20)),
            ("UPDATE event SET type = 'forged' WHERE position = 1", 1),
            ("UPDATE event SET crc = crc + 1 WHERE position = 45", 45),
            ("UPDATE event SET stream_position = 900 WHERE position = 7", 7),
            ("UPDATE event SET recorded_at = 4 WHERE position = 30", 30),
            ("UPDATE event SET id = zeroblob(16) WHERE position = 11", 11),
            ("UPDATE event SET id = CAST('short' AS BLOB) WHERE position = 11", 11),
            ("UPDATE event SET metadata = CAST('{' AS BLOB) WHERE position = 2", 2),
            ("DELETE FROM event WHERE position = 33", 33),
            ("DELETE FROM batch WHERE last = 36", 29),
            ("UPDATE batch SET hash = zeroblob(32) WHERE last = 10", 7),
            ("UPDATE batch SET first = 3 WHERE last = 3", 2),
        ])
    func `verify names the first sequence number that cannot be trusted`(
        sql: String, position: Int64
    ) throws {
        let before = try fill()
        #expect(before.count == 45)
        try tamper(sql)

        let store = try open()

        #expect(try store.firstFault()?.position == position)
        #expect(try store.firstFault(limit: 1_000)?.position == position)
        for threadCount in 1...3 {
            let page = try LogAudit.verify(
                path: scratch.file, threadCount: threadCount, pageSize: 4)
            #expect(page.fault?.position == position, "\(threadCount) threads")
        }
    }

    @Test(
        .slow,
        arguments: [
            ("UPDATE category SET name = 'x' WHERE number = 1", Int64(1)),
            ("UPDATE stream SET category = 2 WHERE number = 2", 2),
            ("UPDATE event SET category = 2 WHERE position = 5", 5),
            ("DELETE FROM category_run WHERE category = 1", 1),
            ("DELETE FROM stream_run WHERE stream = 1", 1),
            ("DELETE FROM stream_run WHERE stream = 1 AND first = 7", 7),
            ("UPDATE category_run SET count = 7 WHERE category = 1", 8),
            ("UPDATE stream_run SET count = 3 WHERE stream = 1 AND first = 7", 10),
            ("UPDATE stream_run SET count = 5 WHERE stream = 1 AND first = 7", 11),
            ("UPDATE stream_run SET count = 0 WHERE stream = 1 AND first = 7", 7),
            ("UPDATE stream_run SET first = 8 WHERE stream = 1 AND first = 7", 7),
            ("INSERT INTO category_run VALUES (2, 20, 3)", 20),
            ("INSERT INTO category_run VALUES (1, 20, 3)", 20),
            ("DELETE FROM event_id", 1),
            ("UPDATE event_id SET position = position + 1", 1),
            ("DELETE FROM event_id WHERE position = 40", 40),
        ])
    func `verify names the first event that an index does not say the truth of`(
        sql: String, position: Int64
    ) throws {
        _ = try fill()
        do {
            let store = try open()
            try store.append([
                StreamAppend(stream: name("job-1"), expected: .any, events: [event("a job")])
            ])
            try store.writeIndexes()
            // The indexes do not cover the latest events.
            try store.append([
                StreamAppend(stream: name("job-1"), expected: .any, events: [event("more")])
            ])
        }
        for limit in [1, 10, 1_000] { #expect(try open().firstFault(limit: limit) == nil) }
        try tamper(sql)

        for limit in [1, 10, 1_000] {
            #expect(try open().firstFault(limit: limit)?.position == position, "\(limit) a page")
        }
        let page = try LogAudit.verify(path: scratch.file, threadCount: 2, pageSize: 4)
        #expect(page.fault?.position == position)
        #expect(page.checkedThrough < position)
    }

    @Test(arguments: [
        ("INSERT INTO stream_run VALUES (99, 20, 3)", Int64(20)),
        ("INSERT INTO stream_run VALUES (99, 20, 0)", 20),
        ("INSERT INTO stream_run VALUES (99, 900, 9)", 900),
        ("INSERT INTO category_run VALUES (99, 44, 1)", 44),
        ("INSERT INTO event_id VALUES (zeroblob(16), 12)", 12),
        ("INSERT INTO event_id VALUES (zeroblob(16), 900)", 900),
    ])
    func `verify notices rows of indexes that no event leads to, at the end`(
        sql: String, position: Int64
    ) throws {
        _ = try fill()
        try open().writeIndexes()
        for limit in [10, 1_000] { #expect(try open().firstFault(limit: limit) == nil) }
        try tamper(sql)

        for limit in [10, 1_000] {
            #expect(try open().firstFault(limit: limit)?.position == position, "\(limit) a page")
        }
        let page = try LogAudit.verify(path: scratch.file, threadCount: 2, pageSize: 4)
        #expect(page.fault?.position == position)
        // A request for the hash of one batch does not use the indexes for it.
        #expect(try open().verify(after: 44, limit: 1).fault == nil)
    }

    @Test(arguments: [
        ("DELETE FROM event_id WHERE position = 150", Int64(150)),
        ("UPDATE event_id SET position = 301 WHERE position = 300", 300),
        ("UPDATE event_id SET id = zeroblob(16) WHERE position = 200", 200),
        ("UPDATE event_id SET id = CAST('short' AS BLOB) WHERE position = 200", 200),
        (
            """
            UPDATE event_id SET position = -1 WHERE position = 77;
            UPDATE event_id SET position = 77 WHERE position = 276;
            UPDATE event_id SET position = 276 WHERE position = -1;
            """, 77
        ),
    ])
    func `ids are compared whether they come in the order of their index or not`(
        sql: String, position: Int64
    ) throws {
        do {
            let store = try open()
            // Now in the order of time, now in none, now backwards.
            for part in 0..<8 {
                let ids = (0..<50).map { _ in part % 2 == 0 ? UUID.timeOrdered() : UUID() }
                try store.append([
                    StreamAppend(
                        stream: name("map-\(part)"), expected: .noStream,
                        events: (part % 3 == 2 ? ids.reversed() : ids).map {
                            event("an event", id: $0)
                        })
                ])
            }
            try store.writeIndexes()
        }
        for limit in [10, 100, 1_000] { #expect(try open().firstFault(limit: limit) == nil) }
        try tamper(sql)
        for limit in [10, 100, 1_000] {
            #expect(try open().firstFault(limit: limit)?.position == position, "\(limit) a page")
        }
    }

    @Test func `an id that is in its index too early is noticed`() throws {
        let store = try open()
        try store.append([
            StreamAppend(stream: name("map-a"), expected: .any, events: [event("a")])
        ])
        #expect(try store.firstFault() == nil)
        try tamper("INSERT INTO event_id SELECT id, position FROM event")
        #expect(try store.firstFault()?.message.contains("beyond where the indexes end") == true)
    }

    @Test func `pages verified side by side end with the hash that one pass ends with`() throws {
        _ = try fill()
        let whole = try open().verify(after: 0, limit: 1_000)
        for (threadCount, pageSize) in [(1, 1), (2, 3), (3, 7), (2, 1_000)] {
            let page = try LogAudit.verify(
                path: scratch.file, threadCount: threadCount, pageSize: pageSize)
            #expect(page == whole)
        }
    }

    @Test func `a scan gives every event in order, and then nothing`() throws {
        let before = try fill()
        let scan = try LogScan(path: scratch.file, after: 7)
        var found: [RecordedEvent] = []
        while let events = try scan.next() { found += events }
        #expect(found == Array(before.dropFirst(7)))
        #expect(try scan.next() == nil)
    }

    @Test func `a scan that is let go of early ends, and one of a damaged log says so`() throws {
        _ = try fill()
        do {
            let scan = try LogScan(path: scratch.file)
            _ = scan
        }
        try tamper("UPDATE event SET data = CAST('forged' AS BLOB) WHERE position = 1")
        let scan = try LogScan(path: scratch.file)
        #expect(code { _ = try scan.next() } == .corrupt)
        #expect(try scan.next() == nil)
    }

    @Test func `a forged record with a matching checksum breaks the chain`() throws {
        // Two logs that differ in one event: its row, checksum and all, is moved from one to the
        // other.
        _ = try fill()
        let other = try Scratch()
        do {
            let store = try SQLiteEventStore(path: other.file) { Timestamp(microseconds: 5) }
            for record in try open().everything() {
                var forged = record.event
                if record.globalPosition == 18 { forged.data = Data("forged".utf8) }
                try store.append([
                    StreamAppend(stream: record.stream, expected: .any, events: [forged])
                ])
            }
            try store.checkpoint(truncating: true)
        }
        try tamper(
            """
            ATTACH '\(other.file)' AS other;
            UPDATE event SET (data, crc) = (SELECT data, crc FROM other.event WHERE position = 18)
            WHERE position = 18;
            """)

        let store = try open()

        #expect(
            try store.read(ReadRange(after: 17, limit: 1)).events[0].event.data
                == Data("forged".utf8))
        let fault = try #require(try store.firstFault())
        #expect(fault.position == 16)
        #expect(fault.message.contains("hash chain"))
    }

    @Test func `no event gets the position of one that was removed behind the log's back`() throws {
        _ = try fill()
        let store = try open()
        try tamper("DELETE FROM event WHERE position = 45")

        let refusal = failure {
            try store.append([
                StreamAppend(stream: name("job-1"), expected: .any, events: [event("late")])
            ])
        }

        #expect(refusal?.code == .corrupt)
        #expect(refusal?.message.contains("position 45, not 46") == true)
        #expect(try store.firstFault()?.position == 45)
    }

    @Test func `a damaged page is told with the file and an event near it`() throws {
        let before = try fill()
        let page: UInt64 = 8_192
        let text = try #require(
            try Data(contentsOf: URL(filePath: scratch.file)).range(of: Data("event 7.3".utf8)))
        let file = try FileHandle(forUpdating: URL(filePath: scratch.file))
        try file.seek(toOffset: UInt64(text.lowerBound) / page * page)
        try file.write(contentsOf: Data(repeating: 0xff, count: 64))
        try file.close()
        let log = try SQLiteEventReader(path: scratch.file)

        let fault = try #require(try log.firstFault(limit: 1_000))
        let good = try log.read(ReadRange(after: 0, limit: 100)).events
        let next = Int64(good.count) + 1
        #expect(15...25 ~= fault.position && fault.position <= next)
        #expect(good.count > 10 && good == Array(before.prefix(good.count)))
        let refusal = failure { _ = try log.read(ReadRange(after: next - 1, limit: 100)) }
        #expect(refusal?.code == .corrupt)
        #expect(refusal?.message.hasPrefix("sequence \(next): ") == true)
        for message in [fault.message, refusal?.message ?? ""] {
            #expect(message.contains("'\(scratch.file)'") && !message.contains("SELECT"))
        }
    }

    @Test func `reading stops loudly at a damaged record, after the good ones`() throws {
        let before = try fill()
        try tamper("UPDATE event SET data = CAST('forged' AS BLOB) WHERE position = 20")
        let store = try open()

        #expect(try store.read(ReadRange(after: 0, limit: 100)).events == Array(before[..<19]))
        let refusal = failure { _ = try store.read(ReadRange(after: 19, limit: 100)) }
        #expect(refusal?.code == .corrupt)
        #expect(refusal?.message.contains("20") == true)
        #expect(try store.read(ReadRange(after: 20, limit: 100)).events == Array(before[20...]))
    }

    @Test(.slow, arguments: 0..<4)
    func `a flipped bit anywhere never changes what is read unnoticed`(
        quarter: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(11 + quarter))
        let before = try fill()
        let path = scratch.file + "-flipped"
        let good = try Data(contentsOf: URL(fileURLWithPath: scratch.file))
        let file = try FileHandle(
            forUpdating: { () throws -> URL in
                try good.write(to: URL(fileURLWithPath: path))
                return URL(fileURLWithPath: path)
            }())
        var noticed = 0
        for _ in 0..<250 {
            let offset = Int.random(in: 0..<good.count, using: &random)
            let bit: UInt8 = 1 << UInt8.random(in: 0..<8, using: &random)
            func put(_ byte: UInt8) throws {
                try file.seek(toOffset: UInt64(offset))
                try file.write(contentsOf: Data([byte]))
            }
            try put(good[offset] ^ bit)
            do {
                let log = try SQLiteEventReader(path: path)
                let fault = try log.firstFault(limit: 1_000)
                let isWhole = try log.head() == 45
                // Only corrupt events may be missing or refused; returned ones are unchanged.
                var after: Int64 = 0
                while let slice = try? log.read(ReadRange(after: after, limit: 7)) {
                    for event in slice.events {
                        #expect(
                            event == before[Int(event.globalPosition) - 1],
                            "seed \(random.seed), offset \(offset)")
                    }
                    guard !slice.isLast, let last = slice.events.last else { break }
                    after = last.globalPosition
                }
                if fault == nil, isWhole {
                    #expect(
                        try log.everything() == before, "seed \(random.seed), offset \(offset)")
                } else {
                    noticed += 1
                }
            } catch {
                noticed += 1
            }
            try put(good[offset])
        }
        // About half of the file is events; the rest is indexes and room.
        #expect(noticed > 60, "seed \(random.seed): \(noticed) of 250")
    }
}
