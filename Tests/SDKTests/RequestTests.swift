// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// What servers do wrong, and what it becomes.
@Suite struct RequestTests {
    private let server = StubServer()
    private var table: ServiceFeatureTable {
        ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/0"))
    }

    private static let half = #"{"name":"City","fi"#

    @Test func `an error in an answer of status 200 is the server's`() async throws {
        server.on(
            "/City/FeatureServer/0",
            .error(400, "bad request", details: ["'where' is no clause", "x"]))
        let error = await #expect(throws: ServiceError.self) { try await table.load() }
        #expect(error?.code == 400)
        #expect(error?.details == ["'where' is no clause", "x"])
        #expect(error?.url?.path.hasSuffix("City/FeatureServer/0") == true)
        let bridged = try #require(error) as NSError
        #expect(bridged.code == 400 && bridged.domain == "Cairn.ServiceError")
        #expect(bridged.localizedDescription.contains("bad request"))
    }

    @Test(arguments: [
        ("<html><body>Sign in</body></html>", "<html>"), ("", "nothing"), (half, "no whole JSON"),
    ])
    func `what is no JSON is an invalid answer`(_ text: String, _ found: String) async throws {
        server.on("/City/FeatureServer/0", .bytes(Data(text.utf8), type: "text/html"))
        let error = await #expect(throws: TransportError.self) { try await table.load() }
        #expect(error?.kind == .invalidAnswer)
        #expect(error?.description.contains(found) == true, "\(error?.description ?? "")")
    }

    @Test func `a status without JSON is an error with that code`() async throws {
        server.on(
            "/City/FeatureServer/0", .bytes(Data("no".utf8), type: "text/plain", status: 404))
        let error = await #expect(throws: ServiceError.self) { try await table.load() }
        #expect(error?.code == 404)
    }

    @Test func `an answer that breaks off is asked again, three times in all`() async throws {
        server.on("/City/FeatureServer/0", StubAnswer.json(Sample.layer(0, "a")).cut(after: 20))
        let error = await #expect(throws: TransportError.self) { try await table.load() }
        #expect(error?.kind == .unreachable)
        #expect(server.requests.count == 3)
        server.on(
            "/City/FeatureServer/0",
            inTurn: [
                .json("{}", status: 503), .unreachable, .json(Sample.layer(0, "a")),
            ])
        let later = table
        try await later.load()
        #expect(later.tableName == "a")
    }

    @Test func `an answer without end is given up where memory's bound is`() async throws {
        server.on(
            "/City/FeatureServer/0",
            .bytes(
                Data(repeating: UInt8(ascii: " "), count: CairnEnvironment.memoryLimit + 1),
                type: "application/json"))
        let error = await #expect(throws: TransportError.self) { try await table.load() }
        #expect(error?.kind == .tooLarge)
        #expect(error?.description.contains("\(CairnEnvironment.memoryLimit)") == true)
        #expect(server.requests.count == 1)
    }

