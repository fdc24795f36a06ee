// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import Foundation
import TestKit
import Testing

/// Forms with a file as libcurl sends them.
@Suite struct SDKUploadTests {
    @Test(arguments: [("text/x-plan" as String?, "text/x-plan"), (nil, "text/plain")])
    func `a file travels with its name, its bytes and its media type`(
        type: String?, sent: String
    ) async throws {
        let server = try PlayedServer()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "the \"new\" pläne.txt")
        try Data("bytes of it".utf8).write(to: file)
        var request = Request(
            .post, try #require(URL(string: server.url + "/1/addAttachment")),
            body: .upload(fields: [("f", "json")], file: file, name: "attachment"))
        request.fileType = type
        let response = try await CurlTransport().send(request)
        #expect(response.status == 404)
        let lines = try server.log().joined(separator: "\n").components(separatedBy: "\r\n")
        let head = try #require(
            lines.firstIndex { $0.contains(#"form-data; name="attachment""#) })
        #expect(lines[head].contains("pläne.txt"))
        #expect(lines[head...].contains("Content-Type: \(sent)"))
        #expect(lines.contains("bytes of it") && lines.contains("json"))
    }
}
