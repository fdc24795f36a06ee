// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnClient
package import CairnModel
internal import FoundationEssentials
package import JobKinds
package import MapState
internal import Platform
package import Recording
internal import Routing
package import Site
package import SiteAnswers
package import Worker

/// The operations of a router: `route`, `routeTable`, `reach`, `nearestRoads`, `matchTrace`,
/// `changeRoads`, `roadChanges`, and the chunks of jobs on road networks.
///
/// A request waits until the networks have reached its `minSequence`, or reads them as they were
/// `at` a sequence number. Callable from any number of threads.
package struct RouterOperations: Sendable {
    private let follower: NetworkFollower
    private let shelf: NetworkShelf
    private let log: LogReader
    private let recorder: Recorder?
    private let layers: LayerRoads
    private let roads: RoadFollower

    /// The longest wait for a sequence number.
    private static let patience = Duration.seconds(5)

    /// Answers from the networks of a shelf, with the changes of roads that a follower knows;
    /// records new ones in a log.
    ///
    /// `layers` finds the roads of changes that are to follow a layer, `roads` keeps them in step.
    /// `recorder` records each answer with the moment it is of.
    package init(
        follower: NetworkFollower, shelf: NetworkShelf, log: LogReader, layers: LayerRoads,
        roads: RoadFollower, recorder: Recorder? = nil
    ) {
        self.follower = follower
        self.shelf = shelf
        self.log = log
        self.layers = layers
        self.roads = roads
        self.recorder = recorder
    }

    /// The handlers for a worker's host: interactive operations, and chunks of jobs on networks.
    package func handlers(blobs: BlobStore) -> TaskHandlers {
        var handlers = TaskHandlers(
            ChunkOperations.hosted(
                JobKinds.operations(in: .router, with: JobCapabilities(routers: self)),
                blobs: blobs))
        answer(.route, in: &handlers) { router, request, _ throws(Failure) in
            try router.route(request)
        }
        answer(.routeTable, in: &handlers) { router, request, context throws(Failure) in
            try router.table(request, isCancelled: { context.isCancelled })
        }
        answer(.reach, in: &handlers) { router, request, context throws(Failure) in
            try router.reach(request, isCancelled: { context.isCancelled })
        }
        answer(.nearestRoads, in: &handlers) { router, request, _ throws(Failure) in
            try router.nearest(request)
        }
        answer(.matchTrace, in: &handlers) { router, request, context throws(Failure) in
            try router.match(request, isCancelled: { context.isCancelled })
        }
        handlers.on(.changeRoads) { request, context in
            try RoadWriter(
                follower: follower, shelf: shelf, log: log, layers: layers, roads: roads
            ).change(request, context)
        }
        handlers.on(.roadChanges) { [self] request, context in
            var terms = RouteTerms(network: request.network)
            (terms.at, terms.minSequence) = (request.at, request.minSequence)
            let state = try state(terms, context)
            let network = try network(terms, in: state)
            return try shelf.network(network.published).report(
                request,
                at: moment(
                    of: network, in: state, isPresent: terms.at == nil,
                    Timestamp(microseconds: WallClock.microseconds())))
        }
        return handlers
    }

    private func answer<Request: RecordedRouteQuestion, Answer: RecordedRouteAnswer>(
        _ operation: Operation<Request, Answer>, in handlers: inout TaskHandlers,
        _ engine:
            @escaping @Sendable (Router, Request, OperationContext) throws(Failure) -> Answer
    ) {
        handlers.on(operation) { [self] request, context in
            let now = Timestamp(microseconds: WallClock.microseconds())
            let answer = try engine(
                try router(request.terms, context, now), request, context)
            recorder?.note(
                operation, request.fixed(at: now), answer,
                Recorder.Context(sequence: answer.context.sequence))
            return answer
        }
    }

    /// Opens the networks of the present and makes their usual metrics, so that the first request
    /// does not wait for them.
    package func warmUp(_ state: NetworksState) {
        for name in state.names {
            guard let network = state.network(named: name) else { continue }
            _ = try? Router(
                try shelf.network(network.published), RouteTerms(network: name),
                at: moment(
                    of: network, in: state, isPresent: true,
                    Timestamp(microseconds: WallClock.microseconds())))
        }
    }

    /// Brings the metrics of open networks up to a state.
    package func prepare(_ state: NetworksState) { shelf.prepare(state) }

    private func router(
        _ terms: RouteTerms, _ context: OperationContext, _ now: Timestamp
    ) throws(Failure) -> Router {
        try router(terms, in: state(terms, context), now)
    }

    private func network(
        _ terms: RouteTerms, in state: NetworksState
    ) throws(Failure) -> NetworksState.Network {
        guard let network = state.network(named: terms.network) else {
            if terms.at == nil, follower.isStale {
                throw Failure(
                    .logUnavailable,
                    "the log is unreachable, and the part read so far has no network "
                        + "'\(terms.network.prefix(64))'")
            }
            let when = terms.at.map { " at sequence number \($0)" } ?? ""
            throw Failure(
                .notFound,
                "there is no network '\(terms.network.prefix(64))'\(when); 'cairn network build' "
                    + "makes one")
        }
        return network
    }

    private func router(
        _ terms: RouteTerms, in state: NetworksState, _ now: Timestamp
    ) throws(Failure) -> Router {
        let network = try network(terms, in: state)
        return try Router(
            try shelf.network(network.published), terms,
            at: moment(of: network, in: state, isPresent: terms.at == nil, now))
    }

    private func moment(
        of network: NetworksState.Network, in state: NetworksState, isPresent: Bool,
        _ now: Timestamp
    ) -> RouteMoment {
        RouteMoment(
            changes: network.changes, sequence: state.sequence,
            isStale: isPresent && follower.isStale, isPresent: isPresent,
            now: now)
    }

    private func state(
        _ terms: RouteTerms, _ context: OperationContext
    ) throws(Failure) -> NetworksState {
        let current = follower.current
        guard
            terms.at != nil || (terms.minSequence ?? 0) > current.sequence
                || (terms.minSequence ?? 0) > roads.reflected
                    && current.network(named: terms.network)?.followsLayers == true
        else { return current }
        let patience = min(
            Self.patience,
            context.deadline.map { ContinuousClock.now.duration(to: $0) } ?? Self.patience)
        return try context.result { [follower, roads] () throws(Failure) in
            let least = max(terms.at ?? 0, terms.minSequence ?? 0)
            let state = try await follower.snapshot(minSequence: least, timeout: patience)
            if let at = terms.at { return try await follower.history(at: at) }
            guard state.network(named: terms.network)?.followsLayers == true else { return state }
            try await roads.settle(least, timeout: patience)
            return follower.current
        }
    }
}

