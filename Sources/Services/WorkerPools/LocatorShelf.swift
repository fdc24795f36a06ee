// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Locator
package import Site
internal import Synchronization

/// The open locators of a site, by their published names.
///
/// Locators are opened on demand and cached, so that a name can move on to a newer file while jobs
/// still read an older one. Callable from any thread.
package final class LocatorShelf: Sendable {
    /// Maximum number of open files; the least recently used is closed first.
    package static let capacity = 4

    private let site: Site
    private let published: @Sendable (String) -> LocatorPublished?
    /// Open locators, the most recently used last.
    private let opened = Mutex<[Locator]>([])

    /// Makes an empty shelf.
    ///
    /// - Parameters:
    ///   - site: The site with the files.
    ///   - published: The present locator of a name; nil for an unpublished name.
    package init(site: Site, published: @escaping @Sendable (String) -> LocatorPublished?) {
        self.site = site
        self.published = published
    }

    /// The present locator of a name.
    ///
    /// Throws `Failure`: `notFound` for an unknown name or a missing file, `corrupt` or
    /// `newerVersion` for an unusable file.
    package func locator(named name: String) throws(Failure) -> Locator {
        guard let event = published(name) else {
            throw Failure(
                .notFound,
                "there is no locator '\(name.prefix(64))'; 'cairn locator build' makes one")
        }
        let known = opened.withLock { opened -> Locator? in
            guard let index = opened.firstIndex(where: { $0.id == event.locator }) else {
                return nil
            }
            opened.append(opened.remove(at: index))
            return opened.last
        }
        if let known { return known }
        let locator = try Locator(path: site.locatorPath(event.locator), id: event.locator)
        opened.withLock { opened in
            // Another thread may have opened it meanwhile; either instance will do.
            opened.removeAll { $0.id == locator.id }
            opened.append(locator)
            if opened.count > Self.capacity { opened.removeFirst() }
        }
        return locator
    }
}
