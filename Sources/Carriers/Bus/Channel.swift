// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import Platform
internal import ZeroMQ

/// One socket with its monitor, confined to the bus thread.
class Channel {
    /// The most messages taken from one socket before the others have their turn.
    static let batchCount = 256

    final class Sockets {
        let socket: Socket
        let monitor: SocketMonitor
        init(_ socket: consuming Socket, _ monitor: consuming SocketMonitor) {
            self.socket = socket
            self.monitor = monitor
        }
        deinit { SocketMonitor.stop(socket) }
    }

    enum Role {
        case bind
        case connect
    }

    /// The outcome of one receive: a message or the fault that refused it, with its leading frames.
    enum Incoming<Leading> {
        case message(Leading, Message)
        case fault(FrameFault, Leading)
    }

    let id: UInt64
    let endpoint: Endpoint
    let loop: BusLoop
    private(set) var sockets: Sockets?
    private let path: String
    private let kind: Socket.Kind
    private let role: Role
    private let options: SocketOptions
    private var lock: FileLock?
    private var reopening: UInt64?
    /// Whether the loop is going to look at it before it sleeps; the loop's.
    var isDue = false
    /// Whether its monitor may hold something without a signal.
    var areEventsDue = false
    /// Whether the last receive emptied the socket, so that the next message raises a signal.
    var isDrained = false
    /// Whether the only peer reads groups: messages to it in one turn of the loop then leave
    /// together.
    var sendsGroups = false
    /// Messages to send at the end of the turn, or as soon as there is room.
    private var group = OutgoingGroup()
    /// Whether there was no room for the group.
    private var isHeld = false
    /// The rest of the group from which the last message was taken.
    private var incoming = IncomingGroup()

    var isClosed: Bool { sockets == nil }

    /// Opens, configures and binds or connects the socket; binding takes the endpoint's lock first,
    /// because libzmq lets a second process take over a bound path without a word.
    init(
        _ loop: BusLoop, _ endpoint: Endpoint, _ kind: Socket.Kind, _ role: Role,
        _ options: SocketOptions
    ) throws(Failure) {
        loop.assertIsCurrent()
        self.loop = loop
        self.endpoint = endpoint
        self.kind = kind
        self.role = role
        var options = options
        options.maximumFrameByteCount = Int64(endpoint.maximumMessageByteCount)
        self.options = options
        id = loop.makeID()
        path = try endpoint.path(in: loop.runDirectory)
        if role == .bind {
            loop.awaitRelease(of: path)
            lock = try Self.takeLock(endpoint, path)
        }
        sockets = try open()
    }

    /// The libzmq address of a path.
    static func address(_ path: String) -> String { "ipc://" + path }

    private func open() throws(Failure) -> Sockets {
        let context = try loop.openContext()
        do throws(ZeroMQError) {
            let socket = try Socket(context, kind)
            try socket.apply(options)
            let monitor = try SocketMonitor(
                context, of: socket, name: "monitor-\(loop.makeID())")
            switch role {
            case .bind: try socket.bind(Self.address(path))
            case .connect: try socket.connect(Self.address(path))
            }
            return Sockets(socket, monitor)
        } catch {
            throw Failure(error)
        }
    }

    private static func takeLock(
        _ endpoint: Endpoint, _ path: String
    ) throws(Failure) -> FileLock {
        let lockPath = path + ".lock"
        do throws(PlatformError) {
            if let lock = try FileLock.tryAcquire(lockPath) { return lock }
        } catch {
            throw Failure(error)
        }
        let owner = FileLock.owner(of: lockPath).map { " by process \($0)" } ?? ""
        throw Failure(.conflict, "endpoint \(endpoint) ('\(path)') is already served\(owner)")
    }

    // MARK: For subclasses

    /// Takes up to `batchCount` messages.
    func receive() { discardAll() }

    /// Handles a socket event.
    func handle(_ event: SocketEvent) {}

    /// Restores the configuration on a new socket that replaces a broken one.
    func didReopen() {}

    /// Called on a PUSH socket after an event, when there is room to send.
    func didGetRoom() {}

    /// Fails the pending work; the sockets are gone.
    func didClose() {}

    // MARK: Receiving

    /// Receives a batch of messages; schedules another look after a full one.
    func look() {
        guard let sockets else { return }
        if isHeld { loop.endGroup(of: self) }
        if kind == .push {
            // The socket never has input, but its events must be read for the signal to clear.
            if (try? sockets.socket.hasRoom()) == true { didGetRoom() }
        } else {
            isDrained = false
            receive()
            if !isDrained, !isClosed { loop.expectInput(of: self) }
        }
        if areEventsDue { receiveEvents() }
    }

