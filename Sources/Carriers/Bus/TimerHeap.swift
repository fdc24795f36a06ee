// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Deadlines in order: a binary heap on the moment, cancelled entries skipped when they come up.
struct TimerHeap {
    struct Entry {
        var due: Int64
        var id: UInt64
    }

    struct Work {
        /// Nanoseconds between runs; nil for once.
        var interval: Int64?
        var body: () -> Void
    }

    private var heap: [Entry] = []
    private var work: [UInt64: Work] = [:]

    /// Number of timers set.
    var count: Int { work.count }

    /// The next moment at which something may be due, in monotonic nanoseconds.
    var nextDue: Int64? { heap.first?.due }

    mutating func add(id: UInt64, due: Int64, interval: Int64? = nil, _ body: @escaping () -> Void)
    {
        work[id] = Work(interval: interval, body: body)
        push(Entry(due: due, id: id))
    }

    mutating func cancel(_ id: UInt64) {
        work[id] = nil
        // Requests mostly end before their deadline: sweep when the dead outnumber the living.
        if heap.count > 64 && heap.count > 4 * work.count {
            let living = heap.filter { work[$0.id] != nil }
            heap = []
            for entry in living { push(entry) }
        }
    }

    /// Takes the next body that is due; a repeating timer is set again, counted from now.
    mutating func takeDue(now: Int64) -> (() -> Void)? {
        while let first = heap.first, first.due <= now {
            popFirst()
            guard let found = work[first.id] else { continue }
            if let interval = found.interval {
                push(Entry(due: now + interval, id: first.id))
            } else {
                work[first.id] = nil
            }
            return found.body
        }
        return nil
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].due < heap[parent].due else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func popFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].due < heap[least].due { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
