// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// The programs of `Examples/sdk`, run as they are, against a site.
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct SDKExampleTests {
    private static let programs = [
        "identify-on-a-map", "geocode-a-table", "follow-a-job", "terminal-map", "work-offline",
        "within-distance",
    ]

    private static let places = """
        id\tname\tlatitude\tlongitude\tcountry\tpopulation
        1\tZürich\t47.3667\t8.55\tCH\t341730
        2\tParis\t48.85341\t2.3488\tFR\t2138551
        """

    private func run(_ program: String, _ arguments: [String]) async throws -> Programs.Outcome {
        try await Programs.run(arguments, site: nil, program: program)
    }

    @Test func `the examples identify, geocode, follow, draw, measure and work offline`()
        async throws
    {
        guard Programs.areBuilt(Programs.all + Self.programs) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let places = site.folder + "/places.txt"
        try Self.places.write(toFile: places, atomically: true, encoding: .utf8)
        try #require(try await site.run("locator build World \(places)").status == 0)
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let services = "http://127.0.0.1:\(port)/arcgis/rest/services"

        let hit = try await run("identify-on-a-map", [services, "Small", "3", "2"])
        #expect(hit.status == 0 && hit.output.contains("name=west"), "\(hit)")
        let miss = try await run("identify-on-a-map", [services, "Small", "-170", "-80"])
        #expect(miss.output == "nothing is there\n")
        let wrong = try await run("identify-on-a-map", [services, "Large", "3", "2"])
        #expect(wrong.status == 1 && wrong.output.contains("Large"), "\(wrong)")

        let table = site.folder + "/table.csv"
        try "place\nParis\nZürich\n".write(toFile: table, atomically: true, encoding: .utf8)
        let result = site.folder + "/result.csv"
        let geocoded = try await run("geocode-a-table", [services, table, "place", result])
        #expect(geocoded.status == 0, "\(geocoded)")
        let rows = try String(contentsOfFile: result, encoding: .utf8).split(separator: "\n")
        #expect(rows.count == 3)
        #expect(rows.contains { $0.contains("Zürich") && $0.contains("8.55") })

        let ticket = site.folder + "/ticket.json"
        let begun = try await run("follow-a-job", ["begin", services, table, "place", ticket])
        #expect(begun.status == 0 && begun.output.contains(ticket), "\(begun)")
        for _ in 1...2 {
            let followed = try await run("follow-a-job", ["follow", ticket])
            #expect(followed.status == 0, "\(followed)")
            #expect(followed.output.contains("is paused"))
            #expect(followed.output.contains("succeeded with output"))
        }

        let drawn = try await run("terminal-map", [services, "Small", "40", "12"])
        #expect(drawn.status == 0)
        let lines = drawn.output.split(separator: "\n")
        #expect(lines.count == 13)
        #expect(lines.dropLast().allSatisfy { $0.filter { $0 == "▀" }.count == 40 })
        // Something is drawn: not every pixel is paper.
        #expect(
            lines.dropLast().contains { $0.matches(of: /2;255;255;255m/).count < 80 })

        let layer = services + "/Small/FeatureServer/0"
        let near = try await run("within-distance", [layer, "50", "3,2", "3.1,2"])
        #expect(near.status == 0 && near.output.contains("name=west"), "\(near)")
        #expect(near.output.contains("near 2 of 2") && !near.output.contains("name=east"))

        let kept = site.folder + "/kept.json"
        let keeping = try await run("work-offline", ["keep", services, "Small", kept])
        #expect(keeping.status == 0 && keeping.output.contains("Small"), "\(keeping)")
        try #require(try await site.run("down").status == 0)
        let locators = site.path + "/locators"
        let id = try #require(
            try FileManager.default.contentsOfDirectory(atPath: locators)
                .first { $0.count == 64 })
        let locator = "\(locators)/\(id)/locator.bin"
        let opened = try await run("work-offline", ["open", kept, locator, "paris"])
        #expect(opened.status == 0 && opened.output.contains("kept: Small"), "\(opened)")
        #expect(opened.output.contains("2.3488 48.85341"))
        let gone = try await run("terminal-map", [services, "Small"])
        #expect(gone.status == 1 && gone.output.contains("127.0.0.1"), "\(gone)")
    }

    @Test(arguments: programs) func `without arguments an example says how it is used`(
        program: String
    ) async throws {
        guard Programs.areBuilt([program]) else { return }
        let outcome = try await run(program, [])
        #expect(outcome.status == 64)
        #expect(outcome.output.hasPrefix("usage: \(program) "))
    }
}
