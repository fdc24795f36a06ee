// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import MapState
internal import Platform
public import Routing
public import Site
internal import Synchronization

/// A question about roads that may be answered in process.
public protocol RoadQuestion: Sendable {
    /// Its answer.
    associatedtype Answer
    /// Network, travel mode, barriers, moment.
    var terms: RouteTerms { get }
    /// Whether its answer is a matter of a few searches.
    var isSmall: Bool { get }
    /// Asks a router.
    func answer(by router: Router) throws(Failure) -> Answer
}

extension RouteRequest: RoadQuestion {
    /// Maximum number of stops of a small request.
    private static let smallStopCount = 10

    /// Ten stops at most in the order of travel, without alternatives and explanations.
    public var isSmall: Bool {
        stops.count <= Self.smallStopCount && order == nil && alternatives ?? 0 == 0
            && explain != true
    }

    /// Finds the route.
    public func answer(by router: Router) throws(Failure) -> RouteAnswer {
        try router.route(self)
    }
}

extension RouteTableRequest: RoadQuestion {
    /// Maximum number of cells of a small table.
    private static let smallCellCount = 100

    /// A hundred cells at most, of the travel mode's own cost.
    public var isSmall: Bool {
        origins.count * destinations.count <= Self.smallCellCount
            && max(origins.count, destinations.count) <= Self.smallCellCount && wantsBoth != true
    }

    /// Computes the table.
    public func answer(by router: Router) throws(Failure) -> RouteTableAnswer {
        try router.table(self, isCancelled: { false })
    }
}

extension NearestRoadsRequest: RoadQuestion {
    /// Always.
    public var isSmall: Bool { true }

    /// Looks for the roads.
    public func answer(by router: Router) throws(Failure) -> NearestRoadsAnswer {
        try router.nearest(self)
    }
}

/// Answers small questions about the roads of a site in process.
///
/// Routers run the same engine on the same files and changes, so the answers are the same.
/// Networks are opened, and metrics made, on a thread of its own. Thread-safe.
public final class SiteRoutes: Sendable {
    /// Size limit of a network, in edges: opening it takes some hundred bytes of memory for each.
    private static let edgeLimit = 2_000_000

    private let shelf: NetworkShelf
    private let pace: LatencyGate
    private let rehearsal = Prefetcher()
    private let latest = Mutex(NetworksState())

    /// Opens no network before the first question.
    ///
    /// Throws `Failure` when the system has no thread left.
    public convenience init(site: Site) throws(Failure) {
        // Some times the cost of a route across a large city with its directions.
        try self.init(
            site: site, pace: LatencyGate(tryLimit: 20_000_000, averageLimit: 3_000_000))
    }

    /// Creates it with another pace.
    init(site: Site, pace: LatencyGate) throws(Failure) {
        shelf = NetworkShelf(site: site)
        self.pace = pace
        do throws(PlatformError) { try rehearsal.start() } catch { throw Failure(error) }
    }

    deinit { rehearsal.end() }

    /// Brings open networks up to a new state in the background.
    public func take(_ state: NetworksState) {
        latest.withLock { $0 = state }
        guard !shelf.open.isEmpty else { return }
        prepare()
    }

    private func prepare() {
        rehearsal.offer(for: "") { [weak self] isEnding in
            var done: Int64 = -1
            while let self, !isEnding() {
                let state = latest.withLock { $0 }
                guard state.sequence > done else { return }
                shelf.prepare(state)
                done = state.sequence
            }
        }
    }

    /// Answers a small question of the present in process, as a router does.
    ///
    /// Nil for everything else: questions that are not small, barriers, a departure, a sequence
    /// number that is not known yet, networks of more than two million edges, networks and metrics
    /// that are not ready, which are then made in the background, and networks whose routes took
    /// more than 3 ms on average. Throws `Failure`: `invalidParameter` and `tooLarge` with a
    /// router's sentence.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - state: The networks as they are known now, and heard of.
    ///   - now: The time.
    public func answerAtOnce<Question: RoadQuestion>(
        _ question: Question, in state: NetworksState, at now: Timestamp
    ) throws(Failure) -> Question.Answer? {
        let terms = question.terms
        guard question.isSmall, terms.at == nil, terms.minSequence ?? 0 <= state.sequence,
            let network = state.network(named: terms.network),
            network.published.edgeCount <= Self.edgeLimit,
            pace.isWorthTrying(network.published.name)
        else { return nil }
        let moment = RouteMoment(
            changes: network.changes, sequence: state.sequence, now: now)
        guard let roads = shelf.opened(network.published), roads.isAtHand(terms, at: moment) else {
            if terms.departure == nil, terms.barriers?.isEmpty ?? true {
                rehearse(terms, network, moment)
            }
            return nil
        }
        // Processor time, so that load does not change which requests are given up.
        let start = ThreadClock.nanoseconds()
        defer {
            pace.note(
                network.published.name, nanoseconds: ThreadClock.nanoseconds() - start)
        }
        do throws(Failure) {
            return try question.answer(by: try Router(roads, terms, at: moment))
        } catch {
            switch error.code {
            case .invalidParameter, .tooLarge: throw error
            // A router reports the reason.
            default: return nil
            }
        }
    }

    private func rehearse(
        _ terms: RouteTerms, _ network: NetworksState.Network, _ moment: RouteMoment
    ) {
        rehearsal.offer(for: network.published.name) { [weak self] _ in
            guard let roads = try? self?.shelf.network(network.published) else { return }
            _ = try? Router(roads, terms, at: moment)
        }
    }
}
