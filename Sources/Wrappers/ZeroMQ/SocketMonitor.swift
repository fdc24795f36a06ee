// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZeroMQ
internal import Platform

/// An event of one connection of a monitored socket.
public struct SocketEvent: Hashable, Sendable {
    /// The happenings that Cairn listens for.
    public enum Kind: Hashable, Sendable {
        /// A peer reached this listening socket; `value` is the connection's descriptor.
        case accepted
        /// The two sides have agreed: from here on messages flow.
        case handshakeSucceeded
        /// The peer does not speak the protocol, or gave up during the handshake.
        case handshakeFailed
        /// A connection ended; `value` is its descriptor.
        case disconnected
        /// A connecting socket is going to try again.
        case connectRetried
        /// A listening socket is closed and its path removed.
        case closed
        /// Anything else.
        case other
    }

    /// The kind of event.
    public let kind: Kind
    /// A descriptor or error number, by kind.
    public let value: Int32
}

/// Monitors the connections of one socket; confined to the same thread as that socket.
public struct SocketMonitor: ~Copyable {
    /// The socket to poll.
    public let socket: Socket

    /// Starts to listen; `name` must be unique in the context.
    public init(_ context: Context, of target: borrowing Socket, name: String) throws(ZeroMQError) {
        let endpoint = "inproc://" + name
        let events =
            ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED
            | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
            | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
            | ZMQ_EVENT_DISCONNECTED
            | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_CLOSED
        guard unsafe zmq_socket_monitor(target.handle, endpoint, events) == 0 else {
            throw ZeroMQError("zmq_socket_monitor", endpoint)
        }
        let pair = try Socket(context, .pair)
        var options = SocketOptions()
        options.lingerMilliseconds = 0
        try pair.apply(options)
        try pair.connect(endpoint)
        socket = pair
    }

    /// Ends the monitoring of a socket; to be called before the monitor is released.
    ///
    /// libzmq writes to a monitor from its I/O thread, and blocks there for ever without a reader:
    /// a closed socket reports its connections until the reaper has got to it.
    public static func stop(_ target: borrowing Socket) {
        _ = unsafe zmq_socket_monitor(target.handle, nil, 0)
    }

    /// The next event; nil for none.
    public borrowing func next(_ frame: inout Frame) throws(ZeroMQError) -> SocketEvent? {
        guard try socket.receive(&frame) else { return nil }
        let event = frame.withBytes { bytes -> SocketEvent in
            let number = bytes.littleEndian(at: 0, as: UInt16.self) ?? 0
            let value = bytes.littleEndian(at: 2, as: Int32.self) ?? 0
            return SocketEvent(kind: Self.kind(Int32(number)), value: value)
        }
        while frame.hasMore { guard try socket.receive(&frame) else { break } }
        return event
    }

    private static func kind(_ number: Int32) -> SocketEvent.Kind {
        switch number {
        case ZMQ_EVENT_ACCEPTED: .accepted
        case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: .handshakeSucceeded
        case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL, ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL,
            ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
            .handshakeFailed
        case ZMQ_EVENT_DISCONNECTED: .disconnected
        case ZMQ_EVENT_CONNECT_RETRIED: .connectRetried
        case ZMQ_EVENT_CLOSED: .closed
        default: .other
        }
    }
}
