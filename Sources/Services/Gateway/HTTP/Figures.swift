// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import Synchronization

/// A number that many threads add to, without a lock.
final class Counter: Sendable {
    private let number = Atomic<Int>(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add(_ count: Int) { number.add(count, ordering: .relaxed) }
}

/// What a gateway counts of its requests.
final class Figures: Sendable {
    /// The upper ends of the classes of time, in microseconds.
    static let bounds = [
        50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
        1_000_000, 2_500_000, 5_000_000, 10_000_000,
    ]
    /// The classes of status: `2xx` to `5xx`.
    static let statusClasses = 2...5

    private let requests = (0..<RouteTable.shared.labels.count * statusClasses.count).map { _ in
        Counter()
    }
    private let times = (0...bounds.count).map { _ in Counter() }
    private let microseconds = Counter()
    /// Requests begun and not answered.
    let inFlight = Counter()
    /// Connections closed because their request came too slowly.
    let slowArrivals = Counter()
    /// Connections closed because their address had too many.
    let crowdedAddresses = Counter()
    /// Requests refused because there were too many in a second.
    let rateLimited = Counter()
    /// Failed logins.
    let failedLogins = Counter()

    func count(_ route: Route, status: Int, microseconds spent: Int) {
        let statusClass = min(
            max(status / 100, Self.statusClasses.lowerBound), Self.statusClasses.upperBound)
        requests[
            route.labelIndex * Self.statusClasses.count + statusClass
                - Self.statusClasses.lowerBound
        ]
        .add(1)
        var place = 0
        while place < Self.bounds.count, spent > Self.bounds[place] { place += 1 }
        times[place].add(1)
        microseconds.add(spent)
    }

    /// What only the server and the site know.
    struct Surroundings {
        var openConnections = 0
        var followers = 0
        var droppedLines = 0
        var health: GatewayHealth
    }

    /// Prometheus' text form, version 0.0.4.
    func text(_ surroundings: Surroundings) -> [UInt8] {
        var text = ""
        func metric(_ name: String, _ type: String, _ help: String, _ values: [(String, String)]) {
            text += "# HELP cairn_gateway_\(name) \(help)\n# TYPE cairn_gateway_\(name) \(type)\n"
            for (suffix, value) in values { text += "cairn_gateway_\(name)\(suffix) \(value)\n" }
        }
        func single(_ name: String, _ type: String, _ help: String, _ value: Int) {
            metric(name, type, help, [("", "\(value)")])
        }
        var counts: [(String, String)] = []
        for (index, label) in RouteTable.shared.labels.enumerated() {
            for statusClass in Self.statusClasses {
                let count = requests[
                    index * Self.statusClasses.count + statusClass
                        - Self.statusClasses.lowerBound
                ].value
                if count > 0 {
                    counts.append(
                        ("{resource=\"\(label)\",status=\"\(statusClass)xx\"}", "\(count)"))
                }
            }
        }
        metric(
            "requests_total", "counter",
            "Requests answered, by resource and class of status; of Esri's errors, the body's code.",
            counts)
        var (buckets, sum) = ([(String, String)](), 0)
        for (place, counter) in times.enumerated() {
            sum += counter.value
            let bound =
                place < Self.bounds.count ? "\(Double(Self.bounds[place]) / 1_000_000)" : "+Inf"
            buckets.append(("_bucket{le=\"\(bound)\"}", "\(sum)"))
        }
        buckets.append(("_sum", "\(Double(microseconds.value) / 1_000_000)"))
        buckets.append(("_count", "\(sum)"))
        metric(
            "request_seconds", "histogram",
            "From the whole head to the answer, which is then sent.",
            buckets)
        let health = surroundings.health
        single("requests_in_flight", "gauge", "Requests begun and not answered.", inFlight.value)
        single("connections", "gauge", "Open connections.", surroundings.openConnections)
        single(
            "followers", "gauge", "Clients that follow an answer or a job.", surroundings.followers)
        single(
            "slow_arrivals_total", "counter",
            "Connections closed because a request came too slowly.",
            slowArrivals.value)
        single(
            "crowded_addresses_total", "counter",
            "Connections closed because their address had too many.", crowdedAddresses.value)
        single(
            "rate_limited_total", "counter", "Requests refused by the rate limit.",
            rateLimited.value)
        single(
            "failed_logins_total", "counter", "Logins with a wrong name or password.",
            failedLogins.value)
        single(
            "dropped_log_lines_total", "counter", "Lines that the request log lacks.",
            surroundings.droppedLines)
        single(
            "known_sequence", "gauge", "The sequence number up to which the site is known.",
            Int(health.sequence))
        single("stale", "gauge", "1 while the log cannot be heard.", health.isStale ? 1 : 0)
        metric(
            "identify_total", "counter", "Identify requests, by who answered.",
            [
                ("{by=\"gateway\"}", "\(health.answeredAtOnceCount)"),
                ("{by=\"worker\"}", "\(health.sentToWorkersCount)"),
            ])
        metric(
            "query_total", "counter", "Queries, by who answered.",
            [
                ("{by=\"gateway\"}", "\(health.queriesAtOnceCount)"),
                ("{by=\"worker\"}", "\(health.queriesSentCount)"),
            ])
        single(
            "resident_bytes", "gauge", "Memory that the process holds.",
            ProcessLimits.residentByteCount())
        return Array(text.utf8)
    }
}

/// Sees every request begin and end, on either way into the gateway.
struct RequestWatch: Sendable {
    let figures = Figures()
    var log: RequestLog?

    /// A request begins; the nanoseconds to give back at its end.
    func began() -> Int64 {
        figures.inFlight.add(1)
        return MonotonicClock.nanoseconds()
    }

    /// It is answered.
    func ended(
        _ start: Int64, _ route: Route, _ response: GatewayResponse, method: String,
        address: String, path: @autoclosure () -> [UInt8]
    ) {
        figures.inFlight.add(-1)
        let spent = Int((MonotonicClock.nanoseconds() - start) / 1_000)
        let status = response.failureCode ?? response.status
        figures.count(route, status: status, microseconds: spent)
        log?.note(
            RequestLog.Entry(
                at: WallClock.microseconds(), address: address, user: response.user, method: method,
                path: path(), status: status,
                byteCount: response.file.map { Int($0.byteCount) } ?? response.body.count,
                microseconds: spent))
    }
}
