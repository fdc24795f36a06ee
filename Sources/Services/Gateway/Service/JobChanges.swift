// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import JobKinds
internal import Platform
internal import Synchronization

/// Changes of one job as events, from a sequence number to the job's end.
///
/// A bounded buffer with back-pressure: when the reader does not consume events, no more of the job
/// is read.
final class JobChanges: GatewayChanges {
    private struct State {
        var waiting: [GatewayEvent] = []
        var isOver = false
        var failure: Failure?
    }

    private final class Inbox: Sendable {
        /// Buffer capacity.
        static let capacity = 8

        let state = Mutex(State())
        let signal = TaskSignal()
        /// Signalled when the reader has emptied the buffer.
        let room = TaskSignal()

        /// Waits until there is room; false when the calling task is cancelled.
        func waitForRoom() async -> Bool {
            while state.withLock({ $0.waiting.count >= Self.capacity }) {
                guard await room.wait() else { return false }
            }
            return true
        }

        func change(_ body: @Sendable (inout State) -> Void) {
            state.withLock { body(&$0) }
            signal.raise()
        }
    }

    private let inbox = Inbox()
    private let following: Task<Void, Never>

    /// Begins to follow.
    init(_ client: CairnClient, _ ticket: JobTicket, _ form: JobForm) {
        following = Task { [inbox] in
            do {
                _ = try await client.follow(ticket) { news in
                    guard await inbox.waitForRoom() else { return false }
                    let event = GatewayEvent(news, form)
                    inbox.change { $0.waiting.append(event) }
                    return true
                }
                inbox.change { $0.isOver = true }
            } catch {
                let failure = error as? Failure ?? Failure(.internal, "\(error)")
                inbox.change { $0.failure = failure }
            }
        }
    }

    deinit { following.cancel() }

    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? {
        let end = ContinuousClock.now + limit
        while true {
            let found = inbox.state.withLock { state in
                defer { state.waiting = [] }
                return state
            }
            if !found.waiting.isEmpty {
                inbox.room.raise()
                return found.waiting
            }
            if let failure = found.failure { throw failure }
            if found.isOver { return nil }
            guard ContinuousClock.now < end else { return [] }
            guard await inbox.signal.wait(until: end) else { return nil }
        }
    }
}

extension GatewayEvent {
    fileprivate init(_ news: JobNews, _ form: JobForm) {
        var job = news.job
        job.messages = news.messages
        let body =
            switch form {
            case .task(let task): JobResource.job(job, task, returnsMessages: true)
            case .tiles: TileJobResource.job(job, returnsMessages: true)
            }
        self.init(name: "job", sequence: news.ticket.lastSequence, data: Data(body))
    }
}
