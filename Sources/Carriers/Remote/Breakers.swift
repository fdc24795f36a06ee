// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Curl
internal import Synchronization

/// The services that do not answer in time, each with its circuit breaker.
final class Breakers: Sendable {
    /// Most services tracked; beyond it all are dropped.
    private static let limit = 1_000

    private let services = Mutex<[String: CircuitBreaker]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    /// The unit of failure: the address without parameters.
    static func service(_ url: String) -> String { String(url.prefix { $0 != "?" }) }

    /// The passage to a service for a caller that waits no longer than `patience`.
    func passage(_ service: String, patience: Duration) -> CircuitBreaker.Passage {
        services.withLock { $0[service]?.passage(at: now(), patience: patience) ?? .free }
    }

    /// Records the outcomes of requests that were sent together, with their timeout and duration.
    func note(
        _ service: String, _ passage: CircuitBreaker.Passage,
        _ results: [Result<WebResponse, WebError>], _ timeout: Duration, after elapsed: Duration
    ) {
        let outcomes = results.map { Self.outcome($0, timeout, after: elapsed) }
        // One late answer outweighs others that were in time.
        let outcome = [.late, .answered].first { outcomes.contains($0) } ?? .unknown
        services.withLock { services in
            var breaker = services[service] ?? CircuitBreaker()
            breaker.note(outcome, of: passage, at: now())
            if services.count >= Self.limit { services = [:] }
            services[service] = breaker.isClosed ? nil : breaker
        }
    }

    private static func outcome(
        _ result: Result<WebResponse, WebError>, _ timeout: Duration, after elapsed: Duration
    ) -> CircuitBreaker.Outcome {
        guard case .failure(let error) = result else { return .answered }
        return switch error.code {
        // A timeout of the caller's own deadline proves nothing.
        case .timedOut: elapsed >= timeout ? .late : .unknown
        case .cancelled, .busy: .unknown
        default: .answered
        }
    }
}
