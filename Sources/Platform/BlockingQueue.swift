// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// A bounded first-in-first-out queue between threads.
///
/// Takers block, so only threads of one's own (`PinnedThread`) may take; anybody may `tryPush`.
@safe
public final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    // `@unchecked`: every access to the state below holds `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let notEmpty: UnsafeMutablePointer<pthread_cond_t>
    private let notFull: UnsafeMutablePointer<pthread_cond_t>
    private var elements: [Element] = []
    private var head = 0
    private var isClosed = false
    private let capacity: Int

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
    public var count: Int { locked { elements.count - head } }

    /// Adds an element unless the queue is full or closed.
    ///
    /// Never blocks.
    public func tryPush(_ element: Element) -> Bool {
        locked {
            guard !isClosed, elements.count - head < capacity else { return false }
            elements.append(element)
            unsafe pthread_cond_signal(notEmpty)
            return true
        }
    }

    /// Adds an element, waiting for room.
    ///
    /// Blocks; false when the queue is closed.
    public func push(_ element: Element) -> Bool {
        locked {
            while !isClosed && elements.count - head >= capacity {
                unsafe pthread_cond_wait(notFull, mutex)
            }
            guard !isClosed else { return false }
            elements.append(element)
            unsafe pthread_cond_signal(notEmpty)
            return true
        }
    }

    /// Adds an element whatever the bound, for what is bounded elsewhere.
    ///
    /// Never blocks; false when the queue is closed.
    public func pushPastBound(_ element: Element) -> Bool {
        locked {
            guard !isClosed else { return false }
            elements.append(element)
            unsafe pthread_cond_signal(notEmpty)
            return true
        }
    }

    /// Takes everything, oldest first, without waiting.
    public func takeAll() -> [Element] {
        locked {
            let taken = head == 0 ? elements : Array(elements[head...])
            elements = []
            head = 0
            unsafe pthread_cond_broadcast(notFull)
            return taken
        }
    }

    /// Takes the oldest element that satisfies the condition out of the queue, without waiting; nil
    /// when none does.
    public func removeFirst(where condition: (Element) -> Bool) -> Element? {
        locked {
            guard let index = elements[head...].firstIndex(where: condition) else { return nil }
            unsafe pthread_cond_signal(notFull)
            return elements.remove(at: index)
        }
    }

    /// Takes the oldest element, waiting for one.
    ///
    /// Blocks; nil once the queue is closed and empty.
    public func pop() -> Element? {
        locked {
            while !isClosed && head == elements.count { unsafe pthread_cond_wait(notEmpty, mutex) }
            return takeFirst()
        }
    }

    /// Takes up to `limit` elements, oldest first, waiting for the first.
    ///
    /// Blocks; empty once the queue is closed and empty.
    public func popBatch(limit: Int) -> [Element] {
        locked {
            while !isClosed && head == elements.count { unsafe pthread_cond_wait(notEmpty, mutex) }
            var batch: [Element] = []
            while batch.count < limit, let element = takeFirst() { batch.append(element) }
            return batch
        }
    }

    private func takeFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 1024 && head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        unsafe pthread_cond_signal(notFull)
        return element
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
