// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EventLog
internal import MapState
internal import Recording
internal import Routing
internal import Site
internal import Synchronization

/// The networks of a site as they were, for requests that are executed again.
final class PastNetworks: Sendable {
    private let site: Site
    private let opened = Mutex<[RoutableNetwork]>([])
    private let state = Mutex(NetworksState())

    /// Limit of open networks.
    private static let limit = 4
    private static let pageSize = 1000

    init(_ site: Site) { self.site = site }

    /// A network at the moment that the terms state, else at a sequence number; throws `notFound`.
    func network(
        _ terms: RouteTerms, at sequence: Int64
    ) throws(Failure) -> NetworksState.Network {
        let state = try state(at: terms.at ?? sequence)
        guard let network = state.network(named: terms.network) else {
            throw Failure(
                .notFound,
                "there was no network '\(terms.network)' at sequence number \(sequence)")
        }
        return network
    }

    /// A router as of a sequence number, at the moment that the terms state.
    ///
    /// Throws `Failure`: `notFound` for a network that did not exist, or whose files are gone.
    func router(_ terms: RouteTerms, at sequence: Int64) throws(Failure) -> Router {
        let network = try network(terms, at: sequence)
        let known = opened.withLock { $0.first { $0.published == network.published } }
        let roads: RoutableNetwork
        if let known {
            roads = known
        } else {
            roads = try RoutableNetwork(network.published, in: site.networksDirectory)
            opened.withLock { opened in
                if opened.count >= Self.limit { opened.removeAll() }
                opened.append(roads)
            }
        }
        return try Router(
            roads, terms,
            at: RouteMoment(
                changes: network.changes, sequence: sequence, isPresent: false,
                now: terms.departure ?? Timestamp(microseconds: 0)))
    }

    /// The networks as of a sequence number; goes on from the one before where that is earlier.
    private func state(at sequence: Int64) throws(Failure) -> NetworksState {
        var known = state.withLock { $0 }
        if known.sequence > sequence { known = NetworksState() }
        let log = try ArchivedLogReader(path: site.logFile)
        while known.sequence < sequence {
            let page = try log.read(
                ReadRange(
                    after: known.sequence, limit: Self.pageSize,
                    filter: .category(NetworksState.category)))
            for event in page.events where event.globalPosition <= sequence {
                try known.apply(event)
            }
            guard let last = page.events.last?.globalPosition, last <= sequence else { break }
        }
        known.advance(to: sequence)
        state.withLock { [known] in $0 = known }
        return known
    }
}
