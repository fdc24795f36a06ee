// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// Decides how a subscriber treats an incoming message: pure, no clock, no socket.
///
/// Published messages may be lost, duplicated, late or out of order; log pages may not. So a
/// message is handled only when it proves that there is no gap before it, and everything else is
/// read. The only state is the position up to which everything has been handled.
struct LogSplice: Hashable {
    /// The extent of the subscription.
    enum Scope: Hashable {
        /// Every event of the log.
        case all
        /// The events of one category.
        case category(String)
    }

    /// The next step.
    enum Decision: Hashable {
        /// An old message: drop it.
        case pass
        /// The next event: handle it.
        case handle
        /// A gap: read from `handled`.
        case read
        /// Another log than the one followed so far: give up.
        case stop
    }

    /// The failure of a follower at another incarnation.
    static let replaced = Failure(
        .conflict,
        "the event log has been replaced by a backup: earlier reads no longer match its content")

    let scope: Scope
    /// Every event of the scope up to this global position has been delivered, and none after it.
    private(set) var handled: Int64
    /// The incarnation of the followed log; nil until it is known.
    private(set) var incarnation: UUID?

    init(scope: Scope, after position: Int64, of incarnation: UUID? = nil) {
        self.scope = scope
        handled = position
        self.incarnation = incarnation
    }

    /// Decides about published consecutive events of one category; `previousInCategory` is the
    /// global position of the one before the first.
    ///
    /// On `handle`, those after ``handled`` are next.
    mutating func events(
        from first: Int64, through last: Int64, previousInCategory: Int64
    ) -> Decision {
        guard last > handled else { return .pass }
        let previous = scope == .all ? first - 1 : previousInCategory
        guard previous <= handled else { return .read }
        handled = last
        return .handle
    }

    /// Decides about a published length of the log.
    ///
    /// A log shorter than ``handled`` is read too: the page shows whether the message was merely
    /// late.
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

    /// Accepts a page read after `handled`.
    ///
    /// Returns its new events, and whether there is more to read. Throws `conflict` when the log
    /// ends before ``handled``: it is another log than the one followed so far.
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
