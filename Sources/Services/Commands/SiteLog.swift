// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import EventLog
internal import Synchronization

/// The log of a site for reading: of the process that serves it, or of its files.
enum SiteLog: Sendable {
    case service(LogReader)
    case files(LogFiles)

    func read(_ request: ReadRequest) async throws(Failure) -> ReadPage {
        switch self {
        case .service(let log): try await log.read(request)
        case .files(let files): try files.read(request)
        }
    }

    /// All events of a stream.
    func events(stream: StreamName) async throws(Failure) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        var after: Int64 = 0
        while true {
            let page = try await read(ReadRequest(after: after, limit: 1_000, stream: stream))
            events += page.events
            after = page.through
            if page.through >= page.head { return events }
        }
    }

    /// The global position of the last event; 0 for an empty log.
    func head(timeout: Duration = .seconds(10)) async throws(Failure) -> Int64 {
        switch self {
        case .service(let log): try await log.head(timeout: timeout).head
        case .files(let files): try files.head()
        }
    }

    /// The process's log; nil for files.
    var service: LogReader? {
        if case .service(let log) = self { log } else { nil }
    }
}

/// The files of a log that no process serves.
final class LogFiles: Sendable {
    private let reader: Mutex<ArchivedLogReader>

    /// Opens a log; throws `Failure` (`unreadable`, `newerVersion`, `corrupt`).
    init(path: String) throws(Failure) { reader = Mutex(try ArchivedLogReader(path: path)) }

    func head() throws(Failure) -> Int64 {
        try reader.withLock { reader throws(Failure) in try reader.head() }
    }

    func read(_ request: ReadRequest) throws(Failure) -> ReadPage {
        let filter: ReadRange.Filter =
            request.stream.map { .stream($0) } ?? request.category.map { .category($0) } ?? .all
        let range = ReadRange(after: request.after, limit: request.limit, filter: filter)
        return try reader.withLock { reader throws(Failure) in
            let head = try reader.head()
            let slice = try reader.read(range)
            let last = slice.events.last?.globalPosition ?? request.after
            return ReadPage(
                events: slice.events, through: slice.isLast ? max(head, last) : last,
                head: max(head, last))
        }
    }
}
