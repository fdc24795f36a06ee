// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZeroMQ
internal import Platform

/// One received frame, reused from receive to receive.
@safe
public struct Frame: ~Copyable {
    var message = zmq_msg_t()

    /// An empty frame.
    public init() { unsafe zmq_msg_init(&message) }

    deinit {
        // `deinit` sees an immutable value; libzmq needs the address of the same 64 bytes.
        var last = message
        unsafe zmq_msg_close(&last)
    }

    /// Byte count.
    public var byteCount: Int {
        mutating get { unsafe zmq_msg_size(&message) }
    }

    /// Whether further frames of the same message follow.
    public var hasMore: Bool {
        mutating get { unsafe zmq_msg_more(&message) != 0 }
    }

    /// The descriptor of the connection that delivered it; nil for a frame made here, such as a
    /// routing id.
    ///
    /// `ZMQ_SRCFD`: a number, not to be used as a file. When the connection ends, the socket's
    /// monitor reports `disconnected` with it, and the number may be reused for the next
    /// connection.
    public var connectionDescriptor: Int32? {
        mutating get {
            let descriptor = unsafe zmq_msg_get(&message, ZMQ_SRCFD)
            return descriptor >= 0 ? descriptor : nil
        }
    }

    /// Lends the bytes; they are valid until the next receive into this frame.
    public mutating func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Short messages are inside the structure itself, so its address must be stable.
        try unsafe withUnsafeMutablePointer(to: &message) { message throws(Failure) -> Result in
            let buffer = unsafe UnsafeRawBufferPointer(
                start: zmq_msg_data(message), count: zmq_msg_size(message))
            return try unsafe body(buffer.bytes)
        }
    }

    /// A copy of the bytes.
    public mutating func copy() -> [UInt8] { withBytes { $0.copy() } }
}
