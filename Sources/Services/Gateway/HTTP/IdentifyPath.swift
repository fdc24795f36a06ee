// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import CoreMetrics
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTPTypes
internal import Synchronization

/// The fast path of identify and of kept tiles through a connection: bytes in, bytes out, on the
/// connection's event loop.
///
/// It stands in front of the HTTP library. A read that is exactly one `FastIdentifyRequest`, or one
/// `FastTileRequest` for a tile that is kept, while
/// nothing else is in progress, is answered here; everything else passes through untouched. After a
/// read that is not exactly one request (a body, a part of one, several at once) the library keeps
/// the connection.
final class IdentifyPath: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum State {
        /// Nothing is in progress.
        case idle
        /// A request is being answered here.
        case asking(cancel: @Sendable () -> Void)
        /// One whole request is with the HTTP library.
        case passing
        /// The connection belongs to the library.
        case given
    }

    /// Maximum number of buffered bytes that a client sends before it has its answer.
    private static let heldByteLimit = 65_536

    private let service: GatewayService
    private let isSecure: Bool
    /// The peer of the connection, and the caller of the current request.
    private var peer = RequestClient()
    private var client = RequestClient()
    private var isBehindProxy = false
    /// The last rules used, and their version number.
    private var rules: (number: Int, snapshot: AccessControl.Snapshot)?
    private var state = State.idle
    /// Distinguishes the current request from earlier ones with late answers.
    private var number: UInt64 = 0
    private var held = ByteBuffer()
    private var isReadWanted = false
    /// Whether the library received a part of the current read.
    private var hasPassedOn = false
    private var isQuiescing = false
    private var writer: FastIdentifyResponse
    private var origin: String?
    /// The last host name used, and its standing.
    private var host: (name: String?, standing: HostNames.Standing)?
    /// Start time and path of the request in progress here.
    private var began: (start: Int64, path: String) = (0, "")
    private var arrival = Arrival()
    private var arrivalDeadline: Scheduled<Void>?
    private let arrivalTimeout: TimeAmount
    /// Whether a read is outstanding.
    private var isReading = false
    /// Whether anything arrived since the server last looked for idle connections.
    private var wasActive = true
    /// Number of unanswered requests at the library.
    fileprivate(set) var libraryRequestCount = 0

    init(service: GatewayService, isSecure: Bool, arrivalTimeout: TimeAmount) {
        self.service = service
        self.arrivalTimeout = arrivalTimeout
        writer = FastIdentifyResponse(service.crossOrigin, service.safety)
        self.isSecure = isSecure
    }

    func handlerAdded(context: ChannelHandlerContext) {
        peer = RequestClient(context.channel, isSecure: isSecure)
        client = peer
        isBehindProxy = service.proxies.includes(peer.address)
    }

    /// The current rules, fetched only when they have changed.
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
        wasActive = true
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

    /// Not passed on for requests that were answered here.
    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        guard hasPassedOn else { return }
        hasPassedOn = false
        context.fireChannelReadComplete()
        expectArrival(context)
    }

    private func passOn(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
        hasPassedOn = true
        arrival.gotBytes()
        context.fireChannelRead(wrapInboundOut(buffer))
    }

    func read(context: ChannelHandlerContext) {
        // Back-pressure: a client that does not read its answers gets no more of them.
        let isTaken = context.channel.isWritable || !isAnsweringHere
        guard held.readableBytes <= Self.heldByteLimit, isTaken else {
            isReadWanted = true
            return
        }
        isReading = true
        context.read()
    }

    private var isAnsweringHere: Bool {
        switch state {
        case .idle, .asking: true
        case .passing, .given: false
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { readOn(context) }
        context.fireChannelWritabilityChanged()
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard isReadWanted else { return }
        isReadWanted = false
        read(context: context)
    }

    private func take(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
        let bytes = Array(buffer.readableBytesView)
        if let request = FastIdentifyRequest(bytes), ask(request, context) { return }
        if let request = FastTileRequest(bytes), answer(request, context) { return }
        state = FastIdentifyRequest.isWholeRequest(bytes) ? .passing : .given
        passOn(buffer, context)
    }

    /// Takes the caller of a request from its headers; false for a host name that is refused.
    private func takeCaller(_ headers: FastHeaders) -> Bool {
        // Nearly always unchanged.
        if host?.name != headers.host {
            var client = peer
            client.isProxied = isBehindProxy
            host = (headers.host, service.hosts.standing(of: headers.host, client))
        }
        guard host?.standing != .refused else { return false }
        if isBehindProxy {
            client = service.proxies.client(
                of: peer, forwardedFor: headers.forwardedFor, forwardedProto: headers.forwardedProto
            )
        }
        client.token = headers.authorization.flatMap(RequestClient.bearer)
        client.referer = headers.referer
        origin = headers.origin
        return true
    }

    /// Answers a request for a tile that is kept; false when it needs the general path.
    private func answer(_ request: FastTileRequest, _ context: ChannelHandlerContext) -> Bool {
        guard takeCaller(request.headers) else { return false }
        let start = service.watch.began()
        guard let (response, route) = service.keptTile(request, client, by: snapshot()) else {
            service.watch.metrics.inFlight.subtract(1, ordering: .relaxed)
            return false
        }
        write(response, to: route, from: start, path: Array(request.path), context)
        return true
    }

    /// False when the request needs the general path after all.
    private func ask(_ request: FastIdentifyRequest, _ context: ChannelHandlerContext) -> Bool {
        guard takeCaller(request.headers) else { return false }
        number += 1
        let question = number
        let path = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        began = (service.watch.began(), request.map)
        let begun = service.begin(request, client, by: snapshot()) { answer in
            eventLoop.execute {
                let (handler, context) = path.value
                handler.answered(question, answer(), context)
            }
        }
        switch begun {
        case .general:
            service.watch.metrics.inFlight.subtract(1, ordering: .relaxed)
            return false
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
        readOn(context)
    }

    private func write(_ response: GatewayResponse, _ context: ChannelHandlerContext) {
        write(
            response, to: .identify, from: began.start,
            path: Array("/arcgis/rest/services/\(began.path)/MapServer/identify".utf8), context)
    }

    private func write(
        _ response: GatewayResponse, to route: Route, from start: Int64,
        path: @autoclosure () -> [UInt8], _ context: ChannelHandlerContext
    ) {
        let seconds = Int64(Date().timeIntervalSince1970)
        let buffer = writer.bytes(
            of: response, to: origin, isSecure: client.isSecure, at: seconds,
            allocator: context.channel.allocator)
        service.watch.ended(
            start, route, response, method: "GET", address: client.address, path: path())
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(buffer)), promise: nil)
    }

    /// Handles the end of an answer by the library.
    fileprivate func libraryAnswered() {
        libraryRequestCount -= 1
        if case .passing = state, libraryRequestCount == 0 { state = .idle }
    }

    fileprivate func libraryGot(_ part: HTTPRequestPart) {
        switch part {
        case .head:
            libraryRequestCount += 1
            arrival.gotHead()
            endDeadline()
        case .body(let bytes): arrival.gotBody(bytes.readableBytes)
        case .end:
            arrival.gotEnd()
            endDeadline()
        }
    }

    private func endDeadline() {
        arrivalDeadline?.cancel()
        arrivalDeadline = nil
    }

    /// Starts the timer for the arrival of the request that has begun.
    private func expectArrival(_ context: ChannelHandlerContext) {
        guard arrival.isUnderWay, arrivalDeadline == nil else { return }
        let path = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        arrivalDeadline = context.eventLoop.scheduleTask(in: arrivalTimeout) {
            let (handler, context) = path.value
            handler.arrivalDeadline = nil
            handler.checkArrival(context)
        }
    }

    /// Closes the connection of a slow client, unless the delay is this server's: no read
    /// outstanding, or an answer due.
    private func checkArrival(_ context: ChannelHandlerContext) {
        let answeredCount = libraryRequestCount - (arrival.isHead ? 0 : 1)
        guard isReading, answeredCount <= 0, arrival.isTooSlow() else {
            return expectArrival(context)
        }
        service.watch.metrics.slowArrivals.increment()
        context.close(promise: nil)
    }

    /// Closes a connection that has been idle since the last time others waited for a slot.
    private func giveWay(_ context: ChannelHandlerContext) {
        defer { wasActive = false }
        if case .asking = state { return }
        guard !wasActive, libraryRequestCount == 0, !arrival.isUnderWay else { return }
        context.close(promise: nil)
    }

    // MARK: The end

    /// A half-closed connection counts as closed: whether the client still reads is unknowable.
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
            // An unread answer does not keep the connection open either.
            if libraryRequestCount == 0 || !context.channel.isWritable {
                context.close(promise: nil)
            }
            return
        case is OpenConnections.NeedRoom:
            giveWay(context)
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
        arrivalDeadline?.cancel()
        if case .asking(let cancel) = state {
            cancel()
            service.watch.metrics.inFlight.subtract(1, ordering: .relaxed)
        }
        state = .given
    }
}

/// Tells the `IdentifyPath` in front of the HTTP library which requests the library is handling.
final class LibraryWatch: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart

    private var path: IdentifyPath?

    func handlerAdded(context: ChannelHandlerContext) {
        path = try? context.pipeline.syncOperations.handler(type: IdentifyPath.self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { path = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        path?.libraryGot(unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd { path?.libraryAnswered() }
    }
}
