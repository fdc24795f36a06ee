// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

extension HTTPFields {
    /// Sets fields by name, replacing those of the same name.
    mutating func set(_ fields: [(name: String, value: String)]) {
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { self[name] = value }
        }
    }
}

/// Answers malformed or oversized HTTP with an error body, and closes the connection.
///
/// Remaining input is read and discarded for a moment, since closing a connection with unread bytes
/// would make the client's kernel drop the answer. Bound to the connection's event loop.
final class MalformedRequests: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let headByteLimit: Int
    private let safety: [(name: String, value: String)]
    private var isEnding = false

    private static let patience = TimeAmount.seconds(2)

    /// `safety` are the headers of every answer.
    init(headByteLimit: Int, safety: [(name: String, value: String)]) {
        self.headByteLimit = headByteLimit
        self.safety = safety
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isEnding { context.fireChannelRead(data) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is IOError || error is ChannelError {
            context.fireErrorCaught(error)
            return
        }
        guard !isEnding else { return }
        isEnding = true
        let failure = Failure(
            .invalidParameter,
            "this is not an HTTP request, or its URL and headers exceed \(headByteLimit) bytes: "
                + "send long parameters in the body of a POST")
        let body = ByteBuffer(bytes: ErrorBody.json(failure))
        var head = HTTPResponse(
            status: .badRequest,
            headerFields: [
                .contentType: "application/json;charset=UTF-8", .connection: "close",
                .contentLength: String(body.readableBytes), .accessControlAllowOrigin: "*",
                .cacheControl: "no-store",
            ])
        head.headerFields.set(safety)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(mode: .output, promise: nil)
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    }
}
