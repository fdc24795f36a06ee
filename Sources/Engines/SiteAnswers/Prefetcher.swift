// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Synchronization

/// Warms up datasets, networks and past maps in the background.
///
/// The queue is short and drops what exceeds it: the next request for the same name offers the work
/// again.
final class Prefetcher: Sendable {
    /// A unit of work; it receives a check for shutdown.
    typealias Work = @Sendable (_ isEnding: @escaping @Sendable () -> Bool) -> Void

    /// Capacity of the queue, with at most one entry per name.
    private static let capacity = 4

    private let queue = BlockingQueue<(name: String, work: Work)>(capacity: Prefetcher.capacity)
    private let names = Mutex<Set<String>>([])
    private let isEnding = Atomic<Bool>(false)

    /// Starts the thread.
    func start() throws(PlatformError) {
        _ = try PinnedThread(name: "rehearsal") { [self] in
            while let (name, work) = queue.pop() {
                work { [self] in isEnding.load(ordering: .relaxed) }
                _ = names.withLock { $0.remove(name) }
            }
        }
    }

    /// Enqueues work for what has that name, or drops it.
    func offer(for name: String, _ work: @escaping Work) {
        guard names.withLock({ $0.insert(name).inserted }) else { return }
        if !queue.tryPush((name, work)) { _ = names.withLock { $0.remove(name) } }
    }

    /// Asks the thread to end.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        queue.close()
    }
}
