// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Routing
internal import SiteAnswers
internal import Worker

/// Records changes of roads in the log, each once.
struct RoadWriter: Sendable {
    let follower: NetworkFollower
    let shelf: NetworkShelf
    let log: LogReader
    let layers: LayerRoads
    let roads: RoadFollower

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
                let (record, isBuiltAnew) = try? earlier(request, context)
            else { throw error }
            let event = try NetworkEvent(record.event)
            var isSame = request.mayHaveMade(event)
            if isSame, !isBuiltAnew { isSame = try finds(request, of: event) }
            guard isSame else {
                throw Failure(
                    .conflict,
                    "the id of this change of roads is that of \(record.globalPosition), which was "
                        + "another: choose another id")
            }
            return try answer(record, event, on: request.network)
        }
    }

    private func recorded(
        _ request: RoadChangeRequest, _ context: OperationContext
    ) throws(Failure) -> RoadChangeAnswer {
        var state = follower.current
        let maps = try maps(request.action, context)
        for _ in 0..<Self.attemptCount {
            // The latest state may still be on its way.
            if state.network(named: request.network) == nil { state = try latest(context) }
            let network = try self.network(request.network, in: state)
            let opened = try shelf.network(network.published)
            let decision: RoadDecision
            do throws(Failure) {
                decision = try opened.decide(request.action, standing: network.changes) {
                    layer, modes throws(Failure) in
                    try layers.roads(of: layer, modes, in: maps ?? MapsState(), on: opened)
                }
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

    /// The maps up to the present end of the log, for an action that reads a layer; else nil.
    private func maps(
        _ action: RoadChangeRequest.Action, _ context: OperationContext
    ) throws(Failure) -> MapsState? {
        guard case .change(let order) = action, case .layer = order.target else { return nil }
        let maps = try roads.maps()
        return try context.result { [log] () throws(Failure) in
            let head = try await log.head().head
            return try await maps.snapshot(minSequence: head)
        }
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

    /// Whether a command finds the roads of the event that its id was recorded with, which tells
    /// two streets apart: the event has their roads, not their names.
    private func finds(
        _ request: RoadChangeRequest, of event: NetworkEvent
    ) throws(Failure) -> Bool {
        let network = try network(request.network, in: follower.current)
        return try shelf.network(network.published).finds(request.action, of: event)
    }

    /// The event of a command that was recorded before, and whether the network was built anew
    /// since; nil where it was not recorded.
    private func earlier(
        _ request: RoadChangeRequest, _ context: OperationContext
    ) throws(Failure) -> (record: RecordedEvent, isBuiltAnew: Bool)? {
        guard let network = follower.current.network(named: request.network) else { return nil }
        let name = network.published.name
        let events = try context.result { [log] () throws(Failure) in
            let head = try await log.head().head
            return try await log.events(
                stream: .network(name), after: max(0, head - Self.repeatReach))
        }
        guard let record = events.last(where: { $0.event.id == request.id }) else { return nil }
        let isBuiltAnew = events.contains { other in
            other.globalPosition > record.globalPosition
                && other.event.type == NetworkPublished.eventType
        }
        return (record, isBuiltAnew)
    }

    private func answer(
        _ record: RecordedEvent, _ event: NetworkEvent, on name: String
    ) throws(Failure) -> RoadChangeAnswer {
        let decision: RoadDecision
        switch event {
        case .roadsChanged(let event): decision = .changed(event)
        case .roadsRestored(let event): decision = .restored(event)
        default: throw Failure(.conflict, "event \(record.globalPosition) changes no roads")
        }
        let network = try network(name, in: follower.current)
        return try shelf.network(network.published).answer(
            decision, number: record.globalPosition)
    }
}
