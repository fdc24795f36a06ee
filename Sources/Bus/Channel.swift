// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import ZeroMQ

/// One socket with its monitor; lives on the bus thread.
class Channel {
    /// The most messages taken from one socket before the others have their turn.
    static let batchCount = 256
    /// The most messages of one group.
    static let groupCount = 16
    /// A group that has so many bytes of payload takes no further message.
    static let groupByteCount = 64 << 10
    /// Nor does one that has been open so long; nanoseconds.
    static let groupNanoseconds: Int64 = 100_000

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

    /// What one receive gave: a message, or why it was not let in; with what stood in front of it.
    enum Incoming<Leading> {
        case message(Leading, Message)
        case fault(FrameFault, Leading)
    }

    let id: UInt64
    let endpoint: Endpoint
    let loop: BusLoop
    private(set) var sockets: Sockets?
    private let path: String
    private var address: String { "ipc://" + path }
    private let kind: Socket.Kind
    private let role: Role
    private let options: SocketOptions
    private var lock: FileLock?
    private var reopening: UInt64?
    /// Whether the loop is going to look at it before it sleeps; the loop's.
    var isDue = false
    /// Whether its monitor may hold something without a signal.
    var areEventsDue = false
    /// Whether the last receive found nothing more, so that the next message raises a signal.
    var isDrained = false
    /// Whether the peer, the only one there is, reads groups: what is sent to it in one turn of the loop
    /// then leaves together, which costs both sides, and the system, as much as one message.
    var sendsGroups = false
    /// What is being sent.
    private var group: Group?
    /// Whether the frames that come next are of the same group as the message taken last.
    private var isInGroup = false

