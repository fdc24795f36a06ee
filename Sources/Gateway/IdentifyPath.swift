// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTPTypes

/// The short way of identify through a connection: bytes in, bytes out, on the connection's event loop.
///
/// It stands in front of the HTTP library. A read that is one whole `PlainRequest`, while nothing else is
/// under way, is answered here; everything else passes through untouched. Once a read comes that is not
/// exactly one request (a body, a part of one, several at once) the library keeps the connection.
final class IdentifyPath: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum State {
        /// Nothing is under way.
        case idle
        /// A request is being answered here.
        case asking(cancel: @Sendable () -> Void)
        /// One whole request is with the HTTP library.
        case passing
        /// The connection is the library's.
        case given
    }

    /// The most bytes kept that a client sends before it has its answer.
    private static let heldByteLimit = 65_536

    private let service: GatewayService
    private let isSecure: Bool
    private var client = RequestClient()
    /// The rules, and their number when they were asked for.
    private var rules: (number: Int, snapshot: AccessControl.Snapshot)?
    private var state = State.idle
    /// Tells a late answer from the one that is waited for.
    private var number: UInt64 = 0
    private var held = ByteBuffer()
    private var isReadWanted = false
    /// Whether the library has been given something of what is being read now.
    private var hasPassedOn = false
    private var isQuiescing = false
    private var writer = PlainResponse()
    /// Requests the library has been given and not answered.
    fileprivate(set) var libraryRequestCount = 0

    init(service: GatewayService, isSecure: Bool) {
        self.service = service
        self.isSecure = isSecure
    }

    func handlerAdded(context: ChannelHandlerContext) {
        client = RequestClient(context.channel, isSecure: isSecure)
    }

    /// The rules now, asked for only when they have changed.
    private func snapshot() -> AccessControl.Snapshot {
        let number = service.access.number
        if let rules, rules.number == number { return rules.snapshot }
        let snapshot = service.access.snapshot
        rules = (number, snapshot)
        return snapshot
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        switch state {
        case .idle: take(buffer, context)
        case .asking:
            var more = buffer
            held.writeBuffer(&more)
        case .passing, .given:
            state = .given
            passOn(buffer, context)
        }
    }

    /// Of what was answered here the library need not know.
    func channelReadComplete(context: ChannelHandlerContext) {
        guard hasPassedOn else { return }
        hasPassedOn = false
        context.fireChannelReadComplete()
    }

    private func passOn(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
        hasPassedOn = true
        context.fireChannelRead(wrapInboundOut(buffer))
    }

    func read(context: ChannelHandlerContext) {
        guard held.readableBytes <= Self.heldByteLimit else {
            isReadWanted = true
            return
        }
        context.read()
    }

    private func take(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
        let bytes = Array(buffer.readableBytesView)
        if let request = PlainRequest(bytes), ask(request, context) { return }
        state = PlainRequest.isWholeRequest(bytes) ? .passing : .given
        passOn(buffer, context)
    }

    /// False when the request belongs to the general path after all.
    private func ask(_ request: PlainRequest, _ context: ChannelHandlerContext) -> Bool {
        number += 1
        let question = number
        let path = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        client.token = request.authorization.flatMap(RequestClient.bearer)
        client.referer = request.referer
        let begun = service.begin(request, client, by: snapshot()) { answer in
            eventLoop.execute {
                let (handler, context) = path.value
                handler.answered(question, answer(), context)
            }
        }
        switch begun {
        case .general: return false
        case .answered(let response): write(response, context)
        case .asked(let cancel): state = .asking(cancel: cancel)
        }
        return true
    }

    // MARK: Out

    private func answered(
        _ question: UInt64, _ response: GatewayResponse, _ context: ChannelHandlerContext
    ) {
        guard case .asking = state, question == number else { return }
        state = .idle
        write(response, context)
        if isQuiescing {
            context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            return
        }
        let next = held
        held = ByteBuffer()
        if next.readableBytes > 0 {
            take(next, context)
            channelReadComplete(context: context)
        }
        if isReadWanted {
            isReadWanted = false
            context.read()
        }
    }

    private func write(_ response: GatewayResponse, _ context: ChannelHandlerContext) {
        let seconds = Int64(Date().timeIntervalSince1970)
        let buffer = writer.bytes(of: response, at: seconds, allocator: context.channel.allocator)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
    }

    /// The library has written the end of an answer.
    fileprivate func libraryAnswered() {
        libraryRequestCount -= 1
        if case .passing = state, libraryRequestCount == 0 { state = .idle }
    }

    fileprivate func libraryAsked() { libraryRequestCount += 1 }

    // MARK: The end

    /// A client that has ended its side has gone: whether it still reads cannot be told.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed: abandon()
        case is ChannelShouldQuiesceEvent:
            if case .asking = state {
                isQuiescing = true
                return
            }
        case IdleStateHandler.IdleStateEvent.all:
            if case .asking = state { return }
            if libraryRequestCount == 0 { context.close(promise: nil) }
            return
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        abandon()
        context.fireChannelInactive()
    }

    private func abandon() {
        if case .asking(let cancel) = state { cancel() }
        state = .given
    }
}

/// Tells the `IdentifyPath` in front of the HTTP library what the library has under way.
final class LibraryWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    private var path: IdentifyPath?

    func handlerAdded(context: ChannelHandlerContext) {
        path = try? context.pipeline.syncOperations.handler(type: IdentifyPath.self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { path = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { path?.libraryAsked() }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd { path?.libraryAnswered() }
    }
}
