// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Foundation
import JobKinds
import Platform
import Site
import Testing

@testable import Gateway

private let tasks = "/arcgis/rest/services/Jobs/GPServer/"

/// Uploads that a caller may name as the input of a job.
@Suite struct JobInputTests {
    private let jobs: SimulatedJobs
    private let ruled: RuledSite
    private let service: GatewayService

    init() throws {
        jobs = try SimulatedJobs()
        let all: [AccessRules.Grant] = [.init(.jobs), .init(.query), .init(.history)]
        ruled = try RuledSite(
            ["anna": all, "bert": all, "manager": all + [.init(.manageJobs)]], anonymous: all)
        service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs),
            access: try ruled.control())
    }

    private func ask(_ path: String, _ form: String) async -> JSONTree? {
        JSONTree(
            await service.answer(
                GatewayRequest(
                    path: Array(path.utf8), form: Array(form.utf8),
                    client: RequestClient(isPrivate: true))
            ).body)
    }

    private func upload(
        _ text: String, _ owner: UploadLedger.Owner
    ) throws -> BlobReference {
        let blob = try jobs.blobs.put(Data(text.utf8), mediaType: "text/csv")
        try jobs.uploads.note(blob.id, of: owner)
        return blob
    }

    /// The message of a refusal without the hash that it names; nil where there is a job.
    private func refusal(
        _ user: String?, _ input: ContentID, _ task: String = "BatchGeocode"
    ) async throws -> String? {
        var token = ""
        if let user {
            let asked = await ask(
                "/arcgis/tokens/generateToken", "username=\(user)&password=password&f=json")
            token = try #require(asked?["token"]?.text)
        }
        let answer = await ask(
            "\(tasks)\(task)/submitJob", "input=\(input.rawValue)&f=json&token=\(token)")
        guard let message = answer?["error"]?["message"]?.text else {
            #expect(answer?["jobId"]?.text != nil)
            return nil
        }
        #expect(answer?["error"]?["code"]?.whole == 404)
        return message.replacing(/[0-9a-f]{64}/, with: "HASH")
    }

    @Test func `an upload is the input of its uploader's jobs alone, and others hear of nothing`()
        async throws
    {
        let (annas, nobodys) = (
            try upload("query\na\n", .user("anna")), try upload("query\nb\n", .anonymous)
        )
        let product = try jobs.blobs.put(Data("query\nc\n".utf8), mediaType: "text/csv")
        let absent = try #require(ContentID(rawValue: String(repeating: "e", count: 64)))
        let none = try await refusal("bert", absent)

        #expect(try await refusal("anna", annas.id) == nil)
        #expect(try await refusal(nil, nobodys.id) == nil)
        #expect(none?.contains("you have uploaded nothing as 'HASH'") == true)
        for (user, input) in [
            ("bert", annas.id), ("manager", annas.id), (nil, annas.id), ("anna", nobodys.id),
            ("anna", product.id), ("anna", absent),
        ] {
            #expect(try await refusal(user, input) == none, "\(user ?? "no token")")
        }
        _ = try upload("query\na\n", .user("bert"))
        #expect(try await refusal("bert", annas.id) == nil)
        #expect(jobs.known.map(\.actor) == ["user:anna", "gateway:anonymous", "user:bert"])
    }

    @Test func `the jobs of a batch have inputs that its submitter has uploaded, at any depth`()
        async throws
    {
        let annas = try upload("query\na\n", .user("anna"))
        func list(_ kind: JobKind, _ input: BlobReference) throws -> BlobReference {
            let line = try CairnJSON.encode(Batch.Item(kind: kind, input: input))
            return try upload(String(decoding: line, as: UTF8.self), .user("bert"))
        }
        let batch = try list(.batchGeocode, annas)
        let outer = try list(.batch, batch)

        let first = try await refusal("bert", batch.id, "Batch")
        #expect(first?.contains("you have uploaded nothing as 'HASH'") == true)
        #expect(try await refusal("bert", outer.id, "Batch") == first)
        _ = try upload("query\na\n", .user("bert"))
        #expect(try await refusal("bert", outer.id, "Batch") == nil)
    }

    @Test func `an upload made while the site was open has no owner once it has rules`()
        async throws
    {
        let opens = try upload("query\na\n", .everybody)
        let open = GatewayService(backend: service.backend)
        let answer = await open.answer(
            GatewayRequest(
                path: Array("\(tasks)BatchGeocode/submitJob".utf8),
                form: Array("input=\(opens.id.rawValue)".utf8)))
        #expect(JSONTree(answer.body)?["jobId"] != nil)
        for user in [nil, "anna", "manager"] {
            #expect(try await refusal(user, opens.id) != nil)
        }
    }

    @Test func `a swept upload is refused like one that never was`() async throws {
        let annas = try upload("query\na\n", .user("anna"))
        let absent = try #require(ContentID(rawValue: String(repeating: "e", count: 64)))
        let none = try await refusal("anna", absent)
        let later = Timestamp(microseconds: .max / 2)
        _ = try jobs.blobs.remove(annas.id, unlessRenewedSince: later)
        #expect(try await refusal("anna", annas.id) == none)
        try jobs.uploads.forgetSwept(before: later)

        _ = try upload("query\na\n", .user("bert"))
        #expect(try await refusal("anna", annas.id) == none)
    }

    @Test func `an upload over HTTP is its user's, and its files and folders are private`()
        async throws
    {
        let (jobs, ruled) = (jobs, ruled)
        try await Served.serving(
            SimulatedSite(map: try Samples.map(), jobs: jobs), access: ruled.store
        ) { port in
            func send(_ path: String, _ type: String, _ body: String) throws -> String {
                let connection = try Connection(port: port)
                connection.send(
                    "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                return try #require(connection.receive(answers: 1).first)
            }
            let asked = try send(
                "/arcgis/tokens/generateToken", "application/x-www-form-urlencoded",
                "username=anna&password=password&f=json")
            let token = try #require(asked.firstMatch(of: /"token":"([^"]+)"/)?.1)
            for query in ["?token=\(token)", ""] {
                let answer = try send(
                    "\(tasks)uploads/upload\(query)", "text/csv", "query\n\(query)\n")
                let text = try #require(answer.firstMatch(of: /"itemID":"([^"]+)"/)?.1)
                let id = try #require(ContentID(rawValue: String(text)))
                let owners: [UploadLedger.Owner] = [.user("anna"), .anonymous, .user("bert")]
                #expect(
                    owners.map { jobs.uploads.find(id, of: $0) != nil }
                        == [query != "", query == "", false])
            }
        }
        var modes: [String: Int] = [:]
        let files = FileManager.default
        let uploads = jobs.directory + "/uploads"
        for path in try files.subpathsOfDirectory(atPath: uploads) {
            let mode = try files.attributesOfItem(atPath: uploads + "/" + path)[.posixPermissions]
            modes[path.contains("/") ? "file" : path] = mode as? Int
        }
        #expect(modes == ["user-anna": 0o700, "anonymous": 0o700, "file": 0o600])
    }
}
