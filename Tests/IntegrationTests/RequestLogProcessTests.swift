// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// Rotation of a gateway's log files.
@Suite(.timeLimit(.minutes(3)), .processes) struct RequestLogProcessTests {
    @Test func `a gateway outlives SIGHUP, and goes on in a new file when its log was renamed`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let path = NSTemporaryDirectory() + "requests-" + UUID().uuidString
        defer { for end in ["", ".1"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let site = try await IdentifySite(side: 1, gateway: ["--request-log", path])
        let gateway = try #require(site.processIDs("cairn-gateway").first)
        func ask(_ path: String) throws {
            let connection = try #require(Loopback(port: site.port))
            connection.get(path)
            #expect(connection.answer() != nil)
        }
        func hasLine(_ file: String, _ text: String) async throws {
            try await site.until("\(text) in the log") { _ in
                (try? String(contentsOfFile: file, encoding: .utf8))?.contains(text) == true
            }
        }

        try ask("/before")
        try await hasLine(path, "/before")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        #expect(kill(gateway, SIGHUP) == 0)
        try ask("/after")

        try await hasLine(path, "/after")
        #expect(kill(gateway, 0) == 0)
        #expect(try String(contentsOfFile: path + ".1", encoding: .utf8).contains("/before"))
    }
}
