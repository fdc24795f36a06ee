// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZeroMQ
internal import Glibc

/// A failed libzmq call: its name, its subject, and the reason.
public struct ZeroMQError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error number (`zmq_errno`).
    public let code: Int32
    /// The call, `zmq_bind`.
    public let operation: String
    /// The endpoint or option; may be empty.
    public let subject: String

    /// Takes the calling thread's `zmq_errno`; call right after the failed function.
    init(_ operation: String, _ subject: String = "") {
        code = zmq_errno()
        self.operation = operation
        self.subject = subject
    }

    /// Whether the context is being terminated.
    public var isTerminated: Bool { code == ETERM }
    /// Whether the peer named by a routing id is gone (ROUTER_MANDATORY).
    public var isHostUnreachable: Bool { code == EHOSTUNREACH }
    /// Whether the address is taken.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// `zmq_bind 'ipc:///x': Address already in use`.
    public var description: String {
        let reason = unsafe String(cString: zmq_strerror(code))
        return subject.isEmpty ? "\(operation): \(reason)" : "\(operation) '\(subject)': \(reason)"
    }
}
