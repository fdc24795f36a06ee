// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import DequeModule
internal import ZeroMQ

/// Sends to one peer: a connected PUSH socket (to the sink, or straight to a requester) or a bound
/// one (a lane).
final class PushChannel: Channel {
    /// The settings that make a bound PUSH socket a lane.
    struct Lane {
        /// The most messages that wait for the worker before it has connected, and half of the most
        /// messages or groups that wait after.
        let capacity: Int
        let onDisconnect: @Sendable () -> Void
    }

    private let lane: Lane?
    private let onRoom: (@Sendable () -> Void)?
    /// Called at the end of a channel to a requester, which ends with its first connection.
    private let onEnd: (@Sendable () -> Void)?
    /// Whether a message has been refused since the queue last had room.
    private var isFull = false
    private let full: Failure
    private var isConnected = false
    private var connections: Set<Int32> = []
    /// A lane's messages from before its worker has connected.
    private var early: Deque<Message> = []

    /// Connects to a sink, or with `onEnd` to a requester, whose endpoint is bound already.
    init(
        _ loop: BusLoop, connectingTo endpoint: Endpoint, sendsGroups: Bool = false,
        onRoom: (@Sendable () -> Void)? = nil, onEnd: (@Sendable () -> Void)? = nil
    ) throws(Failure) {
        lane = nil
        self.onEnd = onEnd
        self.onRoom = onRoom
        full = Self.full(endpoint)
        var options = SocketOptions()
        options.onlyConnected = true
        try super.init(loop, endpoint, .push, .connect, options)
        self.sendsGroups = sendsGroups
    }

    /// Binds a lane.
    init(
        _ loop: BusLoop, _ endpoint: Endpoint, _ lane: Lane, sendsGroups: Bool
    ) throws(Failure) {
        self.lane = lane
        onRoom = nil
        onEnd = nil
        full = Self.full(endpoint)
        var options = SocketOptions()
        options.lingerMilliseconds = 0
        // libzmq takes back room only after half of this many messages has left.
        options.sendHighWaterMark = Int32(clamping: 2 * lane.capacity)
        loop.sweepOnce(Endpoint.lanePrefix)
        try super.init(loop, endpoint, .push, .bind, options)
        self.sendsGroups = sendsGroups
    }

    override func handle(_ event: SocketEvent) {
        if lane == nil { handleSink(event) } else { handleLane(event) }
    }

    private func handleSink(_ event: SocketEvent) {
        switch event.kind {
        case .handshakeSucceeded: isConnected = true
        case .connectRetried:
            // A requester binds its endpoint before the request, so it is gone.
            if onEnd != nil { close() }
        case .disconnected:
            isConnected = false
            // The next peer may be of another build, and the queued messages were for this one.
            sendsGroups = false
            dropGroup()
            if onEnd != nil { return close() }
            // Senders that wait for room learn that the peer is gone.
            didGetRoom()
        default: break
        }
    }

    /// Ends the lane on a second connection: PUSH would deal tasks to both, even to one that never
    /// completes its handshake.
    ///
    /// The worker then greets again.
    private func handleLane(_ event: SocketEvent) {
        switch event.kind {
        case .accepted:
            connections.insert(event.value)
            guard connections.count > 1 else { return }
            loop.counters.change { $0.laneIntrusionCount += 1 }
            close()
        case .handshakeSucceeded:
            isConnected = true
            sendEarly()
        case .disconnected:
            connections.remove(event.value)
            // A stranger without a handshake has left: the lane keeps waiting for its worker.
            if isConnected { close() }
        default: break
        }
    }

    private func sendEarly() {
        while let message = early.first {
            guard (try? send(message)) == true else { return }
            early.removeFirst()
        }
    }

    func push(_ message: Message) throws(Failure) {
        do throws(Failure) { try endpoint.check(message) } catch {
            loop.counters.change { $0.oversizeCount += 1 }
            throw error
        }
        guard !isClosed else { throw Failure(.unavailable, "\(endpoint) is closed") }
        guard isConnected else { return try pushEarly(message) }
        sendEarly()
        do throws(ZeroMQError) {
            if early.isEmpty, try send(message) {
                // The signal of the room that it found is gone.
                if isFull { loop.expectInput(of: self) }
                return
            }
        } catch {
            throw Failure(error)
        }
        isFull = true
        throw full
    }

    private static func full(_ endpoint: Endpoint) -> Failure {
        Failure(.busy, "the queue to \(endpoint) is full")
    }

    override func didGetRoom() {
        guard isFull else { return }
        isFull = false
        onRoom?()
    }

    private func pushEarly(_ message: Message) throws(Failure) {
        guard let lane else { throw Failure(.unavailable, "no peer is connected at \(endpoint)") }
        guard early.count < lane.capacity else {
            throw Failure(.busy, "\(endpoint): its worker has not connected yet")
        }
        early.append(message)
    }

    override func didClose() {
        early = []
        isConnected = false
        guard !loop.isStopping else { return }
        lane?.onDisconnect()
        onEnd?()
    }
}

/// Sends messages one way; only on the bus thread.
public struct Pusher: Sendable {
    let thread: BusThread
    let id: UInt64
    let endpoint: Endpoint

    /// Sends without waiting; bus thread only (traps elsewhere).
    ///
    /// Throws `Failure`: `busy` at the high-water mark, `unavailable` without a peer (a lane keeps
    /// its first messages until its worker connects), `tooLarge`.
    public func send(_ message: Message) throws(Failure) {
        thread.loop.assertIsCurrent()
        guard let channel = thread.loop.channel(id) as? PushChannel else {
            throw Failure(.unavailable, "\(endpoint) is closed")
        }
        try channel.push(message)
    }

    /// Sends groups from now on, until the connection ends: the peer reads them
    /// (`MessageHeader.readsGroups`); bus thread only.
    public func sendGroups() {
        thread.loop.assertIsCurrent()
        thread.loop.channel(id)?.sendsGroups = true
    }

    /// Closes the channel; a lane's `onDisconnect` is called.
    ///
    /// Any thread; idempotent.
    public func close() { thread.closeChannel(id) }
}
