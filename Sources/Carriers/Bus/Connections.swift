// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Who is at the end of which open connection of a bound socket; lives on the bus thread.
///
/// libzmq tells of a connection's beginning and end by its descriptor, and of a message which
/// descriptor brought it. The number is used again, and messages and events come by different ways:
/// what a message says about a connection is only to be had after every event from before the
/// message.
struct Connections<Peer: Equatable> {
    private struct Connection {
        /// Nil until something has come over it.
        var peer: Peer?
    }

    private var open: [Int32: Connection] = [:]

    /// Whether a connection of that number is open, as far as the events go.
    func isOpen(_ descriptor: Int32) -> Bool { open[descriptor] != nil }

    /// Who is known to be at the end of the open connection of that number.
    func peer(at descriptor: Int32) -> Peer? { open[descriptor]?.peer }

    /// A connection begins.
    mutating func opened(_ descriptor: Int32) { open[descriptor] = Connection() }

    /// A connection has ended; returns who was at its end.
    mutating func closed(_ descriptor: Int32) -> Peer? {
        open.removeValue(forKey: descriptor)?.peer
    }

    /// Something of `peer` has come over the connection of that number, which must be open; returns
    /// who was thought to be at its end, if somebody else.
    ///
    /// That is somebody whose messages were taken only after the number was another connection's
    /// already.
    mutating func bind(_ peer: Peer, to descriptor: Int32) -> Peer? {
        let earlier = open.updateValue(Connection(peer: peer), forKey: descriptor)?.peer
        return earlier == peer ? nil : earlier
    }
}
