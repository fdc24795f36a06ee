// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// What deciding about an append needs to know of the log as committed.
protocol CommittedLog {
    func lastPosition(of stream: StreamName) throws(Failure) -> Int64?
    func record(id: UUID) throws(Failure) -> RecordedEvent?
}

/// Decides about the appends of one commit, one after the other: each sees the log as it will be
/// after those before it.
///
/// A refused append leaves the plan as it was.
struct BatchPlan<Log: CommittedLog> {
    private let log: Log
    private let writers: Writers
    private let time: Timestamp
    private var head: Int64
    private var heads: [StreamName: Int64] = [:]
    private var planned: [UUID: Int] = [:]
    /// The new records, in the order of the log.
    private(set) var records: [RecordedEvent] = []

    /// Plans for a log with the given head, at a time not before the head's.
    init(log: Log, writers: Writers, head: Int64, time: Timestamp) {
        self.log = log
        self.writers = writers
        self.head = head
        self.time = time
    }

    mutating func add(_ request: AppendRequest) throws(Failure) -> AppendResult {
        let appends = request.appends
        try AppendLimits.check(appends)
        switch try earlierAppend(of: appends) {
        case .same(let result): return result
        case .none: try writers.admit(request)
        case .other(let id, let position):
            // Who was replaced is told that, not that its successor used the id.
            try writers.admit(request)
            throw Self.reused(id, at: position)
        }
        var newHeads: [StreamName: Int64] = [:]
        var newRecords: [RecordedEvent] = []
        for append in appends {
            var last = newHeads[append.stream]
            if last == nil { last = try lastPosition(of: append.stream) }
            try Self.check(append.expected, of: append.stream, last: last)
            for event in append.events {
                let next = (last ?? -1) + 1
                newRecords.append(
                    RecordedEvent(
                        globalPosition: head + Int64(newRecords.count) + 1, stream: append.stream,
                        streamPosition: next, recordedAt: time, event: event))
                last = next
            }
            newHeads[append.stream] = last
        }
        for (offset, record) in newRecords.enumerated() {
            planned[record.event.id] = records.count + offset
        }
        heads.merge(newHeads) { $1 }
        records += newRecords
        defer { head += Int64(newRecords.count) }
        return AppendResult(
            firstPosition: head + 1, lastPosition: head + Int64(newRecords.count), isRepeat: false,
            recordedAt: time)
    }

    private func lastPosition(of stream: StreamName) throws(Failure) -> Int64? {
        if let planned = heads[stream] { return planned }
        return try log.lastPosition(of: stream)
    }

    /// What the log (or this plan) holds already of an append.
    private enum Earlier {
        /// None of its events.
        case none
        /// All of it, at these positions.
        case same(AppendResult)
        /// Some of its events, or one of its ids with other content.
        case other(UUID, at: Int64)
    }

    private func earlierAppend(of appends: [StreamAppend]) throws(Failure) -> Earlier {
        var first: Int64?
        var time = self.time
        var count: Int64 = 0
        var isNew = false
        for append in appends {
            for event in append.events {
                guard let record = try record(id: event.id) else {
                    isNew = true
                    continue
                }
                let expected = (first ?? record.globalPosition) + count
                guard record.event == event, record.stream == append.stream,
                    record.globalPosition == expected, !isNew
                else { return .other(event.id, at: record.globalPosition) }
                if first == nil {
                    first = record.globalPosition
                    time = record.recordedAt
                }
                count += 1
            }
        }
        guard let first else { return .none }
        guard !isNew else { return .other(appends[0].events[0].id, at: first) }
        return .same(
            AppendResult(
                firstPosition: first, lastPosition: first + count - 1, isRepeat: true,
                recordedAt: time))
    }

    private func record(id: UUID) throws(Failure) -> RecordedEvent? {
        if let index = planned[id] { return records[index] }
        return try log.record(id: id)
    }

    private static func reused(_ id: UUID, at position: Int64) -> Failure {
        Failure(
            .idReused,
            "event id \(id.uuidString.lowercased()) is in the log already, at sequence \(position), "
                + "as part of another append or with other content")
    }

    private static func check(
        _ expected: ExpectedVersion, of stream: StreamName, last: Int64?
    ) throws(Failure) {
        let demand: String
        switch expected {
        case .any: return
        case .exact(let position):
            if last == position { return }
            demand = "last position \(position)"
        case .noStream:
            if last == nil { return }
            demand = "no event yet"
        case .streamExists:
            if last != nil { return }
            demand = "at least one event"
        }
        let actual = last.map { "last position \($0)" } ?? "no event yet"
        throw Failure(
            .conflict, "stream '\(stream)' has \(actual); the append expects \(demand)",
            details: ["actual=" + (last.map(String.init) ?? "none")])
    }
}

extension AppendLimits {
    /// Refuses what may never be appended, whatever the log holds.
    static func check(_ appends: [StreamAppend]) throws(Failure) {
        var ids: Set<UUID> = []
        var byteCount = 0
        for append in appends {
            guard !append.events.isEmpty else {
                throw Failure(.invalidParameter, "an append to '\(append.stream)' has no event")
            }
            for event in append.events {
                try check(event)
                guard ids.insert(event.id).inserted else {
                    throw Failure(
                        .invalidParameter,
                        "event id \(event.id.uuidString.lowercased()) occurs twice in one append")
                }
                byteCount += event.data.count + 256
            }
        }
        guard !ids.isEmpty else { throw Failure(.invalidParameter, "an append has no stream") }
        guard ids.count <= eventCount else {
            throw Failure(
                .tooLarge, "an append has \(ids.count) events; at most \(eventCount) are accepted")
        }
        guard byteCount <= appendByteCount else {
            throw Failure(
                .tooLarge,
                "an append has \(byteCount) bytes; at most \(appendByteCount) are accepted")
        }
    }

    private static func check(_ event: NewEvent) throws(Failure) {
        let isAllowed: (UInt8) -> Bool = { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        let id = event.id.uuidString.lowercased()
        guard (1...typeByteCount).contains(event.type.utf8.count),
            event.type.utf8.allSatisfy(isAllowed)
        else {
            throw Failure(
                .invalidParameter,
                "event \(id): a type is 1 to \(typeByteCount) letters, digits, '.', '_' or '-'")
        }
        guard (1...65_535).contains(event.schema) else {
            throw Failure(.invalidParameter, "event \(id): a schema is 1 to 65535")
        }
        guard event.data.count <= eventByteCount else {
            throw Failure(
                .tooLarge,
                "event \(id) has \(event.data.count) bytes; at most \(eventByteCount) are accepted")
        }
        for text in [event.metadata.actor, event.metadata.producer] {
            guard (text?.utf8.count ?? 0) <= metadataTextByteCount else {
                throw Failure(
                    .tooLarge,
                    "event \(id): actor and producer have at most \(metadataTextByteCount) bytes")
            }
        }
    }
}
