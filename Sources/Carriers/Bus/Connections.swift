// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The peer of each open connection of a bound socket, confined to the bus thread.
///
/// libzmq reports the beginning and end of a connection by its descriptor, and the descriptor that
/// brought a message. Descriptors are reused, and messages and events come by different ways: a
/// message locates its peer only after every event from before the message has been handled.
struct Connections<Peer: Equatable> {
    private struct Connection {
        /// Nil until something has come over it.
        var peer: Peer?
    }

    private var open: [Int32: Connection] = [:]

    /// Whether a connection of that number is open, as far as the events go.
    func isOpen(_ descriptor: Int32) -> Bool { open[descriptor] != nil }

    /// The known peer of the open connection with this descriptor.
    func peer(at descriptor: Int32) -> Peer? { open[descriptor]?.peer }

    /// A connection begins.
    mutating func opened(_ descriptor: Int32) { open[descriptor] = Connection() }

    /// Removes a closed connection; returns its peer.
    mutating func closed(_ descriptor: Int32) -> Peer? {
        open.removeValue(forKey: descriptor)?.peer
    }

    /// Records `peer` at the open connection with this descriptor; returns the peer recorded
    /// before, if another.
    ///
    /// That other peer's messages were taken only after its descriptor had been reused.
    mutating func bind(_ peer: Peer, to descriptor: Int32) -> Peer? {
        let earlier = open.updateValue(Connection(peer: peer), forKey: descriptor)?.peer
        return earlier == peer ? nil : earlier
    }
}
