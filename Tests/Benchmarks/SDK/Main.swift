// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CCurl
import Cairn
import Foundation
import Synchronization

/// The SDK beside bare libcurl: the same questions, the same bytes, the same number of clients.
///
/// `bench-sdk SERVICES MAP LOCATOR SECONDS ROUNDS` prints a JSON line for each case.
@main struct Main {
    static let clients = 8

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let services = URL(string: arguments[1]),
            let seconds = Double(arguments[4]), let rounds = Int(arguments[5])
        else {
            print("usage: bench-sdk SERVICES MAP LOCATOR SECONDS ROUNDS")
            exit(64)
        }
        let bench = Bench(
            services: services, map: arguments[2], locator: arguments[3], seconds: seconds,
            rounds: rounds)
        try await bench.run()
    }
}

/// A case: how the SDK asks, and the URL of the same question.
struct Case: Sendable {
    var name: String
    var ask: @Sendable () async throws -> Void
    var url: String
}

struct Bench: Sendable {
    var services: URL
    var map: String
    var locator: String
    var seconds: Double
    var rounds: Int

    func run() async throws {
        for each in try await cases() {
            try await each.ask()
            var (mine, bare): ([Double], [Double]) = ([], [])
            for _ in 0..<rounds {
                mine.append(await rate { try await each.ask() })
                bare.append(bareRate(each.url))
            }
            let ratio = median(mine) / median(bare)
            print(
                #"{"subject":"sdk","case":"\#(each.name)","clients":\#(Main.clients),"#
                    + #""requestsPerSecond":\#(Int(median(mine))),"#
                    + #""peer":"libcurl","peerRequestsPerSecond":\#(Int(median(bare))),"#
                    + #""ratio":\#((ratio * 100).rounded() / 100),"isMet":\#(ratio >= 0.8)}"#)
        }
    }

    private func cases() async throws -> [Case] {
        let service = services.appending(path: "\(map)/MapServer")
        let map = Map()
        let layer = ArcGISMapImageLayer(url: service)
        map.addOperationalLayer(layer)
        let view = MapViewProxy(map: map, size: CGSize(width: 800, height: 600))
        await view.setViewpointCenter(
            layer.fullExtent?.center ?? Point(latitude: 47, longitude: 8), scale: 1_000_000)
        let urls = RecordedURLs()
        CairnEnvironment.interceptors = [urls]
        let locator = LocatorTask(url: services.appending(path: "\(self.locator)/GeocodeServer"))
        let table = ServiceFeatureTable(url: service.appending(path: "0"))
        let parameters = QueryParameters()
        parameters.whereClause = "1=1"
        parameters.maxFeatures = 20
        let asks: [(String, @Sendable () async throws -> Void)] = [
            (
                "identify",
                {
                    _ = try await view.identifyLayers(
                        screenPoint: CGPoint(x: 400, y: 300), tolerance: 3)
                }
            ),
            ("geocode", { _ = try await locator.geocode(forSearchText: "Paris") }),
            ("query", { _ = try await table.queryFeatures(using: parameters) }),
        ]
        var cases: [Case] = []
        for (name, ask) in asks {
            // The second time descriptions are known: one request.
            try await ask()
            urls.clear()
            try await ask()
            guard let url = urls.all.last else { continue }
            cases.append(Case(name: name, ask: ask, url: url))
        }
        CairnEnvironment.interceptors = []
        return cases
    }

    private func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }

    /// Requests a second of as many tasks as there are clients.
    private func rate(_ ask: @escaping @Sendable () async throws -> Void) async -> Double {
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let count = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<Main.clients {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < end {
                        guard (try? await ask()) != nil else { return count }
                        count += 1
                    }
                    return count
                }
            }
            return await group.reduce(0, +)
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Requests a second of as many threads, each with one connection that it keeps.
    private func bareRate(_ url: String) -> Double {
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let total = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: Main.clients) { _ in
            guard let easy = unsafe curl_easy_init() else { return }
            defer { unsafe curl_easy_cleanup(easy) }
            unsafe cairn_curl_set_text(easy, CURLOPT_URL, url)
            unsafe cairn_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
            unsafe cairn_curl_set_text(easy, CURLOPT_ACCEPT_ENCODING, "")
            unsafe cairn_curl_set_callback(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in
                size * count
            }
            while ContinuousClock.now < end, unsafe curl_easy_perform(easy) == CURLE_OK {
                total.add(1, ordering: .relaxed)
            }
        }
        return Double(total.load(ordering: .relaxed))
            / ((ContinuousClock.now - start) / .seconds(1))
    }
}

/// The URLs that the SDK asks.
final class RecordedURLs: RequestInterceptor {
    private let urls = Mutex<[String]>([])

    var all: [String] { urls.withLock { $0 } }
    func clear() { urls.withLock { $0 = [] } }

    func intercept(_ request: Request, next: Next) async throws -> Response {
        urls.withLock { $0.append(request.url.absoluteString) }
        return try await next(request)
    }
}
