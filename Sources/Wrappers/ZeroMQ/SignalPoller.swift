// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux
internal import Glibc

/// Waits for descriptors and for the signals of sockets with one ppoll(2), whatever their number.
///
/// `zmq_poll` checks the state of every socket before and after it waits, two system calls each. A
/// socket's own descriptor (`ZMQ_FD`) instead becomes readable once after an event, and stays so
/// until the socket's events are read. So the caller must, after a signal, receive until the socket
/// is empty, and must check again after every send, which may have consumed a signal.
public struct SignalPoller: ~Copyable {
    private var items: [pollfd] = []

    /// Starts empty.
    public init() {}

    /// Removes all descriptors.
    public mutating func removeAll() { items.removeAll(keepingCapacity: true) }

    /// Adds a descriptor; items are numbered in the order in which they are added.
    public mutating func add(descriptor: Int32) {
        items.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }

    /// Adds a socket's signal.
    public mutating func add(_ socket: borrowing Socket) throws(ZeroMQError) {
        add(descriptor: try socket.signalDescriptor())
    }

    /// Waits at most so long, nil as long as it takes; answers how many are readable, 0 after a
    /// signal of the operating system too.
    ///
    /// The kernel lets a thread sleep up to 50 µs longer (`PR_SET_TIMERSLACK`).
    public mutating func wait(nanoseconds: Int64?) throws(ZeroMQError) -> Int {
        let ready = unsafe cairn_poll(&items, UInt(items.count), nanoseconds ?? -1)
        if ready >= 0 { return Int(ready) }
        guard errno == EINTR else { throw ZeroMQError("ppoll") }
        return 0
    }

    /// Whether the item at this index was readable in the last wait.
    public func isReadable(_ index: Int) -> Bool { items[index].revents != 0 }
}
