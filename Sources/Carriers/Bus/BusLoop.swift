// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import DequeModule
internal import FoundationEssentials
internal import Platform
internal import Synchronization
internal import ZeroMQ

/// The state of the bus thread: sockets, timers and watched processes.
final class BusLoop: @unchecked Sendable {
    // `@unchecked`: after `init` every `var` here is touched by the bus thread only; `BusThread`
    // brings every call over, and `assertIsCurrent` checks it.
    let instance: UUID
    let runDirectory: String
    let counters = BusCounters()
    let mailbox: Mailbox
    private let nextID = Atomic<UInt64>(1)
    var timers = TimerHeap()
    /// Receives header, routing id and topic frames.
    var headFrame = Frame()
    /// Receives metadata and payload frames.
    var bodyFrame = Frame()
    var runJob: (ThreadJob) -> Void = { _ in }
    private(set) var isStopping = false
    private var channels: [UInt64: Channel] = [:]
    private var watches: [UInt64: Watched] = [:]
    private var poller = SignalPoller()
    private var polled: [Polled] = []
    /// Channels whose sockets may have input without a signal from the poller.
    private var due: Deque<Channel> = []
    /// Channels that have begun a group in this turn.
    private var groups: [Channel] = []
    private var isPollerStale = true
    /// Whether the last turn polled the system.
    private var hasAsked = false
    private var swept: Set<String> = []
    /// Paths that are being given up.
    private var releases: [String: BackgroundThread<Void>] = [:]
    /// At once; each has a thread.
    private static let releaseBound = 64
    private let threadID = Atomic<Int32>(0)
    private var context: Context?

    private struct Watched {
        var watch: ProcessWatch
        var onExit: @Sendable () -> Void
    }

    private enum Polled {
        case wake
        case watch(UInt64)
        case socket(Channel)
        case monitor(Channel)
    }

    init(instance: UUID, runDirectory: String, mailbox: Mailbox) throws(ZeroMQError) {
        self.instance = instance
        self.runDirectory = runDirectory
        self.mailbox = mailbox
        context = try Context()
    }

    /// Whether the caller is the bus thread; any thread.
    var isCurrent: Bool { threadID.load(ordering: .acquiring) == PinnedThread.currentID }

    func assertIsCurrent() {
        precondition(
            isCurrent, "sockets may only be used on the bus thread")
    }

    // MARK: Running

    func run() {
        threadID.store(PinnedThread.currentID, ordering: .releasing)
        while !isStopping { turn() }
        mailbox.close()
        runMail()
        timers = TimerHeap()
        watches = [:]
        polled = []
        due = []
        poller.removeAll()
        // Waits for them; they hold sockets of the context.
        releases = [:]
        // Their locks must outlive the context, which may still be sending lingering messages.
        let closed = Array(channels.values)
        channels = [:]
        for channel in closed { channel.closeForGood() }
        context = nil
        for channel in closed { channel.releasePath() }
        // The system may give this number to another thread.
        threadID.store(0, ordering: .releasing)
    }

    func stop() { isStopping = true }

    private func turn() {
        if isPollerStale { rebuildPoller() }
        if due.isEmpty, mailbox.isEmpty { PinnedThread.giveWay() }
        let mayWait = due.isEmpty && mailbox.fallAsleep()
        // Channels known to be due go first, every other turn: a poll costs as much as a message.
        let asks = mayWait || !hasAsked
        let isAnyReady = asks && wait(nanoseconds: mayWait ? pause() : 0)
        hasAsked = asks
        if mayWait { mailbox.wakeUp() }
        if isAnyReady { serveReady() }
        serveDue()
        runMail()
        let now = MonotonicClock.nanoseconds()
        while let body = timers.takeDue(now: now) { body() }
        for channel in groups { endGroup(of: channel) }
        groups.removeAll(keepingCapacity: true)
    }

    /// Whether anything is ready.
    private func wait(nanoseconds: Int64?) -> Bool {
        do {
            return try poller.wait(nanoseconds: nanoseconds) > 0
        } catch {
            counters.change { $0.socketErrorCount += 1 }
            isPollerStale = true
            return false
        }
    }

