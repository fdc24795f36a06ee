// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A bounded first-in-first-out queue between threads.
///
/// A taken element is released at once. An empty queue keeps a page of memory or two, however long
/// it was before.
///
/// Takers block, so only dedicated threads (`PinnedThread`) may take; any thread may `tryPush`.
public final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    // `@unchecked`: every access to the state below holds `gate`. Inlinable: each message of the
    // bus goes through one, and unspecialised an array costs several times as much.
    @usableFromInline internal let gate = QueueGate()
    /// The newer elements, oldest first: where they come in.
    @usableFromInline internal var arrived: [Element] = []
    /// The older ones, oldest last: where they are taken from.
    @usableFromInline internal var leaving: [Element] = []
    @usableFromInline internal var isClosed = false
    @usableFromInline internal let capacity: Int

    /// Makes an empty queue that holds at most `capacity` elements (≥ 1).
    public init(capacity: Int) {
        precondition(capacity > 0, "a queue needs room for one element")
        self.capacity = capacity
    }

    @inlinable
    internal func locked<Result>(_ body: () -> Result) -> Result {
        gate.lock()
        defer { gate.unlock() }
        return body()
    }

    /// Number of queued elements.
    @inlinable public var count: Int { locked { waitingCount } }

    @inlinable internal var waitingCount: Int { leaving.count + arrived.count }

    /// Adds an element unless the queue is full or closed.
    ///
    /// Never blocks.
    @inlinable
    public func tryPush(_ element: Element) -> Bool {
        locked {
            guard !isClosed, waitingCount < capacity else { return false }
            add(element)
            return true
        }
    }

    /// Adds an element, waiting for room.
    ///
    /// Blocks; false when the queue is closed.
    @inlinable
    public func push(_ element: Element) -> Bool {
        locked {
            while !isClosed && waitingCount >= capacity { gate.waitForRoom() }
            guard !isClosed else { return false }
            add(element)
            return true
        }
    }

    /// Adds an element beyond the bound, for work that is bounded elsewhere.
    ///
    /// Never blocks; false when the queue is closed.
    @inlinable
    public func pushPastBound(_ element: Element) -> Bool {
        locked {
            guard !isClosed else { return false }
            add(element)
            return true
        }
    }

    @inlinable
    internal func add(_ element: Element) {
        arrived.append(element)
        gate.signalElement()
    }

    /// Takes everything, oldest first, without waiting.
    @inlinable
    public func takeAll() -> [Element] {
        locked {
            let taken = leaving.isEmpty ? arrived : leaving.reversed() + arrived
            arrived = []
            leaving = []
            gate.wakeForRoom()
            return taken
        }
    }

    /// Takes the oldest element that satisfies the condition out of the queue, without waiting; nil
    /// when none does.
    @inlinable
    public func removeFirst(where condition: (Element) -> Bool) -> Element? {
        locked {
            let found: Element
            if let index = leaving.lastIndex(where: condition) {
                found = leaving.remove(at: index)
            } else if let index = arrived.firstIndex(where: condition) {
                found = arrived.remove(at: index)
            } else {
                return nil
            }
            if waitingCount == 0 { letGoOfRoom() }
            gate.signalRoom()
            return found
        }
    }

    /// Takes the oldest element, waiting for one.
    ///
    /// Blocks; nil once the queue is closed and empty.
    @inlinable
    public func pop() -> Element? {
        locked {
            while !isClosed && waitingCount == 0 { gate.waitForElement() }
            return takeFirst()
        }
    }

    /// Takes up to `limit` elements, oldest first, waiting for the first.
    ///
    /// Blocks; empty once the queue is closed and empty.
    @inlinable
    public func popBatch(limit: Int) -> [Element] {
        locked {
            while !isClosed && waitingCount == 0 { gate.waitForElement() }
            var batch: [Element] = []
            while batch.count < limit, let element = takeFirst() { batch.append(element) }
            return batch
        }
    }

    @inlinable
    internal func takeFirst() -> Element? {
        if leaving.isEmpty {
            guard !arrived.isEmpty else { return nil }
            swap(&leaving, &arrived)
            leaving.reverse()
        }
        let element = leaving.removeLast()
        if leaving.isEmpty { letGoOfRoom() }
        gate.signalRoom()
        return element
    }

    /// Keeps no more than a page for elements to come.
    @inlinable
    internal func letGoOfRoom() {
        let kept = 4_096 / max(1, MemoryLayout<Element>.stride)
        if leaving.capacity > kept { leaving = [] }
        if arrived.isEmpty, arrived.capacity > kept { arrived = [] }
    }

    /// Closes the queue to new elements; those inside can still be taken.
    ///
    /// Wakes every waiting thread.
    @inlinable
    public func close() {
        locked {
            isClosed = true
            gate.wakeAll()
        }
    }
}

/// A lock and the two conditions of a queue.
@safe
@usableFromInline
internal final class QueueGate: @unchecked Sendable {
    // `@unchecked`: the pointers never change, and their targets are thread-safe.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let notEmpty: UnsafeMutablePointer<pthread_cond_t>
    private let notFull: UnsafeMutablePointer<pthread_cond_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe notEmpty = .allocate(capacity: 1)
        unsafe notFull = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(notEmpty, nil)
        unsafe pthread_cond_init(notFull, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(notFull)
        unsafe pthread_cond_destroy(notEmpty)
        unsafe pthread_mutex_destroy(mutex)
        unsafe notFull.deallocate()
        unsafe notEmpty.deallocate()
        unsafe mutex.deallocate()
    }

    @usableFromInline func lock() { unsafe pthread_mutex_lock(mutex) }
    @usableFromInline func unlock() { unsafe pthread_mutex_unlock(mutex) }

    // The caller of each of these holds the lock; those that wait give it up meanwhile.

    @usableFromInline func waitForElement() { unsafe pthread_cond_wait(notEmpty, mutex) }
    @usableFromInline func waitForRoom() { unsafe pthread_cond_wait(notFull, mutex) }
    @usableFromInline func signalElement() { unsafe pthread_cond_signal(notEmpty) }
    @usableFromInline func signalRoom() { unsafe pthread_cond_signal(notFull) }
    @usableFromInline func wakeForRoom() { unsafe pthread_cond_broadcast(notFull) }

    @usableFromInline
    func wakeAll() {
        unsafe pthread_cond_broadcast(notEmpty)
        unsafe pthread_cond_broadcast(notFull)
    }
}
