// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// What goes by the clock: it stands still, or is set, as a test says.
@Suite struct ClockTests {
    private let server = StubServer()

    private static let description = #"""
        {"name":"Clip","executionType":"esriExecutionTypeAsynchronous","parameters":[]}
        """#

    private func job() async throws -> GeoprocessingJob {
        server.on("/Jobs/GPServer/Clip", json: Self.description)
        server.on("/Jobs/GPServer/Clip/submitJob", json: #"{"jobId":"j1"}"#)
        let task = GeoprocessingTask(url: server.url.appending(path: "Jobs/GPServer/Clip"))
        return task.makeJob(parameters: try await task.makeDefaultParameters())
    }

    // MARK: Jobs

    @Test func `a network lost for ten minutes fails the job, which says since when`()
        async throws
    {
        let job = try await job()
        server.on("/Jobs/GPServer/Clip/jobs/j1", .unreachable)
        let clock = StubClock(Date(timeIntervalSince1970: 1_800_000_000), skipsWaits: true)
        await clock.run {
            job.start()
            _ = await job.result
        }
        #expect(job.status == .failed)
        #expect((job.error as? TransportError)?.kind == .unreachable)
        #expect(clock.elapsed >= CairnEnvironment.jobNetworkPatience)
        #expect(clock.elapsed < CairnEnvironment.jobNetworkPatience * 2)
        let last = try #require(job.allMessages.last)
        #expect(last.severity == .error)
        #expect(last.text.hasPrefix("the connection was lost at 2027-01-15T08:0"), "\(last.text)")
        #expect(last.timestamp == clock.date)
    }

    @Test func `a network that is back before ten minutes are over costs nothing`() async throws {
        let job = try await job()
        let clock = StubClock(skipsWaits: true)
        server.on("/Jobs/GPServer/Clip/jobs/j1") { _ in
            // Nine minutes without one answer.
            clock.elapsed < .seconds(540)
                ? .unreachable : .json(#"{"jobId":"j1","jobStatus":"esriJobSucceeded"}"#)
        }
        try await clock.run {
            job.start()
            _ = try await job.output
        }
        #expect(job.status == .succeeded && clock.elapsed >= .seconds(540))
    }

    @Test func `a job asks again when its clock is moved, not before`() async throws {
        let job = try await job()
        let place = "/Jobs/GPServer/Clip/jobs/j1"
        server.on(
            place,
            inTurn: [
                .json(#"{"jobId":"j1","jobStatus":"esriJobExecuting"}"#),
                .json(#"{"jobId":"j1","jobStatus":"esriJobSucceeded"}"#),
            ])
        let clock = StubClock()
        try await clock.run {
            job.start()
            await clock.slept()
            #expect(server.requests(place).count == 1 && job.status == .started)
            clock.advance(by: .seconds(60))
            _ = try await job.output
        }
        #expect(server.requests(place).count == 2 && clock.elapsed == .seconds(60))
    }

    @Test func `a wait in a cancelled task ends with its cancellation`() async throws {
        let clock = StubClock()
        server.on("/City/MapServer", .json("{}", status: 503))
        let layer = ArcGISMapImageLayer(url: server.url.appending(path: "City/MapServer"))
        let loading = await clock.run { Task { try await layer.load() } }
        await clock.slept()
        layer.cancelLoad()
        await #expect(throws: CancellationError.self) { try await loading.value }
    }

    // MARK: Tokens

    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// Signs in to a server whose tokens end an hour after its own date; gives the names of its
    /// tokens as they are asked for.
    private func signedIn(
        _ portal: StubServer, serverDate: @escaping @Sendable () -> Date
    ) async throws -> TokenCredential {
        let count = CountedTokens()
        portal.on(
            "/rest/info",
            json: #"{"authInfo":{"isTokenBasedSecurity":true,"tokenServicesUrl":"/arcgis/tokens"}}"#
        )
        portal.on("/tokens") { _ in
            let end = serverDate().addingTimeInterval(3_600).timeIntervalSince1970 * 1_000
            return .json(#"{"token":"t\#(count.next())","expires":\#(Int64(end))}"#)
        }
        return try await TokenCredential.credential(
            for: portal.url.appending(path: "rest/services"), username: "ada", password: "p")
    }

    private final class CountedTokens: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0
        func next() -> Int {
            lock.withLock {
                count += 1
                return count
            }
        }
    }

    @Test func `a token is renewed two minutes before it ends`() async throws {
        let portal = StubServer(root: "/arcgis")
        let clock = StubClock(start)
        try await clock.run {
            let credential = try await signedIn(portal) { clock.date }
            func token() async throws -> String? {
                try await credential.tokenInfo(for: portal.url)?.accessToken
            }
            #expect(try await token() == "t1")
            clock.advance(by: .seconds(3_479))
            #expect(try await token() == "t1")
            clock.advance(by: .seconds(2))
            #expect(try await token() == "t2")
            #expect(try await token() == "t2")
        }
    }

    @Test(arguments: [86_400.0, -86_400])
    func `a date that is set elsewhere makes no token anew`(_ jump: TimeInterval) async throws {
        let portal = StubServer(root: "/arcgis")
        let clock = StubClock(start)
        try await clock.run {
            let credential = try await signedIn(portal) { self.start }
            clock.set(to: start.addingTimeInterval(jump))
            for _ in 0..<5 {
                #expect(try await credential.tokenInfo(for: portal.url)?.accessToken == "t1")
            }
            // Also one that is made afterwards, and that seems to have ended or never to end.
            clock.advance(by: .seconds(3_600))
            for _ in 0..<5 {
                #expect(try await credential.tokenInfo(for: portal.url)?.accessToken == "t2")
            }
        }
        #expect(portal.requests("/tokens").count == 2)
    }

    @Test func `a token of one minute is used for half of it`() async throws {
        let portal = StubServer(root: "/arcgis")
        let clock = StubClock(start)
        try await clock.run {
            // Its server's date is behind by 59 minutes.
            let credential = try await signedIn(portal) { clock.date.addingTimeInterval(-3_540) }
            for _ in 0..<5 {
                #expect(try await credential.tokenInfo(for: portal.url)?.accessToken == "t1")
            }
            clock.advance(by: .seconds(31))
            #expect(try await credential.tokenInfo(for: portal.url)?.accessToken == "t2")
        }
    }
}
