// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Routing
package import Site
internal import Synchronization

/// The open networks of a site.
///
/// Networks are opened on demand and cached, so that a name can move on to a newer file while
/// requests about the past still read an older one. Callable from any thread.
package final class NetworkShelf: Sendable {
    /// Maximum number of open networks; the least recently used is closed first.
    package static let capacity = 4

    private let site: Site
    /// Open networks, the most recently used last.
    private let opened = Mutex<[RoutableNetwork]>([])

    /// Makes an empty shelf.
    package init(site: Site) { self.site = site }

    /// The networks that are open.
    package var open: [RoutableNetwork] { opened.withLock { $0 } }

    /// An opened network.
    ///
    /// Throws `Failure`: `notFound` for missing files, `corrupt` or `newerVersion` for unusable
    /// ones.
    package func network(_ published: NetworkPublished) throws(Failure) -> RoutableNetwork {
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
}