    private func serveReady() {
        // Channels that a handler opens or closes wait for a later turn: neither list changes here.
        for index in polled.indices where poller.isReadable(index) {
            switch polled[index] {
            case .wake: mailbox.wake.drain()
            case .watch(let id):
                guard let ended = watches.removeValue(forKey: id) else { continue }
                isPollerStale = true
                ended.onExit()
            case .socket(let channel): if !channel.isClosed { channel.look() }
            case .monitor(let channel): if !channel.isClosed { channel.receiveEvents() }
            }
        }
    }

    private func serveDue() {
        // Those that become due meanwhile have their turn when the others have had theirs.
        for _ in due.indices {
            guard let channel = due.popFirst() else { return }
            channel.isDue = false
            if !channel.isClosed { channel.look() }
        }
    }

    /// Marks a channel for a look at its socket before the loop sleeps.
    func expectInput(of channel: Channel) {
        guard !channel.isDue else { return }
        channel.isDue = true
        due.append(channel)
    }

    /// Ends a channel's group with this turn, unless the group ended earlier.
    func expectEnd(ofGroupOf channel: Channel) { groups.append(channel) }

    func endGroup(of channel: Channel) {
        do { try channel.endGroup() } catch { counters.change { $0.socketErrorCount += 1 } }
    }

    /// Nanoseconds until the next timer, nil without one.
    private func pause() -> Int64? {
        timers.nextDue.map { max(0, $0 - MonotonicClock.nanoseconds()) }
    }

    private func runMail() {
        for item in mailbox.takeAll() {
            switch item {
            case .call(let body): body()
            case .job(let job): runJob(job)
            }
        }
    }

    private func rebuildPoller() {
        poller.removeAll()
        polled = [.wake]
        poller.add(descriptor: mailbox.wake.descriptor)
        for (id, watched) in watches {
            polled.append(.watch(id))
            poller.add(descriptor: watched.watch.descriptor)
        }
        for channel in channels.values {
            guard let sockets = channel.sockets else { continue }
            do throws(ZeroMQError) {
                try poller.add(sockets.socket)
                polled.append(.socket(channel))
                try poller.add(sockets.monitor.socket)
                polled.append(.monitor(channel))
            } catch {
                counters.change { $0.socketErrorCount += 1 }
            }
            // A signal may have come and gone before the descriptor was waited for.
            channel.areEventsDue = true
            expectInput(of: channel)
        }
        isPollerStale = false
    }

    // MARK: Owning

    /// A number no channel, timer or watch of this loop has had; any thread.
    func makeID() -> UInt64 { nextID.wrappingAdd(1, ordering: .relaxed).oldValue }

    func openContext() throws(Failure) -> Context {
        guard let context, !isStopping else { throw .busStopped }
        return context
    }

    func channel(_ id: UInt64) -> Channel? { channels[id] }

    func add(_ channel: Channel) {
        assertIsCurrent()
        channels[channel.id] = channel
        isPollerStale = true
    }

    /// Removes a channel that is being closed.
    func remove(_ channel: Channel) {
        channels[channel.id] = nil
        isPollerStale = true
    }

    /// Sweeps once for each prefix, before the first bind: a killed process leaves two files for
    /// each socket.
    func sweepOnce(_ prefix: String) {
        guard swept.insert(prefix).inserted else { return }
        BoundPath.sweep(runDirectory, namesBeginningWith: prefix)
    }

    /// Releases a path on a separate thread: removing a file may block for as long as the disk
    /// stalls.
    func giveUp(_ bound: BoundPath) {
        let body = { @Sendable [mailbox, weak self] in
            bound.release()
            _ = mailbox.postFromInside { [weak self] in self?.awaitRelease(of: bound.path) }
        }
        guard releases.count < Self.releaseBound,
            let release = try? BackgroundThread("bus-release", body)
        else { return bound.release() }
        releases[bound.path] = release
    }

    /// Waits until a path that is being given up is free.
    func awaitRelease(of path: String) { releases[path] = nil }

    func watch(_ watch: ProcessWatch, id: UInt64, onExit: @escaping @Sendable () -> Void) {
        guard !isStopping else { return }
        watches[id] = Watched(watch: watch, onExit: onExit)
        isPollerStale = true
    }

    func unwatch(_ id: UInt64) {
        watches[id] = nil
        isPollerStale = true
    }
}

extension Failure {
    /// The failure of every call after the bus has stopped.
    static let busStopped = Failure(.draining, "this process is shutting down its message bus")

    init(_ error: ZeroMQError) { self.init(.internal, error.description) }
}
