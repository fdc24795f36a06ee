// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Platform
internal import Synchronization
internal import ZeroMQ

/// The one thread of a process that owns its sockets, and the executor of actors that live there.
///
/// Handlers and posted closures are called on it, one after the other; they must not block or
/// compute for long, because everything else of the bus waits meanwhile. An actor that returns
/// `busThread.unownedReference` as its `unownedExecutor` runs on it and may use `assumeIsolated` in
/// handlers.
public final class BusThread: SerialExecutor, Sendable {
    let loop: BusLoop
    let lateJobs = LateJobs()
    private let thread: Mutex<PinnedThread?>
    private let stopped = Atomic<Bool>(false)

    /// Starts the thread for the sockets in a site's run directory.
    ///
    /// The directory must exist, belong to the caller's user and be closed to everybody else
    /// (0700). Throws `Failure`: `invalidParameter` for such a fault, `internal` when the system
    /// has no thread or descriptor left.
    public init(name: String, runDirectory: String) throws(Failure) {
        if let fault = PrivateDirectory.fault(at: runDirectory) {
            throw Failure(.invalidParameter, "run directory: \(fault)")
        }
        do {
            loop = try BusLoop(
                instance: .timeOrdered(), runDirectory: runDirectory, mailbox: try Mailbox())
            thread = Mutex(nil)
            loop.runJob = { [weak self] job in if let self { job.run(on: self) } }
            let started = try PinnedThread(name: name) { [loop] in loop.run() }
            thread.withLock { $0 = started }
        } catch let error as PlatformError {
            throw Failure(error)
        } catch {
            throw Failure(.internal, "\(error)")
        }
    }

    /// Ends the thread in the background when `stop` was never called.
    deinit { _ = loop.mailbox.postFromInside { [loop] in loop.stop() } }

    /// Identifies this run of this process in the `sender` field of its messages.
    public var instance: UUID { loop.instance }

    /// A snapshot of the counters; any thread.
    public var statistics: BusStatistics { loop.counters.snapshot }

    var isStopped: Bool { stopped.load(ordering: .acquiring) }

    private var isCurrent: Bool { loop.isCurrent }

    // MARK: Work

    /// Runs `body` on the bus thread, after everything posted earlier; any thread.
    ///
    /// The queue holds 65,536 calls; beyond that the caller blocks (the bus thread itself never
    /// does). After `stop` the call is dropped.
    public func post(_ body: @escaping @Sendable () -> Void) {
        _ = isCurrent ? loop.mailbox.postFromInside(body) : loop.mailbox.post(body)
    }

    /// Runs `body` on the bus thread: at once when called there, else after everything posted
    /// earlier; false when the queue is full or the bus has stopped.
    func tryOnThread(_ body: @escaping @Sendable (BusLoop) -> Void) -> Bool {
        guard isCurrent else { return loop.mailbox.tryPost { [loop] in body(loop) } }
        body(loop)
        return true
    }