    @Test func `an edit is sent once, and stays pending when its answer is lost`() async throws {
        server.on("/City/FeatureServer/0", json: Sample.layer(0, "a"))
        server.on("/City/FeatureServer/0/applyEdits", .unreachable)
        let table = table
        let feature = table.makeFeature(attributes: ["owner": "Ada"])
        try await table.add(feature)
        await #expect(throws: TransportError.self) { try await table.applyEdits() }
        #expect(server.requests("/City/FeatureServer/0/applyEdits").count == 1)
        #expect(table.hasLocalEdits)
        server.on(
            "/City/FeatureServer/0/applyEdits",
            json: #"{"addResults":[{"objectId":12,"success":true}]}"#)
        let results = try await table.applyEdits()
        #expect(results.map(\.objectID) == [12])
        #expect(feature.attributes["OBJECTID"] as? Int64 == 12)
        #expect(!table.hasLocalEdits)
    }

    @Test func `a long question is a form, a short one is not`() async throws {
        server.on("/City/FeatureServer/0", json: Sample.layer(0, "a"))
        server.on("/City/FeatureServer/0/query", json: #"{"count":5}"#)
        let parameters = QueryParameters()
        parameters.whereClause = "owner = 'é & ü'"
        #expect(try await table.queryFeatureCount(using: parameters) == 5)
        #expect(server.requests.last?.method == "GET")
        #expect(server.requests.last?.parameters["where"] == "owner = 'é & ü'")
        parameters.whereClause =
            "owner IN (" + (0..<500).map { "'n\($0)'" }.joined(separator: ",") + ")"
        #expect(try await table.queryFeatureCount(using: parameters) == 5)
        #expect(server.requests.last?.method == "POST")
        #expect(server.requests.last?.parameters["where"] == parameters.whereClause)
    }

    @Test func `all pages of a query are read`() async throws {
        server.on("/City/FeatureServer/0", json: Sample.layer(0, "a"))
        server.on("/City/FeatureServer/0/query") { request in
            let offset = Int(request.parameters["resultOffset"] ?? "0") ?? 0
            let features = (offset..<min(offset + 2, 5)).map {
                #"{"attributes":{"OBJECTID":\#($0)}}"#
            }
            return .json(
                #"""
                {"exceededTransferLimit":\#(offset + 2 < 5),"features":
                [\#(features.joined(separator: ","))]}
                """#)
        }
        let all = try await table.queryFeatures(using: QueryParameters())
        #expect(all.features().map { $0.attributes["OBJECTID"] as? Int64 } == [0, 1, 2, 3, 4])
        let few = QueryParameters()
        few.maxFeatures = 3
        #expect(try await table.queryFeatures(using: few).features().count == 3)
    }

    @Test func `eight requests at once go to a server, the others wait`() async throws {
        let gate = StubGate()
        server.on("/City/FeatureServer/*", StubAnswer.json(Sample.layer(0, "a")).held(by: gate))
        let tables = (0..<20).map {
            ServiceFeatureTable(url: server.url.appending(path: "City/FeatureServer/\($0)"))
        }
        let loading = Task { await tables.load() }
        while gate.arrivedCount < 8 { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(gate.arrivedCount == 8)
        gate.open()
        await loading.value
        #expect(tables.allSatisfy { $0.loadStatus == .loaded })
    }

    // MARK: Credentials

    private final class Handler: ArcGISAuthenticationChallengeHandler {
        let asked = StubGate()
        let disposition: @Sendable () -> ArcGISAuthenticationChallenge.Disposition

        init(_ disposition: @escaping @Sendable () -> ArcGISAuthenticationChallenge.Disposition) {
            self.disposition = disposition
            asked.open()
        }

        func handleArcGISAuthenticationChallenge(
            _ challenge: ArcGISAuthenticationChallenge
        ) async throws -> ArcGISAuthenticationChallenge.Disposition {
            calls.withLock { $0 += 1 }
            return disposition()
        }

        let calls = Counter()
    }

    final class Counter: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0
        func withLock(_ body: (inout Int) -> Void) { lock.withLock { body(&count) } }
        var value: Int { lock.withLock { count } }
    }

    @Test func `no token goes to another server after a redirection`() async throws {
        let other = StubServer()
        other.on("/taken", json: Sample.layer(0, "a"))
        server.on("/City/FeatureServer/0", .redirect(to: "\(other.url)/taken?token=secret"))
        let credential = TokenCredential(
            url: server.url, tokenInfo: TokenInfo(accessToken: "secret", expirationDate: nil))
        let table = table
        table.credential = credential
        try await table.load()
        #expect(server.requests.first?.parameters["token"] == "secret")
        #expect(other.requests.count == 1)
        #expect(other.requests.allSatisfy { $0.parameters["token"] == nil })
        #expect(other.requests.allSatisfy { $0.headers["referer"] == nil })
    }

    @Test func `redirections in circles end with an error`() async throws {
        server.on("/City/FeatureServer/0", .redirect(to: "\(server.url)/City/FeatureServer/0"))
        let error = await #expect(throws: TransportError.self) { try await table.load() }
        #expect(error?.kind == .redirection)
        server.on("/City/FeatureServer/0", .redirect(to: "file:///etc/passwd"))
        let other = await #expect(throws: TransportError.self) { try await table.retryLoad() }
        #expect(other?.kind == .redirection)
    }

    @Test func `a storm of refusals is one challenge, and each request is sent again once`()
        async throws
    {
        let description = Sample.layer(0, "a")
        server.on("/City/FeatureServer/*") { request in
            request.parameters["token"] == "good"
                ? .json(description) : .error(499, "token required")
        }
        let url = server.url
        let handler = Handler {
            .continueWithCredential(
                TokenCredential(
                    url: url, tokenInfo: TokenInfo(accessToken: "good", expirationDate: nil)))
        }
        let manager = CairnEnvironment.authenticationManager
        let before = manager.arcGISAuthenticationChallengeHandler
        manager.arcGISAuthenticationChallengeHandler = handler
        defer { manager.arcGISAuthenticationChallengeHandler = before }
        let tables = (0..<20).map {
            ServiceFeatureTable(url: url.appending(path: "City/FeatureServer/\($0)"))
        }
        await tables.load()
        #expect(tables.allSatisfy { $0.loadStatus == .loaded })
        #expect(handler.calls.value == 1)
        #expect(server.requests.count <= 40)
    }

    /// Without a token; says when it is asked for one, which is before a request waits its turn.
    private final class Tokenless: ArcGISCredential {
        let url: URL
        let asked = Counter()
        init(_ url: URL) { self.url = url }
        func tokenInfo(for url: URL) async throws -> TokenInfo? {
            asked.withLock { $0 += 1 }
            return nil
        }
        func invalidate() async -> Bool { false }
    }

    @Test(arguments: [0, 1, 2])
    func `a server that refuses whatever comes is one challenge for all that wait`(_ way: Int)
        async throws
    {
        let gate = StubGate()
        server.on("/City/FeatureServer/*", StubAnswer.error(498, "Invalid token").held(by: gate))
        let url = server.url
        let handler = Handler {
            switch way {
            case 0:
                .continueWithCredential(
                    TokenCredential(
                        url: url, tokenInfo: TokenInfo(accessToken: "bad", expirationDate: nil)))
            case 1: .continueWithoutCredential
            default: .cancel
            }
        }
        let manager = CairnEnvironment.authenticationManager
        let before = manager.arcGISAuthenticationChallengeHandler
        manager.arcGISAuthenticationChallengeHandler = handler
        defer { manager.arcGISAuthenticationChallengeHandler = before }
        let tables = (0..<12).map {
            ServiceFeatureTable(url: url.appending(path: "City/FeatureServer/\($0)"))
        }
        // Eight are at the server, four wait for their turn.
        let first = Task { await tables[..<8].load() }
        while gate.arrivedCount < 8 { await Task.yield() }
        let credential = Tokenless(url)
        for table in tables[8...] { table.credential = credential }
        let others = Task { await tables[8...].load() }
        while credential.asked.value < 4 { await Task.yield() }
        gate.open()
        await first.value
        await others.value
        #expect(handler.calls.value == 1)
        for table in tables {
            if way == 1 {
                #expect((table.loadError as? ServiceError)?.code == 498)
            } else {
                let error = table.loadError as? AuthenticationError
                #expect(error?.kind == (way == 0 ? .refused : .cancelled))
            }
        }
        // What begins afterwards asks again.
        let later = ServiceFeatureTable(url: url.appending(path: "City/FeatureServer/99"))
        await #expect(throws: (any Error).self) { try await later.load() }
        #expect(handler.calls.value == 2)
    }

    @Test func `what was described to a user is not described again after signing out`()
        async throws
    {
        let description = Sample.layer(0, "a")
        server.on("/City/FeatureServer/0") { request in
            request.parameters["token"] == "good"
                ? .json(description) : .error(499, "token required")
        }
        let url = server.url
        let handler = Handler {
            .continueWithCredential(
                TokenCredential(
                    url: url, tokenInfo: TokenInfo(accessToken: "good", expirationDate: nil)))
        }
        let manager = CairnEnvironment.authenticationManager
        let before = manager.arcGISAuthenticationChallengeHandler
        manager.arcGISAuthenticationChallengeHandler = handler
        defer { manager.arcGISAuthenticationChallengeHandler = before }
        try await table.load()
        try await table.load()
        #expect(server.requests.count == 2 && handler.calls.value == 1)
        let credential = try #require(manager.arcGISCredentialStore.credential(for: url))
        manager.arcGISCredentialStore.remove(credential)
        manager.arcGISAuthenticationChallengeHandler = nil
        let error = await #expect(throws: ServiceError.self) { try await table.load() }
        #expect(error?.code == 499)
    }

    @Test func `a cache of descriptions asks once for what several want`() async throws {
        server.on("/City/FeatureServer/0", json: Sample.layer(0, "a"))
        let tables = (0..<10).map { _ in table }
        await tables.load()
        #expect(tables.allSatisfy { $0.loadStatus == .loaded })
        #expect(server.requests.count == 1)
    }
}
