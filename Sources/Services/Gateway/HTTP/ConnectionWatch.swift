// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CoreMetrics
internal import NIOCore
internal import Synchronization

/// The connections of a server with their current requests: a request is cancelled when its client
/// disconnects.
final class OpenConnections: Sendable {
    /// Event for every connection: others are waiting for a slot.
    struct NeedRoom: Sendable {}

    private struct Connection {
        let channel: any Channel
        let address: String
        var cancel: (@Sendable () -> Void)?
        /// Cancellation for work that does not end by itself.
        var cancelAtEnd: (@Sendable () -> Void)?
    }

    /// Maximum number of concurrent followers.
    static let followerLimit = 2_000

    private let open = Mutex<[ObjectIdentifier: Connection]>([:])
    private let addresses = Mutex<[String: Int]>([:])
    private let isMakingRoom = Atomic<Bool>(false)
    /// Maximum number of connections in all and per address; nil for no limit.
    private let limits: (count: Int?, perAddress: Int?)

    private let proxies: TrustedProxies

    init(limit: Int? = nil, limitPerAddress: Int? = nil, proxies: TrustedProxies = .none) {
        limits = (limit, limitPerAddress)
        self.proxies = proxies
    }
    private let followers = Mutex(0)
    private let isEnding = Atomic<Bool>(false)

    /// Whether the server is shutting down.
    var isEnded: Bool { isEnding.load(ordering: .acquiring) }

    /// Number of connected clients.
    var count: Int { open.withLock { $0.count } }

    /// Whether the client is connected and the server not shutting down.
    func isOpen(_ channel: any Channel) -> Bool {
        !isEnded && open.withLock { $0[ObjectIdentifier(channel)] != nil }
    }

    /// Number of followers.
    var followerCount: Int { followers.withLock { $0 } }

    /// A slot for a follower; nil when all are taken.
    func takeFollowerPlace() -> FollowerPlace? {
        let isTaken = followers.withLock { count in
            guard count < Self.followerLimit else { return false }
            count += 1
            return true
        }
        return isTaken ? FollowerPlace(connections: self) : nil
    }

    fileprivate func giveBackFollowerPlace() { followers.withLock { $0 -= 1 } }

    /// Begins the shutdown: followers are disconnected, all other requests are answered.
    func end() {
        isEnding.store(true, ordering: .releasing)
        let cancels = open.withLock { open in open.values.compactMap(\.cancelAtEnd) }
        for cancel in cancels { cancel() }
    }

    /// False for a connection beyond the limit of its address.
    fileprivate func opened(_ channel: any Channel) -> Bool {
        let peer = channel.remoteAddress?.ipAddress ?? ""
        let address = RateLimit.subscriber(peer)
        // A proxy connects on behalf of many clients.
        if let most = limits.perAddress, !proxies.includes(peer) {
            let isWelcome = addresses.withLock { addresses in
                guard addresses[address, default: 0] < most else { return false }
                addresses[address, default: 0] += 1
                return true
            }
            guard isWelcome else { return false }
        }
        let count = open.withLock { open in
            open[ObjectIdentifier(channel)] = Connection(channel: channel, address: address)
            return open.count
        }
        if let limit = limits.count, count >= limit,
            !isMakingRoom.exchange(true, ordering: .acquiringAndReleasing)
        {
            makeRoom(limit, channel.eventLoop)
        }
        return true
    }

    /// Asks idle connections to close, once a second while all slots are taken.
    private func makeRoom(_ limit: Int, _ eventLoop: any EventLoop) {
        let channels = open.withLock { open in
            open.count >= limit ? open.values.map(\.channel) : []
        }
        guard !channels.isEmpty else {
            return isMakingRoom.store(false, ordering: .releasing)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(NeedRoom()) }
        eventLoop.scheduleTask(in: .seconds(1)) { [self] in makeRoom(limit, eventLoop) }
    }

    fileprivate func closed(_ channel: any Channel) {
        let connection = open.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }
        guard let connection else { return }
        connection.cancel?()
        guard limits.perAddress != nil else { return }
        addresses.withLock { addresses in
            guard addresses[connection.address] != nil else { return }
            let rest = addresses[connection.address, default: 1] - 1
            addresses[connection.address] = rest > 0 ? rest : nil
        }
    }

    /// Handles one request; its task is cancelled when the client disconnects.
    ///
    /// A connection has one request at a time.
    func answering<Answer: Sendable>(
        _ channel: any Channel, isEndless: Bool = false,
        _ body: @escaping @Sendable () async -> Answer
    ) async -> Answer {
        let id = ObjectIdentifier(channel)
        let work = Task { await body() }
        let isOpen = open.withLock { open in
            guard open[id] != nil else { return false }
            open[id]?.cancel = { work.cancel() }
            if isEndless { open[id]?.cancelAtEnd = { work.cancel() } }
            return true
        }
        if !isOpen || (isEndless && isEnded) { work.cancel() }
        let answer = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        open.withLock { open in
            open[id]?.cancel = nil
            open[id]?.cancelAtEnd = nil
        }
        return answer
    }
}

/// A follower's slot, released with the last reference to it.
final class FollowerPlace: Sendable {
    private let connections: OpenConnections

    fileprivate init(connections: OpenConnections) { self.connections = connections }

    deinit { connections.giveBackFollowerPlace() }
}

/// Reports one connection to ``OpenConnections``; bound to its event loop.
final class ConnectionWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let connections: OpenConnections

    private let metrics: GatewayMetrics

    init(_ connections: OpenConnections, _ metrics: GatewayMetrics) {
        self.connections = connections
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard !connections.opened(context.channel) else { return }
        metrics.crowdedAddresses.increment()
        let channel = context.channel
        channel.eventLoop.execute { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        connections.closed(context.channel)
        context.fireChannelInactive()
    }

    /// A half-closed connection counts as closed: whether the client still reads is unknowable.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { connections.closed(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) { connections.closed(context.channel) }
}