    /// Runs `body` on the bus thread and waits for its result; not from code that blocks the bus
    /// thread.
    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent { return try body() }
        let answer = BlockingQueue<Result<Value, Failure>>(capacity: 1)
        let isIn = loop.mailbox.post {
            _ = answer.tryPush(Result { () throws(Failure) in try body() })
        }
        guard isIn, let result = answer.pop() else { throw .busStopped }
        return try result.get()
    }

    /// A timer of the bus thread.
    public struct Timer: Sendable {
        let thread: BusThread
        let id: UInt64

        /// Stops it; any thread.
        ///
        /// On the bus thread it does not run again after this.
        public func cancel() { thread.onThread { $0.timers.cancel(id) } }
    }

    /// Runs `body` on the bus thread again and again, first after one interval (≥ 1 ms); late runs
    /// are not caught up.
    ///
    /// Any thread.
    @discardableResult
    public func schedule(every interval: Duration, _ body: @escaping @Sendable () -> Void) -> Timer
    {
        addTimer(max(interval.nanoseconds, 1_000_000), repeats: true, body)
    }

    /// Runs `body` on the bus thread once, after a delay.
    ///
    /// Any thread.
    @discardableResult
    public func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> Timer {
        addTimer(delay.nanoseconds, repeats: false, body)
    }

    private func addTimer(
        _ nanoseconds: Int64, repeats: Bool, _ body: @escaping @Sendable () -> Void
    ) -> Timer {
        let id = loop.makeID()
        let due = MonotonicClock.nanoseconds() + nanoseconds
        onThread { loop in
            loop.timers.add(id: id, due: due, interval: repeats ? nanoseconds : nil, body)
        }
        return Timer(thread: self, id: id)
    }

    /// A watched process.
    public struct Watch: Sendable {
        let thread: BusThread
        let id: UInt64

        /// Stops watching; any thread.
        public func cancel() { thread.onThread { $0.unwatch(id) } }
    }

    /// Calls `onExit` on the bus thread once the process has ended, in any way (pidfd).
    ///
    /// Throws `Failure` (`notFound`) for an unknown process. Any thread.
    @discardableResult
    public func watch(
        processID: Int32, onExit: @escaping @Sendable () -> Void
    ) throws(Failure) -> Watch {
        let watch: ProcessWatch
        do throws(PlatformError) { watch = try ProcessWatch(processID: processID) } catch {
            throw Failure(.notFound, error.description)
        }
        let id = loop.makeID()
        onThread { $0.watch(watch, id: id, onExit: onExit) }
        return Watch(thread: self, id: id)
    }

    /// Runs `body` on the bus thread: at once where that is the caller's.
    func onThread(_ body: @escaping @Sendable (BusLoop) -> Void) {
        if isCurrent { body(loop) } else { post { [loop] in body(loop) } }
    }

    func closeChannel(_ id: UInt64) { onThread { $0.channel(id)?.close() } }

    /// Closes every socket, waiting at most a second for unsent messages, and ends the thread.
    ///
    /// Requests under way get `draining`. Any thread but the bus thread waits until it is done; on
    /// the bus thread the end comes after the present handler. Idempotent.
    public func stop() {
        stopped.store(true, ordering: .releasing)
        onThread { $0.stop() }
        thread.withLock { $0 }?.join()
    }

    // MARK: Executor

    /// Takes an actor's work; called by the runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = ThreadJob(job)
        if !loop.mailbox.enqueue(job) { lateJobs.run { job.run(on: self) } }
    }

    /// Traps when the caller is not on the bus thread; called by the runtime.
    public func checkIsolated() {
        precondition(isCurrent, "this code must run on the bus thread")
    }

    /// Whether the caller is on the bus thread; called by the runtime.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

extension BusThread {
    // MARK: Sockets

    /// Answers requests at an endpoint; `handler` is called on the bus thread.
    ///
    /// Throws `Failure`: `conflict` when another process serves the endpoint, `invalidParameter`
    /// for a path that is too long, `draining` after `stop`. So do all the following.
    public func bindRouter(
        _ endpoint: Endpoint, _ handler: @escaping @Sendable (IncomingRequest) -> Void
    ) throws(Failure) {
        try perform { () throws(Failure) in
            self.loop.add(try RouterChannel(self, endpoint, handler))
        }
    }

    /// Publishes at an endpoint; `onSubscribe` is called on the bus thread with the topic of each
    /// new subscription.
    public func bindPublisher(
        _ endpoint: Endpoint, onSubscribe: (@Sendable (String) -> Void)? = nil
    ) throws(Failure) -> Publisher {
        try perform { () throws(Failure) in
            let channel = try PublisherChannel(self.loop, endpoint, onSubscribe)
            self.loop.add(channel)
            return Publisher(thread: self, id: channel.id, endpoint: endpoint)
        }
    }

    /// Binds a sink, which collects pushed messages; `handler` is called on the bus thread.
    ///
    /// `onEnd` is called there when the connection of a sender has ended and all of its messages
    /// have been handled; not while others send so much that the socket is never empty.
    public func bindPull(
        _ endpoint: Endpoint, onEnd: (@Sendable (UUID) -> Void)? = nil,
        _ handler: @escaping @Sendable (Message) -> Void
    ) throws(Failure) {
        try perform { () throws(Failure) in
            self.loop.add(
                try PullChannel(self.loop, endpoint, .bind, onEnd: onEnd, handler))
        }
    }

