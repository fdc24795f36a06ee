// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import Synchronization
import TestKit
import Testing

@testable import Remote

private typealias Instant = ContinuousClock.Instant

@Suite(.timeLimit(.minutes(5))) struct CircuitBreakerTests {
    private static let rest = CircuitBreaker.firstRest
    private static let patience = Duration.seconds(5)
    private let start = Instant.now

    @Test func `one caller tries a service after its rest, and the others wait for the outcome`() {
        var breaker = CircuitBreaker()
        #expect(breaker.passage(at: start, patience: Self.patience) == .free)
        breaker.note(.late, of: .free, at: start)

        let before = start + .milliseconds(999)
        #expect(
            breaker.passage(at: before, patience: Self.patience) == .refused(.resting(Self.rest)))
        let after = start + Self.rest
        #expect(breaker.passage(at: after, patience: Self.patience) == .trial)
        for _ in 0..<10 {
            #expect(breaker.passage(at: after, patience: Self.patience) == .refused(.onTrial))
        }
        breaker.note(.answered, of: .trial, at: after)
        #expect(breaker.isClosed)
    }

    @Test func `a rest is doubled by each trial that fails, and by nothing else`() {
        var (breaker, now) = (CircuitBreaker(), start)
        // Ten were on their way when the first was too late.
        for _ in 0..<10 { breaker.note(.late, of: .free, at: now) }

        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            #expect(
                breaker.passage(at: now, patience: Self.patience)
                    == .refused(.resting(.seconds(seconds))))
            now += .seconds(seconds)
            #expect(breaker.passage(at: now, patience: Self.patience) == .trial)
            breaker.note(.late, of: .free, at: now)
            breaker.note(.late, of: .trial, at: now)
        }
    }

    @Test func `a trial that was given up or forgotten is another's`() {
        var breaker = CircuitBreaker()
        breaker.note(.late, of: .free, at: start)
        var now = start + Self.rest
        #expect(breaker.passage(at: now, patience: Self.patience) == .trial)
        breaker.note(.unknown, of: .trial, at: now)

        #expect(breaker.passage(at: now, patience: Self.patience) == .trial)
        now += Self.patience * 2
        #expect(breaker.passage(at: now, patience: Self.patience) == .trial)
    }

    /// Whatever happens in which order.
    @Test func `there is one trial at a time, and none before the rest is over`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var (breaker, now) = (CircuitBreaker(), start)
            var free = 0
            var isTried = false
            var isOpen = false
            var resting = Duration.zero
            var restsUntil = now
            for _ in 0..<200 {
                now += .milliseconds(Int.random(in: 0...1_500, using: &random))
                switch breaker.passage(at: now, patience: .seconds(10_000)) {
                case .free:
                    #expect(!isOpen, "seed \(seed)")
                    free += 1
                case .trial:
                    #expect(isOpen && !isTried && now >= restsUntil, "seed \(seed)")
                    isTried = true
                case .refused: #expect(isOpen && (isTried || now < restsUntil), "seed \(seed)")
                }
                let outcome = [CircuitBreaker.Outcome.unknown, .late, .answered].randomElement(
                    using: &random)
                guard Bool.random(using: &random), let outcome else { continue }
                let isTrial = isTried && Bool.random(using: &random)
                guard isTrial || free > 0 else { continue }
                breaker.note(outcome, of: isTrial ? .trial : .free, at: now)
                if isTrial { isTried = false } else { free -= 1 }
                switch outcome {
                case .unknown: if isTrial { restsUntil = now }
                case .answered: (isOpen, isTried) = (false, false)
                case .late:
                    guard isTrial || !isOpen else { break }
                    resting = isOpen ? min(resting * 2, .seconds(30)) : Self.rest
                    (isOpen, restsUntil) = (true, now + resting)
                }
            }
        }
    }

    @Test func `one of many requests is sent to a service after its rest`() throws {
        let time = Mutex(Instant.now)
        let fixture = try RemoteFixture(
            askTimeout: .milliseconds(300), now: { time.withLock { $0 } })
        let question = try fixture.question(try fixture.wms(0, "/half"))
        func ask(_ count: Int) -> RemoteInquiry<RemoteAnswer> {
            fixture.services.ask([RemoteQuestion](repeating: question, count: count))
        }
        func message(_ inquiry: RemoteInquiry<RemoteAnswer>, _ index: Int = 0) -> String {
            if case .failure(let failure) = inquiry.answer(at: index) {
                failure.message
            } else {
                ""
            }
        }
        // Concurrent requests all learn it at once.
        let first = (0..<4).map { _ in ask(1) }
        #expect(!first.contains { message($0).contains("not responding") })

        for turn in 1...2 {
            #expect(message(ask(1)).contains("requests are paused"))
            time.withLock { $0 += .seconds(turn) }
            // The trial request is for two layers.
            let trial = ask(2)
            let others = (0..<7).map { _ in ask(1) }
            // Being tried again, or, where that is over already, left alone again.
            #expect(others.allSatisfy { message($0).contains("not responding") })
            #expect(!message(trial).contains("not responding"))
            #expect(!message(trial, 1).contains("not responding"))
        }
    }
}
