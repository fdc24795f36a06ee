// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSSL

/// One connection as its server sees it: TLS's bytes on one side, plain ones on the other, and no
/// socket.
///
/// It owns an `SSL` between two memory `BIO`s. For one thread at a time.
@safe
public final class TLSSession {
    private let session: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    /// Begins one that waits for a client's first bytes; throws `TLSError.memory`.
    public init(_ context: TLSContext) throws(TLSError) {
        guard let made = unsafe SSL_new(context.pointer) else { throw .memory }
        guard let incoming = unsafe BIO_new(BIO_s_mem()) else {
            unsafe SSL_free(made)
            throw .memory
        }
        guard let outgoing = unsafe BIO_new(BIO_s_mem()) else {
            _ = unsafe BIO_free(incoming)
            unsafe SSL_free(made)
            throw .memory
        }
        unsafe SSL_set_bio(made, incoming, outgoing)
        unsafe SSL_set_accept_state(made)
        unsafe (session, self.incoming, self.outgoing) = unsafe (made, incoming, outgoing)
    }

    deinit { unsafe SSL_free(session) }

    /// Takes bytes received from the client, for `handshake` and `read`.
    public func receive(_ bytes: RawSpan) throws(TLSError) {
        let taken = unsafe bytes.withUnsafeBytes { bytes in
            unsafe BIO_write(incoming, bytes.baseAddress, CInt(bytes.count))
        }
        guard bytes.isEmpty || Int(taken) == bytes.byteCount else { throw .memory }
    }

    /// Continues the handshake with the bytes received so far; true when it is done.
    ///
    /// Throws `TLSError.peer`; then the output holds the alert for the client.
    public func handshake() throws(TLSError) -> Bool {
        ERR_clear_error()
        let result = unsafe SSL_do_handshake(session)
        if result == 1 { return true }
        guard unsafe SSL_get_error(session, result) == SSL_ERROR_WANT_READ else {
            throw .peer(TLSError.reason())
        }
        return false
    }

    /// The result of a `read`.
    public enum Reading: Sendable {
        /// Plain bytes; there may be more.
        case bytes
        /// No data before more is received.
        case nothing
        /// The client has closed its direction.
        case end
    }

    /// Appends plain bytes, as many as there are and fit; throws `TLSError.peer`.
    public func read(into plain: inout OutputRawSpan) throws(TLSError) -> Reading {
        ERR_clear_error()
        var count: CInt = 0
        unsafe plain.withUnsafeMutableBytes { bytes, filled in
            guard let start = bytes.baseAddress, filled < bytes.count else { return }
            unsafe count = SSL_read(session, start + filled, CInt(bytes.count - filled))
            if count > 0 { filled += Int(count) }
        }
        if count > 0 { return .bytes }
        switch unsafe SSL_get_error(session, count) {
        case SSL_ERROR_WANT_READ: return .nothing
        case SSL_ERROR_ZERO_RETURN: return .end
        default: throw .peer(TLSError.reason())
        }
    }

    /// Encrypts plain bytes, any number, for `take` to return; throws `TLSError.peer`.
    public func write(_ plain: RawSpan) throws(TLSError) {
        guard !plain.isEmpty else { return }
        ERR_clear_error()
        let taken = unsafe plain.withUnsafeBytes { bytes in
            unsafe SSL_write(session, bytes.baseAddress, CInt(bytes.count))
        }
        guard Int(taken) == plain.byteCount else { throw .peer(TLSError.reason()) }
    }

    /// Closes this direction (`close_notify`); `take` gives the bytes to send.
    public func close() {
        ERR_clear_error()
        _ = unsafe SSL_shutdown(session)
        ERR_clear_error()
    }

    /// The bytes that wait to be sent.
    public var outgoingByteCount: Int { unsafe BIO_ctrl_pending(outgoing) }

    /// Appends bytes that are to be sent, as many as there are and fit.
    public func take(into bytes: inout OutputRawSpan) {
        unsafe bytes.withUnsafeMutableBytes { bytes, filled in
            guard let start = bytes.baseAddress, filled < bytes.count else { return }
            let count = unsafe BIO_read(outgoing, start + filled, CInt(bytes.count - filled))
            if count > 0 { filled += Int(count) }
        }
    }
}
