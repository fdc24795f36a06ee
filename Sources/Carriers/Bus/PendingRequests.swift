// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import ZeroMQ

/// The pending tasks of each requester of a ROUTER socket, confined to the bus thread.
///
/// They are ended when the requester disconnects or cancels.
struct PendingRequests {
    private struct Key: Hashable {
        let asker: RoutingID
        let id: UUID
    }

    private var tasks: [Key: PendingRequest] = [:]
    private var connections = Connections<RoutingID>()
    /// Requesters known to be at the end of an open connection.
    private var located: Set<RoutingID> = []

    /// Whether this requester's connection is certainly open, without a look at the message's
    /// descriptor: a descriptor is only ever that of one connection.
    func isLocated(_ asker: RoutingID) -> Bool {
        if case .number = asker { located.contains(asker) } else { false }
    }

    /// Whether this requester is known to be at the other end of that connection.
    func knows(_ asker: RoutingID, at descriptor: Int32?) -> Bool {
        guard let descriptor else { return true }
        return connections.peer(at: descriptor) == asker
    }

    mutating func opened(_ descriptor: Int32) { connections.opened(descriptor) }

    /// Removes a closed connection; returns its requester's pending tasks, to be ended.
    mutating func closed(_ descriptor: Int32) -> [PendingRequest] {
        guard let asker = connections.closed(descriptor) else { return [] }
        located.remove(asker)
        let left = tasks.filter { $0.key.asker == asker }
        for key in left.keys { tasks[key] = nil }
        return Array(left.values)
    }

    /// Locates a requester at the end of an open connection.
    ///
    /// Every event of the socket up to now must have been handled, unless the requester is known
    /// there. False when its connection has ended already.
    mutating func locate(_ asker: RoutingID, at descriptor: Int32?) -> Bool {
        guard let descriptor else { return true }
        guard connections.isOpen(descriptor) else { return false }
        _ = connections.bind(asker, to: descriptor)
        located.insert(asker)
        return true
    }

    /// Adds a pending task of a located requester.
    mutating func add(_ id: UUID, from asker: RoutingID, _ question: PendingRequest) {
        tasks[Key(asker: asker, id: id)] = question
    }

    /// Removes a task that was answered or cancelled; returns the request to be ended, nil for an
    /// unknown task.
    @discardableResult
    mutating func remove(_ id: UUID, from asker: RoutingID) -> PendingRequest? {
        tasks.removeValue(forKey: Key(asker: asker, id: id))
    }
}
