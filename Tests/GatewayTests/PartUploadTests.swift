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

@Suite struct PartUploadTests {
    private let jobs: SimulatedJobs
    private let ruled: RuledSite

    init() throws {
        jobs = try SimulatedJobs()
        let all: [AccessRules.Grant] = [.init(.jobs), .init(.query), .init(.history)]
        ruled = try RuledSite(["anna": all, "bert": all, "carl": [.init(.query)]])
    }

    private func token(_ user: String) async throws -> String {
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs),
            access: try ruled.control())
        let asked = await service.answer(
            GatewayRequest(
                path: Array("/arcgis/tokens/generateToken".utf8),
                form: Array("username=\(user)&password=password&f=json".utf8),
                client: RequestClient(isPrivate: true)))
        return try #require(JSONTree(asked.body)?["token"]?.text)
    }

    /// Sends one request on a connection of its own; the answer's body.
    private static func send(
        _ port: Int, _ path: String, _ body: String,
        _ type: String = "application/x-www-form-urlencoded", method: String = "POST"
    ) throws -> JSONTree {
        let connection = try Connection(port: port)
        connection.send(
            "\(method) \(tasks)\(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(type)\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let answer = try #require(connection.receive(answers: 1).first)
        let body = try #require(answer.range(of: "\r\n\r\n"))
        return try #require(JSONTree(Array(answer[body.upperBound...].utf8)))
    }

    private static func form(_ text: String, _ number: Int?, isFirst: Bool) -> String {
        let field = number.map {
            "--X\r\nContent-Disposition: form-data; name=\"partId\"\r\n\r\n\($0)\r\n"
        }
        let file =
            "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"p\"\r\n\r\n"
            + "\(text)\r\n"
        return (isFirst ? (field ?? "") + file : file + (field ?? "")) + "--X--\r\n"
    }

    private static let multipart = "multipart/form-data; boundary=X"

    @Test func `an upload in parts goes on at another gateway and is the input of a job`()
        async throws
    {
        let (anna, bert, carl) = (
            try await token("anna"), try await token("bert"), try await token("carl")
        )
        let (jobs, ruled) = (jobs, ruled)
        let site = SimulatedSite(map: try Samples.map(), jobs: jobs)
        let (ids, noted) = AsyncStream.makeStream(of: String.self)
        try await Served.serving(site, access: ruled.store) { port in
            let refused = try Self.send(port, "uploads/register", "itemName=a&f=json&token=\(carl)")
            #expect(refused["error"]?["code"]?.whole == 403)
            let made = try Self.send(
                port, "uploads/register", "itemName=a.csv&description=x&f=json&token=\(anna)")
            let id = try #require(made["item"]?["itemID"]?.text)
            #expect(made["success"]?.isTrue == true && made["item"]?["committed"]?.isTrue == false)
            #expect(made["item"]?["itemName"]?.text == "a.csv")
            // The number is a field before or after the file, or in the URL.
            let path = "uploads/\(id)/uploadPart?f=json&token=\(anna)"
            for (number, text, isFirst) in [(2, "a\n", true), (7, "b\n", false)] {
                let body = Self.form(text, number, isFirst: isFirst)
                let taken = try Self.send(port, path, body, Self.multipart)
                #expect(taken["success"]?.isTrue == true)
            }
            let bare = try Self.send(port, path + "&partId=1", "query\n", "text/csv")
            #expect(bare["item"]?["itemID"]?.text == id)
            for body in [
                Self.form("c", nil, isFirst: true), Self.form("c", 0, isFirst: true),
                Self.form("c", 10_001, isFirst: false),
            ] {
                let refused = try Self.send(port, path, body, Self.multipart)
                #expect(refused["error"]?["code"]?.whole == 400)
            }
            noted.yield(id)
        }
        noted.finish()
        var id = ""
        for await each in ids { id = each }
        let item = id
        let (blobs, put) = AsyncStream.makeStream(of: String.self)
        try await Served.serving(site, access: ruled.store) { port in
            let parts = try Self.send(
                port, "uploads/\(item)/parts?f=json&token=\(anna)", "", method: "GET")
            #expect(parts["parts"]?.elements.map(\.whole) == [1, 2, 7])
            for query in ["token=\(bert)", "token=\(bert)&parts=1"] {
                let refused = try Self.send(port, "uploads/\(item)/commit", query + "&f=json")
                #expect(refused["error"]?["code"]?.whole == 404)
            }
            let hidden = try Self.send(
                port, "uploads/\(item)/uploadPart?partId=1&f=json&token=\(bert)", "x", "text/csv")
            #expect(hidden["error"]?["code"]?.whole == 404)
            let absent = try Self.send(
                port, "uploads/\(item)/commit", "parts=1,3&f=json&token=\(anna)")
            #expect(absent["error"]?["code"]?.whole == 404)
            let whole = try Self.send(
                port, "uploads/\(item)/commit", "parts=1,2,7&f=json&token=\(anna)")
            #expect(whole["item"]?["committed"]?.isTrue == true)
            #expect(whole["item"]?["size"]?.whole == 10)
            put.yield(try #require(whole["item"]?["itemID"]?.text))
            // The job's input has either id, and a submission that is repeated is the same.
            let form = "input=\(item)&clientId=one&f=json&token=\(anna)"
            let job = try Self.send(port, "BatchGeocode/submitJob", form)
            let again = try Self.send(port, "BatchGeocode/submitJob", form)
            #expect(job["jobId"]?.text != nil && job["jobId"]?.text == again["jobId"]?.text)
            let others = try Self.send(
                port, "BatchGeocode/submitJob", "input=\(item)&f=json&token=\(bert)")
            #expect(others["error"]?["code"]?.whole == 404)
        }
        put.finish()
        var blob = ""
        for await each in blobs { blob = each }
        let content = try #require(ContentID(rawValue: blob))
        let found = try #require(jobs.uploads.find(content, of: .user("anna")))
        #expect(try jobs.blobs.read(found) == Data("query\na\nb\n".utf8))
        #expect(jobs.known.map(\.input?.id) == [content])
    }

    @Test func `parts count to their user's quota`() async throws {
        try ruled.store.change { rules in
            for index in rules.users.indices { rules.users[index].quota = Quota(bytes: 200_000) }
        }
        let anna = try await token("anna")
        let (jobs, ruled) = (jobs, ruled)
        let site = SimulatedSite(map: try Samples.map(), jobs: jobs)
        try await Served.serving(site, access: ruled.store) { port in
            let made = try Self.send(port, "uploads/register", "itemName=a&f=json&token=\(anna)")
            let id = try #require(made["item"]?["itemID"]?.text)
            func put(_ number: Int) throws -> JSONTree {
                try Self.send(
                    port, "uploads/\(id)/uploadPart?partId=\(number)&f=json&token=\(anna)",
                    String(repeating: "x", count: 90_000), "text/csv")
            }
            #expect(try put(1)["success"]?.isTrue == true)
            #expect(try put(2)["success"]?.isTrue == true)
            #expect(try put(3)["error"]?["code"]?.whole == 429)
        }
        #expect(try jobs.uploads.byteCount(of: .user("anna")) == 180_000)
    }
}
