// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CoreMetrics
internal import Daemon
internal import Platform
internal import Recording
internal import Synchronization

/// What a gateway counts of its requests.
final class GatewayMetrics: Sendable {
    /// The classes of status: `2xx` to `5xx`.
    private static let statusClasses = 2...5

    /// The requests of one resource and class of status, a series only once there was one.
    private final class Tally: Sendable {
        let count = Atomic<Int>(0)
        let series = Mutex<CountedTotal?>(nil)
    }

    /// Where they are kept.
    let registry: MetricsRegistry
    /// Requests begun and not answered.
    let inFlight = Atomic<Int>(0)
    /// Connections closed because their request came too slowly.
    let slowArrivals: Counter
    /// Connections closed because their address had too many.
    let crowdedAddresses: Counter
    /// Requests refused because there were too many in a second.
    let rateLimited: Counter
    /// Failed logins.
    let failedLogins: Counter
    /// By label of the resource, then by class of status.
    private let requests = (0..<RouteTable.shared.labels.count * statusClasses.count).map { _ in
        Tally()
    }
    private let seconds: CoreMetrics.Timer
    private let shown: Shown

    /// What is set before a text is written.
    private struct Shown: Sendable {
        let inFlight: Meter
        let connections: Meter
        let followers: Meter
        let droppedLines: CountedTotal
        let lostAudit: CountedTotal
        let sequence: Meter
        let stale: Meter
        let identifies: (gateway: CountedTotal, worker: CountedTotal)
        let queries: (gateway: CountedTotal, worker: CountedTotal)
        let tiles: (gateway: CountedTotal, worker: CountedTotal)
        let tileBytes: Meter
        let routes: (gateway: CountedTotal, worker: CountedTotal)
        let residentBytes: Meter
    }

    init(_ registry: MetricsRegistry) {
        self.registry = registry
        seconds = registry.timer(
            "cairn_gateway_request_seconds",
            "From the whole head to the answer, which is then sent.")
        slowArrivals = registry.counter(
            "cairn_gateway_slow_arrivals_total",
            "Connections closed because a request came too slowly.")
        crowdedAddresses = registry.counter(
            "cairn_gateway_crowded_addresses_total",
            "Connections closed because their address had too many.")
        rateLimited = registry.counter(
            "cairn_gateway_rate_limited_total", "Requests refused by the rate limit.")
        failedLogins = registry.counter(
            "cairn_gateway_failed_logins_total", "Logins with a wrong name or password.")
        func byAnswerer(
            _ name: String, _ help: String
        ) -> (gateway: CountedTotal, worker: CountedTotal) {
            (
                registry.total(name, help, [("by", "gateway")]),
                registry.total(name, help, [("by", "worker")])
            )
        }
        shown = Shown(
            inFlight: registry.meter(
                "cairn_gateway_requests_in_flight", "Requests begun and not answered."),
            connections: registry.meter("cairn_gateway_connections", "Open connections."),
            followers: registry.meter(
                "cairn_gateway_followers", "Clients that follow an answer or a job."),
            droppedLines: registry.total(
                "cairn_gateway_dropped_log_lines_total", "Lines that the request log lacks."),
            lostAudit: registry.total(
                "cairn_gateway_audit_lost_total",
                "Questions that the audit could not keep, as on a full disk."),
            sequence: registry.meter(
                "cairn_gateway_known_sequence",
                "The sequence number up to which the site is known."),
            stale: registry.meter("cairn_gateway_stale", "1 while the log cannot be heard."),
            identifies: byAnswerer(
                "cairn_gateway_identify_total", "Identify requests, by the part that answered."),
            queries: byAnswerer("cairn_gateway_query_total", "Queries, by the part that answered."),
            tiles: byAnswerer(
                "cairn_gateway_tile_total",
                "Requests for tiles, by the part that had or made them."),
            tileBytes: registry.meter(
                "cairn_gateway_tile_bytes", "Memory of the tiles that are kept."),
            routes: byAnswerer(
                "cairn_gateway_route_total",
                "Routes, tables and nearest roads, by the part that answered."),
            residentBytes: registry.meter(
                "cairn_gateway_resident_bytes", "Memory that the process holds."))
    }

