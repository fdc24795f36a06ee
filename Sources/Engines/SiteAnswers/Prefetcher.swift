// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Synchronization

/// Warms up datasets and past maps in the background.
///
/// The queue is short and drops what exceeds it: the next request for the same map offers the work
/// again.
final class Prefetcher: Sendable {
    /// A unit of work; it receives a check for shutdown.
    typealias Work = @Sendable (_ isEnding: @escaping @Sendable () -> Bool) -> Void

    /// Capacity of the queue, with at most one entry per map.
    private static let capacity = 4

    private let queue = BlockingQueue<(map: MapName, work: Work)>(capacity: Prefetcher.capacity)
    private let maps = Mutex<Set<MapName>>([])
    private let isEnding = Atomic<Bool>(false)

    /// Starts the thread.
    func start() throws(PlatformError) {
        _ = try PinnedThread(name: "rehearsal") { [self] in
            while let (map, work) = queue.pop() {
                work { [self] in isEnding.load(ordering: .relaxed) }
                _ = maps.withLock { $0.remove(map) }
            }
        }
    }

    /// Enqueues work for a map, or drops it.
    func offer(for map: MapName, _ work: @escaping Work) {
        guard maps.withLock({ $0.insert(map).inserted }) else { return }
        if !queue.tryPush((map, work)) { _ = maps.withLock { $0.remove(map) } }
    }

    /// Asks the thread to end.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        queue.close()
    }
}
