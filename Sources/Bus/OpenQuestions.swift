// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Synchronization
internal import ZeroMQ

/// Says that nobody waits for an answer any more: raised once, on the bus thread.
final class Abandonment: Sendable {
    private let state = Mutex<(isRaised: Bool, body: (@Sendable () -> Void)?)>((false, nil))

    var isRaised: Bool { state.withLock { $0.isRaised } }

    func raise() {
        let body = state.withLock { state in
            state.isRaised = true
            return state.body.take()
        }
        body?()
    }

    /// Calls `body` when it is raised, at once where it has been.
    func whenRaised(_ body: @escaping @Sendable () -> Void) {
        let isRaised = state.withLock { state in
            if !state.isRaised { state.body = body }
            return state.isRaised
        }
        if isRaised { body() }
    }
}

/// The tasks that askers of a ROUTER socket wait for, so that those of an asker that goes away, or
/// says that it no longer waits, are known; lives on the bus thread.
///
/// libzmq tells of a connection's end by its descriptor, and of a message which descriptor brought it.
/// A descriptor's number is used again, so an asker is bound to it only while its connection is known
/// to be open.
struct OpenQuestions {
    private struct Key: Hashable {
        let asker: RoutingID
        let id: UUID
    }

    private struct Connection {
        /// Nil until somebody has asked over it.
        var asker: RoutingID?
    }

    private var tasks: [Key: Abandonment] = [:]
    /// Open connections by descriptor.
    private var connections: [Int32: Connection] = [:]
    /// Askers known to be at the end of an open connection.
    private var located: Set<RoutingID> = []

    /// Whether this asker's connection is open for certain, without a look at the message's descriptor:
    /// a number is only ever that of one connection.
    func isLocated(_ asker: RoutingID) -> Bool {
        if case .number = asker { located.contains(asker) } else { false }
    }

    /// Whether this asker is known to be at the other end of that connection.
    func knows(_ asker: RoutingID, at descriptor: Int32?) -> Bool {
        guard let descriptor else { return true }
        return connections[descriptor]?.asker == asker
    }

    /// Whether a connection of that number is open, as far as the events go.
    func isOpen(_ descriptor: Int32?) -> Bool {
        descriptor.map { connections[$0] != nil } ?? true
    }

    mutating func opened(_ descriptor: Int32) { connections[descriptor] = Connection() }

    /// A connection ended; returns what its asker waited for, to be raised.
    mutating func closed(_ descriptor: Int32) -> [Abandonment] {
        guard let asker = connections.removeValue(forKey: descriptor)?.asker else { return [] }
        located.remove(asker)
        let left = tasks.filter { $0.key.asker == asker }
        for key in left.keys { tasks[key] = nil }
        return Array(left.values)
    }

    /// Finds the asker at the end of an open connection; every event of the socket up to now must have
    /// been handed in, unless it is known there.
    ///
    /// False when its connection has ended already.
    mutating func locate(_ asker: RoutingID, at descriptor: Int32?) -> Bool {
        guard let descriptor, let connection = connections[descriptor] else {
            return descriptor == nil
        }
        guard connection.asker != asker else { return true }
        connections[descriptor] = Connection(asker: asker)
        located.insert(asker)
        return true
    }

    /// A located asker waits for a task.
    mutating func add(_ id: UUID, from asker: RoutingID, _ abandonment: Abandonment) {
        tasks[Key(asker: asker, id: id)] = abandonment
    }

    /// The task has been answered.
    mutating func remove(_ id: UUID, from asker: RoutingID) {
        tasks[Key(asker: asker, id: id)] = nil
    }

    /// The asker says that it no longer waits; returns what is to be raised, nil for a task that is
    /// not known.
    mutating func abandon(_ id: UUID, from asker: RoutingID) -> Abandonment? {
        tasks.removeValue(forKey: Key(asker: asker, id: id))
    }
}
