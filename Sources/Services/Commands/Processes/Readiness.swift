// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Platform
internal import Site

/// Readiness of a started site: its log has a head, its workers are registered with the supervisor,
/// and its gateway is healthy.
struct Readiness {
    let session: Session
    let shape: SiteShape

    private static let limit: Duration = .seconds(60)

    /// Returns when everything answers or the processes are being stopped; throws `Failure`
    /// (`unavailable`) after a minute, naming the component that does not answer.
    func wait(for processes: SiteProcesses) async throws {
        let start = ContinuousClock.now
        var missing = "the log"
        while !processes.isStopping {
            let next = await firstMissing()
            guard let next else { return }
            missing = next
            if ContinuousClock.now - start > Self.limit {
                throw Failure(
                    .unavailable,
                    "\(missing) does not answer after a minute: see the logs in "
                        + session.site.runDirectory)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// A component that does not answer yet; nil when all do.
    private func firstMissing() async -> String? {
        guard await answers({ _ = try await session.head() }) else { return "the log" }
        guard await answers({ _ = try await session.maps() }) else { return "the map state" }
        var workers: [WorkerDescription] = []
        guard await answers({ workers = try await session.client().workers() }) else {
            return "the supervisor"
        }
        for pool in WorkerPool.allCases
        where workers.count(where: { $0.pool == pool }) < shape.count(of: pool) {
            return "a worker of the pool '\(pool)'"
        }
        return isGatewayHealthy ? nil : "the gateway"
    }

    /// Over TLS the gateway is not asked: it listens once it can serve, and the log has answered.
    private var isGatewayHealthy: Bool {
        let port = shape.gatewayPort
        return shape.isSecure
            ? port.accepts(milliseconds: 1000)
            : port.httpStatus(path: "/healthz", milliseconds: 1000) == 200
    }

    // Never inlined: the optimiser of Swift 6.3.1 crashes while splitting the coroutine of a caller
    // that catches several errors across `await`.
    @inline(never)
    private func answers(_ question: () async throws -> Void) async -> Bool {
        do {
            try await question()
            return true
        } catch {
            return false
        }
    }
}
