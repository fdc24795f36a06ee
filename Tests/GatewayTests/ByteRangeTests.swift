// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import JobKinds
import Site
import Testing

@testable import Gateway

private let tasks = "/arcgis/rest/services/Jobs/GPServer/"

@Suite struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-3", 0..<4), ("bytes=4-", 4..<10), ("bytes=-3", 7..<10), ("Bytes=9-9", 9..<10),
        ("bytes=2-99999999999999999999", 2..<10), ("bytes=-99999999999999999999", 0..<10),
        ("bytes=-10", 0..<10),
    ])
    func `a single range selects bytes, to the end at most`(_ header: String, _ bytes: Range<Int>) {
        #expect(ByteRange(header, of: 10) == .part(bytes))
    }

    @Test(arguments: ["bytes=10-", "bytes=10-12", "bytes=99999999999999999999-", "bytes=-0"])
    func `a range beyond the bytes is unsatisfiable`(_ header: String) {
        #expect(ByteRange(header, of: 10) == .unsatisfiable)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=3-2", "bytes=a-b", "bytes=1", "items=0-1",
        "bytes=0-1,4-5", "bytes=0-1, bytes=4-5", "bytes=+1-2", "bytes=0--1", "bytes=0x1-2",
    ])
    func `several ranges, and what is no range, select the whole`(_ header: String) {
        #expect(ByteRange(header, of: 10) == .whole)
    }

    @Test func `empty content has no bytes to select`() {
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-5", of: 0) == .whole)
    }

    /// The heads and bodies of a server's answers to requests with these lines.
    private static func answers(
        _ requests: [(line: String, headers: [String])], _ site: SimulatedSite
    ) async throws -> [(head: String, body: String)] {
        let (received, giving) = AsyncStream.makeStream(of: [String].self)
        try await Served.serving(site) { port in
            for (line, headers) in requests {
                let connection = try Connection(port: port)
                connection.send(
                    ([line + " HTTP/1.1", "Host: localhost", "Connection: close"] + headers)
                        .joined(separator: "\r\n") + "\r\n\r\n")
                // To the end: an answer to HEAD has a length without a body.
                giving.yield([connection.receiveAll()])
            }
            giving.finish()
        }
        var all: [(String, String)] = []
        for await answer in received {
            let parts = try #require(answer.first?.range(of: "\r\n\r\n"))
            all.append(
                (
                    answer[0][..<parts.lowerBound].lowercased(),
                    String(answer[0][parts.upperBound...])
                ))
        }
        return all
    }

    @Test(arguments: ["results/output/file", "inputs/input/file"])
    func `a file of a job answers ranges and conditions with its hash as its tag`(
        _ resource: String
    ) async throws {
        let jobs = try SimulatedJobs()
        let (product, input) = (
            try jobs.blobs.put(Data("0123456789".utf8), mediaType: "text/csv"),
            try jobs.blobs.put(Data("0123456789".utf8), mediaType: "text/csv")
        )
        let submission = JobSubmission(
            id: JobID(rawValue: UUID()), kind: .batchGeocode, parameters: [:], input: input)
        let job = try await jobs.submit(submission)
        jobs.change(job.id) { ($0.status, $0.result) = (.succeeded, product) }
        let get = "\(tasks)BatchGeocode/jobs/\(job.id)/\(resource)"
        let tag = "\"\(product.id.rawValue)\""

        let answers = try await Self.answers(
            [
                ("GET \(get)", []), ("GET \(get)", ["Range: bytes=2-4"]),
                ("GET \(get)", ["Range: bytes=-3", "If-Range: \(tag)"]),
                ("GET \(get)", ["Range: bytes=-3", "If-Range: \"other\""]),
                ("GET \(get)", ["Range: bytes=-3", "If-Range: W/\(tag)"]),
                ("GET \(get)", ["Range: bytes=0-1,4-5"]), ("GET \(get)", ["Range: bytes=10-"]),
                ("GET \(get)", ["If-None-Match: \"a\", W/\(tag)", "Range: bytes=2-4"]),
                ("GET \(get)", ["If-None-Match: \"a\""]), ("HEAD \(get)", ["Range: bytes=2-4"]),
                ("HEAD \(get)", ["If-None-Match: \(tag)"]),
            ], SimulatedSite(map: try Samples.map(), jobs: jobs))
        let statuses = answers.map { $0.head.dropFirst("http/1.1 ".count).prefix(3) }
        #expect(
            statuses == [
                "200", "206", "206", "200", "200", "200", "416", "304", "200", "200", "304",
            ])
        let whole = "0123456789"
        for (number, body) in [
            (0, whole), (1, "234"), (2, "789"), (3, whole), (4, whole), (5, whole), (7, ""),
            (8, whole), (9, ""), (10, ""),
        ] {
            #expect(answers[number].body == body, "answer \(number)")
            #expect(answers[number].head.contains("\r\netag: \(tag)"))
            #expect(answers[number].head.contains("\r\naccept-ranges: bytes"))
            #expect(answers[number].head.contains("\r\ncache-control: private, no-cache"))
        }
        #expect(answers[1].head.contains("\r\ncontent-range: bytes 2-4/10"))
        #expect(answers[2].head.contains("\r\ncontent-range: bytes 7-9/10"))
        #expect(answers[6].head.contains("\r\ncontent-range: bytes */10"))
        #expect(answers[6].body.contains("\"code\":416"))
        #expect(answers[9].head.contains("\r\ncontent-length: 10"))
        for number in [7, 10] { #expect(!answers[number].head.contains("content-length: 10\r")) }
        for number in [0, 3, 9] { #expect(!answers[number].head.contains("\r\ncontent-range:")) }
    }

    @Test func `a tile answers ranges of its bytes`() async throws {
        let service = GatewayService(backend: SimulatedSite(map: try Samples.map()))
        var request = GatewayRequest(
            path: Array("/arcgis/rest/services/City/MapServer/tile/3/0/0".utf8))
        let whole = await service.answer(request).selected(by: request)
        request.range = "bytes=1-2"
        let part = await service.answer(request).selected(by: request)
        #expect(part.status == 206 && part.body == Array(whole.body[1...2]))
        #expect(part.headers["Content-Range"] == "bytes 1-2/\(whole.body.count)")
        #expect(part.headers["ETag"] == whole.headers["ETag"])
        request.isPost = true
        #expect(await service.answer(request).selected(by: request).status == 200)
    }

    @Test func `a name that is not the input file's is not found`() async throws {
        let jobs = try SimulatedJobs()
        let job = try await jobs.submit(
            JobSubmission(id: JobID(rawValue: UUID()), kind: .batchGeocode, parameters: [:]))
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs))
        for name in ["input", "locator"] {
            let answer = await service.answer(
                GatewayRequest(
                    path: Array("\(tasks)BatchGeocode/jobs/\(job.id)/inputs/\(name)/file".utf8)))
            #expect(answer.failureCode == 404 && answer.file == nil)
        }
    }
}