    /// Opens the way to one worker, for at most `credit` tasks and four further messages.
    ///
    /// `sendsGroups` for a worker that reads groups (`MessageHeader.readsGroups` of its hello).
    /// `onDisconnect` is called once, on the bus thread: when the worker's process dies or closes
    /// its end, when a second peer comes (the lane is then closed and counted), or on `close`. It
    /// may be called before its worker has ever connected only by the last two.
    public func bindLane(
        _ endpoint: Endpoint, credit: Int, sendsGroups: Bool = false,
        onDisconnect: @escaping @Sendable () -> Void
    ) throws(Failure) -> Pusher {
        let lane = PushChannel.Lane(
            capacity: max(1, min(credit, 100_000)) + 4, onDisconnect: onDisconnect)
        return try perform { () throws(Failure) in
            let channel = try PushChannel(
                self.loop, endpoint, lane, sendsGroups: sendsGroups)
            self.loop.add(channel)
            return Pusher(thread: self, id: channel.id, endpoint: endpoint)
        }
    }

    /// Opens a channel to a sink; the connection is made now or as soon as the sink is bound.
    ///
    /// `onRoom` is called on the bus thread when there is room again after `busy`, and when the
    /// peer is gone.
    public func connectPush(
        _ endpoint: Endpoint, onRoom: (@Sendable () -> Void)? = nil
    ) throws(Failure) -> Pusher {
        try perform { () throws(Failure) in
            let channel = try PushChannel(self.loop, connectingTo: endpoint, onRoom: onRoom)
            self.loop.add(channel)
            return Pusher(thread: self, id: channel.id, endpoint: endpoint)
        }
    }

    /// Opens a channel for answers straight to the instance that requests them
    /// (`MessageHeader.straightFlag`), in groups if its request announces that it reads them.
    ///
    /// Messages sent before the connection is established are refused (`unavailable`). The channel
    /// ends with the connection, or when the endpoint is not bound: `onEnd` is called once, on the
    /// bus thread, then or on `close`.
    public func connectStraight(
        to asker: UUID, sendsGroups: Bool = false, onEnd: @escaping @Sendable () -> Void
    ) throws(Failure) -> Pusher {
        try perform { () throws(Failure) in
            let channel = try PushChannel(
                self.loop, connectingTo: .answers(asker), sendsGroups: sendsGroups,
                onEnd: onEnd)
            self.loop.add(channel)
            return Pusher(thread: self, id: channel.id, endpoint: channel.endpoint)
        }
    }

    /// Listens at a lane's other end; `handler` is called on the bus thread.
    public func connectPull(
        _ endpoint: Endpoint, _ handler: @escaping @Sendable (Message) -> Void
    ) throws(Failure) {
        try perform { () throws(Failure) in
            self.loop.add(try PullChannel(self.loop, endpoint, .connect, handler))
        }
    }

    /// Subscribes to topics that begin with one of `topics`; `handler` is called on the bus thread
    /// with the topic.
    public func subscribe(
        _ endpoint: Endpoint, topics: [String],
        _ handler: @escaping @Sendable (String, Message) -> Void
    ) throws(Failure) -> Subscriber {
        try perform { () throws(Failure) in
            let channel = try SubscriberChannel(self.loop, endpoint, topics, handler)
            self.loop.add(channel)
            return Subscriber(thread: self, id: channel.id)
        }
    }

    /// Opens a requester to the service at an endpoint, connected now or as soon as it is bound.
    public func connectRequester(_ endpoint: Endpoint) throws(Failure) -> Requester {
        try perform { () throws(Failure) in
            let channel = try RequesterChannel(self.loop, endpoint)
            self.loop.add(channel)
            return Requester(thread: self, id: channel.id, endpoint: endpoint)
        }
    }
}
