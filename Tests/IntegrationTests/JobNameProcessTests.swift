// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// Jobs named at the command line of a running site.
@Suite(.timeLimit(.minutes(2)), .processes) struct JobNameProcessTests {
    @Test func `a job is named by its id, a beginning of it, or last`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        var ids: [String] = []
        for layer in ["squares", "points"] {
            let made = try await site.run(
                "job submit ExportFeatures --param map=Small --param layer=\(layer) "
                    + "--param format=csv")
            ids.append(made.output.trimmingCharacters(in: .whitespacesAndNewlines))
            try #require(made.status == 0 && ids.last?.count == 33, "\(made)")
            let watched = try await site.run("job watch last --timeout 60")
            #expect(watched.status == 0 && watched.output.contains("succeeded"), "\(watched)")
        }

        let last = try await site.run("job show last")
        #expect(last.output.hasPrefix(ids[1]))
        // Ids begin with the time of their submission.
        let common = zip(ids[0], ids[1]).prefix { $0 == $1 }.count
        let first = try await site.run("job show \(ids[0].prefix(common + 1))")
        #expect(first.status == 0 && first.output.hasPrefix(ids[0]), "\(first)")
        let both = try await site.run("job show \(ids[0].prefix(4))")
        #expect(both.status == 1 && both.output.isEmpty)
        #expect(ids.allSatisfy { both.errors.contains($0) }, "\(both.errors)")
        let why = try await site.run("why last")
        #expect(why.status == 0 && why.output.contains("submitted"), "\(why)")
        let product = try await site.run("job result last")
        #expect(product.output.contains("name") && product.output.contains("c"), "\(product)")
        let short = try await site.run("job show j01")
        #expect(short.status == 64 && short.errors.contains("at least 4 characters"))

        let followed = try await site.run("log tail -n 1 --follow --timeout 0.2")
        #expect(followed.status == 0 && followed.output.contains("job"), "\(followed)")
        _ = try await site.run("down")
        let listed = try await site.run("job show last")
        #expect(listed.output.hasPrefix(ids[1]), "\(listed)")
        #expect(listed.errors.contains("answered from its files"))
    }
}
