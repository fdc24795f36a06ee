// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import Platform

/// The committed state of the log that the decision about an append depends on.
protocol CommittedLog {
    func lastPosition(of stream: StreamName) throws(Failure) -> Int64?
    func record(id: UUID) throws(Failure) -> RecordedEvent?
    /// Whether there is an event with this id, in an archive too.
    func holds(_ id: UUID) throws(Failure) -> Bool
    /// The categories that there are streams of.
    var categories: Set<String> { get }
}

/// Decides about the appends of one commit, one after the other: each sees the log as it will be
/// after those before it.
///
/// A refused append leaves the plan as it was. A repeat of an append that is in the log is answered
/// with its first positions.
struct BatchPlan<Log: CommittedLog> {
    private let log: Log
    private let writers: Writers
    private let time: Timestamp
    private var head: Int64
    private var heads: [StreamName: Int64] = [:]
    /// Categories that the log does not have yet.
    private(set) var newCategories: Set<String> = []
    /// The new records, in the order of the log.
    private(set) var new: NewRecords

    /// Plans a batch for a log with the given head, at a time not before the head's; its appends
    /// are added afterwards.
    init(for batch: [AppendBytes], log: Log, writers: Writers, head: Int64, time: Timestamp) {
        new = NewRecords(roomFor: batch)
        self.log = log
        self.writers = writers
        self.head = head
        self.time = time
    }

    mutating func add(_ append: AppendBytes) throws(Failure) -> AppendResult {
        try AppendLimits.check(append)
        if try isKnown(append), let earlier = try earlierResult(append) { return earlier }
        try writers.admit(append)
        let places = try expectedPlaces(append)
        newCategories.formUnion(try admittedCategories(of: append, places))
        let first = head + 1
        for (part, place) in zip(append.parts, places) { keep(part, of: append, from: place) }
        return AppendResult(
            firstPosition: first, lastPosition: head, isRepeat: false, recordedAt: time)
    }

    /// The answer to a repeat; nil for a new append, a failure for one whose ids have other content
    /// in the log.
    private mutating func earlierResult(_ append: AppendBytes) throws(Failure) -> AppendResult? {
        switch try earlierAppend(append) {
        case .none: return nil
        case .same(let result): return result
        case .other(let id, let position):
            // A fenced writer gets that refusal, not that its successor used the id.
            try writers.admit(append)
            throw Self.reused(id, at: position)
        }
    }

    /// Whether any of its events is there already.
    private mutating func isKnown(_ append: AppendBytes) throws(Failure) -> Bool {
        for event in append.events {
            if new.ids.place(of: event.id) != nil { return true }
            if try log.holds(event.id) { return true }
        }
        return false
    }

    /// The expected positions of each part in its stream, provided all are accepted.
    private func expectedPlaces(_ append: AppendBytes) throws(Failure) -> [Int64] {
        var newHeads: [(stream: StreamName, last: Int64)] = []
        var places: [Int64] = []
        places.reserveCapacity(append.parts.count)
        for part in append.parts {
            var last = newHeads.last { $0.stream == part.stream }?.last
            if last == nil { last = try lastPosition(of: part.stream) }
            try Self.check(part.expected, of: part.stream, last: last)
            let place = (last ?? -1) + 1
            places.append(place)
            if append.parts.count > 1 {
                newHeads.append((part.stream, place + Int64(part.events.count) - 1))
            }
        }
        return places
    }

    /// The new categories of the append, if the bound allows them.
    private func admittedCategories(
        of append: AppendBytes, _ places: [Int64]
    ) throws(Failure) -> Set<String> {
        var begun: Set<String> = []
        for (part, place) in zip(append.parts, places) where place == 0 {
            let category = part.stream.category
            guard !log.categories.contains(category), !newCategories.contains(category),
                begun.insert(category).inserted
            else { continue }
            let count = log.categories.count + newCategories.count + begun.count
            guard count <= AppendLimits.categoryCount else {
                throw Failure(
                    .tooLarge,
                    "stream '\(part.stream)' would begin the category '\(category)'; a log has "
                        + "\(AppendLimits.categoryCount) at most: a stream is named CATEGORY-ID")
            }
        }
        return begun
    }

    private mutating func keep(_ part: AppendBytes.Part, of append: AppendBytes, from place: Int64)
    {
        for (offset, number) in part.events.enumerated() {
            let event = append.events[number]
            new.add(
                event, of: append, stream: part.stream, at: head + 1,
                streamPosition: place + Int64(offset), time: time)
            head += 1
        }
        heads[part.stream] = place + Int64(part.events.count) - 1
    }

