// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZeroMQ

/// The options of a socket that Cairn sets, all before `bind` or `connect`.
public struct SocketOptions: Hashable, Sendable {
    /// Time for which unsent messages survive `close`, in milliseconds, 0…60,000: never for ever.
    public var lingerMilliseconds: Int32 = 1000
    /// The most messages waiting to be sent, per peer, ≥ 1.
    public var sendHighWaterMark: Int32 = 1000
    /// The most messages waiting to be taken, per peer, ≥ 1.
    public var receiveHighWaterMark: Int32 = 1000
    /// The largest frame taken from a peer in bytes; a larger one ends that connection.
    public var maximumFrameByteCount: Int64 = 1 << 20
    /// Timeout of a connection's handshake in milliseconds.
    public var handshakeMilliseconds: Int32 = 5000
    /// The first pause before a reconnect, in milliseconds; it doubles up to the next.
    ///
    /// Short, since an early connection is only briefly refused: a worker connects to a lane before
    /// the supervisor has registered it and opens the lane.
    public var reconnectMilliseconds: Int32 = 1
    /// The longest pause before connecting again, in milliseconds.
    public var reconnectMaximumMilliseconds: Int32 = 100
    /// Whether messages may only wait for peers that are connected.
    public var onlyConnected = false
    /// ROUTER: a message to a peer that is gone or full is an error, not silence.
    public var routerMandatory = false
    /// XPUB: every subscription is reported, not only the first of its topic.
    public var everySubscription = false

    /// The values above.
    public init() {}
}

extension Socket {
    /// Applies options; throws when libzmq refuses one.
    public borrowing func apply(_ options: SocketOptions) throws(ZeroMQError) {
        precondition(
            0...60_000 ~= options.lingerMilliseconds && options.sendHighWaterMark > 0
                && options.receiveHighWaterMark > 0 && options.maximumFrameByteCount > 0,
            "every socket is bounded")
        try set(ZMQ_LINGER, options.lingerMilliseconds, "ZMQ_LINGER")
        try set(ZMQ_SNDHWM, options.sendHighWaterMark, "ZMQ_SNDHWM")
        try set(ZMQ_RCVHWM, options.receiveHighWaterMark, "ZMQ_RCVHWM")
        try set(ZMQ_MAXMSGSIZE, options.maximumFrameByteCount, "ZMQ_MAXMSGSIZE")
        try set(ZMQ_HANDSHAKE_IVL, options.handshakeMilliseconds, "ZMQ_HANDSHAKE_IVL")
        try set(ZMQ_RECONNECT_IVL, options.reconnectMilliseconds, "ZMQ_RECONNECT_IVL")
        try set(
            ZMQ_RECONNECT_IVL_MAX, options.reconnectMaximumMilliseconds, "ZMQ_RECONNECT_IVL_MAX")
        try set(ZMQ_IMMEDIATE, Int32(options.onlyConnected ? 1 : 0), "ZMQ_IMMEDIATE")
        if options.routerMandatory {
            try set(ZMQ_ROUTER_MANDATORY, Int32(1), "ZMQ_ROUTER_MANDATORY")
        }
        if options.everySubscription {
            try set(ZMQ_XPUB_VERBOSE, Int32(1), "ZMQ_XPUB_VERBOSE")
        }
    }

    /// SUB: subscribes to messages whose first frame begins with these bytes.
    public borrowing func subscribe(_ prefix: [UInt8]) throws(ZeroMQError) {
        guard unsafe zmq_setsockopt(handle, ZMQ_SUBSCRIBE, prefix, prefix.count) == 0 else {
            throw ZeroMQError("zmq_setsockopt", "ZMQ_SUBSCRIBE")
        }
    }

    /// SUB: takes one such subscription back.
    public borrowing func unsubscribe(_ prefix: [UInt8]) throws(ZeroMQError) {
        guard unsafe zmq_setsockopt(handle, ZMQ_UNSUBSCRIBE, prefix, prefix.count) == 0 else {
            throw ZeroMQError("zmq_setsockopt", "ZMQ_UNSUBSCRIBE")
        }
    }

    /// Sets the linger alone, in milliseconds.
    public borrowing func setLinger(milliseconds: Int32) throws(ZeroMQError) {
        try set(ZMQ_LINGER, milliseconds, "ZMQ_LINGER")
    }

    private borrowing func set<Value: FixedWidthInteger>(
        _ option: Int32, _ value: Value, _ name: String
    ) throws(ZeroMQError) {
        var value = value
        guard unsafe zmq_setsockopt(handle, option, &value, MemoryLayout<Value>.size) == 0 else {
            throw ZeroMQError("zmq_setsockopt", name)
        }
    }
}
