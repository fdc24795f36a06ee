// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import Testing

/// `cairn locator build` and `evaluate`, as programs, with the site down.
@Suite(.timeLimit(.minutes(2))) struct LocatorCommandTests {
    private static let table = """
        080010010A-1,1,Rue du Moulin,08090,Aiglemont,OSM,49.780100,4.764200
        080010010A-3,3,Rue du Moulin,08090,Aiglemont,OSM,49.780300,4.764400
        080010020B-12,12 BIS,Avenue de la Gare,08090,Aiglemont,OSM,49.781500,4.760000
        this row has no columns
        """

    private struct BuildLine: Decodable { var streetCount, houseCount, rejectedCount: Int }
    private struct FailedLine: Decodable { var id: Int?, category, query: String, found: String? }
    private struct CategoryLine: Decodable { var category: String, passed, total: Int }

    private func run(_ site: SmallSite, _ arguments: String...) async throws -> Programs.Outcome {
        try await Programs.run(arguments, site: site.path)
    }

    @Test func `what is asked of a locator is counted by category`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let (table, cases) = (site.folder + "/bano-08.csv", site.folder + "/cases.jsonl")
        try Self.table.write(toFile: table, atomically: true, encoding: .utf8)
        func line(_ id: Int, _ category: String, _ query: String, _ lat: Double, _ lon: Double)
            -> String
        {
            #"{"id":\#(id),"category":"\#(category)","query":\#(query),"expected":{"lat":\#(lat),"lon":\#(lon),"max_distance_m":20,"housenumber":"\#(id)"}}"#
        }
        try [
            line(3, "exact", #""3 rue du moulin aiglemont""#, 49.7803, 4.7644),
            line(1, "exact", #""1 rue du moulin 08090""#, 49.7801, 4.7642),
            // Asked for one house, expected at another.
            line(7, "wrong", #""1 rue du moulin aiglemont""#, 49.7801, 4.7642),
            line(1, "reverse", "[4.76421, 49.7801]", 49.7801, 4.7642),
        ].joined(separator: "\n").write(toFile: cases, atomically: true, encoding: .utf8)

        let built = try await run(site, "locator", "build", "World", table, "--json")
        #expect(built.status == 0, "\(built.errors)")
        let counts = try JSONDecoder().decode(BuildLine.self, from: Data(built.output.utf8))
        #expect((counts.streetCount, counts.houseCount, counts.rejectedCount) == (2, 3, 1))

        let outcome = try await run(site, "locator", "evaluate", cases, "--json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map { Data($0.utf8) }
        let failed = lines.compactMap { try? JSONDecoder().decode(FailedLine.self, from: $0) }
        #expect(failed.map(\.id) == [7])
        #expect(failed.first?.found?.contains("Rue du Moulin") == true)
        let tallies = lines.compactMap { try? JSONDecoder().decode(CategoryLine.self, from: $0) }
        #expect(tallies.map(\.category) == ["exact", "reverse", "wrong"])
        #expect(tallies.map(\.passed) == [2, 1, 0] && tallies.map(\.total) == [2, 1, 1])

        let listed = try await run(site, "locator", "evaluate", cases, "--failed")
        #expect(listed.output.contains("wrong: '1 rue du moulin aiglemont' -> "))
    }

    @Test func `a case that is none is named by its line`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let (table, cases) = (site.folder + "/bano-08.csv", site.folder + "/cases.jsonl")
        try Self.table.write(toFile: table, atomically: true, encoding: .utf8)
        try "\n{\"query\": [1]}\n".write(toFile: cases, atomically: true, encoding: .utf8)
        _ = try await run(site, "locator", "build", "World", table)

        let outcome = try await run(site, "locator", "evaluate", cases)
        #expect(outcome.status != 0 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("line 2: expected a case with query and expected"))

        let unknown = try await run(site, "locator", "evaluate", cases, "--locator", "Nowhere")
        #expect(unknown.errors.contains("the site has no locator 'Nowhere'"))
        let absent = try await run(site, "locator", "evaluate", site.folder + "/none")
        #expect(absent.status != 0 && absent.errors.split(separator: "\n").count == 1)
    }
}
