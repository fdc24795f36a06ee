// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Routing
internal import Worker

/// Records changes of roads in the log, each once.
struct RoadWriter: Sendable {
    let follower: NetworkFollower
    let shelf: NetworkShelf
    let log: LogReader

    private static let attemptCount = 20
    /// How far back of the log's end a repeated command is looked for.
    private static let repeatReach: Int64 = 10_000

    /// Decides a command on the latest state and appends its event.
    ///
    /// Where another event of the network came first it decides again. A command whose id was
    /// recorded before is answered by that event.
    func change(
        _ request: RoadChangeRequest, _ context: OperationContext
    ) throws(Failure) -> RoadChangeAnswer {
        do throws(Failure) {
            return try recorded(request, context)
        } catch {
            // The reason of the refusal is of more use than that the log does not answer either.
            guard error.code != .invalidParameter,
                let answer = try? earlier(request, context)
            else { throw error }
            return answer
        }
    }

    private func recorded(
        _ request: RoadChangeRequest, _ context: OperationContext
    ) throws(Failure) -> RoadChangeAnswer {
        var state = follower.current
        for _ in 0..<Self.attemptCount {
            // The latest state may still be on its way.
            if state.network(named: request.network) == nil { state = try latest(context) }
            let network = try self.network(request.network, in: state)
            let opened = try shelf.network(network.published)
            let decision: RoadDecision
            do throws(Failure) {
                decision = try opened.decide(request.action, standing: network.changes)
            } catch {
                guard let newer = try? latest(context),
                    newer.network(named: request.network)?.streamPosition
                        != network.streamPosition
                else { throw error }
                state = newer
                continue
            }
            let event = try decision.payload.newEvent(
                id: request.id,
                metadata: EventMetadata(
                    causation: request.id, actor: request.actor ?? context.actor,
                    producer: "cairn-router/" + Release.version))
            let (name, position) = (network.published.name, network.streamPosition)
            do throws(Failure) {
                let number = try context.result { [log] () throws(Failure) in
                    try await log.append(
                        [event], to: .network(name), expected: .exact(position)
                    ).lastPosition
                }
                return opened.answer(decision, number: number)
            } catch {
                guard error.code == .conflict else { throw error }
                state = try latest(context)
            }
        }
        throw Failure(
            .conflict,
            "network '\(request.network.prefix(64))' is being changed concurrently: try again")
    }

    private func network(
        _ name: String, in state: NetworksState
    ) throws(Failure) -> NetworksState.Network {
        guard let network = state.network(named: name) else {
            throw Failure(
                .notFound,
                "there is no network '\(name.prefix(64))'; 'cairn network build' makes one")
        }
        return network
    }

    /// The state up to the present end of the log.
    private func latest(_ context: OperationContext) throws(Failure) -> NetworksState {
        try context.result { [log, follower] () throws(Failure) in
            let head = try await log.head().head
            return try await follower.snapshot(minSequence: head)
        }
    }

    /// The answer of a command that was recorded before; nil where it was not.
    private func earlier(
        _ request: RoadChangeRequest, _ context: OperationContext
    ) throws(Failure) -> RoadChangeAnswer? {
        guard let network = follower.current.network(named: request.network) else { return nil }
        let name = network.published.name
        let events = try context.result { [log] () throws(Failure) in
            let head = try await log.head().head
            return try await log.events(
                stream: .network(name), after: max(0, head - Self.repeatReach))
        }
        guard let record = events.last(where: { $0.event.id == request.id }) else { return nil }
        let decision: RoadDecision
        switch record.event.type {
        case RoadsChanged.eventType: decision = .changed(try RoadsChanged.decode(record.event))
        case RoadsRestored.eventType: decision = .restored(try RoadsRestored.decode(record.event))
        default: return nil
        }
        return try shelf.network(network.published).answer(
            decision, number: record.globalPosition)
    }
}
