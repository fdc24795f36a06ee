// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Leaves a service alone that did not answer in time, and lets one caller try it after each rest.
///
/// The usual circuit breaker: closed, open, half-open. Time is handed in.
struct CircuitBreaker {
    /// How somebody may ask, to be handed back with what came of it.
    enum Passage: Equatable {
        /// As all others may.
        case free
        /// Alone, to see whether the service answers again.
        case trial
        /// Not now.
        case refused(Refusal)
    }

    /// Why somebody may not ask.
    enum Refusal: Equatable {
        /// The service is left alone, for so long in all.
        case resting(Duration)
        /// Somebody else is trying it.
        case onTrial
    }

    /// What came of asking.
    enum Outcome {
        /// Nobody waited long enough to tell.
        case unknown
        /// It had all the time that it may take, and did not answer.
        case late
        /// The service answered, whatever it said.
        case answered
    }

    private enum State {
        case closed
        case open(until: ContinuousClock.Instant, rest: Duration)
        /// Somebody tries; where nothing is heard of it, somebody else may after `until`.
        case halfOpen(until: ContinuousClock.Instant, rest: Duration)
    }

    /// How long a service is left alone before somebody may try it; doubled each time.
    static let firstRest = Duration.seconds(1)
    /// How long at most.
    static let longestRest = Duration.seconds(30)

    private var state = State.closed

    /// Whether the service may be asked as ever.
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// How a caller may ask who waits no longer than `patience`.
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

    /// Remembers what came of asking.
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
        // Asked before the rest began, or a trial that was given up.
        case (.late, _, _), (.unknown, _, .trial): break
        }
    }
}
