// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZeroMQ
internal import Glibc

/// A libzmq socket: belongs to one thread, which is why it is neither copyable nor `Sendable`.
///
/// No call blocks. Heartbeats of the transport cannot be turned on: with them a stalled subscriber
/// aborts the process in the releases of libzmq that exist (zeromq/libzmq#3937).
@safe
public struct Socket: ~Copyable {
    /// The kinds in use.
    public enum Kind: Sendable {
        /// Sends requests; may have many under way.
        case dealer
        /// Answers; a routing id comes before every message.
        case router
        /// Deals messages out to its peers.
        case push
        /// Gathers messages from its peers.
        case pull
        /// Publishes, and receives subscriptions.
        case xpub
        /// Subscribes.
        case sub
        /// Talks to one peer; used for monitors.
        case pair
    }

    let handle: UnsafeMutableRawPointer
    // Keeps the context alive: it must outlive its sockets.
    private let context: Context

    /// Opens a socket; throws when the context has its maximum.
    public init(_ context: Context, _ kind: Kind) throws(ZeroMQError) {
        let type =
            switch kind {
            case .dealer: ZMQ_DEALER
            case .router: ZMQ_ROUTER
            case .push: ZMQ_PUSH
            case .pull: ZMQ_PULL
            case .xpub: ZMQ_XPUB
            case .sub: ZMQ_SUB
            case .pair: ZMQ_PAIR
            }
        guard let handle = unsafe zmq_socket(context.handle, type) else {
            throw ZeroMQError("zmq_socket", "\(kind)")
        }
        unsafe self.handle = handle
        self.context = context
    }

    deinit { unsafe zmq_close(handle) }

    /// Closes the socket; unsent messages linger in the background as long as the option allows.
    public consuming func close() {}

    /// Listens at `ipc://path`.
    public borrowing func bind(_ endpoint: String) throws(ZeroMQError) {
        guard unsafe zmq_bind(handle, endpoint) == 0 else {
            throw ZeroMQError("zmq_bind", endpoint)
        }
    }

    /// Unbinds, in the background: a monitor reports `closed` when the path is free.
    public borrowing func unbind(_ endpoint: String) throws(ZeroMQError) {
        guard unsafe zmq_unbind(handle, endpoint) == 0 else {
            throw ZeroMQError("zmq_unbind", endpoint)
        }
    }

    /// Connects, now or as soon as the endpoint is bound.
    public borrowing func connect(_ endpoint: String) throws(ZeroMQError) {
        guard unsafe zmq_connect(handle, endpoint) == 0 else {
            throw ZeroMQError("zmq_connect", endpoint)
        }
    }

    /// Sends one frame; false when it would have to wait (high-water mark, or no peer).
    ///
    /// Frames of one message are sent one after the other, all but the last with `more`; only the
    /// first can answer false.
    public borrowing func send(_ bytes: RawSpan, more: Bool) throws(ZeroMQError) -> Bool {
        let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
        // Twice: a first EAGAIN may only mean that libzmq has not read its own mailbox for a while
        // (it checks at most once per millisecond); reading the events makes it do so.
        for attempt in 0..<2 {
            let sent = unsafe bytes.withUnsafeBytes { buffer in
                unsafe zmq_send(handle, buffer.baseAddress, buffer.count, flags)
            }
            if sent >= 0 { return true }
            let error = ZeroMQError("zmq_send")
            if error.code == EINTR { continue }
            guard error.code == EAGAIN else { throw error }
            if attempt == 0, !(try hasRoom()) { return false }
        }
        return false
    }

    /// Sends one frame of an array's bytes; see the other `send`.
    public borrowing func send(_ bytes: [UInt8], more: Bool) throws(ZeroMQError) -> Bool {
        try unsafe send(bytes.span.bytes, more: more)
    }

    /// Receives one frame into `frame`; false for an empty queue.
    public borrowing func receive(_ frame: inout Frame) throws(ZeroMQError) -> Bool {
        while true {
            if unsafe zmq_msg_recv(&frame.message, handle, ZMQ_DONTWAIT) >= 0 { return true }
            let error = ZeroMQError("zmq_msg_recv")
            if error.code == EAGAIN { return false }
            guard error.code == EINTR else { throw error }
        }
    }

    /// Whether a message can be sent; reads the socket's events, which clears its signal.
    public borrowing func hasRoom() throws(ZeroMQError) -> Bool {
        try events() & Int32(ZMQ_POLLOUT) != 0
    }

    private borrowing func events() throws(ZeroMQError) -> Int32 {
        try option(ZMQ_EVENTS, "ZMQ_EVENTS")
    }

    /// The descriptor that signals events of the socket (`ZMQ_FD`).
    borrowing func signalDescriptor() throws(ZeroMQError) -> Int32 {
        try option(ZMQ_FD, "ZMQ_FD")
    }

    private borrowing func option(_ option: Int32, _ name: String) throws(ZeroMQError) -> Int32 {
        var value: Int32 = 0
        var size = MemoryLayout<Int32>.size
        guard unsafe zmq_getsockopt(handle, option, &value, &size) == 0 else {
            throw ZeroMQError("zmq_getsockopt", name)
        }
        return value
    }
}