    /// Messages handed to libzmq that leave with the last frame of the last of them.
    private struct Group {
        var count = 0
        var byteCount = 0
        /// When the first was sent; monotonic nanoseconds.
        let since: Int64
        /// The payload of the last message.
        var last = Data()
    }

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
        if role == .bind { lock = try Self.takeLock(endpoint, path) }
        sockets = try open()
    }

    private func open() throws(Failure) -> Sockets {
        let context = try loop.openContext()
        do throws(ZeroMQError) {
            let socket = try Socket(context, kind)
            try socket.apply(options)
            let monitor = try SocketMonitor(
                context, of: socket, name: "monitor-\(loop.makeID())")
            switch role {
            case .bind: try socket.bind(address)
            case .connect: try socket.connect(address)
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

    /// Hears what became of a connection.
    func handle(_ event: SocketEvent) {}

    /// Tells a new socket, in place of a broken one, what the old one had been told.
    func didReopen() {}

    /// Hears, of a PUSH socket, that something has happened and there is room to send.
    func didGetRoom() {}

    /// Gives up what still waits; the sockets are gone.
    func didClose() {}

    // MARK: Receiving

    /// Takes what has come; comes back to it when there was more than one batch.
    func look() {
        guard let sockets else { return }
        if kind == .push {
            // Nothing ever comes, but what has happened must be looked at for the signal to go.
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

    /// libzmq connects again after a connection broke, but never again after one that broke the
    /// protocol.
    ///
    /// It says at once when it is going to; when it does not, the socket is made anew.
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

    /// Puts a new socket in place of the old one, and with it of all that it had not sent.
    func reopen() {
        endRetryWait()
        guard !isClosed else { return }
        receive()
        loop.remove(self)
        sockets = nil
        group = nil
        isInGroup = false
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

    /// The next message; nil when there is none.
    func next() -> Incoming<Void>? {
        take { socket, head, body throws(ZeroMQError) in
            guard try socket.receive(&head) else { return nil }
            return try finish((), socket, &head, &body)
        }
    }

    /// The next message of a socket whose messages, or groups of them, have one more frame in front, of which
    /// `read` makes what is handed on and `last` keeps it for the rest of a group; nil when there is none.
    func next<Leading>(
        after read: (RawSpan) -> Leading, _ last: inout Leading?
    ) -> Incoming<Leading>? {
        var leading = isInGroup ? last : nil
        let incoming: Incoming<Leading>? = take { socket, head, body throws(ZeroMQError) in
            guard try socket.receive(&head) else { return nil }
            if let leading { return try finish(leading, socket, &head, &body) }
            let read = head.withBytes(read)
            leading = read
            guard head.hasMore, try socket.receive(&head) else {
                return .fault(.frameCount, read)
            }
            return try finish(read, socket, &head, &body)
        }
        last = isInGroup ? leading : nil
        return incoming
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

    /// Takes the frames of one message after the header, which `head` holds.
    private func finish<Leading>(
        _ leading: Leading, _ socket: borrowing Socket, _ head: inout Frame, _ body: inout Frame
    ) throws(ZeroMQError) -> Incoming<Leading> {
        var metadata = Data()
        var payload = Data()
        isInGroup = false
        // A message is there as a whole or not at all.
        guard head.hasMore, try socket.receive(&body) else { return .fault(.frameCount, leading) }
        metadata = Self.copy(&body)
        guard body.hasMore, try socket.receive(&body) else { return .fault(.frameCount, leading) }
        payload = Self.copy(&body)
        isInGroup = body.hasMore
        do throws(FrameFault) {
            let message = try head.withBytes { head throws(FrameFault) in
                try HeaderCoding.decode(header: head, metadata: metadata, payload: payload)
            }
            return .message(leading, message)
        } catch {
            return .fault(error, leading)
        }
    }

    private static func copy(_ frame: inout Frame) -> Data {
        guard frame.byteCount > 0 else { return Data() }
        var data = Data(count: frame.byteCount)
        var span = data.mutableBytes
        frame.copy(into: &span)
        return data
    }

    func discardAll() {
        for _ in 0..<Self.batchCount {
            guard next() != nil else { return }
            loop.counters.reject(.kind)
        }
    }

    // MARK: Sending

    /// Hands a message to libzmq; false when it would have to wait.
    ///
    /// The size must have been checked.
    func send(_ message: Message) throws(ZeroMQError) -> Bool {
        try send(message) { _ throws(ZeroMQError) in true }
    }

    /// The same to one peer of a ROUTER socket.
    func send(_ message: Message, to peer: RoutingID) throws(ZeroMQError) -> Bool {
        try send(message) { socket throws(ZeroMQError) in try socket.send(to: peer) }
    }

    /// The same under a topic.
    func send(_ message: Message, topic: String) throws(ZeroMQError) -> Bool {
        try send(message) { socket throws(ZeroMQError) in
            try socket.send(topic, more: true)
        }
    }

    private func send(
        _ message: Message, after sendLeading: (borrowing Socket) throws(ZeroMQError) -> Bool
    ) throws(ZeroMQError) -> Bool {
        loop.assertIsCurrent()
        guard let socket = sockets else { return false }
        if let group { _ = try socket.socket.send(group.last.bytes, more: true) }
        guard try sendLeading(socket.socket) else { return false }
        let header = HeaderCoding.encode(message, from: loop.instance)
        let isTaken = try header.withBytes { header throws(ZeroMQError) in
            try socket.socket.send(header, more: true)
        }
        guard isTaken else { return false }
        _ = try socket.socket.send(message.metadata.bytes, more: true)
        if sendsGroups || group != nil {
            try continueGroup(message.payload)
        } else {
            _ = try socket.socket.send(message.payload.bytes, more: false)
        }
        loop.counters.countSent()
        // To send is to look at what has happened, so the signal of an answer may be gone.
        if kind != .push { loop.expectInput(of: self) }
        return true
    }

    /// Takes a message into the group, but for its last frame, which tells libzmq whether there is another.
    private func continueGroup(_ payload: Data) throws(ZeroMQError) {
        let now = MonotonicClock.nanoseconds()
        if group == nil { loop.expectEnd(ofGroupOf: self) }
        var group = group ?? Group(since: now)
        group.count += 1
        group.byteCount += payload.count
        group.last = payload
        self.group = group
        if group.count >= Self.groupCount || group.byteCount >= Self.groupByteCount
            || now - group.since >= Self.groupNanoseconds
        {
            try endGroup()
        }
    }

    /// Sends off what has been handed to libzmq.
    func endGroup() throws(ZeroMQError) {
        guard let last = group.take()?.last, let sockets else { return }
        _ = try sockets.socket.send(last.bytes, more: false)
    }

    /// Changes the subscriptions of a SUB socket.
    func withSocket(_ body: (borrowing Socket) throws(ZeroMQError) -> Void) {
        guard let sockets else { return }
        do { try body(sockets.socket) } catch {
            loop.counters.change { $0.socketErrorCount += 1 }
        }
    }

    // MARK: Closing

    /// Closes while the loop goes on; afterwards the path is free to be bound again.
    func close() {
        guard let sockets else { return }
        loop.endGroup(of: self)
        loop.remove(self)
        if role == .bind { unbind(sockets) }
        self.sockets = nil
        endRetryWait()
        didClose()
        releasePath(removingLock: true)
    }

    /// Closes at the end of the loop; the path stays ours until the context is gone.
    func closeForGood() {
        loop.endGroup(of: self)
        sockets = nil
        didClose()
    }

    /// Removes the socket's file (libzmq 4.3.4 leaves it behind), then gives up the lock.
    ///
    /// Where another process has replaced the lock, the file is that one's.
    func releasePath(removingLock: Bool = false) {
        guard let lock = lock.take(), lock.isInPlace else { return }
        try? FileManager.default.removeItem(atPath: path)
        lock.release(removingFile: removingLock)
    }

    /// Removes what bound sockets of processes that were killed have left: files whose lock is free.
    static func sweep(_ runDirectory: String, namesBeginningWith prefix: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: runDirectory)) ?? []
        for name in names where name.hasPrefix(prefix) && name.hasSuffix(".lock") {
            let lockPath = runDirectory + "/" + name
            guard let lock = try? FileLock.tryAcquire(lockPath) else { continue }
            try? FileManager.default.removeItem(atPath: String(lockPath.dropLast(5)))
            lock.release(removingFile: true)
        }
    }

    /// Waits until the listener is closed, which libzmq does in the background, at most a quarter of
    /// a second: a release that removed the path then would remove the next listener's.
    private func unbind(_ sockets: Sockets) {
        guard (try? sockets.socket.unbind(address)) != nil else { return }
        var poller = Poller()
        poller.add(sockets.monitor.socket)
        let end = MonotonicClock.nanoseconds() + 250_000_000
        while MonotonicClock.nanoseconds() < end {
            while let event = nextEvent() { if event.kind == .closed { return } }
            guard (try? poller.wait(milliseconds: 25)) != nil else { return }
        }
    }
}
