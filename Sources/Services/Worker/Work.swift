// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// A task or chunk in progress at a worker.
struct Work: Sendable {
    /// The order as received over the lane.
    let order: WorkOrder
    /// Destination of the answer; nil for an answer through the supervisor.
    let asker: TaskOrder.Asker?
    /// Whether a worker has classified it as long-running before.
    let isKnownLong: Bool
    /// Nil for interactive tasks.
    let held: HeldAttempt?
    let deadline: ContinuousClock.Instant?
    /// The client's time limit in milliseconds; 0 for chunks.
    let limitMilliseconds: Int64
    let control = WorkControl()

    var id: UUID { order.id }

    init(_ task: TaskOrder) {
        order = task.work
        asker = task.asker
        isKnownLong = task.isLong
        held = nil
        let limit = task.remainingMilliseconds
        deadline = limit == 0 ? nil : .now + .milliseconds(limit)
        limitMilliseconds = Int64(max(task.limitMilliseconds, limit))
    }

    /// Throws `Failure` (`invalidParameter`) for a payload that is not an assignment of this lease.
    init(chunk order: WorkOrder) throws(Failure) {
        self.order = order
        asker = nil
        isKnownLong = false
        let assignment = try CairnJSON.decode(ChunkAssignment.self, from: order.payload)
        guard assignment.held.attempt.lease == order.id else {
            throw Failure(.invalidParameter, "the assignment names another lease than its message")
        }
        held = assignment.held
        deadline = nil
        limitMilliseconds = 0
    }

    /// Executes it on the calling thread, one of `threads`; nil when a trial of `tried` has found
    /// it too long.
    func run(
        _ handlers: [String: TaskHandler], tried: [String: TrialHandler],
        on threads: ComputeThreads
    ) -> Result<Data, Failure>? {
        do {
            let metadata = try order.requestMetadata()
            guard let handler = handlers[metadata.operation] else {
                throw Failure(
                    .notFound,
                    "no worker of this pool knows the operation "
                        + "'\(metadata.operation.prefix(100))'")
            }
            if control.isCancelled { throw Failure.stopped }
            if isOverdue {
                throw Failure(
                    .timedOut,
                    "the request's limit of \(limitMilliseconds) ms was over before a thread of "
                        + "its "
                        + "worker was free; it was not begun")
            }
            let context = context(metadata, threads)
            if let trial = tried[metadata.operation] {
                return try trial(context, order.payload).map { .success($0) }
            }
            return .success(try handler(context, order.payload))
        } catch let failure as Failure {
            return .failure(explained(failure))
        } catch {
            return .failure(Failure(.internal, "\(error)"))
        }
    }

    /// Whether its operation is in the set.
    func isAny(of operations: Set<String>) -> Bool {
        guard !operations.isEmpty, let metadata = try? order.requestMetadata() else {
            return false
        }
        return operations.contains(metadata.operation)
    }

    /// Executes it on the bus thread; nil when it must go to a compute thread.
    func runPromptly(_ handlers: [String: TrialHandler]) -> Result<Data, Failure>? {
        guard !handlers.isEmpty, !isOverdue, let metadata = try? order.requestMetadata(),
            let handler = handlers[metadata.operation]
        else { return nil }
        do {
            return try handler(context(metadata, nil), order.payload).map { .success($0) }
        } catch let failure as Failure {
            return .failure(explained(failure))
        } catch {
            return .failure(Failure(.internal, "\(error)"))
        }
    }

    private func context(
        _ metadata: RequestMetadata, _ threads: ComputeThreads?
    ) -> OperationContext {
        OperationContext(
            metadata: metadata, contentType: order.contentType, deadline: deadline,
            control: control, threads: threads)
    }

    private var isOverdue: Bool { deadline.map { $0 < .now } ?? false }

    /// Adds the reason to the failure of a stopped operation, which does not know it.
    private func explained(_ failure: Failure) -> Failure {
        guard failure.code == .cancelled else { return failure }
        if control.isCancelled, held == nil { return .stopped }
        guard isOverdue else { return failure }
        return Failure(
            .timedOut,
            "the request's limit of \(limitMilliseconds) ms was over before its answer was complete"
        )
    }
}

