// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Synchronization

/// The way into the bus thread: a bounded queue, and a wake-up only for a thread that sleeps.
final class Mailbox: Sendable {
    enum Item: Sendable {
        case call(@Sendable () -> Void)
        case job(ThreadJob)
    }

    /// The most calls that may wait.
    static let capacity = 65_536

    private let queue = BlockingQueue<Item>(capacity: capacity)
    private let isAsleep = Atomic<Bool>(false)
    let wake: WakeSignal

    init() throws(PlatformError) { wake = try WakeSignal() }

    /// The first one in after the bus thread went to sleep wakes it.
    private func raise() {
        if isAsleep.load(ordering: .sequentiallyConsistent),
            isAsleep.exchange(false, ordering: .sequentiallyConsistent)
        {
            wake.raise()
        }
    }

    /// Waits for room; false when the bus has stopped.
    func post(_ body: @escaping @Sendable () -> Void) -> Bool {
        let isIn = queue.push(.call(body))
        if isIn { raise() }
        return isIn
    }

    /// Never waits; false when there is no room or the bus has stopped.
    func tryPost(_ body: @escaping @Sendable () -> Void) -> Bool {
        let isIn = queue.tryPush(.call(body))
        if isIn { raise() }
        return isIn
    }

    /// Posts from the bus thread, which must not wait for its own queue, or work that is bounded
    /// elsewhere; false when stopped.
    func postFromInside(_ body: @escaping @Sendable () -> Void) -> Bool {
        let isIn = queue.pushPastBound(.call(body))
        if isIn { raise() }
        return isIn
    }

    /// Actors' work: bounded by the number of tasks, and never refused while the bus runs.
    func enqueue(_ job: ThreadJob) -> Bool {
        let isIn = queue.pushPastBound(.job(job))
        if isIn { raise() }
        return isIn
    }

    /// Announces that the bus thread is going to sleep; false when something is queued, and it
    /// should not.
    ///
    /// Later posts raise the signal. Bus thread only.
    func fallAsleep() -> Bool {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        guard queue.count > 0 else { return true }
        wakeUp()
        return false
    }

    /// Announces that the bus thread is awake and will drain the queue before it sleeps again.
    func wakeUp() { isAsleep.store(false, ordering: .sequentiallyConsistent) }

    /// Whether the queue is empty; bus thread only.
    var isEmpty: Bool { queue.count == 0 }

    /// Bus thread: takes everything that waits.
    func takeAll() -> [Item] { queue.count > 0 ? queue.takeAll() : [] }

    /// Closes the queue to new posts; bus thread only.
    func close() { queue.close() }
}

/// Runs actors' and tasks' jobs after the bus thread has ended: one at a time, on the thread that
/// submits it.
final class LateJobs: Sendable {
    /// Holds on to the executor, which it may be the last to need.
    typealias Late = @Sendable () -> Void

    private struct State {
        var waiting: [Late] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    func run(_ late: @escaping Late) {
        let isMine = state.withLock { state in
            state.waiting.append(late)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isMine else { return }
        var next = takeNext()
        while let late = next {
            late()
            // The job may release the executor, and so this object, for good: not before the next
            // is taken.
            next = withExtendedLifetime(late) { takeNext() }
        }
    }

    private func takeNext() -> Late? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
