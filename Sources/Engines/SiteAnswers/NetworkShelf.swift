// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import MapState
internal import Platform
public import Routing
public import Site
internal import Synchronization

/// The open networks of a site.
///
/// Networks are opened on demand and cached, so that a name can move on to a newer file while
/// requests about the past still read an older one. Callable from any thread.
public final class NetworkShelf: Sendable {
    /// Maximum number of open networks; the least recently used is closed first.
    public static let capacity = 4

    private let site: Site
    /// Open networks, the most recently used last.
    private let opened = Mutex<[RoutableNetwork]>([])

    /// Makes an empty shelf.
    public init(site: Site) { self.site = site }

    /// The networks that are open.
    public var open: [RoutableNetwork] { opened.withLock { $0 } }

    /// A network that is open; nil for another.
    func opened(_ published: NetworkPublished) -> RoutableNetwork? {
        opened.withLock { opened in opened.last { $0.published == published } }
    }

    /// An opened network.
    ///
    /// Throws `Failure`: `notFound` for missing files, `corrupt` or `newerVersion` for unusable
    /// ones.
    public func network(_ published: NetworkPublished) throws(Failure) -> RoutableNetwork {
        let known = opened.withLock { opened -> RoutableNetwork? in
            guard let index = opened.firstIndex(where: { $0.published == published }) else {
                return nil
            }
            opened.append(opened.remove(at: index))
            return opened.last
        }
        if let known { return known }
        let network = try RoutableNetwork(published, in: site.networksDirectory)
        opened.withLock { opened in
            // Another thread may have opened it meanwhile; either instance will do.
            opened.removeAll { $0.published == published }
            opened.append(network)
            if opened.count > Self.capacity { opened.removeFirst() }
        }
        return network
    }

    /// Brings the metrics of open networks up to a state, so that the next request does not do it.
    public func prepare(_ state: NetworksState) {
        let now = Timestamp(microseconds: WallClock.microseconds())
        for network in open {
            guard let known = state.network(named: network.published.name),
                known.published == network.published
            else { continue }
            // A request that needs a metric which cannot be made reports why.
            try? network.prepare(for: known.changes, at: now)
        }
    }
}