    private func lastPosition(of stream: StreamName) throws(Failure) -> Int64? {
        if let planned = heads[stream] { return planned }
        return try log.lastPosition(of: stream)
    }

    /// The part of an append that the log (or this plan) already holds.
    private enum Earlier {
        /// No event of it.
        case none
        /// The whole append, at these positions.
        case same(AppendResult)
        /// Some of its events, or one of its ids with other content.
        case other(UUID, at: Int64)
    }

    private mutating func earlierAppend(_ append: AppendBytes) throws(Failure) -> Earlier {
        var first: Int64?
        var time = self.time
        var count: Int64 = 0
        var isNew = false
        for part in append.parts {
            for event in append.events[part.events] {
                guard let record = try record(id: event.id) else {
                    isNew = true
                    continue
                }
                let expected = (first ?? record.globalPosition) + count
                guard record.event == (try append.value(of: event)), record.stream == part.stream,
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
        guard !isNew else { return .other(append.events[0].id, at: first) }
        return .same(
            AppendResult(
                firstPosition: first, lastPosition: first + count - 1, isRepeat: true,
                recordedAt: time))
    }

    private mutating func record(id: UUID) throws(Failure) -> RecordedEvent? {
        if let index = new.ids.place(of: id) {
            var decoder = RecordDecoder()
            return try decoder.record(index, of: new.records)
        }
        return try log.record(id: id)
    }

    private static func reused(_ id: UUID, at position: Int64) -> Failure {
        Failure(
            .idReused,
            "event id \(id.uuidString.lowercased()) is in the log already, at sequence "
                + "\(position), "
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
    /// Refuses appends that are invalid for any log.
    static func check(_ append: AppendBytes) throws(Failure) {
        var byteCount = 0
        for part in append.parts {
            guard !part.events.isEmpty else {
                throw Failure(.invalidParameter, "an append to '\(part.stream)' has no event")
            }
        }
        for event in append.events {
            try check(event, of: append)
            byteCount += event.data.count + 256
        }
        let count = append.events.count
        guard count > 0 else { throw Failure(.invalidParameter, "an append has no stream") }
        guard count <= eventCount else {
            throw Failure(
                .tooLarge, "an append has \(count) events; at most \(eventCount) are accepted")
        }
        guard byteCount <= appendByteCount else {
            throw Failure(
                .tooLarge,
                "an append has \(byteCount) bytes; at most \(appendByteCount) are accepted")
        }
        try checkIDs(append)
    }

    /// Refuses the same id twice in one append.
    private static func checkIDs(_ append: AppendBytes) throws(Failure) {
        let events = append.events
        // Nearly always each is greater than the one before it.
        guard zip(events, events.dropFirst()).contains(where: { $0.id.words >= $1.id.words })
        else { return }
        var ids = Set<UUID>(minimumCapacity: append.events.count)
        for event in append.events where !ids.insert(event.id).inserted {
            throw Failure(
                .invalidParameter,
                "event id \(event.id.uuidString.lowercased()) occurs twice in one append")
        }
    }

    private static func check(
        _ event: AppendBytes.Event, of append: AppendBytes
    ) throws(Failure) {
        func refusal(_ code: Failure.Code, _ reason: String) -> Failure {
            Failure(code, "event \(event.id.uuidString.lowercased())\(reason)")
        }
        guard 1...typeByteCount ~= event.type.count,
            append.bytes.lend({ isType($0.extracting(event.type)) })
        else {
            throw refusal(
                .invalidParameter,
                ": a type is 1 to \(typeByteCount) letters, digits, '.', '_' or '-'")
        }
        guard 1...65_535 ~= event.schema else {
            throw refusal(.invalidParameter, ": a schema is 1 to 65535")
        }
        guard event.data.count <= eventByteCount else {
            throw refusal(
                .tooLarge,
                " has \(event.data.count) bytes; at most \(eventByteCount) are accepted")
        }
        guard event.metadata.count > metadataTextByteCount else { return }
        let metadata = try append.value(of: event).metadata
        for text in [metadata.actor, metadata.producer] {
            guard (text?.utf8.count ?? 0) <= metadataTextByteCount else {
                throw refusal(
                    .tooLarge,
                    ": actor and producer have at most \(metadataTextByteCount) bytes")
            }
        }
    }

    private static func isType(_ text: RawSpan) -> Bool {
        for offset in 0..<text.byteCount {
            switch text.byte(at: offset) {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                continue
            default: return false
            }
        }
        return true
    }
}
