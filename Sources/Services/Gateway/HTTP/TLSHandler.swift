// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import NIOCore
internal import OpenSSL

/// TLS at the outer end of a connection: handlers behind it see plain bytes.
final class TLSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private let session: TLSSession
    private let handshakeTimeout: TimeAmount
    private var handshakeDeadline: Scheduled<Void>?
    private var isEstablished = false
    /// Whether input has ended, by the client's close or by a protocol error.
    private var isInputOver = false
    private var hasSaidClose = false

    /// Size of a TLS record (RFC 8446, 5.1).
    private static let recordByteCount = 16_384
    /// Minimum buffer space for a read.
    private static let readByteCount = 2_048

    /// Time limit from the connection to the end of the handshake.
    init(_ session: TLSSession, handshakeTimeout: TimeAmount) {
        self.session = session
        self.handshakeTimeout = handshakeTimeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { expectHandshake(context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        expectHandshake(context)
        context.fireChannelActive()
    }

    private func expectHandshake(_ context: ChannelHandlerContext) {
        guard handshakeDeadline == nil, !isEstablished else { return }
        handshakeDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: handshakeTimeout) {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        handshakeDeadline?.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { handshakeDeadline?.cancel() }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isInputOver else { return }
        do throws(TLSError) {
            let sealed = unwrapInboundIn(data)
            try session.receive(sealed.readableBytesSpan)
            if !isEstablished {
                isEstablished = try session.handshake()
                guard isEstablished else { return send(context) }
                handshakeDeadline?.cancel()
            }
            var plain = context.channel.allocator.buffer(capacity: Self.recordByteCount)
            isInputOver = try read(into: &plain)
            send(context)
            if plain.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plain)) }
            if isInputOver { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        } catch {
            isInputOver = true
            // Sends OpenSSL's pending alert.
            send(context)
            context.close(promise: nil)
        }
    }

    /// Reads all available plain bytes; true once the client has announced the end of its input.
    private func read(into plain: inout ByteBuffer) throws(TLSError) -> Bool {
        while true {
            var reading = TLSSession.Reading.nothing
            try plain.writeWithOutputRawSpan(minimumWritableBytes: Self.readByteCount) {
                span throws(TLSError) in reading = try session.read(into: &span)
            }
            switch reading {
            case .bytes: continue
            case .nothing: return false
            case .end: return true
            }
        }
    }

    /// End of the connection's input, which the client may have announced already.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .some(.inputClosed) = event as? ChannelEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        guard isEstablished else { return context.close(promise: nil) }
        guard !isInputOver else { return }
        isInputOver = true
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Out

    /// Sends the session's pending bytes.
    private func send(_ context: ChannelHandlerContext) {
        guard session.outgoingByteCount > 0 else { return }
        var sealed = context.channel.allocator.buffer(capacity: session.outgoingByteCount)
        take(into: &sealed)
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(sealed)), promise: nil)
    }

    private func take(into sealed: inout ByteBuffer) {
        while session.outgoingByteCount > 0 {
            sealed.writeWithOutputRawSpan(minimumWritableBytes: session.outgoingByteCount) {
                session.take(into: &$0)
            }
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Nothing is written before the handshake, and files are sent as bytes.
        guard isEstablished, !hasSaidClose, case .byteBuffer(var plain) = unwrapOutboundIn(data)
        else {
            promise?.fail(ChannelError.operationUnsupported)
            return
        }
        var sealed = context.channel.allocator.buffer(capacity: plain.readableBytes + 256)
        do throws(TLSError) {
            // One record at a time: the session's buffer stays as large as its longest write.
            while plain.readableBytes > 0,
                let piece = plain.readSlice(
                    length: min(Self.recordByteCount, plain.readableBytes))
            {
                try session.write(piece.readableBytesSpan)
                take(into: &sealed)
            }
        } catch {
            promise?.fail(error)
            context.close(promise: nil)
            return
        }
        context.write(wrapOutboundOut(.byteBuffer(sealed)), promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if isEstablished, !hasSaidClose, mode != .input {
            hasSaidClose = true
            session.close()
            send(context)
        }
        context.close(mode: mode, promise: promise)
    }
}
