// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Bus
package import CairnModel
package import FoundationEssentials

/// Merges published messages and log pages into one sequence of handler calls: every event of the
/// subscription once, in order.
///
/// It has no clock and no socket; `LogSubscription` supplies them.
package struct LogFollow {
    /// Its dependencies.
    package struct Outside: Sendable {
        /// Reads a page of the log.
        package var read: @Sendable (ReadRequest) async throws(Failure) -> ReadPage
        /// Delivers events; see `LogSubscription.Handler`.
        package var handOn: @Sendable ([RecordedEvent], Int64) async -> Void
        /// Reports whether it is reading, and the fault, if any.
        package var report: @Sendable (_ isReading: Bool, _ fault: Failure?) -> Void
        /// Waits before the next attempt after a failure; false to give up.
        package var pause: @Sendable (Duration) async -> Bool
        /// Receives the incarnation of the log, as soon as that is known.
        package var name: @Sendable (UUID) -> Void

        /// Creates the dependencies.
        package init(
            read: @escaping @Sendable (ReadRequest) async throws(Failure) -> ReadPage,
            handOn: @escaping @Sendable ([RecordedEvent], Int64) async -> Void,
            report: @escaping @Sendable (_ isReading: Bool, _ fault: Failure?) -> Void,
            pause: @escaping @Sendable (Duration) async -> Bool,
            name: @escaping @Sendable (UUID) -> Void = { _ in }
        ) {
            self.read = read
            self.handOn = handOn
            self.report = report
            self.pause = pause
            self.name = name
        }
    }

    private let categories: Set<String>
    private let outside: Outside
    private var splice: LogSplice
    private var handedOn: Int64
    private var decoder = RecordDecoder()

    /// Follows some categories (empty for all) after a position; where `incarnation` is given, of
    /// that log only.
    package init(
        categories: Set<String>, after position: Int64, of incarnation: UUID? = nil,
        outside: Outside
    ) {
        self.categories = categories
        self.outside = outside
        splice = LogSplice(scope: Self.scope(categories), after: position, of: incarnation)
        handedOn = position
    }

    /// The topics to subscribe to.
    package static func topics(_ categories: Set<String>) -> [String] {
        switch scope(categories) {
        case .all: ["h/", "e/"]
        case .category(let name): ["h/", "e/\(name)/"]
        }
    }

    /// Only the whole log orders events between categories without a gap, so several categories are
    /// followed as all.
    private static func scope(_ categories: Set<String>) -> LogSplice.Scope {
        if categories.count == 1, let only = categories.first { return .category(only) }
        return .all
    }

    /// Handles contiguous messages, and reads where there is a gap; false to stop for good.
    package mutating func handle(_ messages: [Message]) async -> Bool {
        var next: [RecordedEvent] = []
        for message in messages {
            let before = splice
            let decision = decide(message, &next)
            guard decision != .stop else {
                await handOn(next)
                outside.report(true, LogSplice.replaced)
                return false
            }
            guard decision == .read else { continue }
            splice = before
            await handOn(next)
            next = []
            guard await catchUp() else { return false }
        }
        await handOn(next)
        return true
    }

    private mutating func decide(
        _ message: Message, _ next: inout [RecordedEvent]
    ) -> LogSplice.Decision {
        switch message.header.kind {
        case .event:
            let before = splice.handled
            guard let events = events(message) else {
                return message.header.sequence > before ? .read : .pass
            }
            let decision = splice.events(
                from: message.header.sequence,
                through: events.last?.globalPosition ?? message.header.sequence,
                previousInCategory: message.header.previousInCategory)
            guard decision == .handle else { return decision }
            let isAllWanted = categories.isEmpty && message.header.sequence > before
            let wanted =
                isAllWanted
                ? events : events.filter { $0.globalPosition > before && isWanted($0) }
            if next.isEmpty { next = wanted } else { next += wanted }
            return .handle
        case .head:
            guard let head = try? message.decode(LogHead.self) else { return .pass }
            let known = splice.incarnation
            let decision = splice.head(head)
            if known == nil, let found = splice.incarnation { outside.name(found) }
            return decision
        default: return .pass
        }
    }

    /// Decodes published events, one as JSON or several in the fixed layout; nil for a malformed or
    /// unordered message.
    private mutating func events(_ message: Message) -> [RecordedEvent]? {
        let events =
            message.header.contentType == MessageHeader.fixedLayout
            ? try? PublishedEvents.read(fixedLayout: message.payload, by: &decoder)
            : (try? message.decode(RecordedEvent.self)).map { [$0] }
        guard let events, events.first?.globalPosition == message.header.sequence else {
            return nil
        }
        let isRising = events.indices.dropFirst().allSatisfy {
            events[$0 - 1].globalPosition < events[$0].globalPosition
        }
        return isRising ? events : nil
    }

    private func isWanted(_ event: RecordedEvent) -> Bool {
        categories.isEmpty || categories.contains { event.stream.isOf(category: $0) }
    }

    /// Reads to the end of the log; false to stop for good.
    ///
    /// While a page is delivered, the next is being read.
    package mutating func catchUp() async -> Bool {
        outside.report(true, nil)
        var pause = Duration.milliseconds(50)
        var ahead: Result<ReadPage, Failure>?
        while true {
            do throws(Failure) {
                let read: Result<ReadPage, Failure> =
                    if let ahead = ahead.take() { ahead } else { await read() }
                let page = try splice.page(try read.get())
                pause = .milliseconds(50)
                let events = page.events.filter(isWanted)
                if page.isMore {
                    async let next = Self.read(request, outside)
                    await handOn(events)
                    ahead = await next
                } else {
                    await handOn(events)
                }
                outside.report(page.isMore, nil)
                if !page.isMore { return true }
            } catch {
                outside.report(true, error)
                guard error.code != .conflict, await outside.pause(pause) else { return false }
                pause = min(pause * 2, .seconds(1))
            }
        }
    }

    private func read() async -> Result<ReadPage, Failure> {
        await Self.read(request, outside)
    }

    private static func read(
        _ request: ReadRequest, _ outside: Outside
    ) async -> Result<ReadPage, Failure> {
        do {
            return .success(try await outside.read(request))
        } catch {
            return .failure(error)
        }
    }

    private var request: ReadRequest {
        switch splice.scope {
        case .all: ReadRequest(after: splice.handled, limit: 1_000)
        case .category(let name):
            ReadRequest(after: splice.handled, limit: 1_000, category: name)
        }
    }

    private mutating func handOn(_ events: [RecordedEvent]) async {
        guard !events.isEmpty || splice.handled > handedOn else { return }
        handedOn = splice.handled
        await outside.handOn(events, splice.handled)
    }
}
