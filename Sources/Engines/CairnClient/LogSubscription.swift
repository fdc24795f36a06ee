// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
public import FoundationEssentials
internal import Synchronization

/// Follows the log of a site from a position on: every event once, in order, across lost messages
/// and restarts of the log.
///
/// It catches up by reading, switches to published messages, and reads again at every gap. Keep the
/// position of the last *handled* event together with the derived state, and resume from there.
public final class LogSubscription: Sendable {
    /// Handles events in the order of the log, none twice.
    ///
    /// `upTo` is the watermark: the subscription has no other event up to there; it may grow
    /// without events. Calls do not overlap; meanwhile messages are buffered, up to a bound.
    public typealias Handler =
        @Sendable (_ events: [RecordedEvent], _ upTo: Int64) async -> Void

    private struct Status {
        var position: Int64
        var isReading = true
        var lastHeard = ContinuousClock.now
        var fault: Failure?
        var incarnation: UUID?
    }

    /// Age of the last message at which the state counts as stale.
    ///
    /// (Heads come every half second.)
    public static let staleAfter = Duration.seconds(2)

    /// The state of a request for the length of the log.
    private enum Question {
        case none
        case asked
        /// The pending answer may be too old for a waiting reader: it is requested once more.
        case askedAgain
    }

    private let log: LogReader
    private let inbox = LogInbox()
    private let question = Mutex(Question.none)
    private let status: Mutex<Status>
    private let subscriber = Mutex<Subscriber?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Subscribes and starts to read; the log may still be down.
    ///
    /// - Parameters:
    ///   - bus: The bus thread of the process.
    ///   - log: The source of missing events.
    ///   - categories: Which categories of streams (`map`, `job`, …); empty for all.
    ///   - after: The last handled global position; 0 for the beginning.
    ///   - incarnation: The log which that position is of; any other counts as a replacement.
    ///   - onFault: Receives the ``fault`` when it occurs; `conflict` means that the log has been
    ///     replaced by an older copy or a restored backup: derived state must be rebuilt.
    ///   - isPrompt: Whether events are read and delivered on the bus thread, which saves a thread
    ///     switch: for a handler that takes microseconds and never blocks. While catching up it
    ///     receives page after page, too.
    ///   - handler: Called on no particular thread, one call at a time.
    public init(
        bus: BusThread, log: LogReader, categories: Set<String> = [], after: Int64 = 0,
        of incarnation: UUID? = nil, isPrompt: Bool = false,
        onFault: @escaping @Sendable (Failure) -> Void = { _ in },
        handler: @escaping Handler
    ) throws(Failure) {
        self.log = log
        status = Mutex(Status(position: after, incarnation: incarnation))
        let inbox = inbox
        let started = try bus.subscribe(.logTail, topics: LogFollow.topics(categories)) {
            [weak self] _, message in
            self?.heard()
            inbox.put(message)
        }
        subscriber.withLock { $0 = started }
        let outside = LogFollow.Outside(
            read: { [weak self] request throws(Failure) in
                let page = try await log.read(request)
                self?.heard()
                return page
            },
            handOn: { [weak self] events, position in
                await handler(events, position)
                self?.status.withLock { $0.position = position }
            },
            report: { [weak self] isReading, failure in
                if let fault = self?.report(isReading, failure) { onFault(fault) }
            },
            pause: { duration in
                try? await Task.sleep(for: duration)
                return !Task.isCancelled
            },
            name: { [weak self] found in self?.status.withLock { $0.incarnation = found } })
        let follow = LogFollow(
            categories: categories, after: after, of: incarnation, outside: outside)
        let running = Task(executorPreference: isPrompt ? bus.tasks : nil) {
            await Self.run(follow, inbox)
        }
        task.withLock { $0 = running }
    }

    deinit { cancel() }

    /// Cancels the subscription; a call of the handler in progress finishes.
    ///
    /// Releasing the subscription does the same.
    public func cancel() {
        subscriber.withLock { $0 }?.close()
        inbox.close()
        task.withLock { $0 }?.cancel()
    }

    private static func run(_ start: LogFollow, _ inbox: LogInbox) async {
        var follow = start
        guard await follow.catchUp() else { return }
        while !Task.isCancelled {
            let messages = await inbox.take()
            guard !messages.isEmpty, await follow.handle(messages) else { return }
        }
    }

    /// Requests the length of the log, for a waiting reader whose ``position`` is shown by no event
    /// of the subscription and otherwise only by the next head, half a second later.
    ///
    /// Never waits, with one request in flight at a time. Without an answer, heads remain the
    /// source.
    public func askForHead() {
        let isFirst = question.withLock { question in
            defer { question = question == .none ? .asked : .askedAgain }
            return question == .none
        }
        guard isFirst else { return }
        Task { [weak self, log, inbox] in
            repeat {
                if let head = try? await log.head(timeout: Self.staleAfter),
                    let message = try? Message(head)
                {
                    self?.heard()
                    inbox.put(message)
                }
            } while self?.isToAskAgain() ?? false
        }
    }

    private func isToAskAgain() -> Bool {
        question.withLock { question in
            question = question == .askedAgain ? .asked : .none
            return question == .asked
        }
    }

    private func heard() { status.withLock { $0.lastHeard = .now } }

    /// Records the state; returns a new fault.
    private func report(_ isReading: Bool, _ failure: Failure?) -> Failure? {
        status.withLock { status in
            let before = status.fault
            status.isReading = isReading
            status.fault = failure.flatMap { $0.isRetriable ? nil : $0 }
            return before?.code == status.fault?.code ? nil : status.fault
        }
    }

    /// Everything up to this global position has been handled.
    public var position: Int64 { status.withLock { $0.position } }

    /// The incarnation of the followed log; nil until a first head arrives, within half a second.
    public var incarnation: UUID? { status.withLock { $0.incarnation } }

    /// Whether the log may have grown beyond `position` unnoticed: it is still being read, or has
    /// been silent for `staleAfter`.
    public var isStale: Bool {
        status.withLock {
            $0.fault != nil || $0.isReading || $0.lastHeard.duration(to: .now) > Self.staleAfter
        }
    }

    /// The reason why it stopped or cannot go on: `conflict` when the log was replaced by an older
    /// copy (it has stopped for good), `corrupt` when it is damaged at the next event (it keeps
    /// trying).
    public var fault: Failure? { status.withLock { $0.fault } }
}
