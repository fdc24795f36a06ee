// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Synchronization

/// Answers requests that were not prepared for once more, on a thread of its own and for nobody: what
/// they needed is at hand for those that follow.
///
/// It has little room and drops the rest: whoever asks again is heard again.
final class Rehearsal: Sendable {
    /// Requests that wait, of one map at most one.
    private static let capacity = 4

    private let queue = BlockingQueue<IdentifyRequest>(capacity: Rehearsal.capacity)
    private let maps = Mutex<Set<MapName>>([])
    private let isEnding = Atomic<Bool>(false)

    /// Starts the thread; `answer` is told whether to stop.
    func start(
        _ answer: @escaping @Sendable (IdentifyRequest, @escaping @Sendable () -> Bool) -> Void
    ) throws(PlatformError) {
        _ = try PinnedThread(name: "rehearsal") { [self] in
            while let request = queue.pop() {
                answer(request) { [self] in isEnding.load(ordering: .relaxed) }
                _ = maps.withLock { $0.remove(request.map) }
            }
        }
    }

    /// Takes a request, or drops it.
    func offer(_ request: IdentifyRequest) {
        guard maps.withLock({ $0.insert(request.map).inserted }) else { return }
        if !queue.tryPush(request) { _ = maps.withLock { $0.remove(request.map) } }
    }

    /// Ends the thread soon.
    func end() {
        isEnding.store(true, ordering: .relaxed)
        queue.close()
    }
}
