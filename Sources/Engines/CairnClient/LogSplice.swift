// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// Decides what a subscriber does with what reaches it: pure, no clock, no socket.
///
/// Published messages may be lost, doubled, late or out of order; pages read from the log may not.
/// So a message is handled only when it says that nothing before it is missing, and everything else
/// is read. The only state is how far everything has been handled.
struct LogSplice: Hashable {
    /// What is subscribed to.
    enum Scope: Hashable {
        /// Every event of the log.
        case all
        /// The events of one category.
        case category(String)
    }

    /// What to do next.
    enum Decision: Hashable {
        /// It is old: forget it.
        case pass
        /// It is the next event: handle it.
        case handle
        /// Something is missing: read on from `handled`.
        case read
        /// It is not the log that was followed so far: give up.
        case stop
    }

    /// Why a follower gives up at another incarnation.
    static let replaced = Failure(
        .conflict,
        "the event log has been replaced by a backup of it: what was read before is not what it holds "
            + "now")

    let scope: Scope
    /// Every event of the scope up to this global position has been handed on, and none after it.
    private(set) var handled: Int64
    /// Which log it is that was followed so far; nil before it has said so.
    private(set) var incarnation: UUID?

    init(scope: Scope, after position: Int64, of incarnation: UUID? = nil) {
        self.scope = scope
        handled = position
        self.incarnation = incarnation
    }

    /// Events were published that follow on each other in one category; `previousInCategory` is the
    /// global position of the one before the first.
    ///
    /// With `handle`, those after what was handled before are next.
    mutating func events(
        from first: Int64, through last: Int64, previousInCategory: Int64
    ) -> Decision {
        guard last > handled else { return .pass }
        let previous = scope == .all ? first - 1 : previousInCategory
        guard previous <= handled else { return .read }
        handled = last
        return .handle
    }

    /// The log said how long it is.
    ///
    /// A log shorter than what was handled is read too: the page tells whether the message was
    /// merely late.
    mutating func head(_ head: LogHead) -> Decision {
        if let found = head.incarnation {
            guard found == incarnation ?? found else { return .stop }
            incarnation = found
        }
        let last: Int64? =
            switch scope {
            case .all: head.head
            case .category(let name): head.categories.map { $0[name] ?? 0 }
            }
        guard let last else { return head.head == handled ? .pass : .read }
        guard last <= handled, head.head >= handled else { return .read }
        guard head.head > handled else { return .pass }
        handled = head.head
        return .handle
    }

    /// A page was read after `handled`.
    ///
    /// Returns its events, which are next, and whether there is more to read. Throws `conflict`
    /// when the log ends before what was handled: it is not the log that was followed so far.
    mutating func page(
        _ page: ReadPage
    ) throws(Failure) -> (events: [RecordedEvent], isMore: Bool) {
        guard page.head >= handled else {
            throw Failure(
                .conflict,
                "the event log ends at sequence \(page.head), but \(handled) was read from it "
                    + "before: it has been replaced by an older copy")
        }
        let events = page.events.filter { $0.globalPosition > handled }
        handled = max(handled, page.through)
        return (events, handled < page.head)
    }
}
