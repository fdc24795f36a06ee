// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// The output of `cairn` without a site to connect to.
@Suite(.timeLimit(.minutes(2)), .processes) struct CommandLineTests {
    @Test(arguments: [
        "map list", "status", "identify --map W --point 1,2", "job list", "log head", "down",
        "up", "import x --map W", "locator build World x", "view", "replay --map W",
    ])
    func `without a site every command says so and exits 64`(text: String) async throws {
        guard Programs.areBuilt(["cairn"]) else { return }

        let outcome = try await Programs.run(text.split(separator: " ").map(String.init), site: nil)

        #expect(outcome.status == 64)
        #expect(outcome.errors == "cairn: no site: give --site DIRECTORY or set CAIRN_SITE\n")
        #expect(outcome.output.isEmpty)
    }

    @Test func `a directory that is no site is refused in one sentence`() async throws {
        guard Programs.areBuilt(["cairn"]) else { return }
        let site = Programs.newSite()

        for text in ["map list", "status", "job list", "log tail", "geocode Paris"] {
            let outcome = try await Programs.run(
                text.split(separator: " ").map(String.init), site: site)
            #expect(outcome.status == 1, "\(text)")
            #expect(outcome.errors.contains("is not a Cairn site"), "\(text): \(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1)
        }
        #expect(!FileManager.default.fileExists(atPath: site))
    }

    @Test func `a site that is down is unavailable`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }

        for text in [
            "map rename Small 0 x", "undo 1", "job cancel last", "sweep", "log tail --follow",
            "identify --map Small --point 1,1 --follow",
        ] {
            let outcome = try await site.run(text)
            #expect(outcome.status == 69, "\(text)")
            #expect(outcome.errors.contains("is not up: start it with 'cairn up'"), "\(text)")
            #expect(outcome.output.isEmpty, "\(text)")
        }
        let down = try await site.run("down")
        #expect(down.status == 0)
        #expect(down.output == "the site is not up\n")
    }

    @Test func `a site that is down answers what it knows from its files, and says so`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }

        for (text, expected) in [
            ("map list", "Small"), ("map show Small", "squares"), ("log tail", "map-Small"),
            ("log show 1", "map-Small"), ("log diff 0 1", "map/Small"),
            ("why Small/squares/1", "added"), ("job list", "SUBMITTED"),
            ("locator list", "LOCATOR"), ("identify --map Small --point 3,2", "west"),
        ] {
            let outcome = try await site.run(text)
            #expect(outcome.status == 0, "\(text): \(outcome)")
            #expect(
                outcome.errors.contains("is not up: answered from its files, as of event "),
                "\(text): \(outcome.errors)")
            #expect(outcome.output.contains(expected), "\(text): \(outcome)")
        }
        let status = try await site.run("status")
        #expect(status.status == 69)
        #expect(status.output.contains("not up") && status.output.contains("\ndisk   "))
        let lines = try await site.run("status --json").objects
        let disk = try #require(lines.first { $0["kind"] as? String == "disk" })
        #expect((disk["log"] as? Int ?? 0) > 0 && (disk["datasets"] as? Int ?? 0) > 0)
        #expect((disk["free"] as? Int ?? 0) > 0)
    }

    @Test func `identify is exact for areas, and near for points, whatever the map's extent`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        func names(_ text: String) async throws -> [String] {
            let outcome = try await site.run("identify --map Small --json " + text)
            try #require(outcome.status == 0, "\(text): \(outcome.errors)")
            let layers = outcome.objects.first?["layers"] as? [[String: Any]] ?? []
            return layers.flatMap { $0["results"] as? [[String: Any]] ?? [] }.compactMap {
                $0["value"] as? String
            }
        }

        // A ten-thousandth of a degree is eleven metres.
        #expect(try await names("--point 2.00005,2") == ["a", "west"])
        #expect(try await names("--point 2.0005,2") == ["west"])
        #expect(try await names("--point 8.00001,2").isEmpty)
        #expect(try await names("--point 2.0005,2 --tolerance 60") == ["a", "west"])
        #expect(try await names("--point 2.00005,2 --tolerance 0") == ["west"])
        #expect(try await names("--point 8.00001,2 --tolerance 2") == ["east"])
        #expect(try await names("--point 2.00005,2 --layers top") == ["a"])
        #expect(try await names("--point 2.00005,2 --layers all:squares") == ["west"])
        #expect(
            try await names(
                "--point 2.05,2 --layers all:points --tolerance 1 --extent 0,0,80,60") == ["a"])
        let text = try await site.run("identify --map Small --point 2.00005,2").output
        #expect(text.contains("a (1), 5.57 m away"), "\(text)")
    }

    @Test func `names that nearly are something's are answered by its name`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }

        for (text, expected) in [
            ("map show small", "did you mean 'Small'?"),
            ("identify --map Small --point 1,1 --layers all:sqaures", "did you mean 'squares'?"),
            ("identify --map Small --point 1,1 --layers al", "did you mean 'all'?"),
            (
                "identify --map Small --point 1,1 --where squares:nmae='x'",
                "has no field 'nmae' (did you mean 'name'?)"
            ),
            ("idetify --map Small", "did you mean 'identify'?"),
            ("user add ben --allow qurey", "did you mean 'query'?"),
        ] {
            let outcome = try await site.run(text)
            #expect(outcome.status != 0, "\(text)")
            #expect(outcome.errors.contains(expected), "\(text): \(outcome.errors)")
        }
    }

    @Test func `a moment in words is resolved in the zone of TZ, and printed`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }

        let past = try await site.run("map list --at 2001-01-01")
        #expect(past.status == 0 && !past.output.contains("Small"))
        #expect(past.errors.contains("'2001-01-01' is 2001-01-01T00:00:00Z"), "\(past.errors)")
        let now = try await site.run("map list --at now")
        #expect(now.output.contains("Small"), "\(now)")
    }

    @Test func `a file that cannot be imported leaves nothing and exits 1`() async throws {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        try "no geometry here".write(
            toFile: site.folder + "/odd.txt", atomically: true, encoding: .utf8)

        for path in [site.folder + "/odd.txt", site.folder + "/none.gpkg"] {
            let outcome = try await Programs.run(["import", path, "--map", "M"], site: site.path)
            #expect(outcome.status == 1)
            #expect(outcome.errors.hasPrefix("cairn: "))
            #expect(outcome.output.isEmpty)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: site.path + "/datasets").isEmpty)
    }
}