    func receiveEvents() {
        areEventsDue = false
        for _ in 0..<Self.batchCount {
            guard let event = nextEvent() else { return }
            switch event.kind {
            case .handshakeFailed: loop.counters.change { $0.failedHandshakeCount += 1 }
            case .disconnected:
                loop.counters.change { $0.endedConnectionCount += 1 }
                if role == .connect { expectRetry() }
            case .connectRetried: endRetryWait()
            default: break
            }
            handle(event)
            loop.expectInput(of: self)
        }
        areEventsDue = true
    }

    /// Handles every socket event so far: the events of the connection that brought the last
    /// message may be queued behind many others.
    func receiveEventsToNow() {
        for _ in 0..<Self.batchCount {
            receiveEvents()
            guard areEventsDue else { return }
        }
    }

    /// Replaces the socket in 100 ms unless libzmq announces a reconnect.
    ///
    /// libzmq reconnects after a broken connection, but not after a protocol error, and announces a
    /// retry at once.
    private func expectRetry() {
        endRetryWait()
        let timer = loop.makeID()
        let due = MonotonicClock.nanoseconds() + 100_000_000
        loop.timers.add(id: timer, due: due) { [weak self] in self?.reopen() }
        reopening = timer
    }

    private func endRetryWait() {
        if let timer = reopening.take() { loop.timers.cancel(timer) }
    }

    /// Replaces the socket, which drops its unsent messages.
    func reopen() {
        endRetryWait()
        guard !isClosed else { return }
        receive()
        loop.remove(self)
        sockets = nil
        dropGroup()
        incoming.removeAll()
        guard let opened = try? open() else {
            loop.counters.change { $0.socketErrorCount += 1 }
            return didClose()
        }
        sockets = opened
        loop.add(self)
        didReopen()
    }

    private func nextEvent() -> SocketEvent? {
        guard let sockets else { return nil }
        do {
            return try sockets.monitor.next(&loop.headFrame)
        } catch {
            loop.counters.change { $0.socketErrorCount += 1 }
            return nil
        }
    }

    /// The next message; nil for an empty queue.
    func next() -> Incoming<Void>? {
        if incoming.hasMore() { return nextOfGroup(()) }
        return take { socket, head, body throws(ZeroMQError) in
            try socket.receive(&head) ? try finish((), socket, &head, &body) : nil
        }
    }

    /// The next message of a socket with one more frame in front of each message or group; nil for
    /// an empty queue.
    ///
    /// `read` decodes that frame; `last` keeps the result for the rest of a group.
    func next<Leading>(
        after read: (RawSpan) -> Leading, _ last: inout Leading?
    ) -> Incoming<Leading>? {
        if incoming.hasMore(), let last { return nextOfGroup(last) }
        var leading: Leading?
        let incoming: Incoming<Leading>? = take { socket, head, body throws(ZeroMQError) in
            guard try socket.receive(&head) else { return nil }
            let read = head.withBytes(read)
            leading = read
            guard head.hasMore, try socket.receive(&head) else {
                return .fault(.frameCount, read)
            }
            return try finish(read, socket, &head, &body)
        }
        last = leading
        return incoming
    }

    /// Over which connection the message taken last came; `Frame.connectionDescriptor`.
    var connectionDescriptor: Int32? {
        incoming.isEmpty
            ? loop.bodyFrame.connectionDescriptor : incoming.connectionDescriptor
    }

    private func take<Leading>(
        _ read: (borrowing Socket, _ head: inout Frame, _ body: inout Frame) throws(ZeroMQError)
            -> Incoming<Leading>?
    ) -> Incoming<Leading>? {
        guard let sockets else { return nil }
        do throws(ZeroMQError) {
            if let incoming = try read(sockets.socket, &loop.headFrame, &loop.bodyFrame) {
                return incoming
            }
        } catch {
            loop.counters.change { $0.socketErrorCount += 1 }
        }
        isDrained = true
        return nil
    }

    /// Receives the rest of a message after its first frame, or the first message of a group, which
    /// is one frame; `head` holds it.
    private func finish<Leading>(
        _ leading: Leading, _ socket: borrowing Socket, _ head: inout Frame, _ body: inout Frame
    ) throws(ZeroMQError) -> Incoming<Leading> {
        guard head.hasMore else {
            incoming.begin(with: &head)
            return nextOfGroup(leading)
        }
        // A message is there as a whole or not at all.
        guard try socket.receive(&body) else { return .fault(.frameCount, leading) }
        let metadata = body.withBytes { $0.data() }
        guard body.hasMore, try socket.receive(&body) else { return .fault(.frameCount, leading) }
        let payload = body.withBytes { $0.data() }
        guard !body.hasMore else {
            while body.hasMore, try socket.receive(&body) {}
            return .fault(.frameCount, leading)
        }
        do throws(FrameFault) {
            let message = try head.withBytes { head throws(FrameFault) in
                try HeaderCoding.decode(header: head, metadata: metadata, payload: payload)
            }
            return .message(leading, message)
        } catch {
            return .fault(error, leading)
        }
    }

