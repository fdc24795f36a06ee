// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The signs of life of one running attempt.
///
/// There is no limit on how long it runs: only a counter that stands still tells a hanging
/// operation from a long one. Times are nanoseconds of a clock that never goes back.
public struct AttemptWatch: Hashable, Sendable {
    /// What should be done about the attempt.
    public enum Verdict: Hashable, Sendable {
        /// Nothing.
        case fine
        /// Tell its worker to stop it: it shows no sign of life.
        case cancel
        /// End its worker: it was told to stop and did not.
        case kill
    }

    /// How far it says it is, 0…1.
    public private(set) var fraction = 0.0
    private var counter = -1
    private var counterSince: Int64
    /// When it was told to stop.
    public private(set) var cancelledAt: Int64?
    private var isKilled = false

    /// Begins to watch.
    public init(since: Int64) { counterSince = since }

    /// Takes a beat's entry: the operation's own counter, and how far it is.
    public mutating func beat(counter: Int, fraction: Double, at now: Int64) {
        if self.counter != counter {
            self.counter = counter
            counterSince = now
        }
        self.fraction = fraction
    }

    /// It is told to stop; the first time counts.
    public mutating func cancel(at now: Int64) { cancelledAt = cancelledAt ?? now }

    /// What should be done now; `kill` is said once.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - stall: How long its counter may stand still.
    ///   - grace: How long it may go on after it was told to stop.
    public mutating func verdict(at now: Int64, stall: Int64, grace: Int64) -> Verdict {
        guard let cancelledAt else { return now - counterSince > stall ? .cancel : .fine }
        guard now - cancelledAt > grace, !isKilled else { return .fine }
        isKilled = true
        return .kill
    }
}
