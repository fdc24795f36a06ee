// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Foundation
import Platform
import Site
import Synchronization
import Testing

@testable import Gateway

private let tasks = "/arcgis/rest/services/Jobs/GPServer/"

/// The quota of a user, and the behaviour at its limit.
@Suite(.timeLimit(.minutes(2))) struct QuotaTests {
    private let jobs: SimulatedJobs
    private let ruled: RuledSite
    private let service: GatewayService

    init() throws {
        jobs = try SimulatedJobs()
        let all: [AccessRules.Grant] = [.init(.jobs), .init(.query)]
        ruled = try RuledSite(["anna": all, "bert": all], anonymous: all)
        service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs),
            access: try ruled.control())
    }

    private func give(_ user: String, _ quota: Quota) throws {
        try ruled.store.change { rules throws(Failure) in
            for index in rules.users.indices where rules.users[index].name == user {
                rules.users[index].quota = quota
            }
        }
        service.access.refresh()
    }

    private func ask(_ path: String, _ form: String) async -> JSONTree? {
        JSONTree(
            await service.answer(
                GatewayRequest(
                    path: Array(path.utf8), form: Array(form.utf8),
                    client: RequestClient(isPrivate: true))
            ).body)
    }

    private func token(_ user: String) async throws -> String {
        let asked = await ask(
            "/arcgis/tokens/generateToken", "username=\(user)&password=password&f=json")
        return try #require(asked?["token"]?.text)
    }

    private func input(_ owner: UploadLedger.Owner) throws -> ContentID {
        let blob = try jobs.blobs.put(Data("query\nx\n".utf8), mediaType: "text/csv")
        try jobs.uploads.note(blob.id, of: owner)
        return blob.id
    }

    private func submission(_ token: String, _ input: ContentID) -> GatewayRequest {
        GatewayRequest(
            path: Array("\(tasks)BatchGeocode/submitJob".utf8),
            form: Array("input=\(input.rawValue)&f=json&token=\(token)".utf8),
            client: RequestClient(isPrivate: true))
    }

    private func submit(_ token: String, _ input: ContentID) async -> JSONTree? {
        JSONTree(await service.answer(submission(token, input)).body)
    }

    @Test func `a burst of jobs of one user passes no limit, and stops nobody else`() async throws {
        try give("anna", Quota(jobs: 5))
        let (anna, bert) = (try await token("anna"), try await token("bert"))
        let (annas, berts) = (try input(.user("anna")), try input(.user("bert")))

        let request = submission(anna, annas)
        let answers = await withTaskGroup { [service] group in
            for _ in 0..<30 { group.addTask { await service.answer(request).body } }
            return await group.reduce(into: [JSONTree?]()) { $0.append(JSONTree($1)) }
        }
        let refused = answers.compactMap { $0?["error"] }
        #expect(answers.count { $0?["jobId"] != nil } == 5 && refused.count == 25)
        #expect(jobs.known.count == 5)
        for error in refused {
            #expect(error["code"]?.whole == 429)
            #expect(
                error["message"]?.text
                    == "the quota of jobs under way is full: 5 of 5; wait until one of them has ended, "
                    + "or cancel one")
            #expect(
                error["details"]?.elements.compactMap(\.text)
                    == ["quota: jobs", "used: 5", "limit: 5"])
        }
        #expect(await submit(bert, berts)?["jobId"] != nil)

        jobs.change(jobs.known[0].id) { $0.status = .succeeded }
        #expect(await submit(anna, annas)?["jobId"] != nil)
        #expect(await submit(anna, annas)?["error"] != nil)
    }

    @Test func `products count while they are here`() async throws {
        try give("anna", Quota(bytes: 1_000_000))
        let anna = try await token("anna")
        let input = try input(.user("anna"))
        let product = try jobs.blobs.put(Data(count: 1_000_000), mediaType: "text/csv")
        #expect(await submit(anna, input)?["jobId"] != nil)
        jobs.change(jobs.known[0].id) { job in
            (job.status, job.result) = (.succeeded, product)
        }

        let error = await submit(anna, input)?["error"]
        #expect(error?["code"]?.whole == 429)
        #expect(
            error?["details"]?.elements.compactMap(\.text)
                == ["quota: bytes", "used: \(1_000_000 + 65_536)", "limit: 1000000"])
        _ = try jobs.blobs.remove(
            product.id, unlessRenewedSince: Timestamp(microseconds: .max / 2))
        #expect(await submit(anna, input)?["jobId"] != nil)
    }

    @Test func `an upload is stopped at the limit, and nothing of it is left`() async throws {
        try give("anna", Quota(bytes: 3_000_000))
        let token = try await token("anna")
        let (jobs, ruled) = (jobs, ruled)
        try await Served.serving(
            SimulatedSite(map: try Samples.map(), jobs: jobs), access: ruled.store
        ) { port in
            func upload(_ byteCount: Int, sent: Int, _ query: String) throws -> String {
                let connection = try Connection(port: port)
                connection.send(
                    "POST \(tasks)uploads/upload\(query) HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Type: text/csv\r\nContent-Length: \(byteCount)\r\n\r\n")
                connection.send(String(repeating: "x", count: sent))
                return try #require(connection.receive(answers: 1).first)
            }
            func blobs() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: jobs.blobs.directory)
            }
            // It is stopped before it has come whole.
            let stopped = try upload(100_000_000, sent: 4_000_000, "?token=\(token)")
            #expect(stopped.contains(#""code":429"#) && stopped.contains("bytes of uploads"))
            #expect(try blobs().isEmpty)
            #expect(try upload(2_000_000, sent: 2_000_000, "?token=\(token)").contains("itemID"))
            #expect(try blobs().count == 1)
            let second = try upload(1_500_000, sent: 1_500_000, "?token=\(token)")
            #expect(second.contains(#""code":429"#))
            #expect(try blobs().count == 1)
            #expect(try upload(1_500_000, sent: 1_500_000, "").contains("itemID"))
        }
        #expect(try jobs.uploads.byteCount(of: .user("anna")) == 2_000_000)
    }

    @Test func `an open site has no limits`() async throws {
        let open = GatewayService(backend: SimulatedSite(map: try Samples.map(), jobs: jobs))
        #expect(open.limits(of: .unruled) == nil)
        let input = try input(.everybody)
        for _ in 0..<30 {
            _ = await open.answer(
                GatewayRequest(
                    path: Array("\(tasks)BatchGeocode/submitJob".utf8),
                    form: Array("input=\(input.rawValue)".utf8)))
        }
        #expect(jobs.known.count == 30)
    }
}

