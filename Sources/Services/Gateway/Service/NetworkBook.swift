// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import MapState
internal import Synchronization

/// The road networks of a site, followed from the first question on.
///
/// Callable on any thread.
final class NetworkBook: Sendable {
    private struct Inner {
        var follower: NetworkFollower?
        /// Whether the log was read to its head once.
        var isCaughtUp = false
        /// The last change of roads that was made here.
        var lastChange: Int64 = 0
    }

    private let client: CairnClient
    private let inner = Mutex(Inner())
    private let onChange: @Sendable (NetworksState) -> Void

    /// `onChange` receives each state of the networks that the log brings.
    init(
        _ client: CairnClient, onChange: @escaping @Sendable (NetworksState) -> Void = { _ in }
    ) {
        self.client = client
        self.onChange = onChange
    }

    deinit { inner.withLock { $0.follower }?.stop() }

    /// The number of the last change of roads that was made here; 0 for none.
    var lastChange: Int64 { inner.withLock { $0.lastChange } }

    /// The networks as they are known now; nil while they are not followed, or the log may have
    /// gone on unheard.
    var stateAtHand: NetworksState? {
        guard let follower = inner.withLock({ $0.isCaughtUp ? $0.follower : nil }),
            !follower.isStale
        else { return nil }
        return follower.current
    }

    /// Notes a change of roads that was made here.
    func note(_ change: Int64) {
        inner.withLock { $0.lastChange = max($0.lastChange, change) }
    }

    /// The published networks in byte order of their names.
    ///
    /// The first call waits until the log is read to its head; later ones answer from memory, or
    /// wait for `minSequence`. Throws `Failure`: `timedOut`, and the fault of the log.
    func published(minSequence: Int64?) async throws(Failure) -> [NetworkPublished] {
        let state = try await followed().snapshot(minSequence: minSequence ?? 0)
        return state.names.compactMap { state.network(named: $0)?.published }
    }

    /// The follower, once it has read the log to its head; throws as ``published(minSequence:)``.
    func followed() async throws(Failure) -> NetworkFollower {
        let (follower, isCaughtUp) = try follower()
        if !isCaughtUp {
            let head = try await LogReader(client).head().head
            _ = try await follower.snapshot(minSequence: head)
            inner.withLock { $0.isCaughtUp = $0.follower === follower }
        }
        return follower
    }

    private func follower() throws(Failure) -> (follower: NetworkFollower, isCaughtUp: Bool) {
        let result = inner.withLock { inner -> Result<(NetworkFollower, Bool), Failure> in
            if let known = inner.follower { return .success((known, inner.isCaughtUp)) }
            return Result { () throws(Failure) in
                let made = try NetworkFollower(
                    following: client.bus, log: try LogReader(bus: client.bus),
                    // The log was replaced: it is read anew.
                    onFault: { [weak self] in if $0.code == .conflict { self?.forget() } },
                    onStop: { [weak self] _ in self?.forget() }, onChange: onChange)
                inner.follower = made
                inner.isCaughtUp = false
                return (made, false)
            }
        }
        return try result.get()
    }

    private func forget() {
        inner.withLock { inner in
            inner.follower = nil
            inner.isCaughtUp = false
        }
    }
}

/// A request that reads the roads of a network, past or present.
protocol RoadsQuestion {
    /// As of this sequence number; nil for the present.
    var at: Int64? { get }
    var minSequence: Int64? { get set }
}

extension RoadsQuestion {
    /// The same question about a state that has reached a sequence number; unchanged for a past.
    func reaching(_ sequence: Int64) -> Self {
        guard at == nil, sequence > minSequence ?? 0 else { return self }
        var question = self
        question.minSequence = sequence
        return question
    }
}

extension RoadChangesRequest: RoadsQuestion {}

/// One whose moment is in its terms.
protocol TermedQuestion: RoadsQuestion {
    var terms: RouteTerms { get set }
}

extension TermedQuestion {
    var at: Int64? { terms.at }
    var minSequence: Int64? {
        get { terms.minSequence }
        set { terms.minSequence = newValue }
    }
}

extension RouteRequest: TermedQuestion {}
extension RouteTableRequest: TermedQuestion {}
extension ReachRequest: TermedQuestion {}
extension NearestRoadsRequest: TermedQuestion {}
