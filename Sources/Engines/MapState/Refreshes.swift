// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel

/// All refreshes of a site, folded from the log; time is handed in.
public struct Refreshes: Sendable {
    /// The category of their streams.
    public static let category = "refresh"

    /// One refresh with its last run.
    public struct Refresh: Sendable {
        /// The definition.
        public var definition: RefreshDefinition
        /// When it was defined.
        public var addedAt: Timestamp
        /// The user that defined it; nil where none was recorded.
        public var actor: String?
        /// The last run; nil before the first.
        public var lastRun: Run?
        /// Runs that failed since the last one that did not.
        public var failuresInRow = 0
        /// The state of the source's files at the last run, or at the definition.
        var fingerprint: String?
    }

    /// The end of a run.
    public struct Run: Sendable {
        /// When it was recorded.
        public var at: Timestamp
        /// The event.
        public var outcome: RefreshEvent
    }

    /// By name; those that were removed are absent.
    public private(set) var all: [String: Refresh] = [:]

    /// Before the first event.
    public init() {}

    /// Folds the next record of the category; throws as `RefreshEvent.init(_:)`.
    public mutating func apply(_ record: RecordedEvent) throws(Failure) {
        let event = try RefreshEvent(record.event)
        switch event {
        case .added(let added):
            all[added.refresh.name] = Refresh(
                definition: added.refresh, addedAt: record.recordedAt,
                actor: record.event.metadata.actor, fingerprint: added.fingerprint)
        case .removed(let removed): all[removed.name] = nil
        case .succeeded(let run):
            note(
                run.name, run.fingerprint, Run(at: record.recordedAt, outcome: event),
                isFailure: false)
        case .failed(let run):
            note(
                run.name, run.fingerprint, Run(at: record.recordedAt, outcome: event),
                isFailure: true)
        }
    }

    private mutating func note(
        _ name: String, _ fingerprint: String?, _ run: Run, isFailure: Bool
    ) {
        guard var refresh = all[name] else { return }
        refresh.lastRun = run
        refresh.fingerprint = fingerprint
        refresh.failuresInRow = isFailure ? refresh.failuresInRow + 1 : 0
        all[name] = refresh
    }
}

extension Refreshes.Refresh {
    /// The longest delay after failures, in seconds: a day.
    private static let longestDelay: Int64 = 86_400
    /// The delay after the first failure of a refresh without an interval, in seconds.
    private static let usualDelay: Int64 = 60

    /// When the next run by time is due; nil where a run needs a change of the source or a command.
    ///
    /// An interval after the last one, and after failures twice as much for each, at most a day.
    public var dueAt: Timestamp? {
        let interval = definition.everySeconds.map { Int64($0) }
        guard let lastRun else { return interval == nil ? nil : addedAt }
        if failuresInRow == 0 { return interval.map { lastRun.at.advanced(bySeconds: $0) } }
        guard interval != nil || definition.watches == true else { return nil }
        let doublings = min(failuresInRow - (interval == nil ? 1 : 0), 20)
        let delay = (interval ?? Self.usualDelay) << Int64(doublings)
        return lastRun.at.advanced(
            bySeconds: max(interval ?? 0, min(delay, Self.longestDelay)))
    }

    /// Whether a run is due.
    ///
    /// - Parameter current: The state of the source's files; nil where there are none, or they are
    ///   being written.
    public func isDue(at now: Timestamp, fingerprint current: String?) -> Bool {
        if definition.watches == true, let current, current != fingerprint { return true }
        return dueAt.map { $0 <= now } ?? false
    }
}

extension Timestamp {
    fileprivate func advanced(bySeconds seconds: Int64) -> Timestamp {
        Timestamp(microseconds: microseconds + seconds * 1_000_000)
    }
}
