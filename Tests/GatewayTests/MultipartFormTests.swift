// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Synchronization
import TestKit
import Testing

@testable import Gateway

@Suite struct MultipartFormTests {
    private static let type = "multipart/form-data; charset=utf-8; boundary=\"x y\""

    private func parameters(_ body: String, _ type: String = type) throws -> Parameters {
        try Parameters(
            query: [], form: try MultipartForm.urlEncoded(Array(body.utf8), contentType: type))
    }

    private func refusal(_ body: String, _ type: String = type) -> Failure? {
        do throws(Failure) {
            _ = try MultipartForm.urlEncoded(Array(body.utf8), contentType: type)
            return nil
        } catch { return error }
    }

    /// As written by `curl -F where=… -F f=json -F features=@a.json`, and one with all optional
    /// parts.
    @Test func `fields are parameters, whatever is in them`() throws {
        let curl =
            "--x y\r\nContent-Disposition: form-data; name=\"where\"\r\n\r\nNAME = 'a&b=c' + 50%\r\n"
            + "--x y\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\njson\r\n"
            + "--x y\r\nContent-Disposition: form-data; name=\"features\"; filename=\"a.json\"\r\n"
            + "Content-Type: application/json\r\n\r\n[{\"a\":\"é\r\n\"}]\r\n--x y--\r\n"
        let read = try parameters(curl)
        #expect(read["where"] == "NAME = 'a&b=c' + 50%")
        #expect(read["f"] == "json")
        #expect(read["features"] == "[{\"a\":\"é\r\n\"}]")

        let strange = try parameters(
            "preamble\r\n--x y  \r\ncontent-type: text/plain\r\ncontent-disposition:form-data;"
                + " filename=\"name=no;\" ; NAME=\"a\\\"b\"\r\n\r\n1\r\n--x y\r\n"
                + "Content-Disposition: form-data; name=bare\r\n\r\n\r\n--x y--\r\nepilogue")
        #expect(strange["a\"b"] == "1")
        #expect(strange.names == ["a\"b"])
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `values come out as they went in`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = ["\r\n", "--", "x y", "=", "&", "%41", "+", "é", "\"", "{", "[", "\0", " "]
        var fields: [(name: String, value: String)] = []
        for number in 0..<Int.random(in: 1...6, using: &random) {
            let value = (0..<Int.random(in: 1...12, using: &random)).compactMap { _ in
                pieces.randomElement(using: &random)
            }.joined()
            // A delimiter that occurs by chance would rightly end the value.
            fields.append(("field\(number)", value.contains("--x y") ? "plain" : value))
        }
        let body = fields.map {
            "--x y\r\nContent-Disposition: form-data; name=\"\($0.name)\"\r\n\r\n\($0.value)\r\n"
        }.joined()
        let read = try parameters(body + "--x y--\r\n")
        for field in fields {
            #expect(read.text(field.name) == field.value, "seed \(seed)")
        }
    }

    @Test func `a form that is none is refused by a sentence`() throws {
        let field = "--x y\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
        #expect(refusal("")?.message.contains("breaks off after 0 parts") == true)
        #expect(refusal(field)?.message.contains("breaks off after 1 parts") == true)
        #expect(refusal(field + "--x y\r\nab")?.message.contains("after 2 parts") == true)
        for part in ["\r\n\r\n1", "\r\nContent-Disposition: form-data\r\n\r\n1", "1"] {
            let failure = refusal(field + "--x y" + part + "\r\n--x y--")
            #expect(failure?.message.hasPrefix("part 2 of the form has no name") == true)
        }
        #expect(refusal(field, "multipart/form-data")?.message.contains("boundary") == true)
        let many = String(repeating: field, count: Parameters.countLimit + 1) + "--x y--"
        #expect(refusal(many)?.code == .tooLarge)
        let whole = field + "--x y--\r\n"
        for count in 0..<whole.utf8.count - 3 {
            let part = String(decoding: whole.utf8.prefix(count), as: UTF8.self)
            #expect(refusal(part)?.code == .invalidParameter, "\(count) bytes")
        }
    }

    @Test func `a client may send any form that way`() async throws {
        let site = SimulatedSite(map: try Samples.map())
        try await Served.serving(site) { port in
            let connection = try Connection(port: port)
            func ask(_ type: String, _ body: String) throws -> String {
                connection.send(
                    "POST /arcgis/rest/services/City/FeatureServer/3/query HTTP/1.1\r\nHost: localhost\r\n"
                        + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                return try #require(connection.receive(answers: 1).first)
            }
            let answer = try ask(
                "multipart/form-data; boundary=AaB",
                "--AaB\r\nContent-Disposition: form-data; name=\"where\"\r\n\r\nPOP > 1\r\n--AaB--\r\n"
            )
            #expect(answer.hasSuffix(#"{"count":1}"#))
            #expect(site.inner.withLock { $0.lastQuery?.clause } == "POP > 1")
            #expect(
                try ask("multipart/form-data; boundary=AaB", "--AaB\r\n").contains("breaks off"))
            #expect(try ask("application/json", "{}").contains("or multipart/form-data"))
        }
    }
}
