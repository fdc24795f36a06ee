// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import NIOCore
internal import Synchronization

/// The connections of a server, each with the request it is being answered now, so that the request
/// of a client that goes away is cancelled.
final class OpenConnections: Sendable {
    private struct Connection {
        var cancel: (@Sendable () -> Void)?
        /// The same, where the work does not end by itself.
        var cancelAtEnd: (@Sendable () -> Void)?
    }

    /// The most clients that may follow something at once.
    static let followerLimit = 100

    private let open = Mutex<[ObjectIdentifier: Connection]>([:])
    private let followers = Mutex(0)
    private let isEnding = Atomic<Bool>(false)

    /// How many clients are connected.
    var count: Int { open.withLock { $0.count } }

    /// Whether the client is still there, and wanted.
    func isOpen(_ channel: any Channel) -> Bool {
        !isEnding.load(ordering: .acquiring)
            && open.withLock { $0[ObjectIdentifier(channel)] != nil }
    }

    /// How many clients follow something.
    var followerCount: Int { followers.withLock { $0 } }

    func addFollower() { followers.withLock { $0 += 1 } }
    func removeFollower() { followers.withLock { $0 -= 1 } }

    /// The server ends: whoever follows something is let go, everybody else is answered.
    func end() {
        isEnding.store(true, ordering: .releasing)
        let cancels = open.withLock { open in open.values.compactMap(\.cancelAtEnd) }
        for cancel in cancels { cancel() }
    }

    fileprivate func opened(_ channel: any Channel) {
        open.withLock { $0[ObjectIdentifier(channel)] = Connection() }
    }

    fileprivate func closed(_ channel: any Channel) {
        open.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) }?.cancel?()
    }

    /// Does the work of one request; its task is cancelled when the client goes away meanwhile.
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
        if !isOpen || (isEndless && isEnding.load(ordering: .acquiring)) { work.cancel() }
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

/// Tells ``OpenConnections`` of one connection; lives on its event loop.
final class ConnectionWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let connections: OpenConnections

    init(_ connections: OpenConnections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) { connections.opened(context.channel) }

    func channelInactive(context: ChannelHandlerContext) {
        connections.closed(context.channel)
        context.fireChannelInactive()
    }

    /// A client that has ended its side has gone: whether it still reads cannot be told.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { connections.closed(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) { connections.closed(context.channel) }
}
