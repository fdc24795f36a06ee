// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Synchronization

/// Gets at hand what requests lacked, on a thread of its own and for nobody, for those that follow:
/// layers that are not open yet, maps as they were.
///
/// It has little room and drops the rest: whoever asks again is heard again.
final class Prefetcher: Sendable {
    /// What is done; it is told whether to stop.
    typealias Work = @Sendable (_ isEnding: @escaping @Sendable () -> Bool) -> Void

    /// What waits at most, for one map at most one thing.
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

    /// Takes work for the requests of a map, or drops it.
    func offer(for map: MapName, _ work: @escaping Work) {
        guard maps.withLock({ $0.insert(map).inserted }) else { return }
        if !queue.tryPush((map, work)) { _ = maps.withLock { $0.remove(map) } }
    }

    /// Ends the thread soon.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        queue.close()
    }
}
