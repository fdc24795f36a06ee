// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Curl
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(2))) struct CurlTests {
    let server: PlayedServer
    let client = WebClient()

    init() throws { server = try PlayedServer() }

    private func ask(
        _ path: String, timeout: Duration = .seconds(40), limit: Int = 1 << 20,
        isConfidential: Bool = false, form: String? = nil
    ) -> Result<WebResponse, WebError> {
        client.perform([
            WebRequest(
                url: server.url + path, form: form, isConfidential: isConfidential,
                timeout: timeout, byteLimit: limit)
        ])[0]
    }

    private func error(_ result: Result<WebResponse, WebError>) -> WebError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test func `an answer comes with its type, a form is posted`() throws {
        let got = try ask("/ok?a=1").get()
        #expect(got.status == 200 && got.contentType == "application/json")
        #expect(String(decoding: got.body, as: UTF8.self) == #"{"q": {"a": "1"}, "form": {}}"#)
        let posted = try ask("/ok", form: "b=2").get()
        #expect(String(decoding: posted.body, as: UTF8.self) == #"{"q": {}, "form": {"b": "2"}}"#)
    }

    @Test(.slow) func `a server's misbehaviour is one error, and the next request is answered`()
        throws
    {
        #expect(error(ask("/hang", timeout: .milliseconds(300))) == .timedOut)
        #expect(error(ask("/drip", timeout: .milliseconds(300))) == .timedOut)
        #expect(error(ask("/huge")) == .tooLarge)
        #expect(error(ask("/headers")) == .tooLarge)
        #expect(error(ask("/bomb")) == .tooLarge)
        #expect(error(ask("/break")) == .unreachable)
        #expect(error(ask("/loop")) == .refused)
        #expect(error(ask("/file")) == .refused)
        #expect(error(ask("/denied")) == .denied)
        #expect(error(ask("/nowhere")) == .refused)
        #expect(try ask("/ok").get().status == 200)
    }

    @Test func `urls of other kinds are not asked`() {
        for url in [
            "file:///etc/passwd", "ftp://127.0.0.1/", "http://user:pw@127.0.0.1/", "gopher://x",
            "http://", "http://127.0.0.1/a b", "dict://127.0.0.1:1/",
        ] {
            let result = client.perform([
                WebRequest(url: url, timeout: .seconds(5), byteLimit: 100)
            ])[0]
            #expect(error(result) == .invalidURL, "\(url)")
        }
        let closed = client.perform([
            WebRequest(url: "http://127.0.0.1:1/", timeout: .seconds(30), byteLimit: 100)
        ])[0]
        #expect(error(closed) == .unreachable)
    }

    @Test(.slow)
    func `a request that failed for a passing reason is sent again, three times at most`()
        throws
    {
        #expect(try ask("/flaky/1").get().status == 200)
        #expect(try server.log().count { $0.contains("/flaky/1") } == 3)
        _ = ask("/break")
        #expect(try server.log().count { $0.contains("/break") } == WebClient.attempts)
        _ = ask("/denied")
        #expect(try server.log().count { $0.contains("/denied") } == 1)
    }

    @Test func `redirections are followed, but never to another server with a secret`() throws {
        let moved = try ask("/moved", form: "k=v").get()
        #expect(String(decoding: moved.body, as: UTF8.self).contains(#""form": {"k": "v"}"#))
        let anywhere = WebClient(try InternalServers(only: ["127.0.0.1", "localhost"]))
        func askAway(isConfidential: Bool) -> Result<WebResponse, WebError> {
            anywhere.perform([
                WebRequest(
                    url: server.url + "/away", isConfidential: isConfidential,
                    timeout: .seconds(40), byteLimit: 1 << 20)
            ])[0]
        }
        #expect(try askAway(isConfidential: false).get().status == 200)
        #expect(error(askAway(isConfidential: true)) == .refused)
        #expect(try ask("/moved", isConfidential: true).get().status == 200)
        #expect(try server.log().count { $0.contains("/loop") } <= WebClient.redirections + 1)
    }

    @Test(.slow) func `many requests are sent at once, and cancelled at once`() throws {
        let requests = (0..<16).map { number in
            WebRequest(
                url: server.url + (number % 4 == 0 ? "/hang" : "/ok?n=\(number)"),
                timeout: .seconds(5), byteLimit: 1000)
        }
        let results = client.perform(requests)
        for (number, result) in results.enumerated() {
            #expect(error(result) == (number % 4 == 0 ? .timedOut : nil))
        }

        let patient = WebRequest(
            url: server.url + "/hang", timeout: .seconds(100), byteLimit: 1000)
        let polls = Atomic<Int>(0)
        let cancelled = client.perform([patient, patient]) {
            polls.add(1, ordering: .relaxed).newValue > 5
        }
        #expect(cancelled.map(error) == [.cancelled, .cancelled])
        let late = client.perform([patient], until: .now + .milliseconds(100))
        #expect(late.map(error) == [.timedOut])
    }

    @Test(.slow) func `one server has a bounded number of requests at once`() async throws {
        let limit = WebClient.outstandingLimitPerServer
        func request(_ path: String, _ timeout: Duration) -> WebRequest {
            WebRequest(url: server.url + path, timeout: timeout, byteLimit: 1000)
        }
        let patient = (0..<limit + 4).map { request("/gate?n=\($0)", .seconds(100)) }
        let other = try PlayedServer()
        let elsewhere = WebRequest(url: other.url + "/ok", timeout: .seconds(100), byteLimit: 1000)

        async let results = answers(patient)
        try await waitUntil("the server has \(limit) requests") { try server.log().count >= limit }
        // All places are taken: what finds none in its time was not sent.
        #expect(error(client.perform([request("/ok", .milliseconds(300))])[0]) == .busy)
        #expect(error(client.perform([elsewhere])[0]) == nil)
        #expect(try server.log().allSatisfy { !$0.contains("/ok") })
        try server.openGate()

        #expect(await results.allSatisfy { error($0) == nil })
        #expect(try server.gatePeak() == limit)
    }

    /// Asks without a thread that waits.
    private func answers(_ requests: [WebRequest]) async -> [Result<WebResponse, WebError>] {
        await withCheckedContinuation { continuation in
            client.start(requests) { continuation.resume(returning: $0) }
        }
    }

    @Test func `requests beyond the bound are refused, and a client that ends cancels its own`()
        async
    {
        let request = WebRequest(url: server.url + "/hang", timeout: .seconds(100), byteLimit: 1000)
        let flood = client.perform(
            [WebRequest](repeating: request, count: WebClient.heldLimit + 1))
        #expect(flood.allSatisfy { error($0) == .busy })

        let results: [Result<WebResponse, WebError>] = await withCheckedContinuation {
            continuation in
            WebClient().start([request]) { continuation.resume(returning: $0) }
        }
        #expect(results.map(error) == [.cancelled])
    }
}
