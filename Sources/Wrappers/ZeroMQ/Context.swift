// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZeroMQ
internal import Glibc

/// A libzmq context: one I/O thread and the sockets that use it; any thread may use it.
@safe
public final class Context: Sendable {
    // A context is thread-safe by libzmq's contract; `handle` is never changed.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer

    /// Makes a context for up to `maximumSockets` sockets, monitors included.
    public init(maximumSockets: Int32 = 4096) throws(ZeroMQError) {
        guard let handle = unsafe zmq_ctx_new() else { throw ZeroMQError("zmq_ctx_new") }
        unsafe self.handle = handle
        unsafe zmq_ctx_set(handle, ZMQ_MAX_SOCKETS, maximumSockets)
        // Sockets linger only for their own setting, never for ever.
        unsafe zmq_ctx_set(handle, ZMQ_BLOCKY, 0)
    }

    /// Ends the context after every socket was closed; blocks for the longest linger among them.
    deinit {
        while unsafe zmq_ctx_term(handle) != 0 && zmq_errno() == EINTR {}
    }

    /// `4.3.4`, the library in use.
    public static var libraryVersion: String {
        var major: Int32 = 0
        var minor: Int32 = 0
        var patch: Int32 = 0
        unsafe zmq_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }
}