extension Failure {
    static let stopped = Failure(.cancelled, "the request was cancelled")
}

/// Compute threads with a bounded queue.
///
/// A fixed number of them compute at a time. A thread whose work blocks lends its slot to another
/// thread, started for that purpose; when the wait is over, the first thread to finish its work
/// ends. There are never more threads than slots and blocked pieces of work; for a moment more of
/// them may compute than there are slots.
final class ComputeThreads: Sendable {
    private struct Places {
        /// Slots whose threads are started when work arrives.
        var unstarted: Int
        /// Number of threads to end.
        var surplus = 0
        /// Number of threads for lent slots that could not be started.
        var missing = 0
        /// Number of threads started so far, for their names.
        var started = 0
    }

    private let name: String
    private let count: Int
    private let queue: BlockingQueue<Work>
    private let handlers: [String: TaskHandler]
    private let tried: [String: TrialHandler]
    private let finish: Finish
    private let places: Mutex<Places>

    /// Called with finished work, its result (nil when a trial of `tried` has found it too long)
    /// and its duration in nanoseconds.
    typealias Finish = @Sendable (Work, Result<Data, Failure>?, Int64) -> Void

    /// Starts `count` threads, or defers each until the first work for it; `finish` is called on
    /// them.
    init(
        name: String, count: Int, capacity: Int, startsLate: Bool = false,
        handlers: [String: TaskHandler], tried: [String: TrialHandler] = [:],
        finish: @escaping Finish
    ) throws(Failure) {
        self.name = name
        self.count = max(0, count)
        self.handlers = handlers
        self.tried = tried
        self.finish = finish
        queue = BlockingQueue<Work>(capacity: max(1, capacity))
        places = Mutex(Places(unstarted: startsLate ? self.count : 0))
        guard !startsLate else { return }
        do throws(PlatformError) {
            for _ in 0..<self.count { try startThread() }
        } catch {
            queue.close()
            throw Failure(error)
        }
    }

    private func startThread() throws(PlatformError) {
        let number = places.withLock { places in
            places.started += 1
            return places.started - 1
        }
        _ = try PinnedThread(name: "\(name)-\(number)") { [self] in
            while let work = queue.pop() {
                let since = MonotonicClock.nanoseconds()
                let result = work.run(handlers, tried: tried, on: self)
                finish(work, result, MonotonicClock.nanoseconds() - since)
                if ends() { return }
            }
        }
    }

    /// Whether the calling thread is surplus.
    private func ends() -> Bool {
        places.withLock { places in
            guard places.surplus > 0 else { return false }
            places.surplus -= 1
            return true
        }
    }

    /// Lets another thread compute in place of the calling one.
    func lend() {
        let needsThread = places.withLock { places in
            guard places.surplus > 0 else { return true }
            places.surplus -= 1
            return false
        }
        guard needsThread else { return }
        do throws(PlatformError) {
            try startThread()
        } catch {
            places.withLock { $0.missing += 1 }
        }
    }

    /// Reclaims the calling thread's slot.
    func takeBack() {
        places.withLock { places in
            if places.missing > 0 { places.missing -= 1 } else { places.surplus += 1 }
        }
    }

    /// Enqueues work; false when the queue is full, or no thread can be started for the first work;
    /// called on one thread.
    func take(_ work: Work) -> Bool {
        guard count > 0, queue.tryPush(work) else { return false }
        let needsThread = places.withLock { places in
            guard places.unstarted > 0 else { return false }
            places.unstarted -= 1
            return true
        }
        guard needsThread else { return true }
        do throws(PlatformError) {
            try startThread()
            return true
        } catch {
            places.withLock { $0.unstarted += 1 }
            return !remove(work.id)
        }
    }

    /// Whether there is queued work.
    var hasWaitingWork: Bool { queue.count > 0 }

    /// Removes queued work; false when a thread has begun it.
    func remove(_ id: UUID) -> Bool { queue.removeFirst { $0.id == id } != nil }

    /// Has the threads end once the queue is empty; does not wait for them.
    func close() { queue.close() }
}
