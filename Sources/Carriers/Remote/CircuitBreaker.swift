// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Leaves a service alone that did not answer in time, and lets one caller try it after each rest.
///
/// The usual circuit breaker: closed, open, half-open. Time is handed in.
struct CircuitBreaker {
    /// A permission to call the service, handed back with the outcome.
    enum Passage: Equatable {
        /// Closed circuit: an ordinary call.
        case free
        /// Alone, to see whether the service answers again.
        case trial
        /// Not now.
        case refused(Refusal)
    }

    /// The reason a call is refused.
    enum Refusal: Equatable {
        /// The service is left alone, for so long in all.
        case resting(Duration)
        /// A probe is in flight.
        case onTrial
    }

    /// The outcome of a call.
    enum Outcome {
        /// The caller's wait was too short to judge.
        case unknown
        /// No answer within the service's full timeout.
        case late
        /// The service answered, with whatever status.
        case answered
    }

    private enum State {
        case closed
        case open(until: ContinuousClock.Instant, rest: Duration)
        /// Half open: a probe is in flight; without an outcome, another may start after `until`.
        case halfOpen(until: ContinuousClock.Instant, rest: Duration)
    }

    /// First rest of an open circuit before a probe; doubled each time.
    static let firstRest = Duration.seconds(1)
    /// Longest rest.
    static let longestRest = Duration.seconds(30)

    private var state = State.closed

    /// Whether the circuit is closed.
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// The passage for a caller that waits no longer than `patience`.
    mutating func passage(
        at now: ContinuousClock.Instant, patience: Duration
    ) -> Passage {
        switch state {
        case .closed: return .free
        case .open(let until, let rest) where now < until: return .refused(.resting(rest))
        case .halfOpen(let until, _) where now < until: return .refused(.onTrial)
        case .open(_, let rest), .halfOpen(_, let rest):
            state = .halfOpen(until: now + patience * 2, rest: rest)
            return .trial
        }
    }

    /// Records the outcome of a call.
    mutating func note(
        _ outcome: Outcome, of passage: Passage, at now: ContinuousClock.Instant
    ) {
        switch (outcome, state, passage) {
        case (_, _, .refused), (.unknown, _, .free): break
        case (.answered, _, _): state = .closed
        case (.late, .closed, _): state = .open(until: now + Self.firstRest, rest: Self.firstRest)
        case (.late, .halfOpen(_, let rest), .trial):
            let longer = min(rest * 2, Self.longestRest)
            state = .open(until: now + longer, rest: longer)
        // The next may try at once.
        case (.unknown, .halfOpen(_, let rest), .trial): state = .open(until: now, rest: rest)
        // The call began before the rest, or is an abandoned probe.
        case (.late, _, _), (.unknown, _, .trial): break
        }
    }
}