    /// Counts an answered request.
    func count(_ route: Route, status: Int, nanoseconds: Int64) {
        let statusClass = min(
            max(status / 100, Self.statusClasses.lowerBound), Self.statusClasses.upperBound)
        let place =
            route.labelIndex * Self.statusClasses.count + statusClass
            - Self.statusClasses.lowerBound
        requests[place].count.add(1, ordering: .relaxed)
        seconds.recordNanoseconds(nanoseconds)
    }

    /// Sets what the server and the site know.
    func show(
        connections: Int, followers: Int, droppedLines: Int, lostAudit: Int,
        tiles: TileCache.Figures, health: GatewayHealth
    ) {
        shown.inFlight.set(inFlight.load(ordering: .relaxed))
        shown.connections.set(connections)
        shown.followers.set(followers)
        shown.droppedLines.set(droppedLines)
        shown.lostAudit.set(lostAudit)
        shown.sequence.set(health.sequence)
        shown.stale.set(health.isStale ? 1 : 0)
        shown.identifies.gateway.set(health.answeredAtOnceCount)
        shown.identifies.worker.set(health.sentToWorkersCount)
        shown.queries.gateway.set(health.queriesAtOnceCount)
        shown.queries.worker.set(health.queriesSentCount)
        shown.tiles.gateway.set(tiles.keptCount)
        shown.tiles.worker.set(tiles.madeCount)
        shown.tileBytes.set(tiles.byteCount)
        shown.routes.gateway.set(health.routesAtOnceCount)
        shown.routes.worker.set(health.routesSentCount)
        shown.residentBytes.set(ProcessLimits.residentByteCount())
        showRequests()
    }

    private func showRequests() {
        for (place, tally) in requests.enumerated() {
            let count = tally.count.load(ordering: .relaxed)
            guard count > 0 else { continue }
            let (label, status) = place.quotientAndRemainder(
                dividingBy: Self.statusClasses.count)
            tally.series.withLock { series in
                let total =
                    series
                    ?? registry.total(
                        "cairn_gateway_requests_total",
                        """
                        Requests answered, by resource and class of status; of Esri's errors, the \
                        body's code.
                        """,
                        [
                            ("resource", RouteTable.shared.labels[label]),
                            ("status", "\(status + Self.statusClasses.lowerBound)xx"),
                        ])
                total.set(count)
                series = total
            }
        }
    }
}

/// Sees every request begin and end, on either way into the gateway.
struct RequestWatch: Sendable {
    var metrics = GatewayMetrics(MetricsRegistry())
    var log: RequestLog?
    var audit: AuditLog?

    /// A request begins; the nanoseconds to give back at its end.
    func began() -> Int64 {
        metrics.inFlight.add(1, ordering: .relaxed)
        return MonotonicClock.nanoseconds()
    }

    /// It is answered.
    func ended(
        _ start: Int64, _ route: Route, _ response: GatewayResponse, method: String,
        address: String, path: @autoclosure () -> [UInt8]
    ) {
        metrics.inFlight.subtract(1, ordering: .relaxed)
        let spent = MonotonicClock.nanoseconds() - start
        let status = response.failureCode ?? response.status
        metrics.count(route, status: status, nanoseconds: spent)
        guard log != nil || audit != nil else { return }
        let now = WallClock.microseconds()
        if let audit { response.audited?.keep(in: audit, at: now, response, address: address) }
        log?.note(
            RequestLog.Entry(
                at: now, address: address, user: response.user, method: method,
                path: path(), status: status,
                byteCount: response.file?.byteCount ?? response.body.count,
                microseconds: Int(spent / 1_000)))
    }
}
