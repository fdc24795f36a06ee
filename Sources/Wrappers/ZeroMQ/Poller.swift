// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZeroMQ
internal import Glibc

/// Waits for any of several sockets and descriptors to become readable.
///
/// It remembers sockets by address: after one of them is closed, `removeAll` and add the rest again
/// before the next wait.
@safe
public struct Poller: ~Copyable {
    private var items: [zmq_pollitem_t] = unsafe []

    /// Starts empty.
    public init() {}

    /// Removes all sockets.
    public mutating func removeAll() { unsafe items.removeAll(keepingCapacity: true) }

    /// Adds a socket; answers its index.
    @discardableResult
    public mutating func add(_ socket: borrowing Socket) -> Int {
        unsafe items.append(
            zmq_pollitem_t(socket: socket.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0))
        return unsafe items.count - 1
    }

    /// Adds a descriptor; answers its index.
    @discardableResult
    public mutating func add(descriptor: Int32) -> Int {
        unsafe items.append(
            zmq_pollitem_t(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0))
        return unsafe items.count - 1
    }

    /// Waits at most `milliseconds` (-1 = as long as it takes); answers how many are readable, 0
    /// after a signal too.
    public mutating func wait(milliseconds: Int) throws(ZeroMQError) -> Int {
        let ready = unsafe zmq_poll(&items, Int32(items.count), milliseconds)
        if ready >= 0 { return Int(ready) }
        let error = ZeroMQError("zmq_poll")
        guard error.code == EINTR else { throw error }
        return 0
    }

    /// Whether the item at this index was readable in the last wait.
    public func isReadable(_ index: Int) -> Bool {
        unsafe items[index].revents & Int16(ZMQ_POLLIN | ZMQ_POLLERR) != 0
    }
}