@Suite struct ArrivingUploadsTests {
    private let arriving = ArrivingUploads()
    private let anna = UploadLedger.Owner.user("anna")

    private func limits(bytes: Int64 = 1 << 30, uploads: Int = 4) -> Quota.Limits {
        var rules = AccessRules()
        rules.quota = Quota(bytes: bytes, uploads: uploads)
        return rules.limits(of: nil)
    }

    private func begins(
        _ owner: UploadLedger.Owner, _ address: String
    ) -> ArrivingUploads.Upload? {
        do throws(Failure) { return try arriving.begin(owner, address, limits()) } catch {
            #expect(error.code == .quotaExceeded)
            return nil
        }
    }

    @Test func `a user has so many uploads under way, wherever they come from`() {
        let four = (0..<4).compactMap { begins(anna, "10.0.0.\($0)") }
        #expect(four.count == 4 && begins(anna, "10.0.0.9") == nil)
        #expect(begins(.user("bert"), "10.0.0.1") != nil)
        four[0].end(isKept: false)
        #expect(begins(anna, "10.0.0.9") != nil && begins(anna, "10.0.0.9") == nil)
    }

    @Test func `an address without a token leaves upload places to others`() {
        let one = (0..<4).compactMap { _ in begins(.anonymous, "10.0.0.1") }
        #expect(one.count == 2)
        #expect(begins(.anonymous, "10.0.0.2") != nil && begins(.anonymous, "10.0.0.3") != nil)
        #expect(begins(.anonymous, "10.0.0.4") == nil)
    }

    @Test func `uploads that come side by side share the bytes that are left`() throws {
        let limits = limits(bytes: 1_000_000)
        let first = try arriving.begin(anna, "", limits)
        let second = try arriving.begin(anna, "", limits)
        try first.begin(used: 100_000)
        try second.begin(used: 100_000)
        try first.take(500_000)
        #expect(throws: Failure.self) { try second.take(500_000) }
        second.end(isKept: false)
        // Bytes that have arrived completely since are not in the use at another's start.
        let third = try arriving.begin(anna, "", limits)
        first.end(isKept: true)
        try third.begin(used: 100_000)
        #expect(throws: Failure.self) { try third.take(500_000) }
        third.end(isKept: false)

        let fourth = try arriving.begin(anna, "", limits)
        try fourth.begin(used: 100_000)
        try fourth.take(500_000)
    }
}
