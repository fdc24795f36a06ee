// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import ZeroMQ

/// The tasks that askers of a ROUTER socket wait for, so that those of an asker that goes away, or
/// says that it no longer waits, are known; lives on the bus thread.
struct PendingRequests {
    private struct Key: Hashable {
        let asker: RoutingID
        let id: UUID
    }

    private var tasks: [Key: PendingRequest] = [:]
    private var connections = Connections<RoutingID>()
    /// Askers known to be at the end of an open connection.
    private var located: Set<RoutingID> = []

    /// Whether this asker's connection is open for certain, without a look at the message's
    /// descriptor: a number is only ever that of one connection.
    func isLocated(_ asker: RoutingID) -> Bool {
        if case .number = asker { located.contains(asker) } else { false }
    }

    /// Whether this asker is known to be at the other end of that connection.
    func knows(_ asker: RoutingID, at descriptor: Int32?) -> Bool {
        guard let descriptor else { return true }
        return connections.peer(at: descriptor) == asker
    }

    mutating func opened(_ descriptor: Int32) { connections.opened(descriptor) }

    /// A connection ended; returns what its asker waited for, to be ended.
    mutating func closed(_ descriptor: Int32) -> [PendingRequest] {
        guard let asker = connections.closed(descriptor) else { return [] }
        located.remove(asker)
        let left = tasks.filter { $0.key.asker == asker }
        for key in left.keys { tasks[key] = nil }
        return Array(left.values)
    }

    /// Finds the asker at the end of an open connection; every event of the socket up to now must
    /// have been handed in, unless it is known there.
    ///
    /// False when its connection has ended already.
    mutating func locate(_ asker: RoutingID, at descriptor: Int32?) -> Bool {
        guard let descriptor else { return true }
        guard connections.isOpen(descriptor) else { return false }
        _ = connections.bind(asker, to: descriptor)
        located.insert(asker)
        return true
    }

    /// A located asker waits for a task.
    mutating func add(_ id: UUID, from asker: RoutingID, _ question: PendingRequest) {
        tasks[Key(asker: asker, id: id)] = question
    }

    /// The task has been answered, or the asker says that it no longer waits; returns what may be
    /// to be ended, nil for a task that is not known.
    @discardableResult
    mutating func remove(_ id: UUID, from asker: RoutingID) -> PendingRequest? {
        tasks.removeValue(forKey: Key(asker: asker, id: id))
    }
}
