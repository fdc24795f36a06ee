// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Liveness of one running attempt.
///
/// Its duration is unlimited: only a stalled counter distinguishes a hanging operation from a long
/// one. Times are monotonic, in nanoseconds.
public struct AttemptWatch: Hashable, Sendable {
    /// The action that an attempt's liveness calls for.
    public enum Verdict: Hashable, Sendable {
        /// None.
        case fine
        /// Cancel the attempt: it has stalled.
        case cancel
        /// Kill its worker: the attempt was cancelled and did not stop.
        case kill
    }

    /// Its reported progress, 0…1.
    public private(set) var fraction = 0.0
    private var counter = -1
    private var counterSince: Int64
    /// When it was cancelled; nil before.
    public private(set) var cancelledAt: Int64?
    private var isKilled = false

    /// Starts to watch.
    public init(since: Int64) { counterSince = since }

    /// Records a heartbeat: the operation's own counter, and its progress.
    public mutating func beat(counter: Int, fraction: Double, at now: Int64) {
        if self.counter != counter {
            self.counter = counter
            counterSince = now
        }
        self.fraction = fraction
    }

    /// Records the first cancel.
    public mutating func cancel(at now: Int64) { cancelledAt = cancelledAt ?? now }

    /// The action called for now; `kill` is returned once.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - stall: How long its counter may stand still.
    ///   - grace: Time limit between cancel and stop.
    public mutating func verdict(at now: Int64, stall: Int64, grace: Int64) -> Verdict {
        guard let cancelledAt else { return now - counterSince > stall ? .cancel : .fine }
        guard now - cancelledAt > grace, !isKilled else { return .fine }
        isKilled = true
        return .kill
    }
}
