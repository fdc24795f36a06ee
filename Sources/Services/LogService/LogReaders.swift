// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnCore
internal import EventLog
internal import FoundationEssentials
internal import Logging
internal import Platform
internal import Synchronization

/// Threads that read and verify, each over a connection of its own, so that reads never delay
/// appends.
final class LogReaders: Sendable {
    enum Operation: Sendable {
        case read
        case verify
    }

    /// Queue capacity; a read beyond it fails with `busy`.
    static let queueCapacity = 1_024
    static let threadCount = 2
    static let pageCapacity = 1_000
    static let verifyCapacity = 10_000

    private typealias Task = (operation: Operation, request: IncomingRequest)
    private let queue = BlockingQueue<Task>(capacity: queueCapacity)
    private let threads = Mutex<[PinnedThread]>([])
    private let isStopping = Atomic<Bool>(false)

    init(path: String, logger: Logger) throws(Failure) {
        for number in 0..<Self.threadCount {
            let reader = Mutex(try ArchivedLogReader(path: path))
            do {
                let thread = try PinnedThread(name: "log-reader-\(number)") { [queue] in
                    while let task = queue.pop() {
                        reader.withLock { Self.answer(task, from: $0, logger: logger) }
                    }
                }
                threads.withLock { $0.append(thread) }
            } catch {
                throw Failure(error)
            }
        }
    }

    func enqueue(_ operation: Operation, _ request: IncomingRequest) throws(Failure) {
        guard queue.tryPush((operation, request)) else {
            if isStopping.load(ordering: .relaxed) {
                throw Failure(.draining, "the log is shutting down")
            }
            throw Failure(.busy, "the log has too many reads waiting; try again")
        }
    }

    /// Completes the queued reads and ends the threads.
    ///
    /// Blocks.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
        queue.close()
        threads.withLock { threads in
            for thread in threads { thread.join() }
            threads = []
        }
    }

    private static func answer(_ task: Task, from reader: ArchivedLogReader, logger: Logger) {
        let request = task.request
        if let deadline = request.deadline, deadline < MonotonicClock.nanoseconds() {
            return request.reply(failure: Failure(.timedOut, "the read waited too long"))
        }
        do throws(Failure) {
            switch task.operation {
            case .read:
                let asked = try request.message.decode(ReadRequest.self)
                guard request.takesFixedLayout else {
                    request.reply(encoding: try page(asked, from: reader))
                    return
                }
                request.reply(
                    try canonicalPage(asked, from: reader),
                    contentType: MessageHeader.fixedLayout)
            case .verify:
                let asked = try request.message.decode(VerifyRequest.self)
                try check("limit", asked.limit, upTo: verifyCapacity)
                try check("after", asked.after)
                request.reply(
                    encoding: try reader.verify(after: asked.after, limit: asked.limit))
            }
        } catch {
            if error.code != .invalidParameter, error.code != .archived {
                logger.error("read failed", metadata: ["reason": "\(error)"])
            }
            request.reply(failure: error)
        }
    }

    private static func page(
        _ asked: ReadRequest, from reader: ArchivedLogReader
    ) throws(Failure) -> ReadPage {
        try check("limit", asked.limit, upTo: pageCapacity)
        try check("after", asked.after)
        // The head is read first: events committed in between belong to the next page.
        let head = try reader.head()
        let slice = try reader.read(asked.range)
        let last = slice.events.last?.globalPosition ?? asked.after
        return ReadPage(
            events: slice.events, through: slice.isLast ? max(head, last) : last,
            head: max(head, slice.events.last?.globalPosition ?? 0))
    }

    /// A page in the fixed layout, copied without decoding any event.
    private static func canonicalPage(
        _ asked: ReadRequest, from reader: ArchivedLogReader
    ) throws(Failure) -> Data {
        try check("limit", asked.limit, upTo: pageCapacity)
        try check("after", asked.after)
        let head = try reader.head()
        let slice = try reader.readCanonical(asked.range)
        let last = slice.last ?? asked.after
        return ReadPage.fixedLayout(
            slice.records, through: slice.isLast ? max(head, last) : last,
            head: max(head, slice.last ?? 0))
    }

    private static func check(_ name: String, _ value: Int, upTo bound: Int) throws(Failure) {
        guard (1...bound).contains(value) else {
            throw Failure(.invalidParameter, "\(name) is \(value); expected 1 to \(bound)")
        }
    }

    private static func check(_ name: String, _ value: Int64) throws(Failure) {
        guard value >= 0 else {
            throw Failure(.invalidParameter, "\(name) is \(value); expected 0 or more")
        }
    }
}

extension ReadRequest {
    /// The requested range of positions.
    fileprivate var range: ReadRange {
        let filter: ReadRange.Filter =
            if let stream {
                .stream(stream)
            } else if let category {
                .category(category)
            } else {
                .all
            }
        return ReadRange(after: after, limit: limit, filter: filter)
    }
}

extension IncomingRequest {
    /// Whether the client reads the fixed layout of the log.
    var takesFixedLayout: Bool { message.header.flags & LogLayout.flag != 0 }
}
