// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import NIOCore
internal import Synchronization

/// The connections of a server, each with the request it is being answered now, so that the request
/// of a client that goes away is cancelled.
final class OpenConnections: Sendable {
    private struct Connection {
        var cancel: (@Sendable () -> Void)?
    }

    private let open = Mutex<[ObjectIdentifier: Connection]>([:])

    /// How many clients are connected.
    var count: Int { open.withLock { $0.count } }

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
        _ channel: any Channel, _ body: @escaping @Sendable () async -> Answer
    ) async -> Answer {
        let id = ObjectIdentifier(channel)
        let work = Task { await body() }
        let isOpen = open.withLock { open in
            guard open[id] != nil else { return false }
            open[id]?.cancel = { work.cancel() }
            return true
        }
        if !isOpen { work.cancel() }
        let answer = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        open.withLock { $0[id]?.cancel = nil }
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
