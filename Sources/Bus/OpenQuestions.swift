// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import FoundationEssentials
internal import Synchronization

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
    typealias Asker = [UInt8]

    private struct Waiting {
        var descriptor: Int32?
        var tasks: [UUID: Abandonment] = [:]
    }

    private var askers: [Asker: Waiting] = [:]
    /// Whose connection it is.
    private var owners: [Int32: Asker] = [:]
    private var openDescriptors: Set<Int32> = []

    /// Whether this asker is known to be at the other end of that connection.
    func knows(_ asker: Asker, at descriptor: Int32?) -> Bool {
        guard let descriptor else { return true }
        return owners[descriptor] == asker
    }

    /// Whether a connection of that number is open, as far as the events go.
    func isOpen(_ descriptor: Int32?) -> Bool {
        descriptor.map { openDescriptors.contains($0) } ?? true
    }

    mutating func opened(_ descriptor: Int32) { openDescriptors.insert(descriptor) }

    /// A connection ended; returns what its asker waited for, to be raised.
    mutating func closed(_ descriptor: Int32) -> [Abandonment] {
        openDescriptors.remove(descriptor)
        guard let asker = owners.removeValue(forKey: descriptor) else { return [] }
        return askers.removeValue(forKey: asker)?.tasks.values.map(\.self) ?? []
    }

    /// An asker waits for a task.
    ///
    /// Every event of the socket up to now must have been handed in, unless it is known there.
    /// False when its connection has ended already.
    mutating func add(
        _ id: UUID, from asker: Asker, at descriptor: Int32?, _ abandonment: Abandonment
    ) -> Bool {
        if let descriptor, owners[descriptor] != asker {
            guard openDescriptors.contains(descriptor) else { return false }
            owners[descriptor] = asker
        }
        askers[asker, default: Waiting()].descriptor = descriptor
        askers[asker]?.tasks[id] = abandonment
        return true
    }

    /// The task has been answered.
    mutating func remove(_ id: UUID, from asker: Asker) {
        askers[asker]?.tasks[id] = nil
        forget(asker)
    }

    /// The asker says that it no longer waits; returns what is to be raised, nil for a task that is
    /// not known.
    mutating func abandon(_ id: UUID, from asker: Asker) -> Abandonment? {
        defer { forget(asker) }
        return askers[asker]?.tasks.removeValue(forKey: id)
    }

    /// An asker without a connection to watch is kept only while it waits.
    private mutating func forget(_ asker: Asker) {
        guard let waiting = askers[asker], waiting.tasks.isEmpty, waiting.descriptor == nil else {
            return
        }
        askers[asker] = nil
    }
}