/// A site with the map `Small`: two squares and three points in longitude and latitude.
struct SmallSite: Sendable {
    /// The folder of written sources.
    var folder: String { directory.path }
    /// The site.
    var path: String { folder + "/site" }
    private let directory: GuardedDirectory

    init() throws { directory = try GuardedDirectory(path: Programs.newSite()) }

    /// A site that was made by importing, with no process running.
    static func imported() async throws -> SmallSite {
        let site = try SmallSite()
        func square(_ x: Int, _ name: String) -> String {
            #"{"type":"Feature","properties":{"name":"\#(name)"},"geometry":{"type":"Polygon","#
                + #""coordinates":[[[\#(x),0],[\#(x + 4),0],[\#(x + 4),4],[\#(x),4],[\#(x),0]]]}}"#
        }
        func point(_ x: Int, _ name: String) -> String {
            #"{"type":"Feature","properties":{"name":"\#(name)"},"geometry":{"type":"Point","#
                + #""coordinates":[\#(x),2]}}"#
        }
        try site.write("squares", [square(0, "west"), square(4, "east")])
        try site.write("points", [point(2, "a"), point(4, "b"), point(6, "c")])
        let outcome = try await Programs.run(
            [
                "import", site.folder + "/squares.geojson", site.folder + "/points.geojson",
                "--map", "Small", "--json",
            ], site: site.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.objects.compactMap { $0["name"] as? String } == ["squares", "points"])
        #expect(outcome.objects.compactMap { $0["loadStatus"] as? String } == ["loaded", "loaded"])
        return site
    }

    /// Writes features as a file to import.
    func write(_ name: String, _ features: [String]) throws {
        let text =
            #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",") + "]}"
        try text.write(toFile: folder + "/\(name).geojson", atomically: true, encoding: .utf8)
    }

    func run(_ text: String, input: String? = nil) async throws -> Programs.Outcome {
        try await Programs.run(
            text.split(separator: " ").map(String.init), site: path, input: input)
    }

    /// Ends what runs of it, and removes everything.
    func remove() { directory.end() }
}
