// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import FoundationEssentials
import JobKinds
import Platform
import Site
import Testing

@testable import Gateway

private let tasks = "/arcgis/rest/services/Jobs/GPServer/"

/// Jobs that their clients know by ids of their own, and submissions that are refused.
@Suite struct ClientIDTests {
    private let jobs: SimulatedJobs
    private let ruled: RuledSite
    private let service: GatewayService

    init() throws {
        jobs = try SimulatedJobs()
        let all: [AccessRules.Grant] = [.init(.jobs), .init(.query), .init(.history)]
        ruled = try RuledSite(["anna": all, "bert": all], anonymous: all)
        service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs),
            access: try ruled.control())
    }

    private func ask(
        _ path: String, _ form: String, _ service: GatewayService? = nil
    ) async -> JSONTree? {
        JSONTree(
            await (service ?? self.service).answer(
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

    private func export(
        _ user: String, _ more: String, _ service: GatewayService? = nil
    ) async throws -> JSONTree? {
        await ask(
            "\(tasks)ExportFeatures/submitJob",
            "map=City&layer=0&f=json&token=\(try await token(user))&\(more)", service)
    }

    @Test func `an id that is submitted again answers the same job, at any gateway`() async throws {
        let first = try await export("anna", "clientId=report-1")
        let id = try #require(first?["jobId"]?.text)
        #expect(try await export("anna", "clientId=report-1")?["jobId"]?.text == id)
        // Another gateway, or this one after a restart.
        let other = GatewayService(backend: service.backend, access: try ruled.control())
        #expect(try await export("anna", "clientId=report-1", other)?["jobId"]?.text == id)
        #expect(jobs.known.count == 1)

        #expect(try await export("anna", "clientId=report-2")?["jobId"]?.text != id)
        #expect(try await export("bert", "clientId=report-1")?["jobId"]?.text != id)
        #expect(jobs.known.map(\.actor) == ["user:anna", "user:anna", "user:bert"])
    }

    @Test func `submissions of one id at the same time are one job`() async throws {
        let form = "map=City&layer=0&clientId=once&f=json&token=\(try await token("anna"))"
        let ids = await withTaskGroup(of: String?.self) { [service] group in
            for _ in 0..<8 {
                group.addTask {
                    let request = GatewayRequest(
                        path: Array("\(tasks)ExportFeatures/submitJob".utf8),
                        form: Array(form.utf8), client: RequestClient(isPrivate: true))
                    return JSONTree(await service.answer(request).body)?["jobId"]?.text
                }
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids.count == 1 && !ids.contains(nil))
        #expect(jobs.known.count == 1)
    }

    @Test(arguments: ["where=a%3D1", "layer=1", "format=csv"])
    func `an id that was used for another job is refused with the difference`(
        _ other: String
    ) async throws {
        let token = try await token("anna")
        let id = await ask(
            "\(tasks)ExportFeatures/submitJob",
            "map=City&layer=0&clientId=a&f=json&token=\(token)")?["jobId"]?.text
        let answer = await ask(
            "\(tasks)ExportFeatures/submitJob",
            "\(other)&map=City&layer=0&clientId=a&f=json&token=\(token)")
        let message = try #require(answer?["error"]?["message"]?.text)
        let name = other.prefix { $0 != "=" }
        #expect(message.contains("another value of parameter '\(name)'"), "\(message)")
        #expect(message.contains(try #require(id)))
        #expect(jobs.known.count == 1)
    }

    @Test func `a repeated submission needs its input no more`() async throws {
        let blob = try jobs.blobs.put(Data("query\na\n".utf8), mediaType: "text/csv")
        try jobs.uploads.note(blob.id, of: .user("anna"))
        let form =
            "input=\(blob.id.rawValue)&clientId=a&f=json&token=\(try await token("anna"))"
        let first = await ask("\(tasks)BatchGeocode/submitJob", form)
        _ = try jobs.blobs.remove(
            blob.id, unlessRenewedSince: Timestamp(microseconds: .max / 2))
        let again = await ask("\(tasks)BatchGeocode/submitJob", form)
        #expect(first?["jobId"]?.text != nil)
        #expect(again?["jobId"]?.text == first?["jobId"]?.text)
    }

    @Test(arguments: ["a%20b", "a.b", "%C3%A4", String(repeating: "a", count: 65)])
    func `an id of other letters, or too long, is refused`(_ id: String) async throws {
        let answer = try await export("anna", "clientId=\(id)")
        let message = try #require(answer?["error"]?["message"]?.text)
        #expect(answer?["error"]?["code"]?.whole == 400)
        #expect(message.hasPrefix("parameter 'clientId': "), "\(message)")
        #expect(jobs.known.isEmpty)
    }

    @Test func `without a token an id has to be a secret`() async throws {
        let form = "map=City&layer=0&f=json&clientId="
        let short = await ask("\(tasks)ExportFeatures/submitJob", form + "a")
        #expect(short?["error"]?["code"]?.whole == 400)
        let secret = String(repeating: "0123456789abcdef", count: 2)
        let first = await ask("\(tasks)ExportFeatures/submitJob", form + secret)
        let again = await ask("\(tasks)ExportFeatures/submitJob", form + secret)
        #expect(first?["jobId"]?.text != nil)
        #expect(again?["jobId"]?.text == first?["jobId"]?.text)
        #expect(jobs.known.count == 1)
    }

    @Test func `the form of a job has an id of its own each time it is shown`() async throws {
        let open = GatewayService(backend: service.backend)
        var ids: [Substring] = []
        for _ in 0..<2 {
            let page = String(
                decoding: await open.answer(
                    GatewayRequest(
                        path: Array("\(tasks)ExportFeatures".utf8), query: Array("f=html".utf8))
                ).body, as: UTF8.self)
            let field = try #require(
                page.firstMatch(of: /<input[^>]*name="clientId"[^>]*>/)?.output)
            ids.append(try #require(field.firstMatch(of: /value="([0-9a-f]{32})"/)?.output.1))
        }
        #expect(ids[0] != ids[1])
        // What the form sends, and sends again.
        for _ in 0..<2 {
            _ = await ask(
                "\(tasks)ExportFeatures/submitJob", "map=City&layer=0&clientId=\(ids[0])", open)
        }
        #expect(jobs.known.count == 1)
    }

    @Test(arguments: [
        ("quarry=x", "parameter 'quarry': expected one of"),
        ("Queri=x", "did you mean 'query'?"), ("query=none", "the CSV file has no column 'none'"),
        ("outputFormat=csv", "parameter 'outputFormat'"),
    ])
    func `what is wrong with a job is refused before anything is recorded`(
        _ more: String, _ cause: String
    ) async throws {
        let blob = try jobs.blobs.put(Data("query\na\n".utf8), mediaType: "text/csv")
        try jobs.uploads.note(blob.id, of: .user("anna"))
        let answer = await ask(
            "\(tasks)BatchGeocode/submitJob",
            "input=\(blob.id.rawValue)&f=json&token=\(try await token("anna"))&\(more)")
        #expect(answer?["error"]?["code"]?.whole == 400)
        let message = try #require(answer?["error"]?["message"]?.text)
        #expect(message.contains(cause), "\(message)")
        #expect(jobs.known.isEmpty)
    }

    @Test func `parameters of Esri's operation are no unknown ones`() async throws {
        let answer = try await export(
            "anna",
            "env:outSR=4326&env:processSR=&returnZ=false&returnM=false&returnTrueCurves=false"
                + "&returnFeatureCollection=false&context=%7B%7D&returnColumnName=false")
        #expect(answer?["jobId"]?.text != nil, "\(String(describing: answer))")
    }
}
