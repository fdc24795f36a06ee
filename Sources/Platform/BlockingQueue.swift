// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A bounded first-in-first-out queue between threads.
///
/// An element that is taken is let go of at once. An empty queue keeps a page of memory or two, however
/// long it was before.
///
/// Takers block, so only threads of one's own (`PinnedThread`) may take; anybody may `tryPush`.
@safe
public final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    // `@unchecked`: every access to the state below holds `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let notEmpty: UnsafeMutablePointer<pthread_cond_t>
    private let notFull: UnsafeMutablePointer<pthread_cond_t>
    /// Those from `head` on wait; those before it have been taken.
    private var elements: [Element?] = []
    private var head = 0
    /// The most that have waited since it kept nothing.
    private var longest = 0
    private var isClosed = false
    private let capacity: Int

    /// How many elements an empty queue may have room for.
    private static var keptCount: Int { 4_096 / max(1, MemoryLayout<Element>.stride) }

    /// Makes an empty queue that holds at most `capacity` elements (≥ 1).
    public init(capacity: Int) {
        precondition(capacity > 0, "a queue needs room for one element")
        self.capacity = capacity
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

    private func locked<Result>(_ body: () -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }

    /// How many elements wait.
    public var count: Int { locked { waitingCount } }

    private var waitingCount: Int { elements.count - head }

    /// Adds an element unless the queue is full or closed.
    ///
    /// Never blocks.
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
    public func push(_ element: Element) -> Bool {
        locked {
            while !isClosed && waitingCount >= capacity {
                unsafe pthread_cond_wait(notFull, mutex)
            }
            guard !isClosed else { return false }
            add(element)
            return true
        }
    }

    /// Adds an element whatever the bound, for what is bounded elsewhere.
    ///
    /// Never blocks; false when the queue is closed.
    public func pushPastBound(_ element: Element) -> Bool {
        locked {
            guard !isClosed else { return false }
            add(element)
            return true
        }
    }

    private func add(_ element: Element) {
        elements.append(element)
        longest = max(longest, elements.count)
        unsafe pthread_cond_signal(notEmpty)
    }

    /// Takes everything, oldest first, without waiting.
    public func takeAll() -> [Element] {
        locked {
            let taken = elements[head...].compactMap { $0 }
            head = elements.count
            shrink()
            unsafe pthread_cond_broadcast(notFull)
            return taken
        }
    }

    /// Takes the oldest element that satisfies the condition out of the queue, without waiting; nil
    /// when none does.
    public func removeFirst(where condition: (Element) -> Bool) -> Element? {
        locked {
            guard let index = elements[head...].firstIndex(where: { $0.map(condition) == true })
            else { return nil }
            unsafe pthread_cond_signal(notFull)
            defer { shrink() }
            return elements.remove(at: index)
        }
    }

    /// Takes the oldest element, waiting for one.
    ///
    /// Blocks; nil once the queue is closed and empty.
    public func pop() -> Element? {
        locked {
            while !isClosed && waitingCount == 0 { unsafe pthread_cond_wait(notEmpty, mutex) }
            return takeFirst()
        }
    }

    /// Takes up to `limit` elements, oldest first, waiting for the first.
    ///
    /// Blocks; empty once the queue is closed and empty.
    public func popBatch(limit: Int) -> [Element] {
        locked {
            while !isClosed && waitingCount == 0 { unsafe pthread_cond_wait(notEmpty, mutex) }
            var batch: [Element] = []
            while batch.count < limit, let element = takeFirst() { batch.append(element) }
            return batch
        }
    }

    private func takeFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        shrink()
        unsafe pthread_cond_signal(notFull)
        return element
    }

    private func shrink() {
        if head == elements.count {
            if longest > Self.keptCount {
                elements = []
            } else {
                elements.removeAll(keepingCapacity: true)
            }
            (head, longest) = (0, 0)
        } else if head >= 1024 && head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// Lets no more elements in; what is inside can still be taken.
    ///
    /// Wakes everybody.
    public func close() {
        locked {
            isClosed = true
            unsafe pthread_cond_broadcast(notEmpty)
            unsafe pthread_cond_broadcast(notFull)
        }
    }
}