extension RouterOperations: JobRouters {
    package func network(_ terms: RouteTerms) throws(Failure) -> NetworkPublished {
        try network(terms, in: past(terms)).published
    }

    package func router(_ terms: RouteTerms) throws(Failure) -> JobRouter {
        let now = Timestamp(microseconds: WallClock.microseconds())
        let router = try router(terms, in: past(terms), now)
        return JobRouter(
            route: { request throws(Failure) in try router.route(request) },
            table: { request, isCancelled throws(Failure) in
                try router.table(request, isCancelled: isCancelled)
            },
            reach: { request, isCancelled throws(Failure) in
                try router.reach(request, isCancelled: isCancelled)
            }, positions: { route throws(Failure) in try route.positions() })
    }

    /// The networks at the moment of a chunk: the present ones where the network has not changed
    /// since, which saves a fold for each chunk.
    private func past(_ terms: RouteTerms) throws(Failure) -> NetworksState {
        let (current, position) = (follower.current, terms.at ?? 0)
        if current.sequence >= position, let network = current.network(named: terms.network),
            network.published.name == terms.network, network.lastChange <= position
        {
            return current
        }
        let mailbox = BlockingQueue<Result<NetworksState, Failure>>(capacity: 1)
        Task { [follower] in
            do throws(Failure) {
                _ = try await follower.snapshot(minSequence: position, timeout: Self.patience)
                _ = mailbox.tryPush(.success(try await follower.history(at: position)))
            } catch {
                _ = mailbox.tryPush(.failure(error))
            }
        }
        guard let result = mailbox.pop() else {
            throw Failure(.internal, "the follower returned no networks")
        }
        return try result.get()
    }
}

extension OperationContext {
    /// The result of an asynchronous `body`, while another thread computes in this one's place.
    func result<Value: Sendable>(
        _ body: @escaping @Sendable () async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let mailbox = BlockingQueue<Result<Value, Failure>>(capacity: 1)
        Task {
            do throws(Failure) {
                _ = mailbox.tryPush(.success(try await body()))
            } catch {
                _ = mailbox.tryPush(.failure(error))
            }
        }
        guard let result = waiting({ mailbox.pop() }) else {
            throw Failure(.internal, "an answer that was waited for was lost")
        }
        return try result.get()
    }
}
