// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
public import FoundationEssentials
internal import Synchronization

/// Follows the log of a site from a position on: every event once, in order, however late it joins
/// and whatever is lost on the way, over restarts of the log.
///
/// It reads what there is, goes over to what is published, and reads again wherever something is
/// missing. Keep the position of the last event *handled* together with what was made of it, and
/// start from there next time.
public final class LogSubscription: Sendable {
    /// Takes events in the order of the log, none twice.
    ///
    /// `upTo` says that nothing else of the subscription lies up to there; it may grow without
    /// events. The next call comes when this one has returned; meanwhile messages gather, up to a
    /// bound.
    public typealias Handler =
        @Sendable (_ events: [RecordedEvent], _ upTo: Int64) async -> Void

    private struct Status {
        var position: Int64
        var isReading = true
        var lastHeard = ContinuousClock.now
        var fault: Failure?
        var incarnation: UUID?
    }

    /// Without a word from the log for so long, what is known may be out of date.
    ///
    /// (Heads come every half second.)
    public static let staleAfter = Duration.seconds(2)

    /// What is under way to hear how long the log is.
    private enum Question {
        case none
        case asked
        /// The answer may be older than what somebody waits for: it is asked once more.
        case askedAgain
    }

    private let log: LogReader
    private let inbox = LogInbox()
    private let question = Mutex(Question.none)
    private let status: Mutex<Status>
    private let subscriber = Mutex<Subscriber?>(nil)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Subscribes and begins to read; the log need not be up yet.
    ///
    /// - Parameters:
    ///   - bus: The process's bus thread.
    ///   - log: Where to read what is missing.
    ///   - categories: Which categories of streams (`map`, `job`, …); empty for all.
    ///   - after: The last global position handled before; 0 to begin at the beginning.
    ///   - incarnation: Of which log that was; any other is a replaced one.
    ///   - onFault: Told why it cannot go on, when it finds so, as ``fault`` will say; `conflict`
    ///     says that the
    ///     log has been replaced by an older copy or a restored backup: what was made of it must be made anew.
    ///   - isPrompt: Whether events are read and handed on on the bus thread, which wakes no other
    ///     thread up for
    ///     them: for a handler that takes microseconds and never blocks. At the beginning it has a page after the other, too.
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

    /// Ends it; a call of the handler that is under way finishes.
    ///
    /// Letting go of the subscription does the same.
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

    /// Asks the log how long it is, for whoever waits for a ``position`` that the events of the
    /// subscription do not show and the next head, half a second later, would.
    ///
    /// Never waits, and asks one question at a time, whoever calls it meanwhile. Where no answer
    /// comes, heads go on telling.
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

    /// A fault that was not there before.
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

    /// Which log is followed; nil until it has said so, as it does twice a second.
    public var incarnation: UUID? { status.withLock { $0.incarnation } }

    /// Whether the log may have grown beyond `position` unnoticed: it is still being read, or has
    /// not been heard of for `staleAfter`.
    public var isStale: Bool {
        status.withLock {
            $0.fault != nil || $0.isReading || $0.lastHeard.duration(to: .now) > Self.staleAfter
        }
    }

    /// Why it stopped or cannot go on: `conflict` when the log was replaced by an older copy (it
    /// has stopped for good), `corrupt` when it is damaged at the next event (it keeps trying).
    public var fault: Failure? { status.withLock { $0.fault } }
}
