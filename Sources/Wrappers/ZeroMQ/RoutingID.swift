// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The identity of a ROUTER socket's peer.
///
/// libzmq names each connection by a zero byte and a number that no other connection of the socket
/// has had; a peer may also choose up to 255 bytes of its own (`ZMQ_ROUTING_ID`) and keep them over
/// connections. Cairn's own peers never do.
public enum RoutingID: Hashable, Sendable {
    /// Given by libzmq: the four bytes as they came.
    case number(UInt32)
    /// Chosen by the peer.
    case chosen([UInt8])

    /// Reads the first frame of a message received by a ROUTER socket.
    public init(_ bytes: RawSpan) {
        self =
            bytes.byteCount == 5 && bytes.byte(at: 0) == 0
            ? .number(bytes.uint32(at: 1)) : .chosen(bytes.copy())
    }
}

extension Socket {
    /// Sends the frame that names the peer of a ROUTER socket, with more to follow.
    public borrowing func send(to peer: RoutingID) throws(ZeroMQError) -> Bool {
        switch peer {
        case .number(let number):
            let word = UInt64(number) << 8
            return try unsafe withUnsafeBytes(of: word.littleEndian) { bytes throws(ZeroMQError) in
                try unsafe send(bytes.bytes.extracting(0..<5), more: true)
            }
        case .chosen(let bytes): return try send(bytes, more: true)
        }
    }

    /// Sends one frame of a text's UTF-8; see `send(_:more:)`.
    public borrowing func send(_ text: String, more: Bool) throws(ZeroMQError) -> Bool {
        try unsafe send(text.utf8Span.span.bytes, more: more)
    }
}
