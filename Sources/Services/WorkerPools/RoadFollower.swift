// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnClient
package import CairnModel
internal import FoundationEssentials
package import MapState
package import Routing
internal import Synchronization

/// The networks of a site and their log, for ``RoadFollower``.
package protocol NetworkLog: Sendable {
    /// The networks as far as they are known.
    var known: NetworksState { get }

    /// The networks from a sequence number on; nil for the present end of the log.
    func networks(from position: Int64?) async throws(Failure) -> NetworksState

    /// Appends an event to a network's stream; returns its global position.
    ///
    /// Throws `Failure`: `conflict` unless the stream ends at the position `expected`.
    func append(_ event: RoadsFollowed, expected: Int64) async throws(Failure) -> Int64
}

/// Keeps the changes of roads that follow layers in step with the maps.
///
/// Every router runs one. What a change has become is a function of maps and network, appended on
/// the condition that the network's stream still ends where it was read: of several followers one
/// appends, and the others then find nothing to do. A follower whose maps are older than those that
/// a change reflects leaves it alone. Nothing is kept but what can be found again, so that it may
/// end at any time.
package final class RoadFollower: Sendable {
    private struct Waiter {
        var sequence: Int64
        var resume: @Sendable (Bool) -> Void
    }

    /// What a change was found to be made of, when nothing was to be done.
    private struct Settled: Hashable {
        var network: NetworkPublished
        var layer: FollowedLayer
        var mapChange: Int64?
    }

    private struct State {
        var maps: MapFollower?
        var watch: Task<Void, Never>?
        var work: Task<Void, Never>?
        var settled: [Int64: Settled] = [:]
        /// The sequence number of the maps that all changes reflect.
        var sequence: Int64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
    }

    /// Most attempts at one change whose network others change as well.
    private static let attemptCount = 100
    /// Most concurrent waits; further ones get `busy`.
    private static let waiterLimit = 10_000

    private let log: any NetworkLog
    private let layers: LayerRoads
    private let open: @Sendable (NetworkPublished) throws(Failure) -> RoutableNetwork
    private let makeMaps: @Sendable () throws(Failure) -> MapFollower
    private let report: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let pokes: AsyncStream<Void>
    private let poking: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - log: The networks.
    ///   - layers: Finds roads.
    ///   - open: Opens a network.
    ///   - makeMaps: Starts to follow the maps; called once some change follows a layer.
    ///   - report: Receives a line where a layer or the log cannot be read.
    package init(
        log: any NetworkLog, layers: LayerRoads,
        open: @escaping @Sendable (NetworkPublished) throws(Failure) -> RoutableNetwork,
        makeMaps: @escaping @Sendable () throws(Failure) -> MapFollower,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.log = log
        self.layers = layers
        self.open = open
        self.makeMaps = makeMaps
        self.report = report
        (pokes, poking) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit { stop() }

    /// Begins to follow; once.
    package func start() {
        let work = Task { [weak self, pokes] in
            for await _ in pokes {
                guard let self, !Task.isCancelled else { return }
                await self.turn()
            }
        }
        state.withLock { $0.work = work }
        poke()
    }

    /// Ends it; waits that have begun end without success.
    package func stop() {
        poking.finish()
        let (waiters, tasks, maps) = state.withLock { state in
            let ended = (Array(state.waiters.values), [state.work, state.watch], state.maps)
            state.waiters = [:]
            return ended
        }
        for task in tasks { task?.cancel() }
        maps?.stop()
        for waiter in waiters { waiter.resume(false) }
    }

    /// Says that networks or maps have changed.
    package func poke() { poking.yield() }

    /// The maps, followed from the first call on.
    package func maps() throws(Failure) -> MapFollower {
        if let known = state.withLock({ $0.maps }) { return known }
        let made = try makeMaps()
        let (maps, isNew) = state.withLock { state -> (MapFollower, Bool) in
            if let known = state.maps { return (known, false) }
            state.maps = made
            return (made, true)
        }
        guard isNew else {
            made.stop()
            return maps
        }
        let watch = Task { [weak self, poking] in
            var known = maps.current
            while !Task.isCancelled {
                do throws(Failure) {
                    known = try await maps.snapshot(beyond: known, timeout: .seconds(30))
                    poking.yield()
                } catch {
                    guard self != nil else { return }
                    if error.code != .timedOut { try? await Task.sleep(for: .seconds(1)) }
                }
            }
        }
        state.withLock { $0.watch = watch }
        return maps
    }

    /// The sequence number of the maps that all changes reflect.
    package var reflected: Int64 { state.withLock { $0.sequence } }

    /// Waits until the changes reflect the maps from a sequence number on.
    ///
    /// Throws `Failure`: `timedOut`, `busy`, and what the maps throw.
    package func settle(_ sequence: Int64, timeout: Duration) async throws(Failure) {
        let end = ContinuousClock.now + timeout
        _ = try await maps().snapshot(minSequence: sequence, timeout: timeout)
        let isReached = await withCheckedContinuation { continuation in
            wait(until: sequence, end) { continuation.resume(returning: $0) }
        }
        guard isReached else {
            throw Failure(
                .timedOut,
                "the roads that follow layers have not reached sequence number \(sequence) in time")
        }
    }

    private func wait(
        until sequence: Int64, _ end: ContinuousClock.Instant,
        _ resume: @escaping @Sendable (Bool) -> Void
    ) {
        let (number, isReached) = state.withLock { state -> (UInt64?, Bool) in
            if state.sequence >= sequence { return (nil, true) }
            guard state.waiters.count < Self.waiterLimit else { return (nil, false) }
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = Waiter(sequence: sequence, resume: resume)
            return (state.nextWaiter, false)
        }
        guard let number else { return resume(isReached) }
        poke()
        Task { [weak self] in
            try? await Task.sleep(until: end)
            self?.state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(false)
        }
    }

    // MARK: Turns

    private func turn() async {
        guard log.known.follows else {
            let waiters = state.withLock { state in
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters { waiter.resume(true) }
            return
        }
        do throws(Failure) {
            let maps = try maps()
            try await maps.catchUp()
            try await follow(maps.current)
        } catch {
            report("\(error)")
            Task { [poking] in
                try? await Task.sleep(for: .seconds(1))
                poking.yield()
            }
        }
    }

    /// Brings every change that follows a layer to a state of the maps.
    ///
    /// Throws `Failure` where the log does not answer; what was appended until then is whole.
    package func follow(_ maps: MapsState) async throws(Failure) {
        var networks = log.known
        let all = networks.names
        for name in all {
            let numbers = networks.network(named: name)?.changes
                .filter { $0.change.followed != nil }.map(\.number)
            for number in numbers ?? [] {
                try await follow(number, of: name, maps, &networks)
            }
        }
        let ready = state.withLock { state -> [Waiter] in
            state.sequence = max(state.sequence, maps.sequence)
            let ready = state.waiters.filter { $0.value.sequence <= state.sequence }
            for number in ready.keys { state.waiters[number] = nil }
            return Array(ready.values)
        }
        for waiter in ready { waiter.resume(true) }
    }

    private func follow(
        _ number: Int64, of name: String, _ maps: MapsState, _ networks: inout NetworksState
    ) async throws(Failure) {
        for _ in 0..<Self.attemptCount {
            guard let network = networks.network(named: name),
                let standing = network.change(number), let layer = standing.change.followed,
                maps.sequence >= layer.sequence
            else {
                state.withLock { $0.settled[number] = nil }
                return
            }
            let settled = Settled(
                network: network.published, layer: layer,
                mapChange: maps.lastChange(of: layer.map))
            guard state.withLock({ $0.settled[number] }) != settled else { return }
            let event: RoadsFollowed?
            do throws(Failure) {
                event = try layers.update(
                    of: standing, in: maps, on: try open(network.published))
            } catch {
                // Of files that this process cannot read nothing follows for the log.
                return report("change \(number) of network '\(name)': \(error)")
            }
            guard let event else {
                state.withLock { $0.settled[number] = settled }
                return
            }
            do throws(Failure) {
                let position = try await log.append(event, expected: network.streamPosition)
                networks = try await log.networks(from: position)
            } catch {
                guard error.code == .conflict else { throw error }
                networks = try await log.networks(from: nil)
            }
        }
        throw Failure(.conflict, "network '\(name)' is being changed concurrently")
    }
}

extension NetworksState {
    /// Whether any change follows a layer.
    fileprivate var follows: Bool {
        names.contains { name in
            network(named: name)?.followsLayers == true
        }
    }
}

/// The log of a running site.
struct FollowedNetworks: NetworkLog {
    let follower: NetworkFollower
    let log: LogReader

    var known: NetworksState { follower.current }

    func networks(from position: Int64?) async throws(Failure) -> NetworksState {
        var least = position
        if least == nil { least = try await log.head().head }
        return try await follower.snapshot(minSequence: least ?? 0)
    }

    func append(_ event: RoadsFollowed, expected: Int64) async throws(Failure) -> Int64 {
        let new = try event.newEvent(
            id: .timeOrdered(),
            metadata: EventMetadata(producer: "cairn-router/" + Release.version))
        return try await log.append(
            [new], to: .network(event.name), expected: .exact(expected)
        ).lastPosition
    }
}
