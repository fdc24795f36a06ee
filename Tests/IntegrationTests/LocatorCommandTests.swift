// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// `cairn locator build` and `evaluate`, as programs, with the site down.
@Suite(.timeLimit(.minutes(2)), .processes) struct LocatorCommandTests {
    private static let table = """
        080010010A-1,1,Rue du Moulin,08090,Aiglemont,OSM,49.780100,4.764200
        080010010A-3,3,Rue du Moulin,08090,Aiglemont,OSM,49.780300,4.764400
        080010020B-12,12 BIS,Avenue de la Gare,08090,Aiglemont,OSM,49.781500,4.760000
        this row has no columns
        """

    private struct BuildLine: Decodable {
        var streetCount, houseCount, segmentCount, rejectedCount: Int
    }
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

    @Test func `a deleted locator is gone, its past stays until its file is swept`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let table = site.folder + "/bano-08.csv"
        try Self.table.write(toFile: table, atomically: true, encoding: .utf8)
        try #require(try await run(site, "locator", "build", "World", table).status == 0)
        let found = try await run(site, "geocode", "3 rue du moulin aiglemont")
        #expect(found.status == 0 && found.output.contains("3 Rue du Moulin"), "\(found)")
        #expect(found.errors.contains("answered from its files"))

        let near = try await run(site, "locator", "delete", "Wordl")
        #expect(near.status == 1 && near.errors.contains("did you mean 'World'?"), "\(near)")
        let deleted = try await run(site, "locator", "delete", "world", "--json")
        #expect(deleted.status == 0, "\(deleted.errors)")
        #expect(deleted.objects.first?["name"] as? String == "World")

        let gone = try await run(site, "geocode", "3 rue du moulin aiglemont")
        #expect(gone.status == 1 && gone.errors.contains("has no locator 'World'"), "\(gone)")
        #expect(try await run(site, "locator", "list", "--json").objects.isEmpty)
        #expect(try await run(site, "locator", "list", "--at", "1", "--json").objects.count == 1)
        let again = try await run(site, "locator", "delete", "World")
        #expect(again.status == 1)
        try #require(try await run(site, "locator", "build", "World", table).status == 0)
        #expect(try await run(site, "locator", "list", "--json").objects.count == 1)
    }

    @Test func `a dataset of the site is a source`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let (parks, cases) = (site.folder + "/parks.geojson", site.folder + "/cases.jsonl")
        try #"""
        {"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Stadtpark"},
         "geometry":{"type":"Point","coordinates":[10,50]}}]}
        """#.write(toFile: parks, atomically: true, encoding: .utf8)
        try #"""
        {"id":1,"category":"park","query":"stadtpark","expected":{"lat":50,"lon":10,"max_distance_m":1}}
        """#.write(toFile: cases, atomically: true, encoding: .utf8)
        let imported = try await run(site, "import", parks, "--map", "Town", "--json")
        #expect(imported.status == 0, "\(imported.errors)")
        struct Imported: Decodable { var dataset: String? }
        let datasets = imported.output.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Imported.self, from: Data($0.utf8)).dataset
        }
        let dataset = try #require(datasets.first)
        let built = try await run(site, "locator", "build", "World", "dataset:" + dataset)
        #expect(built.status == 0, "\(built.errors)")
        let outcome = try await run(site, "locator", "evaluate", cases, "--json")
        let tallies = outcome.output.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(CategoryLine.self, from: Data($0.utf8))
        }
        #expect(tallies.map(\.passed) == [1])
        let unknown = String(repeating: "0", count: 64)
        for (source, reason) in [("abc", "expected dataset: and"), (unknown, "no dataset")] {
            let refused = try await run(site, "locator", "build", "World", "dataset:" + source)
            #expect(refused.status != 0)
            #expect(refused.errors.contains(reason), "\(refused.errors)")
        }
    }

    private struct Case: Decodable {
        struct Expected: Decodable { var lat, lon: Double }
        var category, half: String
        var expected: Expected
    }

    @Test func `cases are derived alike from one seed, each record in one half`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let (table, cases) = (site.folder + "/places.tsv", site.folder + "/cases.jsonl")
        let names = ["Mount Ota", "Saint-Lo", "Éveux", "Ötigheim", "Karlburg", "Toledo", "Velika"]
        let rows = (0..<140).map {
            "\($0 + 1)\t\(names[$0 % 7])\t\($0 / 4)\t\($0)\tFR\tPPL\t\(1_000_000 - 1_000 * $0)\tИмя \($0)"
        }
        try
            ("id\tname\tlatitude\tlongitude\tcountry\tfeature_code\tpopulation\talternate_names\n"
            + rows.joined(separator: "\n")).write(toFile: table, atomically: true, encoding: .utf8)
        _ = try await run(site, "locator", "build", "World", table)

        func derived(_ seed: String) async throws -> (text: String, cases: [Case]) {
            let outcome = try await run(
                site, "locator", "cases", table, "--seed", seed, "--count", "30")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let cases = try outcome.output.split(separator: "\n").map {
                try JSONDecoder().decode(Case.self, from: Data($0.utf8))
            }
            return (outcome.output, cases)
        }
        let (first, other) = (try await derived("1"), try await derived("2"))
        let again = try await derived("1")
        #expect(again.text == first.text && other.text != first.text)
        #expect(Set(first.cases.map(\.half)) == ["training", "held-out"])
        #expect(
            Set(first.cases.map(\.category)).isSuperset(of: [
                "native_script", "plain_ascii", "abbreviated", "reverse", "prefix", "focus",
            ]))
        // One record has one location, and is in one half whatever the seed.
        var halves: [String: Set<String>] = [:]
        for one in first.cases + other.cases {
            halves["\(one.expected.lon)", default: []].insert(one.half)
        }
        #expect(halves.values.allSatisfy { $0.count == 1 })

        try first.text.write(toFile: cases, atomically: true, encoding: .utf8)
        let outcome = try await run(site, "locator", "evaluate", cases, "--json")
        let tallies = outcome.output.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(CategoryLine.self, from: Data($0.utf8))
        }
        #expect(tallies.reduce(0) { $0 + $1.total } == first.cases.count)
        let native = tallies.filter { $0.category == "native_script" }
        #expect(native.count == 2 && native.allSatisfy { $0.passed == $0.total })

        let wrong = try await run(site, "locator", "cases", site.folder + "/none")
        #expect(wrong.status != 0 && wrong.errors.split(separator: "\n").count == 1)
    }

    @Test func `streets of a vector file and of OpenStreetMap are built and found by house number`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let (streets, extract) = (site.folder + "/streets.geojson", site.folder + "/town.osm")
        try """
        {"type":"FeatureCollection","features":[{"type":"Feature",
         "geometry":{"type":"LineString","coordinates":[[10,50],[10.01,50]]},
         "properties":{"FULLNAME":"Long Street","LFROMADD":"2","LTOADD":"98","RFROMADD":"1",
          "RTOADD":"99","ZIPL":"10001","ZIPR":"10001"}}]}
        """.write(toFile: streets, atomically: true, encoding: .utf8)
        try """
        <?xml version="1.0" encoding="UTF-8"?>
        <osm version="0.6">
        <node id="1" lat="50" lon="10.005"/><node id="2" lat="50.01" lon="10.005">
        <tag k="addr:housenumber" v="5"/><tag k="addr:street" v="Cross Street"/></node>
        <way id="1"><nd ref="1"/><nd ref="2"/>
        <tag k="highway" v="residential"/><tag k="name" v="Cross Street"/></way>
        </osm>
        """.write(toFile: extract, atomically: true, encoding: .utf8)

        let built = try await run(
            site, "locator", "build", "World", streets, extract, "--constant", "city=Smallham",
            "--json")
        #expect(built.status == 0, "\(built.errors)")
        let counts = try JSONDecoder().decode(BuildLine.self, from: Data(built.output.utf8))
        #expect((counts.streetCount, counts.houseCount, counts.rejectedCount) == (2, 1, 0))
        #expect(counts.segmentCount == 2)

        let cases = site.folder + "/cases.jsonl"
        try [
            #"{"query":"50 Long Street, Smallham","expected":{"lat":50.00018,"lon":10.005,"max_distance_m":5,"housenumber":"50"}}"#,
            #"{"query":"5 Cross Street, Smallham","expected":{"lat":50.01,"lon":10.005,"max_distance_m":5,"housenumber":"5"}}"#,
        ].joined(separator: "\n").write(toFile: cases, atomically: true, encoding: .utf8)
        let outcome = try await run(site, "locator", "evaluate", cases, "--json")
        let lines = outcome.output.split(separator: "\n").map { Data($0.utf8) }
        let tallies = lines.compactMap { try? JSONDecoder().decode(CategoryLine.self, from: $0) }
        #expect(tallies.map(\.passed) == [2], "\(outcome.output)")

        let wrong = try await run(
            site, "locator", "build", "World", streets, "--constant", "town=Smallham")
        #expect(wrong.status != 0)
        #expect(wrong.errors.contains("expected FIELD=TEXT"))
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