    private func nextOfGroup<Leading>(_ leading: Leading) -> Incoming<Leading> {
        do throws(FrameFault) { return .message(leading, try incoming.next()) } catch {
            return .fault(error, leading)
        }
    }

    func discardAll() {
        for _ in 0..<Self.batchCount {
            guard next() != nil else { return }
            loop.counters.reject(.kind)
        }
    }

    // MARK: Sending

    /// Hands a message to libzmq, or puts it into the group that leaves with this turn; false when
    /// it would have to wait.
    ///
    /// The size must have been checked.
    func send(_ message: Message) throws(ZeroMQError) -> Bool {
        guard sendsGroups, OutgoingGroup.takes(message) else {
            // The open group leaves first, which keeps the order.
            guard try endGroup() else { return false }
            return try sendAlone(message) { _ throws(ZeroMQError) in true }
        }
        loop.assertIsCurrent()
        if isClosed { return false }
        if isHeld, try !endGroup() { return false }
        if group.isEmpty { loop.expectEnd(ofGroupOf: self) }
        let isFull = group.add(message, from: loop.instance, now: MonotonicClock.nanoseconds())
        if isFull { _ = try endGroup() }
        loop.counters.countSent()
        return true
    }

    /// Sends at once to one peer of a ROUTER socket; `asGroup` for a peer that reads groups.
    func send(
        _ message: Message, to peer: RoutingID, asGroup: Bool
    ) throws(ZeroMQError) -> Bool {
        try sendAlone(message, asGroup: asGroup) { socket throws(ZeroMQError) in
            try socket.send(to: peer)
        }
    }

    /// Publishes a message under a topic.
    func send(_ message: Message, topic: String) throws(ZeroMQError) -> Bool {
        try sendAlone(message) { socket throws(ZeroMQError) in
            try socket.send(topic, more: true)
        }
    }

    private func sendAlone(
        _ message: Message, asGroup: Bool = false,
        after sendLeading: (borrowing Socket) throws(ZeroMQError) -> Bool
    ) throws(ZeroMQError) -> Bool {
        loop.assertIsCurrent()
        guard let sockets, try sendLeading(sockets.socket) else { return false }
        let isTaken =
            asGroup && OutgoingGroup.takes(message)
            ? try sendFrame(OutgoingGroup(message, from: loop.instance), sockets.socket)
            : try sendFrames(message, sockets.socket)
        guard isTaken else { return false }
        loop.counters.countSent()
        didSend()
        return true
    }

    private func sendFrames(
        _ message: Message, _ socket: borrowing Socket
    ) throws(ZeroMQError) -> Bool {
        let header = HeaderCoding.encode(message, from: loop.instance)
        let isTaken = try header.withBytes { header throws(ZeroMQError) in
            try socket.send(header, more: true)
        }
        guard isTaken else { return false }
        _ = try socket.send(message.metadata.bytes, more: true)
        _ = try socket.send(message.payload.bytes, more: false)
        return true
    }

    private func sendFrame(
        _ group: OutgoingGroup, _ socket: borrowing Socket
    ) throws(ZeroMQError) -> Bool {
        try group.withBytes { bytes throws(ZeroMQError) in try socket.send(bytes, more: false) }
    }

    /// Hands the group to libzmq; false when there is no room: then it is kept until there is.
    @discardableResult
    func endGroup() throws(ZeroMQError) -> Bool {
        guard !group.isEmpty, let sockets else { return true }
        do throws(ZeroMQError) {
            isHeld = try !sendFrame(group, sockets.socket)
        } catch {
            dropGroup()
            throw error
        }
        if isHeld { return false }
        group.removeAll()
        didSend()
        return true
    }

    /// Drops messages that libzmq has not accepted.
    func dropGroup() {
        group.removeAll()
        isHeld = false
    }

    /// Schedules a look at the events: sending reads them, so the signal of an answer may be gone.
    private func didSend() { if kind != .push { loop.expectInput(of: self) } }

    /// Changes the subscriptions of a SUB socket.
    func withSocket(_ body: (borrowing Socket) throws(ZeroMQError) -> Void) {
        guard let sockets else { return }
        do { try body(sockets.socket) } catch {
            loop.counters.change { $0.socketErrorCount += 1 }
        }
    }

    // MARK: Closing

    /// Closes the channel while the loop continues; the next bind of the path waits until it is
    /// free.
    func close() {
        guard !isClosed else { return }
        loop.endGroup(of: self)
        loop.remove(self)
        endRetryWait()
        if let sockets = sockets.take(), let lock = lock.take() {
            loop.giveUp(BoundPath(path, lock, sockets))
        }
        didClose()
    }

    /// Closes at the end of the loop; the path stays ours until the context is gone.
    func closeForGood() {
        loop.endGroup(of: self)
        sockets = nil
        didClose()
    }

    /// Gives up the path, after the end of the loop.
    func releasePath() {
        if let lock = lock.take() { BoundPath.release(path, lock) }
    }
}
