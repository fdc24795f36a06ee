// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import Locator
package import Site
internal import Synchronization

/// The opened locators of a site, found by the names they are published under.
///
/// A locator is opened when it is first asked for and kept, the last few of them, so that a name
/// can move on to a newer file while jobs still read an older one. Any thread may ask.
package final class LocatorShelf: Sendable {
    /// How many files stay open; the one not asked for longest goes first.
    package static let capacity = 4

    private let site: Site
    private let published: @Sendable (String) -> LocatorPublished?
    /// The locator last asked for last.
    private let opened = Mutex<[Locator]>([])

    /// Makes an empty shelf.
    ///
    /// - Parameters:
    ///   - site: Where the files lie.
    ///   - published: Says what a name stands for now; nil for a name nothing was published under.
    package init(site: Site, published: @escaping @Sendable (String) -> LocatorPublished?) {
        self.site = site
        self.published = published
    }

    /// The locator that a name stands for now.
    ///
    /// Throws `Failure`: `notFound` for an unknown name or a file that is gone, `corrupt` or
    /// `newerVersion` for a file that cannot be used.
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
            // Another thread may have opened it meanwhile; one is as good as the other.
            opened.removeAll { $0.id == locator.id }
            opened.append(locator)
            if opened.count > Self.capacity { opened.removeFirst() }
        }
        return locator
    }
}
